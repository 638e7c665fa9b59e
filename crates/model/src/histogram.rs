//! The bins of every latency histogram, and a histogram of one thread.
//!
//! Bins of 100 ns up to 1 ms, then 32 bins in each doubling up to 104 days; a value below
//! zero has a counter of its own. So nothing that a clock can show is without a place.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Width of the fine bins.
pub const FINE_WIDTH: u64 = 100;
/// First latency that is not in a fine bin.
pub const FINE_END: u64 = 1_000_000;
/// Number of fine bins.
pub const FINE_BINS: usize = (FINE_END / FINE_WIDTH) as usize;
/// Bins in each doubling above the fine ones.
const SUB_BINS: usize = 32;
const SUB_BITS: u32 = SUB_BINS.trailing_zeros();
/// The doubling in which 1 ms lies: 2^19 ns to 2^20 ns.
const FIRST_OCTAVE: u32 = FINE_END.ilog2();
/// The last doubling: 2^52 ns to 2^53 ns, which is 104 days.
const LAST_OCTAVE: u32 = 52;
/// Sub-bins of the first doubling that lie below 1 ms and so would stay empty.
const SKIPPED: usize = (FINE_END >> (FIRST_OCTAVE - SUB_BITS)) as usize - SUB_BINS;
/// Number of all bins.
pub const BINS: usize = FINE_BINS + (LAST_OCTAVE - FIRST_OCTAVE + 1) as usize * SUB_BINS - SKIPPED;

/// The bin of a latency that is not negative; beyond 104 days the last bin takes it.
#[inline]
pub const fn bin_of(latency: u64) -> usize {
    if latency < FINE_END {
        return (latency / FINE_WIDTH) as usize;
    }
    let octave = latency.ilog2();
    if octave > LAST_OCTAVE {
        return BINS - 1;
    }
    let sub = (latency >> (octave - SUB_BITS)) as usize - SUB_BINS;
    FINE_BINS + (octave - FIRST_OCTAVE) as usize * SUB_BINS + sub - SKIPPED
}

/// The smallest latency of a bin.
pub const fn bin_low(bin: usize) -> u64 {
    if bin < FINE_BINS {
        return bin as u64 * FINE_WIDTH;
    }
    if bin == FINE_BINS {
        return FINE_END;
    }
    let position = bin - FINE_BINS + SKIPPED;
    let octave = FIRST_OCTAVE + (position / SUB_BINS) as u32;
    ((SUB_BINS + position % SUB_BINS) as u64) << (octave - SUB_BITS)
}

/// The first latency above a bin.
pub const fn bin_high(bin: usize) -> u64 {
    if bin + 1 == BINS { i64::MAX as u64 } else { bin_low(bin + 1) }
}

/// One row of a histogram as people and tables see it: latencies from `low_ns` to below `high_ns`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bin {
    /// Smallest latency counted here.
    pub low_ns: Nanos,
    /// First latency not counted here any more.
    pub high_ns: Nanos,
    /// How many there were.
    pub count: u64,
}

/// The rows of one measuring thread, as `histogram.parquet` holds them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreadBins {
    /// Number of the thread.
    pub thread: u32,
    /// The rows with a count, in rising order.
    pub bins: Vec<Bin>,
}

/// What a thread counted in one interval or in a whole run.
///
/// `bins` is sparse, in rising order of the bin's number, so that an interval of a second
/// costs as much as it holds.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Histogram {
    /// Latencies recorded: cycles that woke up.
    pub count: u64,
    /// Sum of all latencies.
    pub sum_ns: i128,
    /// Smallest latency; meaningless while `count` is 0.
    pub min_ns: Nanos,
    /// Largest latency; meaningless while `count` is 0.
    pub max_ns: Nanos,
    /// Latencies below zero, which a clock that was set back can produce.
    pub underflow: u64,
    /// Releases that were already past when the cycle before them ended.
    pub missed: u64,
    /// Releases, skipped ones included, that were later than the deadline.
    pub misses: u64,
    /// Bin number and count.
    pub bins: Vec<(u16, u64)>,
}

impl Histogram {
    /// Adds another histogram to this one.
    pub fn add(&mut self, other: &Histogram) {
        if other.count > 0 {
            self.min_ns =
                if self.count == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
            self.max_ns =
                if self.count == 0 { other.max_ns } else { self.max_ns.max(other.max_ns) };
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.underflow += other.underflow;
        self.missed += other.missed;
        self.misses += other.misses;
        self.bins = merge(&self.bins, &other.bins);
    }

    /// Records one latency; the measuring loop has its own buffer, this is for everybody else.
    pub fn record(&mut self, latency: Nanos) {
        self.add(&[latency].into_iter().collect());
    }

    /// Sum of all bins and of the underflow; equals `count` unless something was lost.
    pub fn binned(&self) -> u64 {
        self.underflow + self.bins.iter().map(|(_, count)| count).sum::<u64>()
    }

    /// Mean latency; none while nothing was recorded.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    /// The rows with their edges; negative latencies are one row from the minimum up to zero.
    pub fn rows(&self) -> Vec<Bin> {
        let underflow = (self.underflow > 0).then_some(Bin {
            low_ns: self.min_ns,
            high_ns: Nanos::ZERO,
            count: self.underflow,
        });
        underflow
            .into_iter()
            .chain(self.bins.iter().map(|&(bin, count)| Bin {
                low_ns: Nanos(bin_low(bin.into()) as i64),
                high_ns: Nanos(bin_high(bin.into()) as i64),
                count,
            }))
            .collect()
    }
}

/// Many latencies in one go, which recording them one by one would take long for.
impl FromIterator<Nanos> for Histogram {
    fn from_iter<I: IntoIterator<Item = Nanos>>(latencies: I) -> Histogram {
        let mut total = Histogram::default();
        let mut bins = BTreeMap::new();
        for latency in latencies {
            total.min_ns = if total.count == 0 { latency } else { total.min_ns.min(latency) };
            total.max_ns = if total.count == 0 { latency } else { total.max_ns.max(latency) };
            total.count += 1;
            total.sum_ns += i128::from(latency.0);
            match u64::try_from(latency.0) {
                Ok(value) => *bins.entry(bin_of(value) as u16).or_insert(0) += 1,
                Err(_) => total.underflow += 1,
            }
        }
        Histogram { bins: bins.into_iter().collect(), ..total }
    }
}

fn merge(left: &[(u16, u64)], right: &[(u16, u64)]) -> Vec<(u16, u64)> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    loop {
        match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a.0 == b.0 => {
                merged.push((a.0, a.1 + b.1));
                left.next();
                right.next();
            }
            (Some(a), Some(b)) if a.0 < b.0 => {
                merged.push(**a);
                left.next();
            }
            (_, Some(b)) => {
                merged.push(**b);
                right.next();
            }
            (Some(a), None) => {
                merged.push(**a);
                left.next();
            }
            (None, None) => return merged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Invariant (releases): Bins have no gaps, and every latency lies in its own.
    #[test]
    fn bins_follow_each_other_without_gap() {
        assert!(BINS <= u16::MAX as usize);
        for bin in 0..BINS {
            assert_eq!(bin_of(bin_low(bin)), bin);
            assert!(bin_low(bin) < bin_high(bin));
            assert_eq!(bin_of(bin_high(bin) - 1), bin);
        }
    }

    #[test]
    fn hours_have_a_bin_of_three_percent() {
        let three_hours = 3 * 3600 * 1_000_000_000_u64;
        let bin = bin_of(three_hours);
        assert!(bin < BINS - 1);
        assert!((bin_high(bin) - bin_low(bin)) as f64 <= three_hours as f64 / 32.0);
    }

    proptest! {
        /// Invariant (releases): Bins have no gaps, and every latency lies in its own.
        #[test]
        fn every_latency_lies_in_its_bin(latency in 0u64..(1 << 53)) {
            let bin = bin_of(latency);
            prop_assert!(bin_low(bin) <= latency && latency < bin_high(bin));
        }

        #[test]
        fn the_parts_add_up_to_the_whole(
            latencies in proptest::collection::vec(-2_000i64..5_000_000, 1..200), cut in 0usize..200
        ) {
            let cut = cut.min(latencies.len());
            let of = |part: &[i64]| part.iter().fold(Histogram::default(), |mut all, &latency| {
                all.record(Nanos(latency));
                all
            });
            let mut sum = of(&latencies[..cut]);
            sum.add(&of(&latencies[cut..]));
            prop_assert_eq!(&sum, &of(&latencies));
            prop_assert_eq!(sum.binned(), latencies.len() as u64);
            prop_assert_eq!(sum.min_ns.0, *latencies.iter().min().unwrap());
            prop_assert_eq!(sum.max_ns.0, *latencies.iter().max().unwrap());
            prop_assert_eq!(sum.sum_ns, latencies.iter().map(|&l| i128::from(l)).sum::<i128>());
        }
    }
}
