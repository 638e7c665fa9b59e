//! Activity of latlab's threads that do not measure. Each notes when and on which CPU it works, so
//! that a run can tell which large latencies are self-interference.

use crate::plan::{Measurement, Task};
use crate::run::ThreadSetup;
use crate::text_enum::text_enum;
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// A thread of latlab that does not measure.
    OwnThread {
        /// Reads the conditions of the run.
        Telemetry = "telemetry",
        /// Takes counts and large latencies from the measuring threads.
        Drainer = "drainer",
        /// Writes the stream.
        Stream = "stream",
        /// Rereads the settings.
        Settings = "settings",
        /// Reads the kernel's trace.
        Trace = "trace",
        /// Supervises the loads.
        Loads = "loads",
        /// Reads the stream and appends it to the journal.
        Journal = "journal",
        /// Flushes the journal to disk.
        Disk = "disk",
        /// Waits for the end of the run.
        Conductor = "conductor",
        /// Displays the run as it progresses.
        Display = "display",
    }
}

/// For planned releases on known CPUs: the CPU of each measuring thread, its first release on
/// CLOCK_MONOTONIC, and its period.
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

/// A stretch of work of such a thread without voluntary sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WorkStretch {
    /// Start, on CLOCK_MONOTONIC.
    pub begin_ns: Nanos,
    /// Length of the stretch.
    pub length_ns: Nanos,
    /// CPU time of the thread within it.
    pub ran_ns: Nanos,
    /// CPU at its start.
    pub first_cpu: u32,
    /// CPU at its end.
    pub last_cpu: u32,
}

impl WorkStretch {
    /// From start to end on CLOCK_MONOTONIC, with the CPU time within it, in nanoseconds, and the
    /// CPUs at start and end.
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

/// Stream message: a thread's work since its last such message.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SelfInterference {
    /// The thread.
    pub thread: OwnThread,
    /// CPUs it may run on, as read back.
    pub allowed: CpuSet,
    /// Stretches dropped because they were not taken in time.
    pub lost: u64,
    /// All other stretches in order.
    pub stretches: Vec<WorkStretch>,
}

impl SelfInterference {
    /// The message of a thread that may run on these CPUs; `None` if it has done nothing.
    pub fn new(
        thread: OwnThread,
        allowed: Vec<u32>,
        lost: u64,
        stretches: Vec<WorkStretch>,
    ) -> Option<SelfInterference> {
        let allowed = allowed.into_iter().collect();
        (lost > 0 || !stretches.is_empty()).then_some(SelfInterference {
            thread,
            allowed,
            lost,
            stretches,
        })
    }
}

/// Activity of latlab's own threads in a finished run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSelfInterference {
    /// Each kind of thread, most CPU time first.
    pub threads: Vec<OwnThreadWork>,
    /// Stretches of work that were lost.
    pub lost: u64,
    /// Up to 20 of the largest latencies of the run, largest first. Threads that are not pinned are
    /// left out, since their CPU is unknown.
    pub largest: Vec<LargestLatency>,
    /// Largest latency during which none of these threads ran on its CPU; `None` if there is none
    /// among those compared.
    pub max_without_ns: Option<Nanos>,
}

impl RunSelfInterference {
    /// Number of the largest latencies that overlap the work of such a thread.
    pub fn affected(&self) -> usize {
        self.largest.iter().filter(|one| !one.own_threads.is_empty()).count()
    }

    /// Their CPU time on measured CPUs, from the first counted release.
    pub fn ran_on_measured(&self) -> Nanos {
        self.threads.iter().map(|one| one.ran_on_measured_ns).sum()
    }

    /// Whether the observed maximum overlaps the work of such a thread.
    pub fn affects_maximum(&self) -> bool {
        self.largest.first().is_some_and(|one| !one.own_threads.is_empty())
    }
}

/// Activity of one kind of thread.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnThreadWork {
    /// Kind of thread.
    pub thread: OwnThread,
    /// CPUs it was allowed to run on, as read back.
    pub allowed: CpuSet,
    /// Stretches of work, from the first counted release.
    pub stretches: u64,
    /// CPU time of these stretches.
    pub ran_ns: Nanos,
    /// Longest CPU time of one stretch.
    pub longest_ns: Nanos,
    /// CPU time of the stretches that began or ended on a measured CPU.
    pub ran_on_measured_ns: Nanos,
}

/// A large latency, with latlab's own threads that ran on its CPU between release and wake-up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LargestLatency {
    /// Number of the measuring thread.
    pub thread: u32,
    /// CPU of the measuring thread.
    pub cpu: u32,
    /// The latency.
    pub latency_ns: Nanos,
    /// Release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// latlab's own threads that ran then.
    pub own_threads: Vec<OwnThread>,
}
