//! The formats, one file each.

mod csv;
mod cyclictest;
mod hdr;
mod jitterdebugger;
mod osadl;
mod parquet;
mod perfetto;
mod prometheus;
mod test_suite;

pub use csv::cpu_of;

use crate::write::{Notes, Result, Source};
use std::io::Write;

/// A format that can be written.
pub struct Format {
    /// Its name for `--to`.
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Whether it is no text, so that no terminal can show it.
    pub is_binary: bool,
    write: fn(&Source<'_>, &mut (dyn Write + Send)) -> Result<Notes>,
}

impl Format {
    /// Writes a run; gives back what the format could not carry.
    pub fn write(&self, source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
        (self.write)(source, out)
    }
}

/// All formats.
pub const FORMATS: &[Format] = &[
    cyclictest::HISTOGRAM,
    cyclictest::JSON,
    jitterdebugger::FORMAT,
    osadl::FORMAT,
    hdr::FORMAT,
    csv::FORMAT,
    parquet::FORMAT,
    prometheus::TEXT,
    prometheus::OPENMETRICS,
    prometheus::NATIVE,
    perfetto::FORMAT,
    test_suite::KTAP,
    test_suite::JUNIT,
    test_suite::LAVA,
];

/// The format of this name.
pub fn format_of_id(id: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.id == id)
}

/// Whole times in a unit, towards zero as the tools cut them off.
fn in_unit(time: latlab_model::Nanos, unit: crate::write::Unit) -> i64 {
    time.0 / unit.nanos()
}
