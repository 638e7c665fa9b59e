//! Edges of a histogram's bins.

use super::{BINS, bin_high, bin_low, bin_of};
use crate::Nanos;
use serde::{Deserialize, Serialize};

/// The edges of a histogram's bins. Bins are numbered from 0 and contiguous; each holds the
/// latencies from its lower edge to below its upper edge.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(try_from = "Edges", into = "Edges")]
pub struct BinLayout(Edges);

/// Representations of the edges.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
enum Edges {
    /// latlab's own bins: see [`super`].
    #[default]
    Standard,
    /// `count` bins of equal `width`, starting at `start`.
    Equal { start: Nanos, width: Nanos, count: u32 },
    /// All edges, ascending: one more than there are bins.
    Explicit(Vec<Nanos>),
    /// No bins: the distribution of the latencies is unknown.
    Unknown,
    /// `count` bins around the multiples of a step, for latencies that are such multiples rounded
    /// to nanoseconds; the first bin ends at half a step.
    Around { step_ps: i64, count: u32 },
}

/// Why edges are not a valid layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LayoutError {
    /// There are no bins.
    #[error("a histogram needs at least one bin")]
    NoBins,
    /// A bin is empty or inverted.
    #[error("the edges of the bins are not in ascending order")]
    NotRising,
    /// The last edge is beyond what a clock can show.
    #[error("the last bin is beyond 292 years")]
    TooLong,
}

/// On which side of all bins a latency lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutsideBins {
    /// Below the first edge.
    Below,
    /// At or above the last edge.
    Above,
}

impl TryFrom<Edges> for BinLayout {
    type Error = LayoutError;

    fn try_from(edges: Edges) -> Result<BinLayout, LayoutError> {
        match edges {
            Edges::Standard => Ok(BinLayout::default()),
            Edges::Equal { start, width, count } => BinLayout::equal(start, width, count),
            Edges::Explicit(edges) => BinLayout::explicit(edges),
            Edges::Unknown => Ok(BinLayout::unknown()),
            Edges::Around { step_ps, count } => BinLayout::around(step_ps, count),
        }
    }
}

impl From<BinLayout> for Edges {
    fn from(layout: BinLayout) -> Edges {
        layout.0
    }
}

impl BinLayout {
    /// `count` bins of equal `width`, starting at `start`.
    pub fn equal(start: Nanos, width: Nanos, count: u32) -> Result<BinLayout, LayoutError> {
        if count == 0 {
            return Err(LayoutError::NoBins);
        }
        if width <= Nanos::ZERO {
            return Err(LayoutError::NotRising);
        }
        let length = width.0.checked_mul(count.into()).ok_or(LayoutError::TooLong)?;
        start.0.checked_add(length).ok_or(LayoutError::TooLong)?;
        Ok(BinLayout(Edges::Equal { start, width, count }))
    }

    /// `count` bins around the multiples of a step of at least a nanosecond: from half a step below
    /// each to half a step above, in whole nanoseconds.
    pub fn around(step_ps: i64, count: u32) -> Result<BinLayout, LayoutError> {
        if count == 0 {
            return Err(LayoutError::NoBins);
        }
        if step_ps < PICOSECONDS {
            return Err(LayoutError::NotRising);
        }
        step_ps.checked_mul(i64::from(count)).ok_or(LayoutError::TooLong)?;
        Ok(BinLayout(Edges::Around { step_ps, count }))
    }

    /// Bins between these edges.
    pub fn explicit(edges: Vec<Nanos>) -> Result<BinLayout, LayoutError> {
        if edges.len() < 2 || u32::try_from(edges.len()).is_err() {
            return Err(LayoutError::NoBins);
        }
        match edges.is_sorted_by(|low, high| low < high) {
            true => Ok(BinLayout(Edges::Explicit(edges))),
            false => Err(LayoutError::NotRising),
        }
    }

    /// No bins, for latencies known only by summary figures; all count as beyond the last edge.
    pub fn unknown() -> BinLayout {
        BinLayout(Edges::Unknown)
    }

    /// Whether there are no bins, so that the distribution is unknown.
    pub fn is_unknown(&self) -> bool {
        self.0 == Edges::Unknown
    }

    /// Whether these are latlab's own bins.
    pub fn is_standard(&self) -> bool {
        self.0 == Edges::Standard
    }

    /// Number of bins.
    pub fn bins(&self) -> u32 {
        match &self.0 {
            Edges::Standard => BINS as u32,
            Edges::Equal { count, .. } | Edges::Around { count, .. } => *count,
            Edges::Explicit(edges) => edges.len() as u32 - 1,
            Edges::Unknown => 0,
        }
    }

    /// Bin of a latency; in latlab's own layout, values beyond 104 days fall into the last bin.
    pub fn bin_of(&self, latency: Nanos) -> Result<u32, OutsideBins> {
        match &self.0 {
            Edges::Standard => match u64::try_from(latency.0) {
                Ok(latency) => Ok(bin_of(latency) as u32),
                Err(_) => Err(OutsideBins::Below),
            },
            Edges::Equal { start, .. } if latency < *start => Err(OutsideBins::Below),
            Edges::Equal { start, width, count } => {
                let bin = latency.0.abs_diff(start.0) / width.0.unsigned_abs();
                u32::try_from(bin).ok().filter(|bin| bin < count).ok_or(OutsideBins::Above)
            }
            Edges::Unknown => Err(OutsideBins::Above),
            Edges::Around { .. } if latency < Nanos::ZERO => Err(OutsideBins::Below),
            Edges::Around { step_ps, count } => {
                let near = i128::from(latency.0) * i128::from(PICOSECONDS) / i128::from(*step_ps);
                let near = near.min(i128::from(*count)) as i64;
                // Edges are rounded, so the right bin may be a neighbour.
                let holds = |bin: &i64| {
                    (around_edge(*step_ps, *bin)..around_edge(*step_ps, bin + 1)).contains(&latency)
                };
                let bin = (near.saturating_sub(1).max(0)..=near + 2).find(holds);
                bin.and_then(|bin| u32::try_from(bin).ok())
                    .filter(|bin| bin < count)
                    .ok_or(OutsideBins::Above)
            }
            Edges::Explicit(edges) => match edges.partition_point(|edge| *edge <= latency) {
                0 => Err(OutsideBins::Below),
                above if above == edges.len() => Err(OutsideBins::Above),
                above => Ok(above as u32 - 1),
            },
        }
    }

    /// Lower edge of a bin; for the number after the last bin, the last edge.
    pub fn low(&self, bin: u32) -> Nanos {
        let bin = bin.min(self.bins());
        match &self.0 {
            Edges::Standard if bin == BINS as u32 => Nanos::MAX,
            Edges::Standard => Nanos(bin_low(bin as usize) as i64),
            Edges::Equal { start, width, .. } => Nanos(start.0 + width.0 * i64::from(bin)),
            Edges::Explicit(edges) => edges[bin as usize],
            Edges::Unknown => Nanos::ZERO,
            Edges::Around { step_ps, .. } => around_edge(*step_ps, i64::from(bin)),
        }
    }

    /// First latency above a bin.
    pub fn high(&self, bin: u32) -> Nanos {
        match &self.0 {
            Edges::Standard => Nanos(bin_high((bin as usize).min(BINS - 1)) as i64),
            _ => self.low(bin.saturating_add(1)),
        }
    }

    /// Whether these are the first bins of a longer layout with the same widths.
    pub fn begins(&self, other: &BinLayout) -> bool {
        match (&self.0, &other.0) {
            (
                Edges::Equal { start, width, count },
                Edges::Equal { start: from, width: each, count: more },
            ) => (start, width) == (from, each) && count <= more,
            _ => false,
        }
    }

    /// The first edge.
    pub fn start(&self) -> Nanos {
        self.low(0)
    }

    /// The last edge.
    pub fn end(&self) -> Nanos {
        self.low(self.bins())
    }
}

/// Picoseconds in a nanosecond.
const PICOSECONDS: i64 = 1_000;

/// Lower edge of the bin around this multiple of a step.
fn around_edge(step_ps: i64, multiple: i64) -> Nanos {
    let edge = i128::from(step_ps) * (2 * i128::from(multiple) - 1) / 2;
    let nanos = (edge + i128::from(PICOSECONDS) / 2).div_euclid(i128::from(PICOSECONDS));
    Nanos(i64::try_from(nanos.max(0)).unwrap_or(i64::MAX))
}
