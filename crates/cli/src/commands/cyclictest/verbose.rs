//! `-v`: a line per latency, or with `-o` one per group of samples, with its maximum.

use super::histogram::Buckets;
use super::lines::LineUnit;
use latlab_model::samples::Samples;
use std::fmt::Write;

/// The state of one thread's samples.
#[derive(Clone, Default, Debug)]
struct Line {
    /// Number of the next cycle.
    cycle: u64,
    /// The largest latency of the current group, and its cycle.
    largest: Option<(i64, u64)>,
}

/// Turns the samples of all threads into lines and buckets.
pub struct Lines {
    lines: Vec<Line>,
    group: u64,
    unit: LineUnit,
    /// Samples in frames that could not be decoded.
    pub unreadable: u64,
}

impl Lines {
    /// `group` is the number of samples of which only the maximum is printed.
    pub fn new(threads: usize, group: u64, unit: LineUnit) -> Lines {
        Lines { lines: vec![Line::default(); threads], group, unit, unreadable: 0 }
    }

    /// The lines of one frame; its samples are also counted in `buckets`.
    pub fn add_samples(&mut self, samples: &Samples, buckets: Option<&mut Buckets>) -> String {
        let mut text = String::new();
        let Some(line) = self.lines.get_mut(samples.thread as usize) else { return text };
        let Ok(read) = samples.unpack() else {
            self.unreadable += u64::from(samples.count);
            return text;
        };
        let mut buckets = buckets;
        line.cycle += samples.lost_before;
        for sample in read {
            let value = self.unit.convert(sample.latency_ns);
            if let Some(buckets) = buckets.as_deref_mut() {
                buckets.count(value, line.cycle);
            }
            if line.largest.is_none_or(|(largest, _)| value > largest) {
                line.largest = Some((value, line.cycle));
            }
            line.cycle += 1;
            if line.cycle % self.group == 0
                && let Some((value, cycle)) = line.largest.take()
            {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{:8}:{cycle:8}:{value:8}", samples.thread);
            }
        }
        text
    }
}
