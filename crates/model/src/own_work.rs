//! What latlab's own threads do beside the measuring ones. Each notes when it works and on which
//! CPU, so that a run says which of its large latencies they may have caused.

use crate::plan::{Measurement, Task};
use crate::run::ThreadSetup;
use crate::text_enum::text_enum;
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// A thread of latlab that does not measure.
    OwnThread {
        /// Reads the conditions.
        Telemetry = "telemetry",
        /// Takes counts and large latencies from the measuring threads.
        Drainer = "drainer",
        /// Writes the stream.
        Stream = "stream",
        /// Reads the settings again.
        Settings = "settings",
        /// Reads the kernel's trace.
        Trace = "trace",
        /// Supervises the loads.
        Loads = "loads",
        /// Reads the stream and appends it to the journal.
        Journal = "journal",
        /// Brings the journal to the disk.
        Disk = "disk",
        /// Waits for the end of the run.
        Conductor = "conductor",
        /// Shows the run while it goes on.
        Display = "display",
    }
}

/// The releases of the measuring threads, where their times are fixed and their CPUs are known: the CPU
/// of each thread, its first release on CLOCK_MONOTONIC, and their distance.
pub fn fixed_releases(measurement: &Measurement, threads: &[ThreadSetup]) -> Vec<(u32, i64, i64)> {
    let method = &measurement.plan.method;
    let is_fixed = match measurement.task {
        Task::Cyclic(_) | Task::Handoff(_) => method.has_releases() && !method.clock_can_be_set(),
        Task::Spin(_)
        | Task::Timerlat(_)
        | Task::Attach(_)
        | Task::Respond(_)
        | Task::Gpio(_)
        | Task::Instrument => false,
    };
    let releases =
        |thread: &ThreadSetup| Some((thread.cpu?, thread.first_release_ns.0, thread.period_ns?.0));
    let all = || threads.iter().map(releases).collect::<Option<Vec<_>>>();
    is_fixed.then(all).flatten().unwrap_or_default()
}

/// A stretch in which such a thread worked without sleeping by its own decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WorkStretch {
    /// Its begin, on CLOCK_MONOTONIC.
    pub begin_ns: Nanos,
    /// Its length.
    pub length_ns: Nanos,
    /// CPU time of the thread in it.
    pub ran_ns: Nanos,
    /// The CPU at its begin.
    pub first_cpu: u32,
    /// The CPU at its end.
    pub last_cpu: u32,
}

impl WorkStretch {
    /// From its begin to its end on CLOCK_MONOTONIC, with the CPU time in it, in nanoseconds, and the
    /// CPUs at both.
    pub fn new(begin: i64, end: i64, ran: i64, cpus: (u32, u32)) -> WorkStretch {
        WorkStretch {
            begin_ns: Nanos(begin),
            length_ns: Nanos(end - begin),
            ran_ns: Nanos(ran),
            first_cpu: cpus.0,
            last_cpu: cpus.1,
        }
    }
}

/// A frame of the stream: what a thread has done since its last such frame.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OwnWork {
    /// The thread.
    pub thread: OwnThread,
    /// The CPUs that it may run on, as read back.
    pub allowed: CpuSet,
    /// Stretches that were not kept, because nobody took them in time.
    pub lost: u64,
    /// The others, in their order.
    pub stretches: Vec<WorkStretch>,
}

impl OwnWork {
    /// Of a thread that may run on these CPUs; none where it has done nothing.
    pub fn new(
        thread: OwnThread,
        allowed: Vec<u32>,
        lost: u64,
        stretches: Vec<WorkStretch>,
    ) -> Option<OwnWork> {
        let allowed = allowed.into_iter().collect();
        (lost > 0 || !stretches.is_empty()).then_some(OwnWork { thread, allowed, lost, stretches })
    }
}

/// The work of latlab's own threads in a finished run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunOwnWork {
    /// Each kind of thread, those with the most CPU time first.
    pub threads: Vec<OwnThreadWork>,
    /// Stretches of work that are not known.
    pub lost: u64,
    /// The largest latencies of the run, largest first: up to 20. Threads that are not pinned are left
    /// out, since nobody knows their CPU.
    pub largest: Vec<LargestLatency>,
    /// The largest latency during which none of them worked on its CPU; none where there is none
    /// among those that are compared.
    pub max_without_ns: Option<Nanos>,
}

impl RunOwnWork {
    /// How many of the largest latencies lie in the work of such a thread.
    pub fn affected(&self) -> usize {
        self.largest.iter().filter(|one| !one.own_threads.is_empty()).count()
    }

    /// CPU time of all of them on measured CPUs, from the first counted release on.
    pub fn ran_on_measured(&self) -> Nanos {
        self.threads.iter().map(|one| one.ran_on_measured_ns).sum()
    }

    /// Whether the observed maximum lies in the work of such a thread.
    pub fn affects_maximum(&self) -> bool {
        self.largest.first().is_some_and(|one| !one.own_threads.is_empty())
    }
}

/// The work of one kind of thread.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnThreadWork {
    /// The thread.
    pub thread: OwnThread,
    /// The CPUs that it might run on, as read back.
    pub allowed: CpuSet,
    /// Stretches of work from the first counted release on.
    pub stretches: u64,
    /// CPU time in them.
    pub ran_ns: Nanos,
    /// The longest CPU time of one stretch.
    pub longest_ns: Nanos,
    /// CPU time of the stretches that began or ended on a measured CPU.
    pub ran_on_measured_ns: Nanos,
}

/// A large latency, with latlab's own threads that worked on its CPU between release and wake-up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargestLatency {
    /// Number of the measuring thread.
    pub thread: u32,
    /// Its CPU.
    pub cpu: u32,
    /// The latency.
    pub latency_ns: Nanos,
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// latlab's own threads.
    pub own_threads: Vec<OwnThread>,
}
