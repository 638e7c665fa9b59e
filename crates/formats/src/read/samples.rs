//! Counts of single latencies, in file order.

use crate::read::bins::{MOST_BINS, Tally};
use crate::read::recording::LatencySeries;
use latlab_model::histogram::{Overflow, bin_of};
use latlab_model::{BinLayout, Histogram, Nanos};

/// Most slices of a file that are kept.
const MOST_SLICES: usize = 100;
/// Latencies in each of the first slices.
const LEAST_OF_SLICE: u64 = 16;

/// Slices of a file with equal numbers of latencies, except for the last. If there are too many,
/// pairs are merged.
#[derive(Clone, Debug)]
struct Slices {
    each: u64,
    /// Latencies in the current slice.
    open: u64,
    done: Vec<Histogram>,
}

impl Default for Slices {
    fn default() -> Slices {
        Slices { each: LEAST_OF_SLICE, open: 0, done: Vec::new() }
    }
}

impl Slices {
    /// Counts a latency; returns whether it completes the slice.
    #[inline]
    fn is_full_with_one_more(&mut self) -> bool {
        self.open += 1;
        self.open == self.each
    }

    fn push(&mut self, slice: Histogram) {
        self.open = 0;
        self.done.push(slice);
        if self.done.len() == MOST_SLICES {
            self.done = self.done.chunks(2).map(joined).collect();
            self.each *= 2;
        }
    }
}

/// The sum of histograms of one thread.
fn joined(slices: &[Histogram]) -> Histogram {
    let mut all = Histogram { layout: BinLayout::default(), ..Histogram::default() };
    for slice in slices {
        // Layouts of one unit share their first edges.
        let _ = all.add(slice);
    }
    all
}

/// A thread with these slices, in order of time.
fn series_of(mut slices: Vec<Histogram>) -> LatencySeries {
    let counts = joined(&slices);
    slices.iter_mut().for_each(|slice| slice.layout = counts.layout.clone());
    LatencySeries { counts, slices, ..LatencySeries::default() }
}

/// Latencies of one thread in whole units, with one bin per unit, while they are read.
#[derive(Clone, Default, Debug)]
pub struct UnitSamples {
    tally: Tally,
    slices: Slices,
    /// Those beyond the last bin.
    over: u64,
    over_sum: i128,
    over_min: i64,
    over_max: i64,
}

impl UnitSamples {
    /// Counts a latency in units; `None` if it is negative or longer than 292 years.
    #[inline]
    pub fn push(&mut self, units: i64, unit_ns: i64) -> Option<()> {
        let bin = u64::try_from(units).ok()?;
        if bin < MOST_BINS {
            self.tally.count(bin as u32);
        } else {
            units.checked_mul(unit_ns)?;
            self.over_min = if self.over == 0 { units } else { self.over_min.min(units) };
            self.over_max = self.over_max.max(units);
            self.over_sum += i128::from(units);
            self.over += 1;
        }
        self.end_slice_if_full();
        Some(())
    }

    /// Counts a latency, if many were counted and it is as small as most of them.
    #[inline]
    pub fn push_small(&mut self, units: u64) -> bool {
        let was_counted = self.tally.count_dense(units as usize);
        if was_counted {
            self.end_slice_if_full();
        }
        was_counted
    }

    #[inline]
    fn end_slice_if_full(&mut self) {
        if self.slices.is_full_with_one_more() {
            self.end_slice();
        }
    }

    /// Ends a slice, whose unit is treated as a nanosecond until all are known. Latencies beyond
    /// the last bin are still included in sum and maximum.
    fn end_slice(&mut self) {
        let bins = self.tally.drain();
        let units = |row: &(u32, u64)| i128::from(row.0) * i128::from(row.1);
        let sum: i128 = bins.iter().map(units).sum::<i128>() + self.over_sum;
        let first = bins.first().map_or(self.over_min, |row| row.0.into());
        let last = bins.last().map_or(0, |row| row.0);
        let (number, most) = match self.over {
            0 => (last + 1, last.into()),
            _ => (MOST_BINS as u32, self.over_max),
        };
        self.slices.push(Histogram {
            count: bins.iter().map(|row| row.1).sum::<u64>() + self.over,
            sum_ns: sum,
            min_ns: Nanos(first),
            max_ns: Nanos(most),
            bins,
            layout: unit_bins(1, number),
            overflow: Overflow { count: self.over, ..Overflow::default() },
            ..Histogram::default()
        });
        (self.over, self.over_sum, self.over_min, self.over_max) = (0, 0, 0, 0);
    }

    /// The latencies as a thread.
    pub fn series(&mut self, unit_ns: i64) -> LatencySeries {
        if self.slices.open > 0 {
            self.end_slice();
        }
        let mut slices = std::mem::take(&mut self.slices).done;
        for slice in &mut slices {
            let number = slice.layout.end().0 as u32;
            slice.layout = unit_bins(unit_ns, number);
            slice.sum_ns *= i128::from(unit_ns);
            (slice.min_ns, slice.max_ns) = (slice.min_ns * unit_ns, slice.max_ns * unit_ns);
        }
        series_of(slices)
    }
}

fn unit_bins(unit_ns: i64, number: u32) -> BinLayout {
    BinLayout::equal(Nanos::ZERO, Nanos(unit_ns), number).unwrap_or_default()
}

/// Latencies of one thread in latlab's own bins, while they are read.
#[derive(Clone, Default, Debug)]
pub struct Samples {
    tally: Tally,
    slices: Slices,
    /// A value stood for several latencies, whose order is unknown.
    has_counts: bool,
    count: u64,
    sum_ns: i128,
    min_ns: i64,
    max_ns: i64,
}

impl Samples {
    /// Counts a non-negative latency.
    pub fn push(&mut self, latency_ns: i64) {
        self.push_times(latency_ns, 1);
    }

    /// Counts a non-negative latency `times` times.
    pub fn push_times(&mut self, latency_ns: i64, times: u64) {
        if times == 0 {
            return;
        }
        self.has_counts |= times > 1;
        if self.count == 0 {
            (self.min_ns, self.max_ns) = (latency_ns, latency_ns);
        } else {
            self.min_ns = self.min_ns.min(latency_ns);
            self.max_ns = self.max_ns.max(latency_ns);
        }
        self.count += times;
        self.sum_ns += i128::from(latency_ns) * i128::from(times);
        self.tally.add(bin_of(latency_ns.unsigned_abs()) as u32, times);
        if self.slices.is_full_with_one_more() {
            self.end_slice();
        }
    }

    fn end_slice(&mut self) {
        self.slices.push(Histogram {
            count: std::mem::take(&mut self.count),
            sum_ns: std::mem::take(&mut self.sum_ns),
            min_ns: Nanos(self.min_ns),
            max_ns: Nanos(self.max_ns),
            bins: self.tally.drain(),
            ..Histogram::default()
        });
    }

    /// The latencies as a thread.
    pub fn series(&mut self) -> LatencySeries {
        if self.slices.open > 0 {
            self.end_slice();
        }
        let slices = std::mem::take(&mut self.slices).done;
        match self.has_counts {
            true => LatencySeries { counts: joined(&slices), ..LatencySeries::default() },
            false => series_of(slices),
        }
    }
}
