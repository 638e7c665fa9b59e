//! Counts of single latencies, in bins of the unit that the file has.

use crate::bins::{MOST_BINS, Tally};
use crate::recording::Series;
use latlab_model::histogram::{Overflow, bin_of};
use latlab_model::{BinLayout, Histogram, Nanos};

/// Latencies of one thread while they are read.
#[derive(Clone, Default, Debug)]
pub struct Samples {
    tally: Tally,
    over: u64,
    count: u64,
    sum_ns: i128,
    min_ns: i64,
    max_ns: i64,
}

impl Samples {
    /// Counts a latency that is not negative, in bins of this width.
    #[inline]
    pub fn push(&mut self, latency_ns: i64, width_ns: i64) {
        self.add(latency_ns);
        let bin = (latency_ns / width_ns) as u64;
        if bin < MOST_BINS {
            self.tally.count(bin as u32);
        } else {
            self.over += 1;
        }
    }

    /// Counts a latency that is not negative in latlab's own bins.
    pub fn push_fine(&mut self, latency_ns: i64) {
        self.add(latency_ns);
        self.tally.count(bin_of(latency_ns.unsigned_abs()) as u32);
    }

    #[inline]
    fn add(&mut self, latency_ns: i64) {
        if self.count == 0 {
            (self.min_ns, self.max_ns) = (latency_ns, latency_ns);
        } else {
            self.min_ns = self.min_ns.min(latency_ns);
            self.max_ns = self.max_ns.max(latency_ns);
        }
        self.count += 1;
        self.sum_ns += i128::from(latency_ns);
    }

    /// Latencies so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The latencies as a thread. What lies beyond the last bin is in sum and maximum all the same.
    pub fn series(&mut self, width_ns: i64) -> Series {
        let bins = self.tally.take();
        let last = bins.last().map_or(0, |row| row.0);
        let number = if self.over > 0 { MOST_BINS as u32 } else { last + 1 };
        let layout = BinLayout::equal(Nanos::ZERO, Nanos(width_ns), number);
        let counts = Histogram {
            count: self.count,
            sum_ns: self.sum_ns,
            min_ns: Nanos(self.min_ns),
            max_ns: Nanos(self.max_ns),
            bins,
            layout: layout.unwrap_or_default(),
            overflow: Overflow { count: self.over, ..Overflow::default() },
            ..Histogram::default()
        };
        Series { counts, ..Series::default() }
    }

    /// The latencies in latlab's own bins as a thread.
    pub fn fine_series(&mut self) -> Series {
        let counts = Histogram {
            count: self.count,
            sum_ns: self.sum_ns,
            min_ns: Nanos(self.min_ns),
            max_ns: Nanos(self.max_ns),
            bins: self.tally.take(),
            ..Histogram::default()
        };
        Series { counts, ..Series::default() }
    }
}
