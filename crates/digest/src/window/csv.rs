//! The samples of a window as lines of CSV.

use super::SampleBlock;
use crate::wall::WallClock;
use latlab_model::nanos::SECOND;
use latlab_model::samples::Sample;
use std::io::{self, Write};

/// The names of the columns.
pub const CSV_HEAD: &str = "time,thread,cpu,release_ns,latency_ns";

impl SampleBlock {
    /// Writes a line for each sample.
    pub fn write_csv(
        &self,
        cpu: Option<u32>,
        wall: &WallClock,
        out: &mut (impl Write + ?Sized),
    ) -> io::Result<()> {
        let cpu = cpu.map(|cpu| cpu.to_string()).unwrap_or_default();
        let thread = self.thread;
        let (mut second, mut text) = (i64::MIN, String::new());
        for Sample { release_ns, latency_ns } in &self.samples {
            let time = wall.realtime(*release_ns).0;
            if time.div_euclid(SECOND.0) != second {
                second = time.div_euclid(SECOND.0);
                text = wall.utc(*release_ns, 0);
                text.pop();
            }
            let nanos = time.rem_euclid(SECOND.0);
            writeln!(out, "{text}.{nanos:09}Z,{thread},{cpu},{},{}", release_ns.0, latency_ns.0)?;
        }
        Ok(())
    }
}
