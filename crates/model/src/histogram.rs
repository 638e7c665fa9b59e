//! A histogram of latencies, and the edges of its bins.
//!
//! latlab's own bins, into which the measuring loop counts, are of 100 ns up to 1 ms, then 32 in each doubling up to
//! 104 days; a value below zero has a counter of its own. So nothing that a clock can show is
//! without a place. A histogram of somebody else's file keeps the edges of that file.

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

/// More in one histogram is no count; the limit keeps every sum of a run within its integer.
const LARGEST_COUNT: u64 = 1 << 36;

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

/// One row of a histogram as people and tables see it: latencies from `low_ns` to below `high_ns`. A
/// row that ends at the largest time has no end: how large its latencies are is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bin {
    /// Smallest latency counted here.
    pub low_ns: Nanos,
    /// First latency not counted here any more.
    pub high_ns: Nanos,
    /// How many there were.
    pub count: u64,
}

impl Bin {
    /// Whether it ends, so that the size of its latencies is known. The last of latlab's own bins takes
    /// whatever a clock can show.
    pub fn has_end(&self) -> bool {
        self.high_ns < Nanos::MAX || self.low_ns.0 as u64 == bin_low(BINS - 1)
    }
}

/// Where the sizes of latencies end that are known, of rows of one or several histograms: none where
/// all rows have an end.
pub fn censored_above(rows: &[Bin]) -> Option<Nanos> {
    let open = rows.iter().filter(|row| !row.has_end() && row.count > 0);
    open.map(|row| row.low_ns).min()
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
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Histogram {
    /// Latencies recorded: cycles that woke up.
    pub count: u64,
    /// Sum of all latencies.
    pub sum_ns: i128,
    /// Smallest latency; meaningless while `count` is 0.
    pub min_ns: Nanos,
    /// Largest latency that is known; meaningless while `count` is 0.
    pub max_ns: Nanos,
    /// Latencies below the first edge: below zero, which a clock that was set back can produce.
    pub underflow: u64,
    /// Releases that were already past when the cycle before them ended.
    pub missed: u64,
    /// Releases, skipped ones included, that were later than the deadline.
    pub misses: u64,
    /// Bin number and count.
    pub bins: Vec<(u32, u64)>,
    /// Where the bins begin and end.
    pub layout: BinLayout,
    /// Latencies beyond the last edge, of which latlab's own bins have none.
    pub overflow: Overflow,
}

/// Latencies that lie beyond the last edge of a histogram.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Overflow {
    /// How many there were.
    pub count: u64,
    /// Whether the largest of them is not known.
    pub max_is_unknown: bool,
    /// Whether the smallest latency is not known, as of a file that states none.
    pub min_is_unknown: bool,
    /// How many of them are not in the sum, because nobody knows how large they are.
    pub not_in_sum: u64,
}

/// Two histograms have different edges, so that their bins cannot be added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the two histograms have different bins")]
pub struct DifferentLayouts;

impl Histogram {
    /// Counts latencies in bins of these edges.
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

    /// Adds another histogram of the same edges to this one; an empty one takes the edges of the
    /// other, and one that ends earlier those beyond its end, if it has no latency there. An error
    /// leaves it as it was.
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
        self.missed += other.missed;
        self.misses += other.misses;
        self.bins = merge(&self.bins, &other.bins);
        Ok(())
    }

    /// Whether its bins are the first of the other's, and hold all of its latencies.
    fn begins(&self, other: &Histogram) -> bool {
        self.overflow.count == 0 && self.layout.begins(&other.layout)
    }

    /// The same counts without what is known of their distribution, for a sum over different edges.
    pub fn without_bins(&self) -> Histogram {
        let overflow = Overflow { count: 0, ..self.overflow };
        Histogram { bins: Vec::new(), layout: BinLayout::default(), overflow, ..*self }
    }

    /// Sum of all bins and of what lies outside of them; equals `count` unless something was lost.
    pub fn binned(&self) -> u64 {
        let bins = self.bins.iter().map(|(_, count)| count).sum::<u64>();
        self.underflow + bins + self.overflow.count
    }

    /// Latencies that the sum holds: all but those beyond the last edge whose size is unknown.
    pub fn summed(&self) -> u64 {
        self.count.saturating_sub(self.overflow.not_in_sum)
    }

    /// Mean of the latencies that the sum holds; none while there is none.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.summed() > 0).then(|| self.sum_ns as f64 / self.summed() as f64)
    }

    /// Smallest latency; none while nothing was recorded, or where it is not known.
    pub fn min(&self) -> Option<Nanos> {
        (self.count > 0 && !self.overflow.min_is_unknown).then_some(self.min_ns)
    }

    /// Largest latency; none while nothing was recorded, or where it is not known.
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0 && !self.overflow.max_is_unknown).then_some(self.max_ns)
    }

    /// The rows with their edges. Latencies below the first edge are one row from the minimum up to
    /// it, those beyond the last edge one without an end. A single one whose size is known as the
    /// maximum has a row of its own.
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

    /// Whether the counts fit each other, so that sums of them can be trusted.
    pub fn check(&self) -> Result<(), IntervalFlaw> {
        let known_bins = self.bins.iter().all(|(bin, _)| *bin < self.layout.bins());
        let rising = self.bins.is_sorted_by(|one, next| one.0 < next.0);
        let outside = self.underflow.checked_add(self.overflow.count);
        let mut bins = self.bins.iter().map(|(_, count)| *count);
        let binned = outside.and_then(|outside| bins.try_fold(outside, u64::checked_add));
        match () {
            () if self.count.max(self.missed).max(self.misses) > LARGEST_COUNT => {
                Err(IntervalFlaw::ImpossibleCount)
            }
            () if !known_bins || !rising => Err(IntervalFlaw::DisorderedBins),
            () if binned != Some(self.count) => Err(IntervalFlaw::WrongBinSum),
            () => Ok(()),
        }
    }
}

/// Many latencies in one go, in latlab's own bins.
impl FromIterator<Nanos> for Histogram {
    fn from_iter<I: IntoIterator<Item = Nanos>>(latencies: I) -> Histogram {
        Histogram::with_layout(BinLayout::default(), latencies)
    }
}

/// A histogram of latlab's own bins as it is packed into frames: as it was before others had theirs.
#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    count: u64,
    sum_ns: i128,
    min_ns: Nanos,
    max_ns: Nanos,
    underflow: u64,
    missed: u64,
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
        let Histogram { count, sum_ns, min_ns, max_ns, underflow, missed, misses, .. } = *counts;
        let bins = Cow::Borrowed(&counts.bins[..]);
        Packed { count, sum_ns, min_ns, max_ns, underflow, missed, misses, bins }
    }

    fn counts(self) -> Histogram {
        let Packed { count, sum_ns, min_ns, max_ns, underflow, missed, misses, bins } = self;
        let counts = Histogram { count, sum_ns, min_ns, max_ns, ..Histogram::default() };
        Histogram { underflow, missed, misses, bins: bins.into_owned(), ..counts }
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
