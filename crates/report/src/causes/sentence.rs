//! A spike in one sentence.

use super::{detail, priority_of, process_of, reason};
use latlab_model::explanation::{CauseKind, SpikeBlame, UnexplainedReason, WakePhase};
use latlab_model::units::counted;

/// What happened, with the size of the latency first.
pub fn sentence(blame: &SpikeBlame) -> String {
    let Some(cause) = &blame.cause else {
        let why = blame.reason.unwrap_or(UnexplainedReason::CauseUnknown);
        return format!("{}: not explained: {}.", blame.latency_ns, reason(why));
    };
    let longest = blame.longest.as_ref();
    let share = blame.cause_ns.0 * 100 / blame.latency_ns.0.max(1);
    let (took, name) = (blame.cause_ns, &cause.name);
    let of = longest.and_then(|part| part.thread.as_ref());
    let process = of.and_then(process_of);
    let process = process.map(|words| format!(" {words}")).unwrap_or_default();
    let thread = match of {
        Some(of) => format!("{name} (thread {}{process})", of.id),
        None => name.clone(),
    };
    let realtime = of.and_then(priority_of);
    let realtime = realtime.map(|words| format!(" at {words}")).unwrap_or_default();
    let detail = longest.and_then(detail);
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    let waited = longest.is_some_and(|part| part.phase == WakePhase::TimerLate);
    let what = match cause.kind {
        CauseKind::Starts => {
            let starter = of.and_then(|thread| thread.started_by.as_ref());
            let id = starter.map(|one| format!(" (thread {})", one.id)).unwrap_or_default();
            let realtime = match realtime.is_empty() {
                true => String::new(),
                false => format!(",{realtime},"),
            };
            let started = started(blame);
            format!("processes started by {name}{id}{realtime} ran for {took}{started}")
        }
        CauseKind::Thread if realtime.is_empty() => {
            format!("{thread} kept the CPU for {took}{detail}")
        }
        CauseKind::Thread => format!("{thread}{realtime} ran for {took}{detail}"),
        CauseKind::InterruptsOff => format!(
            "the timer's interrupt did not come for {took} while {thread} ran: interrupts were off, \
                 or firmware or a hypervisor had the CPU{detail}"
        ),
        CauseKind::HypervisorOrInterruptsOff => format!(
            "no event came for {took} while {thread} ran: the hypervisor had the CPU, or interrupts \
                 were off"
        ),
        CauseKind::Printk => format!("{thread} printed to the console for {took}{detail}"),
        CauseKind::PageFaults if name.is_empty() => format!("its page faults took {took}"),
        CauseKind::PageFaults => format!("page faults of {thread} took {took}{detail}"),
        CauseKind::Hotplug => format!("{thread} took {took} for CPU hot-plug{detail}"),
        CauseKind::Interrupt => format!("interrupt {name} took {took}{detail}"),
        CauseKind::Softirq => format!("softirq {name} took {took}{detail}"),
        CauseKind::OtherTimers if name.is_empty() => {
            format!("other timers took {took}{detail}")
        }
        CauseKind::OtherTimers => format!("the timer function {name} took {took}{detail}"),
        CauseKind::IdleExit if waited => {
            format!("the idle CPU took {took} until the timer's interrupt began{detail}")
        }
        CauseKind::IdleExit => format!("leaving idle took {took}{detail}"),
        CauseKind::Hypervisor => format!("the hypervisor took the CPU{detail}"),
        CauseKind::Nmi => format!("NMI {name} took {took}"),
        CauseKind::Throttled => format!(
            "the thread was ready, but the scheduler kept it from its CPU for {took}, as a limit of \
                 CPU time does{detail}"
        ),
        CauseKind::OwnSleep => format!("the measured thread itself was {name} for {took}"),
        CauseKind::Execution => format!("its own work took {took}{detail}"),
        CauseKind::PreviousCycle => format!("its previous cycle took {took} more"),
        CauseKind::Lock => {
            format!("it waited {took} for a lock that {thread}{realtime} held{detail}")
        }
        CauseKind::Call => format!("it slept in {name} for {took}{detail}"),
        CauseKind::WakeUp => format!("the wake-up itself took {took}"),
        CauseKind::Unknown => format!("{took} are not recorded"),
    };
    format!("{}: {what}, {share} % of it.", blame.latency_ns)
}

/// The names of what was started, in parentheses.
fn started(blame: &SpikeBlame) -> String {
    let words = blame.started.iter().map(|one| match one.threads {
        1 => one.name.clone(),
        threads => format!("{} {}", one.name, counted(threads, "time", "times")),
    });
    let words: Vec<String> = words.collect();
    match words.is_empty() {
        true => String::new(),
        false => format!(" ({})", words.join(", ")),
    }
}
