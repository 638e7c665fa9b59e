//! The cycles of a program's own threads, as `latlab attach` measures them.
//!
//! A cycle begins with a release: the expiry of the timer that the thread waits for, or the moment in
//! which something else woke it. It starts when the call returns in which the thread waited, and ends
//! when the thread enters that call again.

use crate::Nanos;
use crate::histogram::Bin;
use crate::run::{Quantiles, ThreadSetup};
use crate::samples::{pack, unpack};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Cycles of one thread that a frame may hold; more are taken for damage.
pub const MOST_CYCLES: u32 = 1 << 18;

text_enum! {
    /// What a release is known by.
    ReleasedBy {
        /// The expiry that the thread asked for.
        Timer = "timer",
        /// The moment in which another thread or an interrupt woke it.
        Event = "event",
        /// Its work was there already when it came to wait, so that the release is earlier than is
        /// known: the moment in which it came.
        Waiting = "waiting",
    }
}

text_enum! {
    /// A time of each cycle.
    CyclePart {
        /// From the release to the start.
        WakeUp = "wake-up",
        /// The thread ran.
        Execution = "execution",
        /// The thread could have run, and another one did.
        Preempted = "preempted",
        /// The thread slept before its cycle had ended.
        Blocked = "blocked",
        /// From the release to the end: the sum of the others.
        Response = "response",
    }
}

/// One cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// The release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// What the release is known by.
    pub released_by: ReleasedBy,
    /// From the release to the start.
    pub wake_up_ns: Nanos,
    /// Running.
    pub execution_ns: Nanos,
    /// Ready, while another thread ran.
    pub preempted_ns: Nanos,
    /// Asleep in a call other than that in which it waits for its release.
    pub blocked_ns: Nanos,
    /// Releases between the one before and this one that no cycle served.
    pub overruns: u32,
}

impl Cycle {
    /// From the release to the end.
    pub fn response_ns(&self) -> Nanos {
        self.wake_up_ns + self.execution_ns + self.preempted_ns + self.blocked_ns
    }

    /// When it ended.
    pub fn end_ns(&self) -> Nanos {
        self.release_ns + self.response_ns()
    }

    /// One of its times.
    pub fn part(&self, part: CyclePart) -> Nanos {
        match part {
            CyclePart::WakeUp => self.wake_up_ns,
            CyclePart::Execution => self.execution_ns,
            CyclePart::Preempted => self.preempted_ns,
            CyclePart::Blocked => self.blocked_ns,
            CyclePart::Response => self.response_ns(),
        }
    }

    /// The largest of the times that make its response.
    pub fn largest_part(&self) -> CyclePart {
        let parts = CyclePart::ALL.iter().filter(|part| **part != CyclePart::Response);
        parts.copied().max_by_key(|part| self.part(*part)).unwrap_or(CyclePart::Execution)
    }
}

/// Cycles of one thread as they travel and as the journal holds them: each column packed by itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PackedCycles {
    /// Number of the thread among those that were found.
    pub thread: u32,
    /// How many.
    pub count: u32,
    /// Releases, each from what the two before let expect.
    pub releases: Vec<u8>,
    /// What releases are known by.
    pub released_by: Vec<u8>,
    /// Wake-up, execution, preempted and blocked times.
    pub times: [Vec<u8>; 4],
    /// Overruns.
    pub overruns: Vec<u8>,
}

/// Bytes that are no cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("its cycles cannot be decoded")]
pub struct UnreadableCycles;

impl PackedCycles {
    /// Packs cycles in their order.
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

    /// The cycles.
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

/// The release that the two before let expect; both ways of packing follow it alike.
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
    /// Its name, such as `clock_nanosleep`.
    pub call: String,
    /// The file descriptor that it waits for.
    pub descriptor: Option<i64>,
    /// What that is, such as `timerfd` or `/dev/snd/timer`; `None` if that is not known.
    pub file: Option<String>,
    /// Of a sleep: the number of the clock, and whether it lasts until a time and not for one.
    pub sleep: Option<(i64, bool)>,
}

text_enum! {
    /// How the releases of a thread follow each other.
    RhythmKind {
        /// Each comes a multiple of the period after the first.
        Exact = "exact",
        /// Each comes about a period after the one before, so that differences add up.
        Drifting = "drifting",
        /// Something else gives the thread its work, about once a period.
        Regular = "regular",
        /// They come when they come.
        Irregular = "irregular",
    }
}

/// A thread whose cycles were found.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedThread {
    /// Its number among those that were found, from 0.
    pub thread: u32,
    /// Its number in the kernel.
    pub thread_id: i32,
    /// Its name.
    pub name: String,
    /// Its scheduling when it was found, such as `fifo 80`.
    pub policy: String,
    /// The CPUs that it may use.
    pub cpus: String,
    /// Where it waits for its releases.
    pub activation: ActivationCall,
    /// What else it waits in as long, so that its cycles may be others; `None` if there is nothing.
    pub ambiguous_with: Option<ActivationCall>,
    /// How its releases follow each other.
    pub rhythm: RhythmKind,
    /// Their usual distance.
    pub period_ns: Option<Nanos>,
    /// What its cycles are judged by; `None` if they are not.
    pub deadline_ns: Option<Nanos>,
    /// Whether the deadline is the period, because none was given.
    pub deadline_is_assumed: bool,
    /// As one of the threads of the run, where it is judged.
    pub setup: Option<ThreadSetup>,
}

text_enum! {
    /// Something in a cycle, or in how a thread waits, that is not real-time safe.
    FaultKind {
        /// It sleeps for a time, to which the time of its work is added.
        RelativeSleep = "relative-sleep",
        /// It sleeps on a clock that can be set.
        SettableClock = "settable-clock",
        /// It sleeps within a cycle.
        Sleep = "sleep",
        /// A page was missing.
        PageFault = "page-fault",
        /// Memory was mapped or unmapped.
        Heap = "heap",
        /// It wrote to a terminal or a file, or a write blocked.
        Write = "write",
        /// It waited for a disk.
        Sync = "sync",
        /// A file was opened.
        Open = "open",
        /// It gave the CPU away.
        Yield = "yield",
        /// It waited for a lock.
        Lock = "lock",
        /// A thread of lower priority ended its wait.
        Inversion = "inversion",
        /// Memory is not locked.
        Unlocked = "unlocked-memory",
        /// Its policy is not a real-time one.
        Ordinary = "ordinary-policy",
    }
}

/// A fault of one thread, with how often it was there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadFault {
    /// What it is.
    pub kind: FaultKind,
    /// The call in which it was; `None` if it is in none.
    pub call: Option<String>,
    /// On what: a file, or the thread that ended the wait.
    pub object: Option<String>,
    /// How often.
    pub count: u64,
    /// How many of the cycles had it.
    pub cycles: u64,
    /// The longest.
    pub longest_ns: Nanos,
}

/// A cycle that took long, with what is known of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LongCycle {
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// From the release to the start.
    pub wake_up_ns: Nanos,
    /// Running.
    pub execution_ns: Nanos,
    /// Ready, while another thread ran.
    pub preempted_ns: Nanos,
    /// Asleep within the cycle.
    pub blocked_ns: Nanos,
    /// The thread that had the CPU last before it got it, during its wake-up.
    pub waited_for: Option<String>,
    /// The thread that had its CPU for longest, during its work.
    pub preempted_by: Option<String>,
    /// The call in which it slept for longest.
    pub blocked_in: Option<String>,
    /// The thread that ended that sleep.
    pub unblocked_by: Option<String>,
}

impl LongCycle {
    /// From the release to the end.
    pub fn response_ns(&self) -> Nanos {
        self.wake_up_ns + self.execution_ns + self.preempted_ns + self.blocked_ns
    }
}

/// What is known of a thread besides its cycles.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedThreadReport {
    /// Its number among those that were found.
    pub thread: u32,
    /// Cycles that were followed.
    pub cycles: u64,
    /// Cycles that were not, because events were lost.
    pub unseen: u64,
    /// Cycles whose work was there before the thread came to wait, so that their response is longer
    /// than is known.
    pub waiting: u64,
    /// Releases that no cycle served.
    pub overruns: u64,
    /// Threads that woke it for its cycles, and how often, most often first.
    pub wakers: Vec<(String, u64)>,
    /// Its faults.
    pub faults: Vec<ThreadFault>,
    /// Its longest cycles, longest first.
    pub longest: Vec<LongCycle>,
    /// Times at which it went on on another CPU.
    pub migrations: u64,
    /// Times at which the kernel did not tell that it got a CPU.
    pub untold_switches: u64,
    /// Why its cycles were late: how many by the largest of their parts.
    pub late_by: Vec<(CyclePart, u64)>,
    /// Its policy at the end, if it is another one.
    pub policy_at_end: Option<String>,
    /// Whether it ended during the run.
    pub has_ended: bool,
    /// Whether its cycles stopped, and it waits elsewhere.
    pub activation_lost: bool,
}

/// What is known besides the cycles; a later one replaces an earlier one.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachReport {
    /// The program: its name and its process.
    pub program: String,
    /// Each thread whose cycles were found.
    pub threads: Vec<AttachedThreadReport>,
    /// Threads without a rhythm: their names and how often they waited.
    pub without_rhythm: Vec<(String, u64)>,
    /// Events that the kernel overwrote.
    pub events_lost: u64,
    /// Events that were read.
    pub events: u64,
    /// CPU time of reading them.
    pub reader_cpu_ns: Nanos,
    /// The exit status of a command, as a shell has it; `None` if it goes on, or was there before.
    pub exit_status: Option<i32>,
}

/// The figures of one part of a thread's cycles.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CyclePartFigures {
    /// Which part.
    pub part: CyclePart,
    /// Quantiles.
    pub quantiles: Option<Quantiles>,
    /// The largest observed.
    pub max_ns: Nanos,
    /// How many lie between each two of the edges that the intervals of a run have, without those
    /// between which none lies.
    pub bins: Vec<Bin>,
}

/// A thread with what was found of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedThreadRun {
    /// How it was found.
    #[serde(flatten)]
    pub found: AttachedThread,
    /// Cycles whose judged time is above the deadline.
    pub misses: u64,
    /// The times of its cycles.
    pub parts: Vec<CyclePartFigures>,
    /// What else is known.
    pub report: AttachedThreadReport,
}

/// The part of a run that `latlab attach` adds.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachedRun {
    /// The program: its name and its process.
    pub program: String,
    /// The threads whose cycles were found, most urgent first.
    pub threads: Vec<AttachedThreadRun>,
    /// Threads without a rhythm: their names and how often they waited.
    pub without_rhythm: Vec<(String, u64)>,
    /// Events that the kernel overwrote.
    pub events_lost: u64,
    /// Events that were read.
    pub events: u64,
    /// CPU time of reading them.
    pub reader_cpu_ns: Nanos,
    /// The exit status of a command, as a shell has it.
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
