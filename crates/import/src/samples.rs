//! Counts of single latencies.

use crate::bins::{MOST_BINS, Tally};
use crate::recording::Series;
use latlab_model::histogram::{Overflow, bin_of};
use latlab_model::{BinLayout, Histogram, Nanos};

/// Latencies of one thread in whole units, each in a bin of one unit, while they are read.
#[derive(Clone, Default, Debug)]
pub struct UnitSamples {
    tally: Tally,
    /// Those beyond the last bin.
    over: u64,
    over_sum: i128,
    over_min: i64,
    over_max: i64,
}

impl UnitSamples {
    /// Counts a latency of so many units; none where it is negative or longer than 292 years.
    #[inline]
    pub fn push(&mut self, units: i64, unit_ns: i64) -> Option<()> {
        let bin = u64::try_from(units).ok()?;
        if bin < MOST_BINS {
            self.tally.count(bin as u32);
            return Some(());
        }
        units.checked_mul(unit_ns)?;
        self.over_min = if self.over == 0 { units } else { self.over_min.min(units) };
        self.over_max = self.over_max.max(units);
        self.over_sum += i128::from(units);
        self.over += 1;
        Some(())
    }

    /// Counts a latency, if there were many and it is as small as most of them.
    #[inline]
    pub fn push_small(&mut self, units: u64) -> bool {
        self.tally.count_dense(units as usize)
    }

    /// The latencies as a thread. What lies beyond the last bin is in sum and maximum all the same.
    pub fn series(&mut self, unit_ns: i64) -> Series {
        let bins = self.tally.take();
        let units = |row: &(u32, u64)| i128::from(row.0) * i128::from(row.1);
        let sum: i128 = bins.iter().map(units).sum::<i128>() + self.over_sum;
        let first = bins.first().map_or(self.over_min, |row| row.0.into());
        let last = bins.last().map_or(0, |row| row.0);
        let (number, most) = match self.over {
            0 => (last + 1, last.into()),
            _ => (MOST_BINS as u32, self.over_max),
        };
        let layout = BinLayout::equal(Nanos::ZERO, Nanos(unit_ns), number);
        let counts = Histogram {
            count: bins.iter().map(|row| row.1).sum::<u64>() + self.over,
            sum_ns: sum * i128::from(unit_ns),
            min_ns: Nanos(first * unit_ns),
            max_ns: Nanos(most * unit_ns),
            bins,
            layout: layout.unwrap_or_default(),
            overflow: Overflow { count: self.over, ..Overflow::default() },
            ..Histogram::default()
        };
        Series { counts, ..Series::default() }
    }
}

/// Latencies of one thread in latlab's own bins, while they are read.
#[derive(Clone, Default, Debug)]
pub struct Samples {
    tally: Tally,
    count: u64,
    sum_ns: i128,
    min_ns: i64,
    max_ns: i64,
}

impl Samples {
    /// Counts a latency that is not negative.
    pub fn push(&mut self, latency_ns: i64) {
        self.push_times(latency_ns, 1);
    }

    /// Counts a latency that is not negative as often as it was seen.
    pub fn push_times(&mut self, latency_ns: i64, times: u64) {
        if times == 0 {
            return;
        }
        if self.count == 0 {
            (self.min_ns, self.max_ns) = (latency_ns, latency_ns);
        } else {
            self.min_ns = self.min_ns.min(latency_ns);
            self.max_ns = self.max_ns.max(latency_ns);
        }
        self.count += times;
        self.sum_ns += i128::from(latency_ns) * i128::from(times);
        self.tally.add(bin_of(latency_ns.unsigned_abs()) as u32, times);
    }

    /// The latencies as a thread.
    pub fn series(&mut self) -> Series {
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
