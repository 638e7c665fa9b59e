//! `-v`: every latency as a line, or with `-o` the maximum of each so many.

use super::histogram::Buckets;
use super::lines::Unit;
use latlab_model::samples::Samples;
use std::fmt::Write;

/// What becomes of the samples of one thread.
#[derive(Clone, Default, Debug)]
struct Line {
    /// Number of the next cycle.
    cycle: u64,
    /// The largest of the group that is being read, with the number of its cycle.
    largest: Option<(i64, u64)>,
}

/// The samples of all threads on their way to lines and buckets.
pub struct Lines {
    lines: Vec<Line>,
    group: u64,
    unit: Unit,
    /// Frames that could not be read.
    pub unreadable: u64,
}

impl Lines {
    /// For so many threads; a group has the maximum of so many samples.
    pub fn new(threads: usize, group: u64, unit: Unit) -> Lines {
        Lines { lines: vec![Line::default(); threads], group, unit, unreadable: 0 }
    }

    /// The lines of a frame; the samples also go into the buckets of their thread.
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
