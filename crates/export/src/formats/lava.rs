//! Lines that LAVA takes from the console as test results, with the names that Linaro's tests give the
//! figures of cyclictest.

use super::Format;
use crate::checks::{Outcome, of_run, of_threads};
use crate::{Notes, Result, Source};
use latlab_model::Nanos;
use std::io::Write;

pub const FORMAT: Format = Format { id: "lava", title: "LAVA results", is_binary: false, write };

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    let run = source.run;
    let mut case = |id: &str, result: &str, measured: Option<f64>| {
        let measured =
            measured.map(|us| format!(" MEASUREMENT={us:.3} UNITS=us")).unwrap_or_default();
        writeln!(out, "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID={id} RESULT={result}{measured}>")
    };
    let us = |time: Option<Nanos>| time.map(|time| time.0 as f64 / 1e3);
    for (thread, check) in run.threads.iter().zip(of_threads(run)) {
        let (number, summary) = (thread.setup.thread, &thread.summary);
        let figures = [
            ("min", us(summary.min_ns)),
            ("avg", summary.mean_ns.map(|mean| mean / 1e3)),
            ("max", us(summary.max_ns)),
        ];
        for (figure, value) in figures {
            let result = if value.is_some() { "pass" } else { "unknown" };
            case(&format!("t{number}-{figure}-latency"), result, value)?;
        }
        case(&format!("t{number}-deadline"), word(check.outcome), None)?;
    }
    case("verdict", word(of_run(run).outcome), us(run.total.max_ns))?;
    Ok(Notes::new())
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::NoAnswer => "unknown",
        Outcome::NoDeadline => "skip",
    }
}
