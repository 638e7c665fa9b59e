//! The legs of a wake-up, as the timerlat tracer defines them: each is counted from the release.

use crate::text_enum::text_enum;
use crate::{Histogram, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// What a histogram of `legs.parquet` counts.
    Leg {
        /// From the release until the interrupt that serves the thread's timer.
        Irq = "irq",
        /// From the release until the thread is put on its CPU.
        Thread = "thread",
        /// The latency of cycles during which the tracepoints recorded.
        Traced = "latency-traced",
        /// The latency of cycles during which they did not.
        Untraced = "latency-untraced",
        /// Of a wire: from the kernel's time stamp of the edge until the program runs.
        WakeUp = "wake-up",
        /// Of a wire: from there until it has answered.
        Answer = "answer",
    }
}

/// The legs of one cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CycleLegs {
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// From there until the interrupt.
    pub irq_ns: Nanos,
    /// From there until the thread was put on its CPU.
    pub thread_ns: Nanos,
}

/// Cycles by what is known of their legs.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LegTally {
    /// Cycles that lie wholly in a time in which was recorded.
    pub traced: u64,
    /// Those of them of which both legs are known; each leg's figures count its own.
    pub known: u64,
    /// Those of them whose legs contradict their latency; they are counted nowhere else.
    pub unsound: u64,
    /// Events of the trace that were lost.
    pub events_lost: u64,
}

impl LegTally {
    /// Adds another to this one.
    pub fn add(&mut self, other: &LegTally) {
        let sums = [
            (&mut self.traced, other.traced),
            (&mut self.known, other.known),
            (&mut self.unsound, other.unsound),
            (&mut self.events_lost, other.events_lost),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
}

/// What one thread's legs came to since the last such frame.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Legs {
    /// Number of the thread.
    pub thread: u32,
    /// What was counted.
    pub counts: Vec<(Leg, Histogram)>,
    /// The legs of large latencies.
    pub largest: Vec<CycleLegs>,
    /// How many cycles that were.
    pub tally: LegTally,
}

/// Figures of one leg.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LegFigures {
    /// Cycles.
    pub count: u64,
    /// The smallest.
    pub min_ns: Nanos,
    /// Median, as the upper edge of its bin.
    pub p50_ns: Nanos,
    /// 99 %, as the upper edge of its bin.
    pub p99_ns: Nanos,
    /// Observed maximum.
    pub max_ns: Nanos,
}

/// One measuring thread's legs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadLegs {
    /// Number of the thread.
    pub thread: u32,
    /// How many cycles were seen.
    pub tally: LegTally,
    /// From the release until the interrupt.
    pub irq: Option<LegFigures>,
    /// From the release until the thread was put on its CPU.
    pub thread_leg: Option<LegFigures>,
    /// Of a wire: from the kernel's time stamp of the edge until the program runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_up: Option<LegFigures>,
    /// Of a wire: from there until it has answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<LegFigures>,
}

impl ThreadLegs {
    /// In how many cycles the IRQ leg is known, and in how many the thread leg.
    pub fn known(&self) -> (u64, u64) {
        let count = |leg: &Option<LegFigures>| leg.as_ref().map_or(0, |figures| figures.count);
        (count(&self.irq), count(&self.thread_leg))
    }
}

/// A large latency with its legs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargeLegs {
    /// Number of the thread.
    pub thread: u32,
    /// The latency.
    pub latency_ns: Nanos,
    /// Its legs.
    pub legs: CycleLegs,
}

/// What the tracepoints cost: the same cycles while they recorded and while they did not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LegCost {
    /// Latencies while they recorded.
    pub traced: LegFigures,
    /// Latencies while they did not.
    pub untraced: LegFigures,
}

/// The legs of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunLegs {
    /// Each thread's.
    pub threads: Vec<ThreadLegs>,
    /// All threads' cycles together.
    pub tally: LegTally,
    /// The largest latencies whose legs are known.
    pub largest: Vec<LargeLegs>,
    /// What it cost; none where too few cycles of either kind were seen.
    pub cost: Option<LegCost>,
}
