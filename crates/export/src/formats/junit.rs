//! JUnit XML: a test case for each thread, and one for the verdict.

use super::Format;
use crate::checks::{Check, Outcome, of_run, of_threads};
use crate::{Notes, Result, Source};
use latlab_report::junit::{Problem, TestCase, test_suite};
use std::io::Write;

pub const FORMAT: Format = Format { id: "junit", title: "JUnit XML", is_binary: false, write };

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    let run = source.run;
    let verdict = Check { name: "verdict".to_string(), ..of_run(run) };
    let facts = [
        ("run", Some(run.id.clone())),
        ("kernel", Some(run.machine.kernel.clone()).filter(|kernel| !kernel.is_empty())),
        ("board", run.machine.board.clone()),
    ];
    let properties: Vec<(&'static str, String)> =
        facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
    let case = |check: &Check| TestCase {
        group: run.asked.name.clone(),
        name: check.name.clone(),
        properties: Some(properties.clone()),
        problem: problem(check),
        output: Some(check.text.clone()),
    };
    let mut cases: Vec<TestCase> = of_threads(run).iter().map(case).collect();
    cases.push(case(&verdict));
    let findings: Vec<String> = run
        .findings_by_weight()
        .iter()
        .map(|finding| format!("{}: {} [{}]", finding.severity(), finding.text(), finding.code()))
        .collect();
    out.write_all(test_suite(&run.asked.name, &cases, &findings.join("\n")).as_bytes())?;
    Ok(Notes::new())
}

fn problem(check: &Check) -> Option<(Problem, String)> {
    let kind = match check.outcome {
        Outcome::Pass => return None,
        Outcome::Fail => Problem::Failure,
        Outcome::NoAnswer => Problem::Error,
        Outcome::NoDeadline => Problem::Skipped,
    };
    let message = match check.outcome {
        Outcome::NoDeadline => "no deadline was given".to_string(),
        _ => check.text.clone(),
    };
    Some((kind, message))
}
