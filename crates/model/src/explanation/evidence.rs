//! What is known of a leg in addition to its holder, and why a spike is not explained.

use crate::Nanos;
use crate::text_enum::text_enum;
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
