//! Cycles of a program's own threads, as `latlab attach` measures them.
//!
//! A cycle begins with a release: the expiry of the timer the thread waits for, or the moment
//! something else woke it. The cycle starts when the waiting call returns and ends when the thread
//! enters that call again.

use crate::Nanos;
use crate::call_site::CallSite;
use crate::explanation::{BlamePart, SpikeBlame};
use crate::histogram::Bin;
use crate::run::{Quantiles, ThreadSetup};
use crate::samples::{pack, unpack};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Number of longest cycles that are kept of each thread, with what kept them.
pub const LONGEST: usize = 16;
/// Most cycles of one thread in a frame; a larger count is treated as damage.
pub const MOST_CYCLES: u32 = 1 << 18;

text_enum! {
    /// How the time of a release is known.
    ReleasedBy {
        /// The expiry the thread asked for.
        Timer = "timer",
        /// The moment another thread or an interrupt woke it.
        Event = "event",
        /// The work was already there when the thread came to wait, so the true release is earlier:
        /// the time is that of the arrival.
        Waiting = "waiting",
    }
}

text_enum! {
    /// One of the times that make up a cycle.
    CyclePart {
        /// From the release to the start.
        WakeUp = "wake-up",
        /// Time the thread ran.
        Execution = "execution",
        /// Time the thread was ready while another one ran.
        Preempted = "preempted",
        /// Time the thread slept within its cycle.
        Blocked = "blocked",
        /// From the release to the end: the sum of all other parts.
        Response = "response",
    }
}

/// One cycle of an attached thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// The release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// How the release is known.
    pub released_by: ReleasedBy,
    /// From the release to the start.
    pub wake_up_ns: Nanos,
    /// Time running.
    pub execution_ns: Nanos,
    /// Time ready while another thread ran.
    pub preempted_ns: Nanos,
    /// Time asleep in a call other than the one that waits for the release.
    pub blocked_ns: Nanos,
    /// Releases since the previous cycle that no cycle served.
    pub overruns: u32,
}

impl Cycle {
    /// From the release to the end of the cycle.
    pub fn response_ns(&self) -> Nanos {
        self.wake_up_ns + self.execution_ns + self.preempted_ns + self.blocked_ns
    }

    /// End of the cycle, on CLOCK_MONOTONIC.
    pub fn end_ns(&self) -> Nanos {
        self.release_ns + self.response_ns()
    }

    /// The time of one part.
    pub fn part(&self, part: CyclePart) -> Nanos {
        match part {
            CyclePart::WakeUp => self.wake_up_ns,
            CyclePart::Execution => self.execution_ns,
            CyclePart::Preempted => self.preempted_ns,
            CyclePart::Blocked => self.blocked_ns,
            CyclePart::Response => self.response_ns(),
        }
    }

    /// The part that contributes most to the response.
    pub fn largest_part(&self) -> CyclePart {
        let parts = CyclePart::ALL.iter().filter(|part| **part != CyclePart::Response);
        parts.copied().max_by_key(|part| self.part(*part)).unwrap_or(CyclePart::Execution)
    }
}

/// Cycles of one thread as they are sent and stored in the journal: each column packed separately.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PackedCycles {
    /// Number of the attached thread, from 0.
    pub thread: u32,
    /// Number of cycles.
    pub count: u32,
    /// Releases, as differences from the release that the previous two predict.
    pub releases: Vec<u8>,
    /// How each release is known.
    pub released_by: Vec<u8>,
    /// Wake-up, execution, preempted and blocked times, one column each.
    pub times: [Vec<u8>; 4],
    /// Overruns before each cycle.
    pub overruns: Vec<u8>,
}

/// Bytes that do not decode to cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("its cycles cannot be decoded")]
pub struct UnreadableCycles;

impl PackedCycles {
    /// Packs cycles in order.
    pub fn pack(thread: u32, cycles: &[Cycle]) -> PackedCycles {
        let column = |of: &dyn Fn(&Cycle) -> i64| pack(&cycles.iter().map(of).collect::<Vec<_>>());
        let mut expected = ExpectedRelease::default();
        let releases: Vec<i64> =
            cycles.iter().map(|cycle| expected.difference(cycle.release_ns.0)).collect();
        PackedCycles {
            thread,
            count: cycles.len() as u32,
            releases: pack(&releases),
            released_by: column(&|cycle| cycle.released_by as i64),
            times: [
                column(&|cycle| cycle.wake_up_ns.0),
                column(&|cycle| cycle.execution_ns.0),
                column(&|cycle| cycle.preempted_ns.0),
                column(&|cycle| cycle.blocked_ns.0),
            ],
            overruns: column(&|cycle| cycle.overruns.into()),
        }
    }

    /// Decodes the cycles.
    pub fn unpack(&self) -> Result<Vec<Cycle>, UnreadableCycles> {
        self.read().ok_or(UnreadableCycles)
    }

    fn read(&self) -> Option<Vec<Cycle>> {
        let count = Some(self.count).filter(|count| *count <= MOST_CYCLES)? as usize;
        let column = |bytes: &[u8]| unpack(bytes, count);
        let [wake_ups, executions, preempted, blocked] = &self.times;
        let times = [column(wake_ups)?, column(executions)?, column(preempted)?, column(blocked)?];
        let (releases, by) = (column(&self.releases)?, column(&self.released_by)?);
        let overruns = column(&self.overruns)?;
        let mut expected = ExpectedRelease::default();
        let cycle = |at: usize| {
            Some(Cycle {
                release_ns: Nanos(expected.release(releases[at])),
                released_by: *ReleasedBy::ALL.get(usize::try_from(by[at]).ok()?)?,
                wake_up_ns: Nanos(times[0][at]),
                execution_ns: Nanos(times[1][at]),
                preempted_ns: Nanos(times[2][at]),
                blocked_ns: Nanos(times[3][at]),
                overruns: overruns[at].try_into().ok()?,
            })
        };
        (0..count).map(cycle).collect()
    }
}

/// Predicts a release from the two before it; packing and unpacking share it.
#[derive(Default)]
struct ExpectedRelease {
    release: i64,
    step: i64,
}

impl ExpectedRelease {
    fn follow(&mut self, release: i64) -> i64 {
        (self.step, self.release) = (release.wrapping_sub(self.release), release);
        release
    }

    fn difference(&mut self, release: i64) -> i64 {
        let expected = self.release.wrapping_add(self.step);
        self.follow(release).wrapping_sub(expected)
    }

    fn release(&mut self, difference: i64) -> i64 {
        let release = self.release.wrapping_add(self.step).wrapping_add(difference);
        self.follow(release)
    }
}

/// The call in which a thread waits for its next release.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActivationCall {
    /// Name of the system call, such as `clock_nanosleep`.
    pub call: String,
    /// The file descriptor it waits on; `None` if the call has none.
    pub descriptor: Option<i64>,
    /// What the descriptor is, such as `timerfd` or `/dev/snd/timer`; `None` if unknown.
    pub file: Option<String>,
    /// For a sleep: the clock id, and whether the time is absolute.
    pub sleep: Option<(i64, bool)>,
}

text_enum! {
    /// How the releases of a thread are spaced.
    RhythmKind {
        /// Releases are whole multiples of the period after the first.
        Exact = "exact",
        /// Each release is about a period after the previous one, so errors accumulate.
        Drifting = "drifting",
        /// Something else gives the thread its work, about once a period.
        Regular = "regular",
        /// There is no period.
        Irregular = "irregular",
    }
}

/// When the releases of a thread took another period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RhythmChange {
    /// The last release of the old period, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// The new period.
    pub period_ns: Nanos,
}

/// A thread whose cycles were found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedThread {
    /// Number among the attached threads, from 0.
    pub thread: u32,
    /// Kernel thread id.
    pub thread_id: i32,
    /// Thread name.
    pub name: String,
    /// Scheduling policy when it was found, such as `fifo 80`.
    pub policy: String,
    /// CPUs it may run on.
    pub cpus: String,
    /// The call in which it waits for its releases.
    pub activation: ActivationCall,
    /// Another call in which it waits as long, so that its cycles may be different ones; `None` if
    /// there is no doubt.
    pub ambiguous_with: Option<ActivationCall>,
    /// How its releases are spaced.
    pub rhythm: RhythmKind,
    /// Usual time between releases; `None` if there is no period.
    pub period_ns: Option<Nanos>,
    /// Deadline of its cycles; `None` if the thread is not judged.
    pub deadline_ns: Option<Nanos>,
    /// Whether the period was taken as the deadline because none was given.
    pub deadline_is_assumed: bool,
    /// The same thread as one of the run's threads; `None` if it is not judged.
    pub setup: Option<ThreadSetup>,
}

text_enum! {
    /// Something in a cycle, or in how a thread waits, that is not real-time safe.
    FaultKind {
        /// It sleeps for a relative time, to which its execution time is added.
        RelativeSleep = "relative-sleep",
        /// It sleeps on a clock that can be set.
        SettableClock = "settable-clock",
        /// It sleeps within a cycle.
        Sleep = "sleep",
        /// A page fault.
        PageFault = "page-fault",
        /// Memory was mapped or unmapped.
        Heap = "heap",
        /// It wrote to a terminal or a file, or a write blocked.
        Write = "write",
        /// It waited for a disk.
        Sync = "sync",
        /// A file was opened.
        Open = "open",
        /// It yielded the CPU.
        Yield = "yield",
        /// It waited for a lock.
        Lock = "lock",
        /// A thread of lower priority ended its wait (possible priority inversion).
        Inversion = "inversion",
        /// A time limit of a socket passed, which the kernel counts in ticks.
        TickTimeout = "tick-timeout",
        /// It was ready, and a less urgent thread or nothing had its CPU: its CPU time is limited.
        Throttled = "throttled",
        /// Another thread, as urgent or more, had the CPU.
        SharedCpu = "shared-cpu",
        /// A thread of lower priority released it.
        LowWaker = "released-by-lower-priority",
        /// Its memory is not locked.
        Unlocked = "unlocked-memory",
        /// Its scheduling policy is not a real-time one.
        Ordinary = "ordinary-policy",
    }
}

/// A fault of one thread and how often it occurred.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadFault {
    /// Kind of fault.
    pub kind: FaultKind,
    /// The system call in which it occurred; `None` outside of any call.
    pub call: Option<String>,
    /// The file, or the thread that ended the wait; `None` if unknown.
    pub object: Option<String>,
    /// Number of occurrences.
    pub count: u64,
    /// Number of cycles with this fault.
    pub cycles: u64,
    /// Longest occurrence.
    pub longest_ns: Nanos,
    /// Where in the program, most frequent first; less than all if stacks were lost.
    pub sites: Vec<CallSite>,
}

/// One of the longest cycles of a thread, and where its time went.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LongCycle {
    /// Number among the attached threads.
    pub thread: u32,
    /// Kernel thread id.
    pub thread_id: i32,
    /// CPU on which it started.
    pub cpu: u32,
    /// Release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// From the release to the start.
    pub wake_up_ns: Nanos,
    /// From the release to the end.
    pub response_ns: Nanos,
    /// What the thread did and waited for, contiguous from the release to the end.
    pub parts: Vec<BlamePart>,
}

/// A thread that releases cycles of another one.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadWaker {
    /// Kernel thread id.
    pub thread_id: i32,
    /// Thread name.
    pub name: String,
    /// Number of cycles.
    pub count: u64,
}

/// What is known of a thread apart from its cycles.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedThreadReport {
    /// Number among the attached threads, from 0.
    pub thread: u32,
    /// Cycles that were followed.
    pub cycles: u64,
    /// Cycles that could not be followed because events were lost.
    pub unseen: u64,
    /// Cycles whose work arrived before the thread came to wait, so that their true response is
    /// longer.
    pub waiting: u64,
    /// Releases that no cycle served.
    pub overruns: u64,
    /// Where in the program it waits for its releases; `None` if its stack could not be read.
    pub activation_site: Option<CallSite>,
    /// Threads that woke it for its cycles, with counts, most frequent first.
    pub wakers: Vec<ThreadWaker>,
    /// Faults found in it.
    pub faults: Vec<ThreadFault>,
    /// Number of migrations to another CPU.
    pub migrations: u64,
    /// Times it ran without the kernel having recorded a switch to it.
    pub untold_switches: u64,
    /// Number of late cycles by their largest part.
    pub late_by: Vec<(CyclePart, u64)>,
    /// Scheduling policy at the end; `None` if unchanged.
    pub policy_at_end: Option<String>,
    /// Whether it ended during the run.
    pub has_ended: bool,
    /// Whether its cycles stopped because it now waits in another call.
    pub activation_lost: bool,
    /// When its releases took another period; `None` if they kept the first.
    pub rhythm_change: Option<RhythmChange>,
}

/// What is known apart from the cycles; each report replaces the previous one.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachReport {
    /// The program: its name and process.
    pub program: String,
    /// Each thread whose cycles were found.
    pub threads: Vec<AttachedThreadReport>,
    /// Threads without a rhythm: name and number of waits.
    pub without_rhythm: Vec<(String, u64)>,
    /// Trace events that the kernel overwrote.
    pub events_lost: u64,
    /// Trace events read.
    pub events: u64,
    /// CPU time spent reading them.
    pub reader_cpu_ns: Nanos,
    /// Exit status of a started command, as a shell reports it; `None` if it still runs or was not
    /// started by latlab.
    pub exit_status: Option<i32>,
}

/// Figures of one part of a thread's cycles.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CyclePartFigures {
    /// The part they are about.
    pub part: CyclePart,
    /// Quantiles; `None` if nothing was recorded.
    pub quantiles: Option<Quantiles>,
    /// Observed maximum.
    pub max_ns: Nanos,
    /// Counts between the edges that the intervals of the run use; empty bins are left out.
    pub bins: Vec<Bin>,
}

/// How many releases of a thread fall into a window of time, wherever it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrivals {
    /// Length of the window.
    pub window_ns: Nanos,
    /// Least number between the first release and the last.
    pub least: u64,
    /// Largest number.
    pub most: u64,
}

/// Threads that release one another: from the release of the first to the end of the last.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedChain {
    /// Numbers among the attached threads, in order.
    pub threads: Vec<u32>,
    /// Their names.
    pub names: Vec<String>,
    /// Cycles of the last thread that were followed back to a release of the first.
    pub count: u64,
    /// All cycles of the last thread.
    pub cycles: u64,
    /// Quantiles of the latency from end to end; `None` if nothing was recorded.
    pub quantiles: Option<Quantiles>,
    /// Observed maximum.
    pub max_ns: Nanos,
    /// Release of the first thread in the longest one, on CLOCK_MONOTONIC.
    pub longest_release_ns: Nanos,
    /// Counts, as those of a part of a cycle.
    pub bins: Vec<Bin>,
}

/// An attached thread with its results.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedThreadRun {
    /// The thread as it was found.
    #[serde(flatten)]
    pub found: AttachedThread,
    /// Cycles whose judged time exceeds the deadline.
    pub misses: u64,
    /// Figures of each part of its cycles.
    pub parts: Vec<CyclePartFigures>,
    /// Its longest cycles, longest first.
    pub longest: Vec<SpikeBlame>,
    /// Its arrival curve; empty for a thread that has its own timer.
    pub arrivals: Vec<Arrivals>,
    /// What else is known of it.
    pub report: AttachedThreadReport,
}

/// The section that `latlab attach` adds to a run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedRun {
    /// The program: its name and process.
    pub program: String,
    /// The threads whose cycles were found, highest priority first.
    pub threads: Vec<AttachedThreadRun>,
    /// Threads that release one another, with the time that takes from end to end.
    pub chains: Vec<AttachedChain>,
    /// Threads without a rhythm: name and number of waits.
    pub without_rhythm: Vec<(String, u64)>,
    /// Trace events that the kernel overwrote.
    pub events_lost: u64,
    /// Trace events read.
    pub events: u64,
    /// CPU time spent reading them.
    pub reader_cpu_ns: Nanos,
    /// Exit status of a started command, as a shell reports it.
    pub exit_status: Option<i32>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cycle(release: i64, times: [i64; 4], by: usize, overruns: u32) -> Cycle {
        let [wake_up, execution, preempted, blocked] = times.map(Nanos);
        Cycle {
            release_ns: Nanos(release),
            released_by: ReleasedBy::ALL[by],
            wake_up_ns: wake_up,
            execution_ns: execution,
            preempted_ns: preempted,
            blocked_ns: blocked,
            overruns,
        }
    }

    proptest! {
        #[test]
        fn cycles_are_unpacked_as_they_were(
            cycles in prop::collection::vec(
                (any::<i64>(), any::<[i32; 4]>(), 0usize..3, any::<u32>()), 0..300),
        ) {
            let cycles: Vec<Cycle> = cycles
                .into_iter()
                .map(|(release, times, by, overruns)| cycle(release, times.map(i64::from), by, overruns))
                .collect();
            let packed = PackedCycles::pack(7, &cycles);
            prop_assert_eq!(packed.unpack().unwrap(), cycles);
        }

        #[test]
        fn damage_is_no_cycle_and_takes_no_memory(
            count: u32, bytes in prop::collection::vec(any::<u8>(), 0..64),
        ) {
            let column = || bytes.clone();
            let packed = PackedCycles {
                thread: 0, count, releases: column(), released_by: column(),
                times: [column(), column(), column(), column()], overruns: column(),
            };
            let _ = packed.unpack();
        }
    }

    #[test]
    fn a_regular_loop_takes_a_few_bytes_a_cycle() {
        let cycles: Vec<Cycle> = (0..1000)
            .map(|n| cycle(5_000 + n * 1_000_000, [4_000 + n % 700, 90_000 + n % 900, 0, 0], 0, 0))
            .collect();
        let packed = PackedCycles::pack(0, &cycles);
        let bytes = packed.releases.len()
            + packed.released_by.len()
            + packed.overruns.len()
            + packed.times.iter().map(Vec::len).sum::<usize>();
        assert!(bytes < 4_000, "{bytes}");
    }
}
