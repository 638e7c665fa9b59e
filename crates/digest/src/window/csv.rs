//! The samples of a window as lines of CSV.

use super::SampleBlock;
use crate::wall::WallClock;
use latlab_model::nanos::SECOND;
use latlab_model::samples::Sample;
use std::io::{self, Write};

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
        for sample in &self.samples {
            let release_ns = sample.release_ns;
            let time = wall.realtime(release_ns).0;
            if time.div_euclid(SECOND.0) != second {
                second = time.div_euclid(SECOND.0);
                text = wall.utc(release_ns, 0);
                text.pop();
            }
            let nanos = time.rem_euclid(SECOND.0);
            let latency = latency_text(*sample);
            writeln!(out, "{text}.{nanos:09}Z,{thread},{cpu},{},{latency}", release_ns.0)?;
        }
        Ok(())
    }
}

/// Nanoseconds, with decimals if picoseconds are known.
fn latency_text(sample: Sample) -> String {
    if sample.rest_ps.is_none_or(|rest| rest == 0) {
        return sample.latency_ns.0.to_string();
    }
    let text = format!("{:.3}", sample.latency_ps() as f64 / 1e3);
    text.trim_end_matches('0').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;

    #[test]
    fn picoseconds_are_decimals() {
        let text = |latency_ps| latency_text(Sample::fine(Nanos::ZERO, latency_ps));
        assert_eq!(text(48_100), "48.1");
        assert_eq!(text(47_999), "47.999");
        assert_eq!(text(48_000), "48");
        assert_eq!(text(60), "0.06");
        assert_eq!(latency_text(Sample::new(Nanos::ZERO, Nanos(48))), "48");
    }
}
