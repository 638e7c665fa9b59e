//! Findings about the threads of an attached program.

use super::kinds::{FindingRow, findings};
use super::{ERROR, INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use crate::attach::ThreadFault;
use serde::{Deserialize, Serialize};

findings! {
    /// What the attached threads did, and what could not be followed.
    AttachFinding {
        "attach-failed" AttachFailed {
            /// Error of the kernel.
            error: String,
        } => ERROR;
        "no-cycles" NoCycles {
            /// Threads that waited, and how often in the same call.
            waited: Vec<(String, u64)>,
        } => WARNING;
        "cycles-unseen" CyclesUnseen {
            /// Thread name.
            name: String,
            /// Cycles not followed, at least.
            count: u64,
            /// Number of cycles followed.
            followed: u64,
        } => NO_PASS;
        "activation-ambiguous" ActivationAmbiguous {
            /// Thread name.
            name: String,
            /// The call whose cycles are shown.
            call: String,
            /// The other call in which it waits.
            other: String,
        } => INVALID;
        "activation-lost" ActivationLost {
            /// Thread name.
            name: String,
            /// The call it waited in.
            call: String,
        } => NO_PASS;
        "cycles-waiting" CyclesWaiting {
            /// Thread name.
            name: String,
            /// Number of cycles concerned.
            count: u64,
            /// Number of cycles in total.
            of: u64,
        } => WARNING;
        "rhythm-changed" RhythmChanged {
            /// Thread name.
            name: String,
            /// The period that was found first.
            before_ns: Nanos,
            /// The later period.
            after_ns: Nanos,
            /// Whether the first period was taken as the deadline.
            was_deadline: bool,
        } => WARNING, NO_PASS if *was_deadline;
        "thread-policy-changed" PolicyChanged {
            /// Thread name.
            name: String,
            /// Scheduling policy before.
            before: String,
            /// Scheduling policy at the end.
            after: String,
        } => NO_PASS;
        "relative-sleep" RelativeSleep {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
            /// Usual time between its releases; `None` if it has no period.
            period_ns: Option<Nanos>,
        } => WARNING;
        "settable-clock" SettableClock {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "sleep-in-cycle" SleepInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "page-fault-in-cycle" PageFaultInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "heap-in-cycle" HeapInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "write-in-cycle" WriteInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "sync-in-cycle" SyncInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "open-in-cycle" OpenInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "yield-in-cycle" YieldInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "lock-in-cycle" LockInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => INFO;
        "priority-inversion" PriorityInversion {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "tick-timeout-in-cycle" TickTimeoutInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "throttled-in-cycle" ThrottledInCycle {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "cpu-shared" CpuShared {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "released-by-lower-priority" ReleasedByLowerPriority {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "program-memory-not-locked" MemoryUnlocked {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
        "ordinary-policy" OrdinaryPolicy {
            /// Thread name.
            name: String,
            /// The fault.
            fault: ThreadFault,
        } => WARNING;
    }
}

impl AttachFinding {
    /// The finding for a fault of a thread.
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
            FaultKind::TickTimeout => TickTimeoutInCycle { name, fault },
            FaultKind::Throttled => ThrottledInCycle { name, fault },
            FaultKind::SharedCpu => CpuShared { name, fault },
            FaultKind::LowWaker => ReleasedByLowerPriority { name, fault },
            FaultKind::Unlocked => MemoryUnlocked { name, fault },
            FaultKind::Ordinary => OrdinaryPolicy { name, fault },
        }
    }

    /// Duration of the longest such fault.
    pub fn longest_ns(&self) -> Nanos {
        use AttachFinding::*;
        match self {
            AttachFailed { .. }
            | NoCycles { .. }
            | CyclesUnseen { .. }
            | ActivationAmbiguous { .. }
            | ActivationLost { .. }
            | CyclesWaiting { .. }
            | PolicyChanged { .. }
            | RhythmChanged { .. } => Nanos::ZERO,
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
            | TickTimeoutInCycle { fault, .. }
            | ThrottledInCycle { fault, .. }
            | CpuShared { fault, .. }
            | ReleasedByLowerPriority { fault, .. }
            | MemoryUnlocked { fault, .. }
            | OrdinaryPolicy { fault, .. } => fault.longest_ns,
        }
    }
}
