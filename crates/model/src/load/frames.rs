//! Stream messages about loads.

use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Stream message: a load has started.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoadBegin {
    /// Index of the load in the plan.
    pub load: u32,
    /// Path of its program.
    pub program: String,
    /// Output of the program when asked for its version.
    pub version: String,
    /// CPUs it may run on, as read back.
    pub placement: String,
    /// Start of its first process, on CLOCK_MONOTONIC.
    pub started_ns: Nanos,
    /// When it reached its expected CPU use, on CLOCK_MONOTONIC; `None` if it did not in time.
    pub shown_ns: Option<Nanos>,
}

/// Stream message: CPU time and counter of a load so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoadSample {
    /// Index of the load in the plan.
    pub load: u32,
    /// Time of the reading, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Number of its processes.
    pub processes: u32,
    /// CPU time of all its processes, including ended ones.
    pub cpu_ns: Nanos,
    /// Its kernel counter, for the whole machine; `None` if it has none.
    pub evidence: Option<u64>,
}

/// Stream message: a line of a load's output that holds a figure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LoadLine {
    /// Index of the load in the plan.
    pub load: u32,
    /// When it was read, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Whether the load had already been asked to end.
    pub after_end: bool,
    /// Text of the line.
    pub text: String,
}

/// How a process ended.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExitStatus {
    /// Exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Signal that ended it; `None` if it exited.
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

/// CPUs that another process took from all threads of a load while it ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LostCpus {
    /// When this was first seen, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Time of the previous check, on CLOCK_MONOTONIC; `None` if there was none.
    pub previous_ns: Option<Nanos>,
    /// CPUs that none of its threads may use any more.
    pub lost: CpuSet,
    /// CPUs its threads may still use.
    pub left: CpuSet,
}

/// A thread of a load whose priority was lowered while it ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LostPriority {
    /// When this was first seen, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Time of the previous check, on CLOCK_MONOTONIC.
    pub previous_ns: Nanos,
    /// Policy with priority or nice value before: `other 0`.
    pub held: String,
    /// Policy with priority or nice value after: `idle 0`.
    pub now: String,
}

/// Stream message: a load has ended and all its processes are gone, except those in `left`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LoadEnd {
    /// Index of the load in the plan.
    pub load: u32,
    /// When it stopped loading, on CLOCK_MONOTONIC: when it was asked to end, or had already ended.
    pub ended_ns: Nanos,
    /// Whether it ended before it was asked to.
    pub by_itself: bool,
    /// Exit status of its last process.
    pub status: ExitStatus,
    /// Number of restarts.
    pub restarts: u64,
    /// Upper bound of the total time it was not running because of restarts.
    pub gap_ns: Nanos,
    /// Number of processes that had to be killed.
    pub killed: u32,
    /// Number of processes that could not be ended and still exist.
    pub left: u32,
    /// CPUs its processes were allowed to use while it ran; empty if not checked.
    pub placement: String,
    /// CPUs taken from it; `None` in most runs.
    pub lost_cpus: Option<LostCpus>,
    /// The first of its threads whose priority was lowered; `None` in most runs.
    pub lost_priority: Option<LostPriority>,
    /// Bytes it printed.
    pub output_bytes: u64,
    /// Lines with figures that were dropped because there were too many.
    pub lines_dropped: u64,
    /// Last lines it printed.
    pub last_lines: Vec<String>,
}
