//! KTAP, the test results of the kernel: a test for each thread, in one for the run.

use super::Format;
use crate::checks::{Check, Outcome, of_run, of_threads};
use crate::{Notes, Result, Source};
use std::io::Write;

pub const FORMAT: Format = Format { id: "ktap", title: "KTAP", is_binary: false, write };

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    let threads = of_threads(source.run);
    writeln!(out, "KTAP version 1\n1..1\n  KTAP version 1\n  1..{}", threads.len())?;
    for (number, check) in threads.iter().enumerate() {
        writeln!(out, "  # {}: {}", check.name, check.text)?;
        writeln!(out, "  {}", line(number + 1, check))?;
    }
    let run = of_run(source.run);
    writeln!(out, "# {}\n{}", run.text, line(1, &run))?;
    Ok(Notes::new())
}

fn line(number: usize, check: &Check) -> String {
    // A # in a name would begin a directive.
    let name = check.name.replace('#', "_");
    match check.outcome {
        Outcome::Pass => format!("ok {number} {name}"),
        Outcome::Fail => format!("not ok {number} {name}"),
        Outcome::NoAnswer => format!("not ok {number} {name} # ERROR no answer"),
        Outcome::NoDeadline => format!("ok {number} {name} # SKIP no deadline"),
    }
}
