//! What is known of a leg beside its holder, and why a spike is not explained: codes, and their words.

use crate::Nanos;
use crate::text_enum::text_enum;
use crate::units::counted;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// Why a spike is not explained, or not wholly.
    UnexplainedReason {
        /// No event of its CPU is recorded.
        NoEvents = "no-events",
        /// The events of its release were overwritten before they could be copied.
        ReleaseOverwritten = "release-overwritten",
        /// Events after its release were lost.
        EventsLost = "events-lost",
        /// No event shows when the thread was woken.
        WakeUpUnknown = "wake-up-unknown",
        /// The kernel did not record the switch to the thread.
        SwitchUnknown = "switch-unknown",
        /// Nothing was recorded for long in the timer's interrupt.
        SilentInterrupt = "silent-interrupt",
        /// Nothing was recorded for long while the thread itself had the CPU.
        SilentThread = "silent-thread",
        /// The events are there, and show no cause.
        CauseUnknown = "cause-unknown",
    }
}

impl UnexplainedReason {
    /// It in words, as a part of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            UnexplainedReason::NoEvents => "no event of its CPU is recorded",
            UnexplainedReason::ReleaseOverwritten => "the events of its release were overwritten",
            UnexplainedReason::EventsLost => "events were lost",
            UnexplainedReason::WakeUpUnknown => {
                "the recorded events do not show when the thread was woken"
            }
            UnexplainedReason::SwitchUnknown => {
                "the kernel did not record the switch to the thread"
            }
            UnexplainedReason::SilentInterrupt => "nothing was recorded in the timer's interrupt",
            UnexplainedReason::SilentThread => {
                "nothing was recorded while the thread itself had the CPU"
            }
            UnexplainedReason::CauseUnknown => "the recorded events do not show the cause",
        }
    }
}

/// What is known of a leg beside its holder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum LegEvidence {
    /// A timer that a thread has started.
    TimerOf {
        /// The name of the thread.
        thread: String,
    },
    /// An interrupt or a softirq that called a function, or that ran within a thread.
    Called {
        /// The function of the kernel, where it is known.
        function: Option<String>,
        /// The name of the thread.
        thread: Option<String>,
    },
    /// The idle state that the CPU was in.
    IdleState {
        /// Its number.
        state: i64,
    },
    /// The CPU was idle, although the measured thread was ready.
    CpuIdle,
    /// A thread of lower priority ran, although the measured thread was ready.
    RanInstead {
        /// The name of the thread.
        thread: String,
    },
    /// Nothing was recorded while the time rose that the hypervisor took.
    Stolen {
        /// For how long nothing was recorded.
        silence_ns: Nanos,
        /// By how much that time rose.
        rose_ns: Nanos,
    },
    /// A hypervisor did not wake its idle CPU.
    NotWoken {
        /// For how long.
        silence_ns: Nanos,
    },
    /// Nothing was recorded for so long that it was no wake-up.
    Silence {
        /// Where.
        reason: UnexplainedReason,
    },
    /// Lines were printed.
    LinesPrinted {
        /// How many.
        lines: u64,
    },
    /// The thread prints what others have to say.
    ConsoleThread,
    /// Pages were missing.
    PageFaults {
        /// How many.
        faults: u64,
    },
    /// A CPU was taken away or brought back.
    CpuChange,
    /// The thread stops all CPUs.
    AllCpusStopped,
    /// Others in the same time, each shorter than the holder.
    ShorterCauses {
        /// How many.
        causes: u64,
    },
}

impl LegEvidence {
    /// It in words, as a part of a sentence.
    pub fn words(&self) -> String {
        match self {
            LegEvidence::TimerOf { thread } => format!("a timer of {thread}"),
            LegEvidence::Called { function, thread } => {
                let within = thread.as_ref().map(|thread| format!("in {thread}"));
                let parts: Vec<String> = function.clone().into_iter().chain(within).collect();
                parts.join(" ")
            }
            LegEvidence::IdleState { state } => format!("idle state {state}"),
            LegEvidence::CpuIdle => "the CPU was idle".to_string(),
            LegEvidence::RanInstead { thread } => format!("{thread} ran instead"),
            LegEvidence::Stolen { silence_ns, rose_ns } => {
                format!("no event for {silence_ns}, while steal rose by {rose_ns}")
            }
            LegEvidence::NotWoken { silence_ns } => {
                format!("it did not wake its idle CPU for {silence_ns}")
            }
            LegEvidence::Silence { reason } => reason.words().to_string(),
            LegEvidence::LinesPrinted { lines } => counted(*lines, "line printed", "lines printed"),
            LegEvidence::ConsoleThread => "the thread of the console".to_string(),
            LegEvidence::PageFaults { faults } => counted(*faults, "page fault", "page faults"),
            LegEvidence::CpuChange => "a CPU was taken away or brought back".to_string(),
            LegEvidence::AllCpusStopped => {
                "all CPUs are stopped for hot-plug, a module, or a patch of code".to_string()
            }
            LegEvidence::ShorterCauses { causes } => {
                format!("and {}", counted(*causes, "shorter cause", "shorter causes"))
            }
        }
    }
}
