//! What comes of spinning: gaps, and the noise that they are together.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// What a spinning thread says of itself: `spin` records gaps where others record latencies.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpinCounts {
    /// Times it read the counter.
    pub passes: u64,
    /// The usual pass: the median at the end of the warm-up, its workload included.
    pub usual_pass_ns: f64,
    /// Gaps in which it was off the CPU: another thread ran there, or somebody had stopped this one.
    pub preempted: Gaps,
    /// Gaps without that: interrupts, softirqs, the firmware, a hypervisor.
    pub interrupted: Gaps,
    /// Those of `preempted` that are as long as what the kernel reserves for ordinary threads.
    pub taken_back: Gaps,
    /// That reserve, where there is one against the thread's policy.
    pub reserve: Option<KernelReserve>,
    /// Time it slept of its own will, so that the machine is not hung; it is in no gap.
    pub rested_ns: Nanos,
}

/// Gaps of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gaps {
    /// How many.
    pub count: u64,
    /// Their time together.
    pub sum_ns: Nanos,
    /// The longest.
    pub max_ns: Nanos,
}

impl Gaps {
    /// Counts one more.
    pub fn add(&mut self, length: Nanos) {
        self.count += 1;
        self.sum_ns += length;
        self.max_ns = self.max_ns.max(length);
    }
}

/// What the kernel takes from a real-time thread that never sleeps, for ordinary threads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelReserve {
    /// Who takes it: `RT throttling` or `the fair server`.
    pub by: String,
    /// How much.
    pub taken_ns: Nanos,
    /// In each of these periods.
    pub period_ns: Nanos,
}

/// The noise of a spinning thread: time taken from it.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// Time in gaps.
    pub sum_ns: Nanos,
    /// Of this time: all intervals, of all threads together where there are several.
    pub of_ns: Nanos,
    /// The largest share of an interval that was taken.
    pub worst_share: f64,
}

impl Noise {
    /// Adds another stretch or thread.
    pub fn add(&mut self, other: Noise) {
        self.sum_ns += other.sum_ns;
        self.of_ns += other.of_ns;
        self.worst_share = self.worst_share.max(other.worst_share);
    }

    /// The share of the time that was taken.
    pub fn share(&self) -> f64 {
        self.sum_ns.0 as f64 / self.of_ns.0.max(1) as f64
    }
}
