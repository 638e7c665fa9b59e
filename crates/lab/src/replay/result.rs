//! Replay of a wake-up: the parts of its latency to the nanosecond, and what ran in each.

use latlab_model::Nanos;
use latlab_model::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// A part of a wake-up in a guest.
    ReplayPart {
        /// From the release until the timer interrupt begins.
        Due = "due",
        /// From the timer interrupt until the function that wakes the thread is called.
        Interrupt = "interrupt",
        /// The function that makes the thread ready.
        Waking = "waking",
        /// From the wake-up to the end of the interrupt.
        InterruptEnd = "interrupt-end",
        /// The thread is ready while others run.
        Waiting = "waiting",
        /// The scheduler, up to the switch.
        Switching = "switching",
        /// The measured thread in the kernel, on its way back.
        Returning = "returning",
        /// The measured thread until it reads the clock.
        Reading = "reading",
    }
}

/// A thread of a guest.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuestThread {
    /// Thread id.
    pub pid: u32,
    /// Process id.
    pub tgid: u32,
    /// Thread name.
    pub name: String,
}

/// What a guest's CPU was doing.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Activity {
    /// The CPU was idle.
    Sleep,
    /// Not recorded.
    Unrecorded,
    /// User code of the thread.
    Program,
    /// Kernel code outside of any system call.
    Kernel {
        /// The outermost function.
        function: String,
    },
    /// A system call.
    SystemCall {
        /// Name, if known.
        name: Option<String>,
    },
    /// A softirq.
    Softirq {
        /// The function that took most of it; `None` if it called none.
        handler: Option<String>,
    },
    /// The timer interrupt.
    TimerInterrupt,
    /// Another interrupt.
    Interrupt {
        /// Name, if known.
        name: Option<String>,
    },
    /// A page fault.
    PageFault,
    /// Another exception.
    Exception,
}

impl Activity {
    /// Whether it interrupted the thread, which had not asked for it.
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

/// A stretch of a latency, relative to the release.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimedPart {
    /// Start, from the release.
    pub from_ns: Nanos,
    /// End, from the release.
    pub to_ns: Nanos,
    /// Part of the wake-up it belongs to.
    pub part: ReplayPart,
    /// Thread that had the CPU; `None` if the CPU was idle or it is unknown.
    pub thread: Option<GuestThread>,
    /// What the thread did: a system call, an interrupt, an exception, a softirq, user code.
    pub activity: Activity,
    /// The innermost function reached by following, from the outside, each that took at least half
    /// of the one around it.
    pub function: Option<String>,
    /// Time that function took.
    pub function_ns: Nanos,
    /// Time with interrupts off within it.
    pub interrupts_off_ns: Nanos,
    /// Time with the kernel's preempt count above zero within it.
    pub preemption_off_ns: Nanos,
}

impl TimedPart {
    /// Its length.
    pub fn length(&self) -> Nanos {
        self.to_ns - self.from_ns
    }
}

/// A stretch with interrupts or preemption off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OffStretch {
    /// Start, from the release; negative if it began before.
    pub from_ns: Nanos,
    /// End, from the release.
    pub to_ns: Nanos,
    /// Thread that was running; `None` if unknown.
    pub thread: Option<GuestThread>,
    /// The function that started it.
    pub by: String,
}

impl OffStretch {
    /// Its length.
    pub fn length(&self) -> Nanos {
        self.to_ns - self.from_ns
    }
}

/// A row of the call tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeRow {
    /// Depth in the tree.
    pub depth: u32,
    /// Start, from the release.
    pub from_ns: Nanos,
    /// Its length.
    pub length_ns: Nanos,
    /// Name of a thread or a function.
    pub name: String,
}

/// A replayed wake-up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayedLatency {
    /// Release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// The latency.
    pub latency_ns: Nanos,
    /// The measured thread.
    pub measured: GuestThread,
    /// Summary in a sentence.
    pub sentence: String,
    /// latlab's own thread that had the CPU longest while the measured thread waited for it.
    pub own_thread: Option<GuestThread>,
    /// Time that latlab's own threads took.
    pub own_ns: Nanos,
    /// The breakdown, contiguous; its parts add up to the latency exactly.
    pub parts: Vec<TimedPart>,
    /// Stretch with interrupts off while the timer was due.
    pub interrupts_off: Option<OffStretch>,
    /// What ran, in order.
    pub tree: Vec<TreeRow>,
    /// What is unknown, and why.
    pub gap: Option<String>,
}

/// One part over many wake-ups.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayPartFigures {
    /// The part.
    pub part: ReplayPart,
    /// Wake-ups that had this part.
    pub count: u64,
    /// Total time.
    pub total_ns: Nanos,
    /// Longest time.
    pub largest_ns: Nanos,
}

impl ReplayPartFigures {
    /// Mean over the wake-ups that had this part.
    pub fn mean(&self) -> Nanos {
        Nanos(self.total_ns.0 / i64::try_from(self.count.max(1)).unwrap_or(i64::MAX))
    }
}

/// A cause that delayed wake-ups.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayCause {
    /// A thread with its activity, or an interrupt.
    pub who: String,
    /// Wake-ups of whose delay, apart from the wake-up itself, it took the most.
    pub count: u64,
    /// Time it took of these wake-ups in total.
    pub total_ns: Nanos,
    /// Most time it took of one wake-up.
    pub largest_ns: Nanos,
}

/// All wake-ups of a run.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayTable {
    /// Number of wake-ups.
    pub wake_ups: u64,
    /// Wake-ups whose parts are all known and add up to the latency.
    pub whole: u64,
    /// The parts in order.
    pub parts: Vec<ReplayPartFigures>,
    /// Causes of delay, most wake-ups first.
    pub causes: Vec<ReplayCause>,
}

text_enum! {
    /// What was disabled.
    OffKind {
        /// Interrupts.
        Interrupts = "interrupts-off",
        /// Preemption, by the kernel's preempt count.
        Preemption = "preemption-off",
        /// The kernel ran for a thread and cannot be preempted.
        Kernel = "in-kernel",
    }
}

/// A path with interrupts or preemption off for long.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LongPath {
    /// What was disabled.
    pub kind: OffKind,
    /// Longest time.
    pub largest_ns: Nanos,
    /// Number of times.
    pub count: u64,
    /// Seed of the guest with the longest time.
    pub seed: u64,
    /// Thread name.
    pub thread: String,
    /// What the thread was doing.
    pub activity: Activity,
    /// The function that started it.
    pub by: String,
    /// The call path from there that took most of it, each function at least half of its caller.
    pub mostly: Vec<String>,
}
