//! Findings about the threads of a program that was attached to.

use super::kinds::{FindingRow, findings};
use super::{ERROR, INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use crate::attach::ThreadFault;
use serde::{Deserialize, Serialize};

findings! {
    /// What the threads of a program did, and what could not be followed.
    AttachFinding {
        "attach-failed" AttachFailed {
            /// What the kernel said.
            error: String,
        } => ERROR;
        "no-cycles" NoCycles {
            /// Threads that did wait, and how often in the same call.
            waited: Vec<(String, u64)>,
        } => WARNING;
        "cycles-unseen" CyclesUnseen {
            /// The thread.
            name: String,
            /// How many cycles at least.
            count: u64,
            /// Cycles that were followed.
            followed: u64,
        } => NO_PASS;
        "activation-ambiguous" ActivationAmbiguous {
            /// The thread.
            name: String,
            /// The call whose cycles are shown.
            call: String,
            /// The other one.
            other: String,
        } => INVALID;
        "activation-lost" ActivationLost {
            /// The thread.
            name: String,
            /// The call.
            call: String,
        } => NO_PASS;
        "cycles-waiting" CyclesWaiting {
            /// The thread.
            name: String,
            /// How many.
            count: u64,
            /// Of so many cycles.
            of: u64,
        } => WARNING;
        "thread-policy-changed" PolicyChanged {
            /// The thread.
            name: String,
            /// What it was.
            before: String,
            /// What it was at the end.
            after: String,
        } => NO_PASS;
        "relative-sleep" RelativeSleep {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
            /// The usual distance of its releases.
            period_ns: Option<Nanos>,
        } => WARNING;
        "settable-clock" SettableClock {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "sleep-in-cycle" SleepInCycle {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "page-fault-in-cycle" PageFaultInCycle {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "heap-in-cycle" HeapInCycle {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "write-in-cycle" WriteInCycle {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "sync-in-cycle" SyncInCycle {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "open-in-cycle" OpenInCycle {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "yield-in-cycle" YieldInCycle {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "lock-in-cycle" LockInCycle {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => INFO;
        "priority-inversion" PriorityInversion {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "program-memory-not-locked" MemoryUnlocked {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "ordinary-policy" OrdinaryPolicy {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
    }
}

impl AttachFinding {
    /// The finding of a fault of a thread.
    pub fn of_fault(name: &str, fault: &ThreadFault, period_ns: Option<Nanos>) -> AttachFinding {
        use crate::attach::FaultKind;
        use AttachFinding::*;
        let (name, fault) = (name.to_string(), fault.clone());
        match fault.kind {
            FaultKind::RelativeSleep => RelativeSleep { name, fault, period_ns },
            FaultKind::SettableClock => SettableClock { name, fault },
            FaultKind::Sleep => SleepInCycle { name, fault },
            FaultKind::PageFault => PageFaultInCycle { name, fault },
            FaultKind::Heap => HeapInCycle { name, fault },
            FaultKind::Write => WriteInCycle { name, fault },
            FaultKind::Sync => SyncInCycle { name, fault },
            FaultKind::Open => OpenInCycle { name, fault },
            FaultKind::Yield => YieldInCycle { name, fault },
            FaultKind::Lock => LockInCycle { name, fault },
            FaultKind::Inversion => PriorityInversion { name, fault },
            FaultKind::Unlocked => MemoryUnlocked { name, fault },
            FaultKind::Ordinary => OrdinaryPolicy { name, fault },
        }
    }

    /// How long the longest of such faults took.
    pub fn longest_ns(&self) -> Nanos {
        use AttachFinding::*;
        match self {
            AttachFailed { .. }
            | NoCycles { .. }
            | CyclesUnseen { .. }
            | ActivationAmbiguous { .. }
            | ActivationLost { .. }
            | CyclesWaiting { .. }
            | PolicyChanged { .. } => Nanos::ZERO,
            RelativeSleep { fault, .. }
            | SettableClock { fault, .. }
            | SleepInCycle { fault, .. }
            | PageFaultInCycle { fault, .. }
            | HeapInCycle { fault, .. }
            | WriteInCycle { fault, .. }
            | SyncInCycle { fault, .. }
            | OpenInCycle { fault, .. }
            | YieldInCycle { fault, .. }
            | LockInCycle { fault, .. }
            | PriorityInversion { fault, .. }
            | MemoryUnlocked { fault, .. }
            | OrdinaryPolicy { fault, .. } => fault.longest_ns,
        }
    }
}
