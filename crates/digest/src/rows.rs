//! The rows of a run's tables.

use latlab_model::attach::Cycle;
use latlab_model::breakdown::{CycleBreakdown, Part};
use latlab_model::frame::{Interval, Spike};
use latlab_model::histogram::{bin_low, bin_of};
use latlab_model::samples::Sample;
use latlab_model::trace::TraceRowKind;
use latlab_model::{Bin, Histogram, Nanos};
use latlab_stats::{Span, quantile};
use std::sync::LazyLock;

/// A row of `histogram.parquet`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BinRow {
    pub thread: u32,
    /// CPU that the thread was pinned to.
    pub cpu: Option<u32>,
    pub bin: Bin,
}

/// A row of `intervals.parquet`.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct IntervalRow {
    pub thread: u32,
    /// CPU that the thread was pinned to.
    pub cpu: Option<u32>,
    /// First release, inclusive, on CLOCK_MONOTONIC.
    pub start_ns: Nanos,
    /// End, exclusive.
    pub end_ns: Nanos,
    pub count: u64,
    /// Overruns.
    pub overruns: u64,
    /// Releases later than the deadline, including skipped ones.
    pub misses: u64,
    /// Latencies below zero.
    pub underflow: u64,
    pub min_ns: Option<Nanos>,
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<Nanos>,
    pub p99_ns: Option<Nanos>,
    /// `None` with fewer than 1000 latencies.
    pub p99_9_ns: Option<Nanos>,
    pub max_ns: Option<Nanos>,
    /// Counts between [`coarse_edges`], for a heat map; empty if the bins have other edges.
    pub coarse: Vec<i32>,
}

impl IntervalRow {
    /// The row for an interval.
    pub fn new(interval: &Interval, cpu: Option<u32>) -> IntervalRow {
        let counts = &interval.counts;
        let at = |parts_per_million| quantile(counts, parts_per_million);
        IntervalRow {
            thread: interval.thread,
            cpu,
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            count: counts.count,
            overruns: counts.overruns,
            misses: counts.misses,
            underflow: counts.underflow,
            min_ns: counts.min(),
            mean_ns: counts.mean_ns(),
            p50_ns: at(500_000),
            p99_ns: at(990_000),
            p99_9_ns: at(999_000).filter(|_| counts.count >= 1_000),
            max_ns: counts.max(),
            coarse: coarse(counts),
        }
    }

    /// What a plot over time needs of the row, except its coarse counts.
    pub fn span(&self) -> Span {
        Span {
            from: self.start_ns,
            to: self.end_ns,
            count: self.count,
            overruns: self.overruns,
            misses: self.misses,
            min: self.min_ns,
            median: self.p50_ns.map(|median| median.0 as f64),
            p99_9: self.p99_9_ns,
            max: self.max_ns,
            ..Span::default()
        }
        .with_limit()
    }
}

/// A row of `spikes.parquet`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpikeRow {
    pub thread: u32,
    /// CPU that the thread was pinned to.
    pub cpu: Option<u32>,
    /// The latency and its release.
    pub spike: Spike,
    /// Its breakdown, if known.
    pub breakdown: Option<CycleBreakdown>,
}

/// A row of `breakdown.parquet`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BreakdownRow {
    pub thread: u32,
    pub part: Part,
    pub bin: Bin,
}

/// A row of `pages.parquet`: a page of the kernel's trace as recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageRow {
    /// The CPU that filled it.
    pub cpu: u32,
    /// Its number among the pages read from this CPU.
    pub number: u32,
    /// The page, as far as it is filled.
    pub page: Vec<u8>,
}

/// A row of `samples.parquet`: one cycle. Row groups hold one thread each, so that an interval of
/// time is read without the rest, and the thread column costs nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SampleRow {
    pub thread: u32,
    /// CPU that the thread was pinned to.
    pub cpu: Option<u32>,
    pub sample: Sample,
}

/// A row of `cycles.parquet`: a cycle of a thread of a program. Row groups hold one thread each.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CycleRow {
    /// Number of the thread among those that were found.
    pub thread: u32,
    pub cycle: Cycle,
}

/// A row of `trace.parquet`: one event, or a time at which the trace was switched on or off. Row
/// groups hold one thread each, or what concerns all of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TraceRow {
    /// `None` if it concerns all threads.
    pub thread: Option<u32>,
    /// The CPU on which the kernel wrote it.
    pub cpu: Option<u32>,
    /// On CLOCK_MONOTONIC.
    pub time_ns: Nanos,
    pub kind: TraceRowKind,
    /// When an armed timer is to expire.
    pub release_ns: Option<Nanos>,
    pub lost: Option<u64>,
}

/// The lower edges of the coarse bins: ten in each decade from 1 us to 10 s, on edges of the full
/// histogram, with everything below 1 us in the first and everything above in the last.
pub fn coarse_edges() -> &'static [i64] {
    static EDGES: LazyLock<Vec<i64>> = LazyLock::new(|| {
        let steps = (0..=70).map(|step| 10_f64.powf(3.0 + f64::from(step) / 10.0));
        let on_edges = steps.map(|edge| bin_low(bin_of(edge.round() as u64)) as i64);
        std::iter::once(0).chain(on_edges).collect()
    });
    &EDGES
}

/// Counts between the coarse edges; latencies below zero have a separate column. Empty if the bins
/// have other edges, which may cross the coarse ones.
fn coarse(counts: &Histogram) -> Vec<i32> {
    if !counts.layout.is_standard() {
        return Vec::new();
    }
    let edges = coarse_edges();
    let mut coarse = vec![0_i32; edges.len()];
    for &(bin, count) in &counts.bins {
        let low = bin_low(bin as usize) as i64;
        let place = edges.partition_point(|&edge| edge <= low).saturating_sub(1);
        coarse[place] = coarse[place].saturating_add(i32::try_from(count).unwrap_or(i32::MAX));
    }
    coarse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coarse_edges_rise_and_lie_on_fine_ones() {
        let edges = coarse_edges();
        assert_eq!((edges[0], edges[1], edges.len()), (0, 1_000, 72));
        assert!(edges.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(edges.iter().all(|&edge| bin_low(bin_of(edge as u64)) == edge as u64));
    }

    #[test]
    fn coarse_counts_lose_nothing() {
        let latencies = [-7, 0, 999, 1_000, 1_250, 55_000, 3_000_000, i64::MAX].map(Nanos);
        let counts: Histogram = latencies.into_iter().collect();
        let coarse = coarse(&counts);
        assert_eq!(coarse.iter().sum::<i32>(), 7);
        assert_eq!((coarse[0], coarse[1], coarse[coarse.len() - 1]), (2, 1, 1));
    }
}
