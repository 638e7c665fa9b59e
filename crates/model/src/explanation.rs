//! Why latencies were large: the parts of each, with what held the thread off, and over the run the
//! causes. Codes and numbers; their words are in `latlab-report`.

mod evidence;

pub use evidence::{LegEvidence, UnexplainedReason};

use crate::Nanos;
use crate::flight::{KnownThread, SpikeTally, StolenTime};
use crate::legs::LegFigures;
use crate::shell::Line;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// Which part of a wake-up.
    Phase {
        /// From the release until the interrupt of the timer begins.
        TimerLate = "timer-late",
        /// From there until the thread is woken.
        Handler = "handler",
        /// From there until the thread is put on its CPU.
        Waiting = "waiting",
        /// From there until it reads the clock.
        Return = "return",
    }
}

text_enum! {
    /// What held the thread off.
    HolderKind {
        /// The path of the wake-up itself: the interrupt of the thread's timer, the switch, the return.
        WakeUp = "wake-up",
        /// A thread that ran.
        Thread = "thread",
        /// A thread that ran with interrupts off, or in the place of the interrupt.
        InterruptsOff = "interrupts-off",
        /// In a guest: no event while a thread ran, which the host or interrupts that were off can make.
        HypervisorOrInterruptsOff = "hypervisor-or-interrupts-off",
        /// A thread that printed to the console.
        Printk = "printk",
        /// A thread with many page faults.
        PageFaults = "page-faults",
        /// What a thread starts and what soon ends: programs or threads.
        Starts = "starts",
        /// A CPU that was taken away or brought back.
        Hotplug = "hotplug",
        /// An interrupt.
        Interrupt = "interrupt",
        /// A softirq.
        Softirq = "softirq",
        /// Other timers in the same interrupt.
        OtherTimers = "other-timers",
        /// The way out of an idle state.
        IdleExit = "idle-exit",
        /// The hypervisor.
        Hypervisor = "hypervisor",
        /// An interrupt that cannot be masked.
        Nmi = "nmi",
        /// The scheduler: the thread was ready, and a limit of CPU time kept it from running.
        Throttled = "throttled",
        /// The measured thread itself: it was stopped, traced, or waited for something else.
        OwnSleep = "own-sleep",
        /// Nothing was recorded.
        Unknown = "unknown",
    }
}

/// Who held the thread off.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Holder {
    /// What it is.
    pub kind: HolderKind,
    /// Its name: of a thread, of an interrupt with its number, of a softirq; empty where the kind says all.
    pub name: String,
}

/// A thread as the trace knows it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracedThread {
    /// Its number in the kernel.
    pub id: i32,
    /// Its priority as the kernel counts: below 100 real-time, 120 an ordinary thread.
    pub kernel_priority: Option<i32>,
    /// Its process and cgroup; none where it had ended before anybody looked.
    pub known: Option<KnownThread>,
    /// Who started it, where it had ended before anybody looked; of a thread that mostly waits for what it
    /// starts, itself.
    pub started_by: Option<Starter>,
}

/// A thread that starts others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Starter {
    /// Its number in the kernel.
    pub id: i32,
    /// Its name.
    pub name: String,
}

impl TracedThread {
    /// Whether it has a real-time priority or a deadline.
    pub fn is_realtime(&self) -> bool {
        self.kernel_priority.is_some_and(|priority| priority <= 98)
    }
}

/// A stretch of time on the CPU of a spike, counted from the release.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlameLeg {
    /// Its begin, from the release.
    pub from_ns: Nanos,
    /// Its end, from the release.
    pub to_ns: Nanos,
    /// In which part of the wake-up.
    pub phase: Phase,
    /// Who held the thread off.
    pub holder: Holder,
    /// The thread, where it is one.
    pub thread: Option<TracedThread>,
    /// What else is known of it: the function of an interrupt, printed lines, page faults.
    pub evidence: Option<LegEvidence>,
    /// The same in words; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl BlameLeg {
    /// Its length.
    pub fn length(&self) -> Nanos {
        self.to_ns - self.from_ns
    }

    /// Who is to blame for it: of what a thread starts again and again, that thread.
    pub fn cause(&self) -> Holder {
        let starter = self.thread.as_ref().and_then(|thread| thread.started_by.as_ref());
        // What the host may have done is nothing that a parent has started.
        match starter.filter(|_| self.holder.kind != HolderKind::HypervisorOrInterruptsOff) {
            Some(starter) => Holder { kind: HolderKind::Starts, name: starter.name.clone() },
            None => self.holder.clone(),
        }
    }
}

/// Threads of one name that a thread has started.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartedThreads {
    /// Their name.
    pub name: String,
    /// How many of them had the CPU.
    pub threads: u64,
}

/// One spike with what its pages tell.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpikeBlame {
    /// Number of the spike, from 1.
    pub spike: u32,
    /// Number of the measuring thread.
    pub thread: u32,
    /// The CPU on which it was woken, as far as anybody knows.
    pub cpu: Option<u32>,
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// The latency.
    pub latency_ns: Nanos,
    /// The legs, one behind the other from the release to the reading of the clock.
    pub legs: Vec<BlameLeg>,
    /// Who took most of it; none where that is not known.
    pub cause: Option<Holder>,
    /// What the cause took of it.
    pub cause_ns: Nanos,
    /// The longest leg of the cause, whole where `legs` are condensed.
    pub longest: Option<BlameLeg>,
    /// Of what the cause has started, the names, those of the longest time first.
    pub started: Vec<StartedThreads>,
    /// Why it is not explained, or not wholly.
    pub reason: Option<UnexplainedReason>,
    /// In a sentence; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
    /// Stolen time between the readings around it.
    pub stolen: Option<StolenTime>,
    /// How its CPU was at the release.
    pub before: CpuBefore,
    /// The reason in words; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<String>,
}

/// How a CPU was when a release came.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuBefore {
    /// The idle state that it was in; none where it was busy, or where nobody knows.
    pub idle_state: Option<i64>,
    /// Its frequency in kHz, as far as it was told.
    pub khz: Option<u64>,
}

impl SpikeBlame {
    /// The legs without detail that nobody could see: those shorter than one part in so many become
    /// one with their neighbours, named after the longest of them. They add up as before.
    pub fn condensed(&self, parts: usize) -> Vec<BlameLeg> {
        if self.legs.len() <= parts {
            return self.legs.clone();
        }
        let shortest = Nanos(self.latency_ns.0 / parts.max(1) as i64);
        let (mut all, mut group) = (Vec::new(), Vec::new());
        for leg in &self.legs {
            if leg.length() >= shortest {
                all.extend(joined(&group));
                group.clear();
                all.push(leg.clone());
                continue;
            }
            group.push(leg);
            if group.iter().map(|leg| leg.length()).sum::<Nanos>() >= shortest {
                all.extend(joined(&group));
                group.clear();
            }
        }
        all.extend(joined(&group));
        all
    }

    /// Time whose cause is unknown.
    pub fn unknown_ns(&self) -> Nanos {
        let unknown = self.legs.iter().filter(|leg| leg.holder.kind == HolderKind::Unknown);
        Nanos(unknown.map(|leg| leg.length().0).sum())
    }
}

/// Legs that follow each other as one of the holder that took most of them.
fn joined(group: &[&BlameLeg]) -> Option<BlameLeg> {
    let (first, last) = (group.first()?, group.last()?);
    let mut totals: Vec<(&Holder, Nanos)> = Vec::new();
    for leg in group {
        match totals.iter_mut().find(|(holder, _)| *holder == &leg.holder) {
            Some((_, total)) => *total += leg.length(),
            None => totals.push((&leg.holder, leg.length())),
        }
    }
    let causes = totals.len() as u64 - 1;
    let (holder, _) = totals.into_iter().max_by_key(|(_, total)| *total)?;
    let longest = group.iter().find(|leg| leg.holder == *holder)?;
    let shorter = (causes > 0).then_some(LegEvidence::ShorterCauses { causes });
    let evidence = longest.evidence.clone().or(shorter);
    let (from_ns, to_ns) = (first.from_ns, last.to_ns);
    Some(BlameLeg { from_ns, to_ns, evidence, ..(*longest).clone() })
}

/// A cause over the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cause {
    /// Who.
    pub holder: Holder,
    /// Spikes of which it took most.
    pub count: u64,
    /// Their share of all that were recorded.
    pub share: f64,
    /// What it took of them together.
    pub total_ns: Nanos,
    /// The most that it took of one.
    pub largest_ns: Nanos,
    /// CPUs of these spikes.
    pub cpus: Vec<u32>,
    /// The first, since the first counted release of the run.
    pub first_ns: Nanos,
    /// The last.
    pub last_ns: Nanos,
    /// The priority of a real-time thread as the kernel counts: below 100, and below 0 of a deadline
    /// thread; none of other threads.
    pub kernel_priority: Option<i32>,
    /// The number of its thread in the kernel; of what is started, that of who starts it.
    pub thread: Option<i32>,
    /// The name of its process.
    pub process: Option<String>,
    /// Of what is started, the names, those of most spikes first.
    pub started: Vec<String>,
    /// The priority in words; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub realtime: Option<String>,
    /// What to do about it, a command or a sentence: in what a command prints. Never read from a file.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Line>,
}

/// Recorded spikes without a cause, and why they have none.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unexplained {
    /// Why.
    pub reason: Option<UnexplainedReason>,
    /// How many.
    pub count: u64,
    /// Why in words; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// What the recorder cost: the same cycles while it recorded and while it did not.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecorderCost {
    /// Latencies while it recorded.
    pub on: LegFigures,
    /// Latencies while it did not.
    pub off: LegFigures,
    /// CPU time of a cycle of a measuring thread while it recorded.
    pub on_cpu_ns: Nanos,
    /// CPU time of a cycle while it did not.
    pub off_cpu_ns: Nanos,
}

/// What the flight recorder says of a run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunExplanation {
    /// Spikes by what became of them.
    pub spikes: SpikeTally,
    /// Recorded spikes of which the cause is known.
    pub explained: u64,
    /// The causes, those of most spikes first.
    pub causes: Vec<Cause>,
    /// The recorded spikes that are not explained, by why.
    pub unexplained: Vec<Unexplained>,
    /// The largest recorded spikes.
    pub largest: Vec<SpikeBlame>,
    /// What it cost; none where too few cycles of either kind were seen.
    pub cost: Option<RecorderCost>,
}

/// Causes of the spikes of several runs, pooled.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CauseCounts {
    /// Spikes that were recorded.
    pub recorded: u64,
    /// Those with a cause, by cause, those of most spikes first.
    pub causes: Vec<CountedCause>,
}

/// Spikes of one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountedCause {
    /// Who.
    pub holder: Holder,
    /// Spikes of which it took most.
    pub count: u64,
}

impl CauseCounts {
    /// Of all of these that recorded any; none where none did.
    pub fn pooled<'a>(
        all: impl IntoIterator<Item = Option<&'a RunExplanation>>,
    ) -> Option<CauseCounts> {
        let mut counts: Option<CauseCounts> = None;
        for one in all.into_iter().flatten() {
            let counts = counts.get_or_insert_default();
            counts.recorded += one.spikes.stored;
            for cause in &one.causes {
                match counts.causes.iter_mut().find(|known| known.holder == cause.holder) {
                    Some(known) => known.count += cause.count,
                    None => {
                        let (holder, count) = (cause.holder.clone(), cause.count);
                        counts.causes.push(CountedCause { holder, count });
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
    pub fn of(&self, holder: &Holder) -> u64 {
        self.causes.iter().find(|one| one.holder == *holder).map_or(0, |one| one.count)
    }
}
