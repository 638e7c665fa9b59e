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
    /// Name for `--to`.
    pub id: &'static str,
    /// Human-readable name.
    pub title: &'static str,
    /// Whether it is binary and must not be written to a terminal.
    pub is_binary: bool,
    write: fn(&Source<'_>, &mut (dyn Write + Send)) -> Result<Notes>,
}

impl Format {
    /// Writes a run; returns what the format could not carry.
    pub fn write(&self, source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
        (self.write)(source, out)
    }
}

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

pub fn format_of_id(id: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.id == id)
}

/// Whole units of a time, truncated towards zero like the tools do.
fn in_unit(time: latlab_model::Nanos, unit: crate::write::OutputUnit) -> i64 {
    time.0 / unit.nanos()
}
