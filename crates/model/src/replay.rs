//! What a replay tells of a wake-up: the parts of its latency to the nanosecond, with what ran in each.

use crate::Nanos;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// A part of a wake-up in a guest.
    ReplayPart {
        /// From the release until the interrupt of the timer begins.
        Due = "due",
        /// From there until the function is called that wakes the thread.
        Interrupt = "interrupt",
        /// The function that makes the thread ready.
        Waking = "waking",
        /// From there to the end of the interrupt.
        InterruptEnd = "interrupt-end",
        /// The thread is ready, and others run.
        Waiting = "waiting",
        /// The scheduler, up to the switch.
        Switching = "switching",
        /// The measured thread in the kernel, on its way back.
        Returning = "returning",
        /// The measured thread up to its reading of the clock.
        Reading = "reading",
    }
}

/// A thread of a guest.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuestThread {
    /// Its number.
    pub pid: u32,
    /// The number of its process.
    pub tgid: u32,
    /// Its name.
    pub name: String,
}

/// What had the CPU of a guest in a stretch of time.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Activity {
    /// Nothing: the CPU slept.
    Sleep,
    /// It was not recorded.
    Unrecorded,
    /// The thread's own program.
    Program,
    /// The kernel, outside of any system call.
    Kernel {
        /// The outermost function.
        function: String,
    },
    /// A system call.
    SystemCall {
        /// Its name, where it is known.
        name: Option<String>,
    },
    /// A softirq.
    Softirq {
        /// The function that took most of it; none where it called none.
        handler: Option<String>,
    },
    /// The interrupt of the timer.
    TimerInterrupt,
    /// Another interrupt.
    Interrupt {
        /// Its name, where it is known.
        name: Option<String>,
    },
    /// A page fault.
    PageFault,
    /// Another exception.
    Exception,
}

impl Activity {
    /// Whether it came to the thread that it ran in, which had not asked for it.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Activity::TimerInterrupt | Activity::Interrupt { .. } | Activity::Softirq { .. }
        )
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Activity::Sleep => f.write_str("the CPU slept"),
            Activity::Unrecorded => f.write_str("not recorded"),
            Activity::Program => f.write_str("its program"),
            Activity::Kernel { function } => write!(f, "the kernel's `{function}`"),
            Activity::SystemCall { name: Some(name) } => write!(f, "`{name}`"),
            Activity::SystemCall { name: None } => f.write_str("a system call"),
            Activity::Softirq { handler: Some(handler) } => write!(f, "softirq {handler}"),
            Activity::Softirq { handler: None } => f.write_str("softirq handling"),
            Activity::TimerInterrupt => f.write_str("the timer interrupt"),
            Activity::Interrupt { name: Some(name) } => write!(f, "the interrupt {name}"),
            Activity::Interrupt { name: None } => f.write_str("an interrupt"),
            Activity::PageFault => f.write_str("a page fault"),
            Activity::Exception => f.write_str("an exception"),
        }
    }
}

/// A stretch of a latency, from its release.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayLeg {
    /// Its begin.
    pub from_ns: Nanos,
    /// Its end.
    pub to_ns: Nanos,
    /// The part that it belongs to.
    pub part: ReplayPart,
    /// The thread that had the CPU; none where the CPU slept or that is not known.
    pub thread: Option<GuestThread>,
    /// What it did: a system call, an interrupt, an exception, a softirq, its own program.
    pub activity: Activity,
    /// The function in it that took most of it, from the outside as far in as it took at least half.
    pub function: Option<String>,
    /// What that took.
    pub function_ns: Nanos,
    /// For how long interrupts were off in it.
    pub interrupts_off_ns: Nanos,
    /// For how long the kernel's count of reasons not to preempt was above zero in it.
    pub preemption_off_ns: Nanos,
}

impl ReplayLeg {
    /// Its length.
    pub fn length(&self) -> Nanos {
        self.to_ns - self.from_ns
    }
}

/// A stretch in which interrupts or preemption were off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffStretch {
    /// Its begin, from the release: negative where it began before.
    pub from_ns: Nanos,
    /// Its end.
    pub to_ns: Nanos,
    /// Whose.
    pub thread: Option<GuestThread>,
    /// The function that began it.
    pub by: String,
}

impl OffStretch {
    /// Its length.
    pub fn length(&self) -> Nanos {
        self.to_ns - self.from_ns
    }
}

/// A row of the tree of what ran.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeRow {
    /// How deep it lies.
    pub depth: u32,
    /// Its begin, from the release.
    pub from_ns: Nanos,
    /// Its length.
    pub length_ns: Nanos,
    /// A thread, or a function.
    pub name: String,
}

/// A wake-up that was run again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayedLatency {
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// The latency.
    pub latency_ns: Nanos,
    /// The measured thread.
    pub measured: GuestThread,
    /// In a sentence.
    pub sentence: String,
    /// The thread of latlab's own that had the CPU for the longest while the measured one waited for it.
    pub own_thread: Option<GuestThread>,
    /// What such threads took of it.
    pub own_ns: Nanos,
    /// The parts, one behind the other; they are the latency exactly.
    pub legs: Vec<ReplayLeg>,
    /// Interrupts off while the timer was due.
    pub interrupts_off: Option<OffStretch>,
    /// What ran, in its order.
    pub tree: Vec<TreeRow>,
    /// What is not known, and why.
    pub gap: Option<String>,
}

/// A part over many wake-ups.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PartFigures {
    /// The part.
    pub part: ReplayPart,
    /// Wake-ups that had it.
    pub count: u64,
    /// All together.
    pub total_ns: Nanos,
    /// The longest.
    pub largest_ns: Nanos,
}

impl PartFigures {
    /// The mean of the wake-ups that had it.
    pub fn mean(&self) -> Nanos {
        Nanos(self.total_ns.0 / i64::try_from(self.count.max(1)).unwrap_or(i64::MAX))
    }
}

/// Who held wake-ups off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldBy {
    /// A thread with what it did, or an interrupt.
    pub who: String,
    /// Wake-ups of which it took most of what was not the wake-up itself.
    pub count: u64,
    /// What it took of them.
    pub total_ns: Nanos,
    /// The most that it took of one.
    pub largest_ns: Nanos,
}

/// All wake-ups of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayTable {
    /// Wake-ups.
    pub wake_ups: u64,
    /// Those whose parts are all known and add up to the latency.
    pub whole: u64,
    /// The parts, in their order.
    pub parts: Vec<PartFigures>,
    /// Who held them off, those of most wake-ups first.
    pub holders: Vec<HeldBy>,
}

text_enum! {
    /// What was off.
    OffKind {
        /// Interrupts.
        Interrupts = "interrupts-off",
        /// Preemption, by the kernel's count.
        Preemption = "preemption-off",
        /// The kernel ran for a thread, and does not preempt itself.
        Kernel = "in-kernel",
    }
}

/// A path on which interrupts or preemption were off for long.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LongPath {
    /// What was off.
    pub kind: OffKind,
    /// The longest time.
    pub largest_ns: Nanos,
    /// How often.
    pub count: u64,
    /// The seed of the guest in which it was the longest.
    pub seed: u64,
    /// The name of the thread.
    pub thread: String,
    /// What it did then.
    pub activity: Activity,
    /// The function that began it.
    pub by: String,
    /// The functions from there that took most of it, each at least half of the one before.
    pub mostly: Vec<String>,
}
