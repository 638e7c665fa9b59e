//! The formats of test systems: a test of each thread against the deadline, and one for the
//! verdict.

use super::Format;
use crate::write::{Notes, Result, Source};
use latlab_report::test_suite::of_run;
use std::io::Write;

pub const JUNIT: Format =
    Format { id: "junit", title: "JUnit XML", is_binary: false, write: write_junit };
pub const KTAP: Format = Format { id: "ktap", title: "KTAP", is_binary: false, write: write_ktap };
pub const LAVA: Format =
    Format { id: "lava", title: "LAVA results", is_binary: false, write: write_lava };

fn write_junit(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    write(out, &of_run(source.run).junit())
}

fn write_ktap(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    write(out, &of_run(source.run).ktap())
}

fn write_lava(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    write(out, &of_run(source.run).lava())
}

fn write(out: &mut (dyn Write + Send), text: &str) -> Result<Notes> {
    out.write_all(text.as_bytes())?;
    Ok(Notes::new())
}
