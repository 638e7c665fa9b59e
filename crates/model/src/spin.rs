//! Results of spinning: gaps, and the noise they add up to.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Counts of a spinning thread; `spin` records gaps instead of latencies.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpinCounts {
    /// Number of passes, each reading the counter once.
    pub passes: u64,
    /// Usual length of a pass: the median at the end of the warm-up, including the workload.
    pub usual_pass_ns: f64,
    /// Gaps in which the thread was off the CPU: another thread ran, or it was stopped.
    pub preempted: Gaps,
    /// All other gaps: interrupts, softirqs, firmware, hypervisor.
    pub interrupted: Gaps,
    /// Gaps of `preempted` as long as the kernel's reserve for SCHED_OTHER threads.
    pub reserve_taken: Gaps,
    /// That reserve, if there is one for the thread's policy.
    pub reserve: Option<KernelReserve>,
    /// Time it slept voluntarily so that the machine does not hang; not part of any gap.
    pub rested_ns: Nanos,
}

/// Gaps of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gaps {
    /// Number of gaps.
    pub count: u64,
    /// Total length.
    pub sum_ns: Nanos,
    /// Longest gap.
    pub max_ns: Nanos,
}

impl Gaps {
    /// Counts one more gap.
    pub fn add(&mut self, length: Nanos) {
        self.count += 1;
        self.sum_ns += length;
        self.max_ns = self.max_ns.max(length);
    }
}

/// CPU time that the kernel takes from a real-time thread that never sleeps, for SCHED_OTHER
/// threads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelReserve {
    /// Kernel mechanism: `RT throttling` or `the fair server`.
    pub by: String,
    /// Time taken per period.
    pub taken_ns: Nanos,
    /// Length of the period.
    pub period_ns: Nanos,
}

/// Noise of a spinning thread: time taken from it.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// Total time in gaps.
    pub sum_ns: Nanos,
    /// Observed time: all intervals, summed over all threads.
    pub of_ns: Nanos,
    /// Largest share of one interval that was taken.
    pub worst_share: f64,
}

impl Noise {
    /// Adds another stretch or thread.
    pub fn add(&mut self, other: Noise) {
        self.sum_ns += other.sum_ns;
        self.of_ns += other.of_ns;
        self.worst_share = self.worst_share.max(other.worst_share);
    }

    /// Share of the observed time that was taken.
    pub fn share(&self) -> f64 {
        self.sum_ns.0 as f64 / self.of_ns.0.max(1) as f64
    }
}
