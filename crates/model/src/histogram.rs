//! A histogram of latencies, and the edges of its bins.
//!
//! latlab's own bins, used by the measuring loop, are 100 ns wide up to 1 ms, then 32 to each
//! doubling up to 104 days, with a separate counter for values below zero. So every value a clock
//! can show has a place. A histogram of an imported file keeps the edges of that file.

mod layout;

pub use layout::{BinLayout, LayoutError, OutsideBins};

use crate::Nanos;
use crate::finding::IntervalFlaw;
use serde::de::Deserializer;
use serde::ser::{Error as _, Serializer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
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

/// A larger count is treated as damage; the limit keeps every sum of a run within its integer.
const LARGEST_COUNT: u64 = 1 << 36;

/// Bin of a non-negative latency; values beyond 104 days fall into the last bin.
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

/// Smallest latency of a bin.
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

/// First latency above a bin.
pub const fn bin_high(bin: usize) -> u64 {
    if bin + 1 == BINS { i64::MAX as u64 } else { bin_low(bin + 1) }
}

/// One row of a histogram: latencies from `low_ns` to below `high_ns`. If `high_ns` is the largest
/// time, the row has no upper end and the size of its latencies is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bin {
    /// Smallest latency counted here.
    pub low_ns: Nanos,
    /// First latency no longer counted here.
    pub high_ns: Nanos,
    /// Number of latencies.
    pub count: u64,
}

impl Bin {
    /// Whether the row has an upper end, so that the size of its latencies is known. The last of
    /// latlab's own bins takes whatever a clock can show.
    pub fn has_end(&self) -> bool {
        self.high_ns < Nanos::MAX || self.low_ns.0 as u64 == bin_low(BINS - 1)
    }
}

/// The lower bound of latencies of unknown size in the rows of one or more histograms; `None` if
/// every row has an upper end.
pub fn censored_above(rows: &[Bin]) -> Option<Nanos> {
    let open = rows.iter().filter(|row| !row.has_end() && row.count > 0);
    open.map(|row| row.low_ns).min()
}

/// The rows of one measuring thread, as in `histogram.parquet`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ThreadBins {
    /// Number of the thread.
    pub thread: u32,
    /// Non-empty rows, ascending.
    pub bins: Vec<Bin>,
}

/// A thread's counts over one interval or a whole run.
///
/// `bins` is sparse and ordered by bin number, so the size of an interval depends on what it holds.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Histogram {
    /// Latencies recorded, one per cycle.
    pub count: u64,
    /// Sum of all latencies.
    pub sum_ns: i128,
    /// Smallest latency; meaningless while `count` is 0.
    pub min_ns: Nanos,
    /// Largest known latency; meaningless while `count` is 0.
    pub max_ns: Nanos,
    /// Latencies below the first edge; with latlab's bins those below zero, which occur if the
    /// clock was set back.
    pub underflow: u64,
    /// Overruns: releases that had already passed when the previous cycle ended.
    pub overruns: u64,
    /// Releases later than the deadline, including skipped ones.
    pub misses: u64,
    /// Bin number and count, ascending by number.
    pub bins: Vec<(u32, u64)>,
    /// Edges of the bins.
    pub layout: BinLayout,
    /// Latencies beyond the last edge; latlab's own bins have none.
    pub overflow: Overflow,
}

/// Latencies beyond the last edge of a histogram.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Overflow {
    /// Number of these latencies.
    pub count: u64,
    /// Whether the largest of them is unknown.
    pub max_is_unknown: bool,
    /// Whether the smallest latency is unknown because the file states none.
    pub min_is_unknown: bool,
    /// Number of them that are not in the sum because their size is unknown.
    pub not_in_sum: u64,
}

/// The histograms have different edges, so their bins cannot be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the two histograms have different bins")]
pub struct DifferentLayouts;

impl Histogram {
    /// Counts latencies in bins with these edges.
    pub fn with_layout(layout: BinLayout, latencies: impl IntoIterator<Item = Nanos>) -> Histogram {
        let mut total = Histogram::default();
        let mut bins = BTreeMap::new();
        for latency in latencies {
            total.min_ns = if total.count == 0 { latency } else { total.min_ns.min(latency) };
            total.max_ns = if total.count == 0 { latency } else { total.max_ns.max(latency) };
            total.count += 1;
            total.sum_ns += i128::from(latency.0);
            match layout.bin_of(latency) {
                Ok(bin) => *bins.entry(bin).or_insert(0) += 1,
                Err(OutsideBins::Below) => total.underflow += 1,
                Err(OutsideBins::Above) => total.overflow.count += 1,
            }
        }
        Histogram { bins: bins.into_iter().collect(), layout, ..total }
    }

    /// Adds a histogram with the same edges. An empty histogram takes the edges of the other, and
    /// one that ends earlier takes the edges beyond its end, if it has no latency there. On error,
    /// this histogram is unchanged.
    pub fn add(&mut self, other: &Histogram) -> Result<(), DifferentLayouts> {
        if self.layout != other.layout {
            match (self.count, other.count) {
                (0, _) => self.layout = other.layout.clone(),
                (_, 0) => {}
                _ if self.begins(other) => self.layout = other.layout.clone(),
                _ if other.begins(self) => {}
                _ => return Err(DifferentLayouts),
            }
        }
        if other.count > 0 {
            self.min_ns =
                if self.count == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
            self.max_ns =
                if self.count == 0 { other.max_ns } else { self.max_ns.max(other.max_ns) };
        }
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.underflow += other.underflow;
        self.overflow.count += other.overflow.count;
        self.overflow.max_is_unknown |= other.overflow.max_is_unknown;
        self.overflow.min_is_unknown |= other.overflow.min_is_unknown;
        self.overflow.not_in_sum += other.overflow.not_in_sum;
        self.overruns += other.overruns;
        self.misses += other.misses;
        self.bins = merge(&self.bins, &other.bins);
        Ok(())
    }

    /// Whether its bins are the first of the other's and hold all its latencies.
    fn begins(&self, other: &Histogram) -> bool {
        self.overflow.count == 0 && self.layout.begins(&other.layout)
    }

    /// The counts without their distribution, for sums over different edges.
    pub fn without_bins(&self) -> Histogram {
        let overflow = Overflow { count: 0, ..self.overflow };
        Histogram { bins: Vec::new(), layout: BinLayout::default(), overflow, ..*self }
    }

    /// Sum of all bins and of latencies outside of them; equals `count` unless something was lost.
    pub fn binned(&self) -> u64 {
        let bins = self.bins.iter().map(|(_, count)| count).sum::<u64>();
        self.underflow + bins + self.overflow.count
    }

    /// Number of latencies in the sum: all but those beyond the last edge whose size is unknown.
    pub fn summed(&self) -> u64 {
        self.count.saturating_sub(self.overflow.not_in_sum)
    }

    /// Mean of the latencies in the sum; `None` if there are none.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.summed() > 0).then(|| self.sum_ns as f64 / self.summed() as f64)
    }

    /// Smallest latency; `None` if nothing was recorded or it is unknown.
    pub fn min(&self) -> Option<Nanos> {
        (self.count > 0 && !self.overflow.min_is_unknown).then_some(self.min_ns)
    }

    /// Largest latency; `None` if nothing was recorded or it is unknown.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0 && !self.overflow.max_is_unknown).then_some(self.max_ns)
    }

    /// Rows with their edges. Latencies below the first edge form one row from the minimum to that
    /// edge, those beyond the last edge one row without an end. A single latency beyond it with a
    /// known size, the maximum, gets a row for itself.
    pub fn rows(&self) -> Vec<Bin> {
        let underflow = (self.underflow > 0).then_some(Bin {
            low_ns: self.min_ns,
            high_ns: self.layout.start(),
            count: self.underflow,
        });
        let has_place = self.overflow.count > 0 && !self.layout.is_unknown();
        let (low_ns, high_ns) = match (self.overflow.count, self.max()) {
            (1, Some(max)) => (max, max + Nanos(1)),
            _ => (self.layout.end(), Nanos::MAX),
        };
        let overflow = Bin { low_ns, high_ns, count: self.overflow.count };
        let overflow = has_place.then_some(overflow);
        let bins = self.bins.iter().map(|&(bin, count)| Bin {
            low_ns: self.layout.low(bin),
            high_ns: self.layout.high(bin),
            count,
        });
        underflow.into_iter().chain(bins).chain(overflow).collect()
    }

    /// Checks that the counts agree with each other, so that they can be summed.
    pub fn check(&self) -> Result<(), IntervalFlaw> {
        let known_bins = self.bins.iter().all(|(bin, _)| *bin < self.layout.bins());
        let rising = self.bins.is_sorted_by(|one, next| one.0 < next.0);
        let outside = self.underflow.checked_add(self.overflow.count);
        let mut bins = self.bins.iter().map(|(_, count)| *count);
        let binned = outside.and_then(|outside| bins.try_fold(outside, u64::checked_add));
        match () {
            () if self.count.max(self.overruns).max(self.misses) > LARGEST_COUNT => {
                Err(IntervalFlaw::ImpossibleCount)
            }
            () if !known_bins || !rising => Err(IntervalFlaw::DisorderedBins),
            () if binned != Some(self.count) => Err(IntervalFlaw::WrongBinSum),
            () => Ok(()),
        }
    }
}

/// Collects latencies in latlab's own bins.
impl FromIterator<Nanos> for Histogram {
    fn from_iter<I: IntoIterator<Item = Nanos>>(latencies: I) -> Histogram {
        Histogram::with_layout(BinLayout::default(), latencies)
    }
}

/// Wire format of a histogram with latlab's own bins; other edges follow separately.
#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    count: u64,
    sum_ns: i128,
    min_ns: Nanos,
    max_ns: Nanos,
    underflow: u64,
    overruns: u64,
    misses: u64,
    bins: Cow<'a, [(u32, u64)]>,
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !self.layout.is_standard() || self.overflow.count > 0 {
            return Err(S::Error::custom("bins of other edges must be sent with their edges"));
        }
        Packed::new(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
        Packed::deserialize(deserializer).map(Packed::counts)
    }
}

impl Packed<'_> {
    fn new(counts: &Histogram) -> Packed<'_> {
        let Histogram { count, sum_ns, min_ns, max_ns, underflow, overruns, misses, .. } = *counts;
        let bins = Cow::Borrowed(&counts.bins[..]);
        Packed { count, sum_ns, min_ns, max_ns, underflow, overruns, misses, bins }
    }

    fn counts(self) -> Histogram {
        let Packed { count, sum_ns, min_ns, max_ns, underflow, overruns, misses, bins } = self;
        let counts = Histogram { count, sum_ns, min_ns, max_ns, ..Histogram::default() };
        Histogram { underflow, overruns, misses, bins: bins.into_owned(), ..counts }
    }
}

fn merge(left: &[(u32, u64)], right: &[(u32, u64)]) -> Vec<(u32, u64)> {
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
