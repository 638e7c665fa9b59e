//! Why latencies were large: the parts of each spike, what delayed the thread, and the causes over
//! the run. This holds codes and numbers; the texts are in `latlab-report`.

mod evidence;

pub use evidence::{CauseEvidence, UnexplainedReason};

use crate::Nanos;
use crate::breakdown::PartFigures;
use crate::flight::{KnownThread, SpikeTally, StolenTime};
use crate::shell::Line;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// Part of a wake-up, or of a cycle.
    WakePhase {
        /// From the release until the timer interrupt begins.
        TimerLate = "timer-late",
        /// From the timer interrupt until the thread is woken.
        Handler = "handler",
        /// From the wake-up until the thread is switched in.
        Waiting = "waiting",
        /// From the switch until the thread reads the clock, or its cycle starts.
        Return = "return",
        /// From the start of a cycle of an attached thread to its end.
        Work = "work",
    }
}

text_enum! {
    /// Kind of cause that delayed the thread.
    CauseKind {
        /// The wake-up path itself: the timer interrupt, the switch, the return.
        WakeUp = "wake-up",
        /// A thread that ran in place of the measured one.
        Thread = "thread",
        /// A thread that ran with interrupts off, or while the interrupt was due.
        InterruptsOff = "interrupts-off",
        /// In a guest: no event while a thread ran; either the host or disabled interrupts.
        HypervisorOrInterruptsOff = "hypervisor-or-interrupts-off",
        /// A thread that printed to the console.
        Printk = "printk",
        /// The page faults of a thread; without a name, those of the measured one.
        PageFaults = "page-faults",
        /// Short-lived programs or threads started by one thread.
        Starts = "starts",
        /// A CPU taken offline or brought online.
        Hotplug = "hotplug",
        /// The handler of an interrupt.
        Interrupt = "interrupt",
        /// A softirq that ran before the measured thread.
        Softirq = "softirq",
        /// Other timers in the same interrupt.
        OtherTimers = "other-timers",
        /// The way out of an idle state.
        IdleExit = "idle-exit",
        /// The hypervisor: it ran something else on the CPU of this guest.
        Hypervisor = "hypervisor",
        /// A non-maskable interrupt.
        Nmi = "nmi",
        /// The scheduler: the thread was ready, but a CPU time limit throttled it.
        Throttled = "throttled",
        /// The measured thread itself: it was stopped, traced, or waited for something else.
        OwnSleep = "own-sleep",
        /// The measured thread itself: it did its work.
        Execution = "execution",
        /// The measured thread itself: its previous cycle was not over.
        PreviousCycle = "previous-cycle",
        /// A lock; the name is that of the thread that released it.
        Lock = "lock",
        /// A system call in which the measured thread slept; the name is that of the call.
        Call = "call",
        /// Nothing was recorded.
        Unknown = "unknown",
    }
}

/// What delayed the thread.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// Kind of cause.
    pub kind: CauseKind,
    /// Name of the thread, interrupt (with its number) or softirq; empty if the kind says it all.
    pub name: String,
}

/// A thread as the trace knows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedThread {
    /// Kernel thread id.
    pub id: i32,
    /// Kernel priority: below 100 real-time, 120 a normal thread.
    pub kernel_priority: Option<i32>,
    /// Process and cgroup; `None` if the thread had ended before it was looked up.
    pub known: Option<KnownThread>,
    /// The thread that started it, if it had ended before it was looked up; for a thread that
    /// mostly waits for what it starts, itself.
    pub started_by: Option<Starter>,
}

/// A thread that starts others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Starter {
    /// Kernel thread id.
    pub id: i32,
    /// Thread name.
    pub name: String,
}

impl TracedThread {
    /// Whether it has a real-time priority or a deadline policy.
    pub fn is_realtime(&self) -> bool {
        self.kernel_priority.is_some_and(|priority| priority <= 98)
    }
}

/// A stretch of time on the CPU of a spike, relative to the release.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlamePart {
    /// Start, from the release.
    pub from_ns: Nanos,
    /// End, from the release.
    pub to_ns: Nanos,
    /// Part of the wake-up it lies in.
    pub phase: WakePhase,
    /// What delayed the thread.
    pub cause: Cause,
    /// The delaying thread, if it is one.
    pub thread: Option<TracedThread>,
    /// Further evidence: the function of an interrupt, printed lines, page faults.
    pub evidence: Option<CauseEvidence>,
    /// The evidence in words; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl BlamePart {
    /// Length of the part.
    pub fn length(&self) -> Nanos {
        self.to_ns - self.from_ns
    }

    /// The cause to report: for programs that a thread starts repeatedly, that thread.
    pub fn cause(&self) -> Cause {
        let starter = self.thread.as_ref().and_then(|thread| thread.started_by.as_ref());
        // What the host may have done was not started by any thread.
        match starter.filter(|_| self.cause.kind != CauseKind::HypervisorOrInterruptsOff) {
            Some(starter) => Cause { kind: CauseKind::Starts, name: starter.name.clone() },
            None => self.cause.clone(),
        }
    }
}

/// Threads of one name started by one thread.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartedThreads {
    /// Thread name.
    pub name: String,
    /// Number of them that ran.
    pub threads: u64,
}

/// A spike and its breakdown, from the recorded trace pages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpikeBlame {
    /// Number of the spike, from 1.
    pub spike: u32,
    /// Number of the measuring thread.
    pub thread: u32,
    /// CPU on which the thread was woken, if known.
    pub cpu: Option<u32>,
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// The latency.
    pub latency_ns: Nanos,
    /// The breakdown, contiguous from the release to the reading of the clock.
    pub parts: Vec<BlamePart>,
    /// The cause that took most of it; `None` if unknown.
    pub cause: Option<Cause>,
    /// Time the cause took.
    pub cause_ns: Nanos,
    /// The longest part due to the cause, uncondensed even if `parts` are condensed.
    pub longest: Option<BlamePart>,
    /// Threads started by the cause, by name, longest time first.
    pub started: Vec<StartedThreads>,
    /// Why it is unexplained, or not fully explained.
    pub reason: Option<UnexplainedReason>,
    /// Summary in a sentence; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// Stolen time between the readings around it.
    pub stolen: Option<StolenTime>,
    /// State of its CPU at the release.
    pub before: CpuBefore,
    /// The reason in words; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

/// State of a CPU when a release came.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuBefore {
    /// Idle state it was in; `None` if it was busy or the state is unknown.
    pub idle_state: Option<i64>,
    /// CPU frequency in kHz, if recorded.
    pub khz: Option<u64>,
}

impl SpikeBlame {
    /// The breakdown without detail too small to show: parts shorter than 1/`parts` of the latency
    /// are merged with their neighbours under the longest one's cause. The sum is unchanged.
    pub fn condensed(&self, parts: usize) -> Vec<BlamePart> {
        condensed(&self.parts, parts)
    }

    /// Time whose cause is unknown.
    pub fn unknown_ns(&self) -> Nanos {
        let unknown = self.parts.iter().filter(|part| part.cause.kind == CauseKind::Unknown);
        Nanos(unknown.map(|part| part.length().0).sum())
    }
}

/// Consecutive parts without detail too small to show: those shorter than 1/`parts` of their sum are
/// merged with their neighbours under the longest one's cause. The sum is unchanged.
pub fn condensed(all: &[BlamePart], parts: usize) -> Vec<BlamePart> {
    if all.len() <= parts {
        return all.to_vec();
    }
    let shortest = Nanos(all.iter().map(|part| part.length().0).sum::<i64>() / parts.max(1) as i64);
    let (mut kept, mut group) = (Vec::new(), Vec::new());
    for part in all {
        if part.length() >= shortest {
            kept.extend(joined(&group));
            group.clear();
            kept.push(part.clone());
            continue;
        }
        group.push(part);
        if group.iter().map(|part| part.length()).sum::<Nanos>() >= shortest {
            kept.extend(joined(&group));
            group.clear();
        }
    }
    kept.extend(joined(&group));
    kept
}

/// Consecutive parts merged into one, under the cause that took most of them.
fn joined(group: &[&BlamePart]) -> Option<BlamePart> {
    let (first, last) = (group.first()?, group.last()?);
    let mut totals: Vec<(&Cause, Nanos)> = Vec::new();
    for part in group {
        match totals.iter_mut().find(|(cause, _)| *cause == &part.cause) {
            Some((_, total)) => *total += part.length(),
            None => totals.push((&part.cause, part.length())),
        }
    }
    let causes = totals.len() as u64 - 1;
    let (cause, _) = totals.into_iter().max_by_key(|(_, total)| *total)?;
    let longest = group.iter().find(|part| part.cause == *cause)?;
    let shorter = (causes > 0).then_some(CauseEvidence::ShorterCauses { causes });
    let evidence = longest.evidence.clone().or(shorter);
    let (from_ns, to_ns) = (first.from_ns, last.to_ns);
    Some(BlamePart { from_ns, to_ns, evidence, ..(*longest).clone() })
}

/// A cause over the whole run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunCause {
    /// What delayed the threads.
    pub cause: Cause,
    /// Number of spikes of which it took the largest part.
    pub count: u64,
    /// Share of all recorded spikes.
    pub share: f64,
    /// Time it took of these spikes in total.
    pub total_ns: Nanos,
    /// Most time it took of one spike.
    pub largest_ns: Nanos,
    /// CPUs of these spikes.
    pub cpus: Vec<u32>,
    /// First such spike, from the first counted release of the run.
    pub first_ns: Nanos,
    /// Last such spike, from the first counted release.
    pub last_ns: Nanos,
    /// Kernel priority of a real-time thread: below 100, and below 0 with a deadline policy; `None`
    /// for other threads.
    pub kernel_priority: Option<i32>,
    /// Kernel id of the thread; for short-lived programs, of the thread that starts them.
    pub thread: Option<i32>,
    /// Process name.
    pub process: Option<String>,
    /// Names of started programs or threads, most spikes first.
    pub started: Vec<String>,
    /// Priority in words; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realtime: Option<String>,
    /// What to do about it, a command or a sentence; printed only, never read from a file.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Line>,
}

/// Recorded spikes without a known cause, by reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unexplained {
    /// Reason.
    pub reason: Option<UnexplainedReason>,
    /// Number of spikes.
    pub count: u64,
    /// Reason in words; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// Overhead of the recorder: the same cycles with and without recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecorderCost {
    /// Latencies while recording.
    pub on: PartFigures,
    /// Latencies while not recording.
    pub off: PartFigures,
    /// CPU time of one cycle of a measuring thread while recording; `None` for a program's threads.
    pub on_cpu_ns: Option<Nanos>,
    /// CPU time of one cycle while not recording.
    pub off_cpu_ns: Option<Nanos>,
}

/// Results of the flight recorder for a run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunExplanation {
    /// Spikes by outcome.
    pub spikes: SpikeTally,
    /// Recorded spikes with a known cause.
    pub explained: u64,
    /// Causes, most spikes first.
    pub causes: Vec<RunCause>,
    /// Recorded spikes that are unexplained, by reason.
    pub unexplained: Vec<Unexplained>,
    /// The largest recorded spikes.
    pub largest: Vec<SpikeBlame>,
    /// Overhead of recording; `None` if too few cycles of either kind were seen.
    pub cost: Option<RecorderCost>,
}

/// Causes of the spikes of several runs, pooled.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseCounts {
    /// Spikes recorded.
    pub recorded: u64,
    /// Spikes with a known cause, by cause, most first.
    pub causes: Vec<CountedCause>,
}

/// Number of spikes with one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountedCause {
    /// What delayed the threads.
    pub cause: Cause,
    /// Spikes of which it took the largest part.
    pub count: u64,
}

impl CauseCounts {
    /// Pools the counts of several runs; `None` if none recorded a spike.
    pub fn pooled<'a>(
        all: impl IntoIterator<Item = Option<&'a RunExplanation>>,
    ) -> Option<CauseCounts> {
        let mut counts: Option<CauseCounts> = None;
        for one in all.into_iter().flatten() {
            let counts = counts.get_or_insert_default();
            counts.recorded += one.spikes.stored;
            for cause in &one.causes {
                match counts.causes.iter_mut().find(|known| known.cause == cause.cause) {
                    Some(known) => known.count += cause.count,
                    None => {
                        let (cause, count) = (cause.cause.clone(), cause.count);
                        counts.causes.push(CountedCause { cause, count });
                    }
                }
            }
        }
        if let Some(counts) = &mut counts {
            counts.causes.sort_by_key(|one| std::cmp::Reverse(one.count));
        }
        counts
    }

    /// Spikes of this cause.
    pub fn of(&self, cause: &Cause) -> u64 {
        self.causes.iter().find(|one| one.cause == *cause).map_or(0, |one| one.count)
    }
}
