//! Further evidence for a part's cause, and why a spike is unexplained.

use crate::Nanos;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// Why a spike is unexplained, or not fully explained.
    UnexplainedReason {
        /// No events were recorded on its CPU.
        NoEvents = "no-events",
        /// The events of its release were overwritten before they could be copied.
        ReleaseOverwritten = "release-overwritten",
        /// Events after its release were lost.
        EventsLost = "events-lost",
        /// No event shows when the thread was woken.
        WakeUpUnknown = "wake-up-unknown",
        /// The kernel did not record the switch to the thread.
        SwitchUnknown = "switch-unknown",
        /// Nothing was recorded for a long time in the timer interrupt.
        SilentInterrupt = "silent-interrupt",
        /// Nothing was recorded for a long time while the thread itself had the CPU.
        SilentThread = "silent-thread",
        /// The events are complete but show no cause.
        CauseUnknown = "cause-unknown",
        /// Only the events of the program were recorded.
        OnlyTheProgram = "only-the-program",
    }
}

/// Further evidence for the cause of a part.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum CauseEvidence {
    /// A timer started by a thread.
    TimerOf {
        /// Name of that thread.
        thread: String,
    },
    /// An interrupt or softirq that called a function or ran within a thread.
    Called {
        /// Kernel function, if known.
        function: Option<String>,
        /// Name of the thread.
        thread: Option<String>,
    },
    /// The CPU was in an idle state.
    IdleState {
        /// Number of the idle state.
        state: i64,
    },
    /// The CPU was idle although the measured thread was ready.
    CpuIdle,
    /// A thread of lower priority ran although the measured thread was ready.
    RanInstead {
        /// Name of that thread.
        thread: String,
    },
    /// Nothing was recorded while the stolen time rose.
    Stolen {
        /// Length of the gap in the trace.
        silence_ns: Nanos,
        /// Increase of the stolen time.
        rose_ns: Nanos,
    },
    /// The hypervisor did not wake its idle CPU.
    NotWoken {
        /// Length of the gap in the trace.
        silence_ns: Nanos,
    },
    /// A gap in the trace that is too long for a wake-up.
    Silence {
        /// Where the gap was.
        reason: UnexplainedReason,
    },
    /// The kernel printed lines to the console.
    LinesPrinted {
        /// Number of lines.
        lines: u64,
    },
    /// The thread prints kernel messages for others.
    ConsoleThread,
    /// Page faults occurred.
    PageFaults {
        /// Number of page faults.
        faults: u64,
    },
    /// A CPU was taken offline or brought online.
    CpuChange,
    /// The thread stops all CPUs.
    AllCpusStopped,
    /// The system call in which the thread slept.
    InCall {
        /// Name of the call.
        call: String,
    },
    /// The thread that ended its sleep.
    WokenBy {
        /// Name of that thread.
        thread: String,
    },
    /// Other causes in the same time, each shorter than this one.
    ShorterCauses {
        /// Number of these causes.
        causes: u64,
    },
}
