//! What the stream tells of loads.

use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

/// In the stream: a load runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoadBegin {
    /// Its place in the plan.
    pub load: u32,
    /// Where its program lies.
    pub program: String,
    /// What the program says when it is asked for its version.
    pub version: String,
    /// CPUs it may run on, as read back.
    pub placement: String,
    /// When its first process was started, on CLOCK_MONOTONIC.
    pub started_ns: Nanos,
    /// When it took the CPU that it should; none where it did not in time.
    pub shown_ns: Option<Nanos>,
}

/// In the stream: what a load has taken so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoadSample {
    /// Its place in the plan.
    pub load: u32,
    /// When this was read, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Its processes.
    pub processes: u32,
    /// CPU time of all processes it has had.
    pub cpu_ns: Nanos,
    /// Its counter of the kernel, of the whole machine.
    pub evidence: Option<u64>,
}

/// In the stream: a line of its output that holds a figure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoadLine {
    /// Its place in the plan.
    pub load: u32,
    /// When it was read, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Whether the load had been asked to end before.
    pub after_end: bool,
    /// The line.
    pub text: String,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExitStatus {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (_, Some(signal)) => write!(f, "signal {signal}"),
            (Some(code), None) => write!(f, "exit code {code}"),
            (None, None) => f.pad("no exit code"),
        }
    }
}

/// CPUs that somebody took from all threads of a load while it ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LostCpus {
    /// When this was first seen, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// The look before that.
    pub previous_ns: Option<Nanos>,
    /// The CPUs that none of them may use any more.
    pub lost: CpuSet,
    /// Those that they may still use.
    pub left: CpuSet,
}

/// A thread of a load whose priority was lowered while it ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LostPriority {
    /// When this was first seen, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// The look before that.
    pub previous_ns: Nanos,
    /// Policy with priority or nice value before: `other 0`.
    pub held: String,
    /// The same since then: `idle 0`.
    pub now: String,
}

/// In the stream: a load has ended, and nothing of it is left.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoadEnd {
    /// Its place in the plan.
    pub load: u32,
    /// When it stopped to load: when it was asked to end, or had ended by itself before.
    pub ended_ns: Nanos,
    /// Whether it had ended before it was asked to.
    pub by_itself: bool,
    /// How its last process ended.
    pub status: ExitStatus,
    /// Times it was started again.
    pub restarts: u64,
    /// Time in which it did not run between two of them, at most.
    pub gap_ns: Nanos,
    /// Processes that had to be killed.
    pub killed: u32,
    /// Processes that are still there, which nothing of ours could end.
    pub left: u32,
    /// CPUs that its processes were allowed while it ran; empty where nobody looked.
    pub placement: String,
    /// CPUs that were taken from it; none in most runs.
    pub lost_cpus: Option<LostCpus>,
    /// The first thread of it that was given a lower priority; none in most runs.
    pub lost_priority: Option<LostPriority>,
    /// Bytes that it printed.
    pub output_bytes: u64,
    /// Lines with figures that were not kept, because there were too many.
    pub lines_dropped: u64,
    /// The last lines that it printed.
    pub last_lines: Vec<String>,
}
