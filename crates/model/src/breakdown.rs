//! The breakdown of a wake-up into parts as the timerlat tracer defines them: each is counted from
//! the release.

use crate::text_enum::text_enum;
use crate::{Histogram, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// The part that a histogram of `breakdown.parquet` counts.
    Part {
        /// From the release until the interrupt that serves the thread's timer.
        Irq = "irq",
        /// From the release until the thread is switched in.
        Thread = "thread",
        /// Latency of cycles while the tracepoints recorded.
        Traced = "latency-traced",
        /// Latency of cycles while the tracepoints did not record.
        Untraced = "latency-untraced",
        /// On a wire: from the kernel's timestamp of the edge until the program runs.
        WakeUp = "wake-up",
        /// On a wire: from the program running until it has answered.
        Answer = "answer",
    }
}

/// The breakdown of one cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleBreakdown {
    /// Release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// From the release until the interrupt.
    pub irq_ns: Nanos,
    /// From the release until the thread was switched in.
    pub thread_ns: Nanos,
}

/// Cycles by how much of their breakdown is known.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BreakdownTally {
    /// Cycles that lie wholly within a time of recording.
    pub traced: u64,
    /// Traced cycles with both parts known; the figures of each part have their own count.
    pub known: u64,
    /// Traced cycles whose parts contradict their latency; they are counted nowhere else.
    pub unsound: u64,
    /// Trace events lost.
    pub events_lost: u64,
}

impl BreakdownTally {
    /// Adds the counts of another tally.
    pub fn add(&mut self, other: &BreakdownTally) {
        let sums = [
            (&mut self.traced, other.traced),
            (&mut self.known, other.known),
            (&mut self.unsound, other.unsound),
            (&mut self.events_lost, other.events_lost),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
}

/// One thread's breakdown since its last such frame.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Breakdown {
    /// Number of the thread.
    pub thread: u32,
    /// Histogram of each part.
    pub counts: Vec<(Part, Histogram)>,
    /// The breakdown of large latencies.
    pub largest: Vec<CycleBreakdown>,
    /// Number of cycles by how much is known.
    pub tally: BreakdownTally,
}

/// Figures of one part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartFigures {
    /// Number of cycles.
    pub count: u64,
    /// Smallest value.
    pub min_ns: Nanos,
    /// Median, as the upper edge of its bin.
    pub p50_ns: Nanos,
    /// p99, as the upper edge of its bin.
    pub p99_ns: Nanos,
    /// Observed maximum.
    pub max_ns: Nanos,
}

/// The breakdown of one measuring thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadBreakdown {
    /// Number of the thread.
    pub thread: u32,
    /// Number of cycles by how much is known.
    pub tally: BreakdownTally,
    /// From the release until the interrupt.
    pub irq: Option<PartFigures>,
    /// From the release until the thread was switched in.
    pub thread_part: Option<PartFigures>,
    /// On a wire: from the kernel's timestamp of the edge until the program runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_up: Option<PartFigures>,
    /// On a wire: from the program running until it has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<PartFigures>,
}

impl ThreadBreakdown {
    /// Number of cycles with a known IRQ part, and with a known thread part.
    pub fn known(&self) -> (u64, u64) {
        let count = |part: &Option<PartFigures>| part.as_ref().map_or(0, |figures| figures.count);
        (count(&self.irq), count(&self.thread_part))
    }
}

/// A large latency with its breakdown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargeBreakdown {
    /// Number of the thread.
    pub thread: u32,
    /// The latency.
    pub latency_ns: Nanos,
    /// Its breakdown.
    pub breakdown: CycleBreakdown,
}

/// Overhead of the tracepoints: the same cycles with and without recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BreakdownCost {
    /// Latencies while recording.
    pub traced: PartFigures,
    /// Latencies while not recording.
    pub untraced: PartFigures,
}

/// The breakdown of a run's latencies.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunBreakdown {
    /// The breakdown of each thread.
    pub threads: Vec<ThreadBreakdown>,
    /// Cycles of all threads by how much is known.
    pub tally: BreakdownTally,
    /// The largest latencies with a known breakdown.
    pub largest: Vec<LargeBreakdown>,
    /// Overhead of recording; `None` if too few cycles of either kind were seen.
    pub cost: Option<BreakdownCost>,
}
