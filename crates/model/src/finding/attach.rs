//! Findings about the threads of a program that was attached to.

use super::kinds::{FindingEntry, findings};
use super::{ERROR, INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use crate::attach::ThreadFault;
use crate::shell::Line;
use crate::units::counted;
use serde::{Deserialize, Serialize};

findings! {
    /// What the threads of a program did, and what could not be followed.
    AttachFinding {
        /// The kernel's events of the program could not be recorded, or it could not be started.
        AttachFailed = "attach-failed" (
            "error",
            "none",
            "See what the text says."
        ) {
            /// What the kernel said.
            error: String,
        }
        /// No thread of the program has a rhythm: none waited ten times in the same call.
        NoCycles = "no-cycles" (
            "warning",
            "none",
            "Measure longer, or name the call that a cycle ends in with --activation."
        ) {
            /// Threads that did wait, and how often in the same call.
            waited: Vec<(String, u64)>,
        }
        /// Some cycles of a thread could not be followed, because the kernel overwrote events before they
        /// were read. They may have missed the deadline.
        CyclesUnseen = "cycles-unseen" (
            "warning",
            "no pass",
            "Leave latlab CPU time, and stop other programs that trace."
        ) {
            /// The thread.
            name: String,
            /// How many cycles at least.
            count: u64,
            /// Cycles that were followed.
            followed: u64,
        }
        /// Two calls of a thread may each be the one that ends its cycle, or one call ends two phases of a
        /// cycle.
        ActivationAmbiguous = "activation-ambiguous" (
            "error",
            "invalid",
            "Name the call with --activation, such as --activation read:7."
        ) {
            /// The thread.
            name: String,
            /// The call whose cycles are shown.
            call: String,
            /// The other one.
            other: String,
        }
        /// A thread stopped waiting in the call that ended its cycles, and waits elsewhere.
        ActivationLost = "activation-lost" (
            "warning",
            "no pass",
            "Measure the two modes of the program in runs of their own."
        ) {
            /// The thread.
            name: String,
            /// The call.
            call: String,
        }
        /// Some cycles had their work waiting when the thread came for it, so that their release is earlier
        /// and their response longer than is known.
        CyclesWaiting = "cycles-waiting" (
            "warning",
            "none",
            "Their work came faster than the thread did it: look at the thread that gives it."
        ) {
            /// The thread.
            name: String,
            /// How many.
            count: u64,
            /// Of so many cycles.
            of: u64,
        }
        /// The scheduling of a thread changed during the run.
        PolicyChanged = "thread-policy-changed" (
            "warning",
            "no pass",
            "Find out what changed it: the program itself, rtkit, chrt."
        ) {
            /// The thread.
            name: String,
            /// What it was.
            before: String,
            /// What it was at the end.
            after: String,
        }
        /// A thread sleeps for a time instead of until one: unless it takes the time of its work off, that is
        /// added to each period.
        RelativeSleep = "relative-sleep" (
            "warning",
            "none",
            "Use clock_nanosleep with TIMER_ABSTIME and add the period to the last wake-up time."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
            /// The usual distance of its releases.
            period_ns: Option<Nanos>,
        }
        /// A thread sleeps until a time of CLOCK_REALTIME, which can be set: then it sleeps too long or not
        /// at all.
        SettableClock = "settable-clock" (
            "warning",
            "none",
            "Use CLOCK_MONOTONIC for releases."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// A thread sleeps in the middle of a cycle.
        SleepInCycle = "sleep-in-cycle" (
            "warning",
            "none",
            "Do what waits in another thread, or in the next cycle."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// A page was missing in a cycle.
        PageFaultInCycle = "page-fault-in-cycle" (
            "warning",
            "none",
            "Lock the memory with mlockall (MCL_CURRENT and MCL_FUTURE), and write to all of stack and \
             heap before the first cycle."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// The heap grew or shrank in a cycle, or memory was mapped.
        HeapInCycle = "heap-in-cycle" (
            "warning",
            "none",
            "Allocate before the first cycle, or keep the heap: mallopt(M_TRIM_THRESHOLD, -1) and \
             mallopt(M_MMAP_MAX, 0)."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// A thread writes to a file or a terminal in a cycle, or a write blocked.
        WriteInCycle = "write-in-cycle" (
            "warning",
            "none",
            "Hand what is to be written to an ordinary thread, through a queue that does not block."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// A thread waits for a disk in a cycle.
        SyncInCycle = "sync-in-cycle" (
            "warning",
            "none",
            "Leave fsync to an ordinary thread."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// A thread opens a file in a cycle.
        OpenInCycle = "open-in-cycle" (
            "warning",
            "none",
            "Open files before the first cycle."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// A thread gives its CPU away in a cycle.
        YieldInCycle = "yield-in-cycle" (
            "warning",
            "none",
            "Wait for what is expected instead of calling sched_yield, which with a real-time policy only \
             lets threads of the same priority run."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// A thread waited for a lock in a cycle, or for what another thread does.
        LockInCycle = "lock-in-cycle" (
            "info",
            "none",
            "Hold the lock for a shorter time, or share the data without one."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// A thread of lower priority ended a wait in a cycle: as long as others keep that one from its CPU,
        /// this one waits for them too.
        PriorityInversion = "priority-inversion" (
            "warning",
            "none",
            "Give the mutex priority inheritance: pthread_mutexattr_setprotocol with \
             PTHREAD_PRIO_INHERIT."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// The memory of a program with a judged thread is not locked, so that the kernel may take pages of
        /// it away.
        MemoryUnlocked = "program-memory-not-locked" (
            "warning",
            "none",
            "Call mlockall (MCL_CURRENT and MCL_FUTURE) at its start."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
        /// A judged thread does not have a real-time policy, so that every other thread may delay it.
        OrdinaryPolicy = "ordinary-policy" (
            "warning",
            "none",
            "Give it SCHED_FIFO: chrt -f 80 PROGRAM, or pthread_setschedparam."
        ) {
            /// The thread.
            name: String,
            /// The fault.
            fault: ThreadFault,
        }
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

    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use AttachFinding::*;
        match self {
            AttachFailed { .. } => ERROR,
            ActivationAmbiguous { .. } => INVALID,
            CyclesUnseen { .. } | ActivationLost { .. } | PolicyChanged { .. } => NO_PASS,
            LockInCycle { .. } => INFO,
            _ => WARNING,
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        use AttachFinding::*;
        match self {
            AttachFailed { error } => format!("The program could not be followed: {error}."),
            NoCycles { waited } if waited.is_empty() => {
                "No thread of the program waited ten times in the same call.".to_string()
            }
            NoCycles { waited } => {
                let waited: Vec<String> =
                    waited.iter().map(|(name, count)| format!("{name} {count}")).collect();
                format!(
                    "No thread of the program has a rhythm that could be found; waits in the same \
                     call: {}.",
                    waited.join(", ")
                )
            }
            CyclesUnseen { name, count, followed } => format!(
                "At least {} of {name} could not be followed, because the kernel overwrote events; \
                 {followed} were.",
                counted(*count, "cycle", "cycles")
            ),
            ActivationAmbiguous { name, call, other } if call == other => format!(
                "{name} sleeps twice in each cycle, for two times that take turns in the same call \
                 ({call}): each sleep is shown as a cycle."
            ),
            ActivationAmbiguous { name, call, other } => format!(
                "{name} waits in two calls for as long: its cycles may end in {call}, as shown, or \
                 in {other}."
            ),
            ActivationLost { name, call } => {
                format!("{name} does not wait in {call} any more, which ended its cycles.")
            }
            CyclesWaiting { name, count, of } => format!(
                "In {count} of {of} cycles the work of {name} was there before it came for it: \
                 their responses are longer than is known."
            ),
            PolicyChanged { name, before, after } => {
                format!("The scheduling of {name} changed from {before} to {after}.")
            }
            RelativeSleep { name, fault, period_ns } => {
                let period = period_ns.map(|period| format!(" of {period}")).unwrap_or_default();
                format!(
                    "{name} sleeps for a time, not until one ({}): unless it takes the time of its \
                     work off, that is added to each period{period}.",
                    call_of(fault)
                )
            }
            SettableClock { name, fault } => format!(
                "{name} sleeps until a time of CLOCK_REALTIME ({}), which can be set.",
                call_of(fault)
            ),
            SleepInCycle { name, fault } => in_cycles(name, "slept", fault),
            PageFaultInCycle { name, fault } => format!(
                "{name} had {} in {}.",
                counted(fault.count, "page fault", "page faults"),
                counted(fault.cycles, "cycle", "cycles")
            ),
            HeapInCycle { name, fault } => in_cycles(name, "changed its memory", fault),
            WriteInCycle { name, fault } => {
                let object = fault.object.as_deref().unwrap_or("a file");
                in_cycles(name, &format!("wrote to {object}"), fault)
            }
            SyncInCycle { name, fault } => in_cycles(name, "waited for a disk", fault),
            OpenInCycle { name, fault } => in_cycles(name, "opened a file", fault),
            YieldInCycle { name, fault } => in_cycles(name, "gave its CPU away", fault),
            LockInCycle { name, fault } => match &fault.object {
                Some(by) => in_cycles(name, &format!("waited for {by}"), fault),
                None => in_cycles(name, "waited for a lock", fault),
            },
            PriorityInversion { name, fault } => {
                let by = fault.object.as_deref().unwrap_or("a thread");
                in_cycles(name, &format!("waited for {by}, which has a lower priority,"), fault)
            }
            MemoryUnlocked { name, fault } => format!(
                "The memory of {name} is not locked: {}.",
                fault.object.as_deref().unwrap_or("none of it")
            ),
            OrdinaryPolicy { name, fault } => format!(
                "{name} has the policy {}: every other thread may delay it.",
                fault.object.as_deref().unwrap_or("other")
            ),
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        let row = AttachFinding::ROWS.iter().find(|row| row.code == self.code())?;
        (!matches!(self, AttachFinding::AttachFailed { .. })).then(|| Line::new(row.action))
    }
}

fn call_of(fault: &ThreadFault) -> &str {
    fault.call.as_deref().unwrap_or("a system call")
}

/// `control slept 12 times in 12 cycles (clock_nanosleep, at most 3 ms).`
fn in_cycles(name: &str, what: &str, fault: &ThreadFault) -> String {
    format!(
        "{name} {what} {} in {} ({}, at most {}).",
        counted(fault.count, "time", "times"),
        counted(fault.cycles, "cycle", "cycles"),
        call_of(fault),
        fault.longest_ns
    )
}
