//! The histogram of `-h` and `-H`.

use super::dialect::Dialect;
use super::lines::{LineUnit, ThreadFigures, is_fine};
use super::state::Thread;
use latlab_formats::write::cyclictest::{Form, ThreadColumn, write_histogram};
use latlab_model::Nanos;
use latlab_model::histogram::bin_low;

/// A thread's counts in buckets, as they are printed.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Buckets {
    /// Latencies per bucket.
    pub counts: Vec<u64>,
    /// Latencies above the last bucket.
    pub overflows: u64,
    /// Cycle numbers of the overflows, as far as they are known.
    pub cycles: Vec<u64>,
    /// Latencies counted by a bin wider than a bucket, which may be in the wrong bucket.
    pub rough: u64,
}

impl Buckets {
    pub fn new(buckets: usize) -> Buckets {
        Buckets { counts: vec![0; buckets], ..Buckets::default() }
    }

    pub fn count(&mut self, value: i64, cycle: u64) {
        match self.bucket(value) {
            Some(count) => *count += 1,
            None => {
                self.overflows += 1;
                // At most as many as there are buckets are printed.
                if self.cycles.len() < self.counts.len() {
                    self.cycles.push(cycle);
                }
            }
        }
    }

    fn bucket(&mut self, value: i64) -> Option<&mut u64> {
        self.counts.get_mut(usize::try_from(value.max(0)).ok()?)
    }

    /// Converts the thread's own bins to buckets of a microsecond.
    pub fn from_thread(thread: &Thread, buckets: usize) -> Buckets {
        let mut all = Buckets::new(buckets);
        all.add(0, thread.total.underflow);
        let (fine, coarse): (Vec<_>, Vec<_>) =
            thread.total.bins.iter().partition(|(bin, _)| is_fine(*bin));
        fine.into_iter().for_each(|(bin, count)| all.add(bin_low(bin as usize) / 1000, count));
        let last_fine = Nanos(latlab_model::histogram::FINE_END as i64 - 1);
        let exact = thread.spikes.above(last_fine);
        let counted: u64 = coarse.iter().map(|(_, count)| count).sum();
        if exact.len() as u64 == counted {
            exact.iter().for_each(|spike| all.add((spike.latency_ns.0 / 1000) as u64, 1));
        } else {
            for (bin, count) in coarse {
                all.rough += if bin_low(bin as usize) / 1000 < buckets as u64 { count } else { 0 };
                all.add(bin_low(bin as usize) / 1000, count);
            }
        }
        let limit = Nanos(buckets as i64 * 1000 - 1);
        all.cycles = thread.spikes.cycles_above(limit, thread.first_release, thread.period);
        all
    }

    fn add(&mut self, microseconds: u64, count: u64) {
        match self.counts.get_mut(microseconds as usize) {
            Some(bucket) => *bucket += count,
            None => self.overflows += count,
        }
    }
}

/// The whole histogram. `sums` adds a column for all threads together and needs at least two
/// threads.
pub fn text(
    threads: &[Thread],
    buckets: &[Buckets],
    dialect: &Dialect,
    sums: bool,
    unit: LineUnit,
) -> String {
    let rows = buckets.first().map_or(0, |first| first.counts.len());
    let totals_and_empty_rows = dialect.totals_and_empty_rows;
    let form = Form { buckets: rows as u32, totals_and_empty_rows, sums };
    let columns: Vec<ThreadColumn> =
        threads.iter().zip(buckets).map(|(thread, one)| column(thread, Some(one), unit)).collect();
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_histogram(&mut text, &columns, form);
    String::from_utf8_lossy(&text).into_owned()
}

/// A thread's column in the histogram.
pub fn column(thread: &Thread, buckets: Option<&Buckets>, unit: LineUnit) -> ThreadColumn {
    let ThreadFigures { min, avg, max, .. } = ThreadFigures::new(thread, unit);
    let figures = ThreadColumn { min, avg, max, ..ThreadColumn::default() };
    let Some(buckets) = buckets else { return figures };
    let counts = (0..).zip(&buckets.counts).filter(|(_, count)| **count > 0);
    ThreadColumn {
        counts: counts.map(|(bucket, count)| (bucket, *count)).collect(),
        overflows: buckets.overflows,
        cycles: buckets.cycles.clone(),
        ..figures
    }
}
