//! A spike in one sentence, and the names of functions in it.

use latlab_model::explanation::{BlameLeg, HolderKind, Phase, SpikeBlame};
use latlab_model::flight::{KernelFunction, KnownThread, TraceFormats};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Why a spike is not explained where nothing else says it.
pub(crate) const UNTOLD: &str = "the events do not tell";

/// Children of a thread that are named.
const NAMED_CHILDREN: usize = 3;

/// What happened, with the size of the latency first.
pub fn sentence(blame: &SpikeBlame) -> String {
    let Some(cause) = &blame.cause else {
        let why = blame.gap.as_deref().unwrap_or(UNTOLD);
        return format!("{}: not explained, {why}.", blame.latency_ns);
    };
    let of_cause = || blame.legs.iter().filter(|leg| leg.cause() == *cause);
    let longest = of_cause().max_by_key(|leg| leg.length());
    let share = blame.cause_ns.0 * 100 / blame.latency_ns.0.max(1);
    let (took, name) = (blame.cause_ns, &cause.name);
    let id = longest.and_then(|leg| leg.thread.as_ref()).map(|thread| thread.id);
    let process = longest.and_then(|leg| leg.thread.as_ref()?.process_words());
    let process = process.map(|words| format!(" {words}")).unwrap_or_default();
    let thread = id.map_or_else(|| name.clone(), |id| format!("{name} (thread {id}{process})"));
    let realtime = longest.and_then(|leg| leg.thread.as_ref()?.realtime_words());
    let realtime = realtime.map(|words| format!(" at {words}")).unwrap_or_default();
    let detail = longest.and_then(|leg| leg.detail.as_deref());
    let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
    let waited = longest.is_some_and(|leg: &BlameLeg| leg.phase == Phase::TimerLate);
    let started_by = longest.and_then(|leg| leg.thread.as_ref()?.started_by.as_ref());
    let what = match cause.kind {
        HolderKind::Starts => {
            let id = started_by.map(|one| format!(" (thread {})", one.id)).unwrap_or_default();
            let children = started(&blame.legs, started_by.map(|one| one.id)).join(", ");
            let realtime = match realtime.is_empty() {
                true => String::new(),
                false => format!(",{realtime},"),
            };
            format!("what {name}{id} starts{realtime} took {took} ({children})")
        }
        HolderKind::Thread if realtime.is_empty() => {
            format!("{thread} kept the CPU for {took}{detail}")
        }
        HolderKind::Thread => format!("{thread}{realtime} ran for {took}{detail}"),
        HolderKind::InterruptsOff => format!(
            "the timer's interrupt did not come for {took} while {thread} ran: interrupts were off, \
             or firmware or a hypervisor had the CPU{detail}"
        ),
        HolderKind::Printk => format!("{thread} printed to the console for {took}{detail}"),
        HolderKind::PageFaults => format!("page faults of {thread} took {took}{detail}"),
        HolderKind::Hotplug => format!("{thread} took {took} for CPU hot-plug{detail}"),
        HolderKind::Interrupt => format!("interrupt {name} took {took}{detail}"),
        HolderKind::Softirq => format!("softirq {name} took {took}{detail}"),
        HolderKind::OtherTimers if name.is_empty() => format!("other timers took {took}{detail}"),
        HolderKind::OtherTimers => format!("the timer function {name} took {took}{detail}"),
        HolderKind::IdleExit if waited => {
            format!("the idle CPU took {took} until the timer's interrupt began{detail}")
        }
        HolderKind::IdleExit => format!("leaving idle took {took}{detail}"),
        HolderKind::Hypervisor => format!("the hypervisor took the CPU{detail}"),
        HolderKind::Nmi => format!("NMI {name} took {took}"),
        HolderKind::Throttled => format!(
            "the thread was ready, but the scheduler kept it from its CPU for {took}, as a limit of \
             CPU time does{detail}"
        ),
        HolderKind::OwnSleep => format!("the measured thread itself was {name} for {took}"),
        HolderKind::WakeUp => format!("the wake-up itself took {took}"),
        HolderKind::Unknown => format!("{took} are not recorded"),
    };
    format!("{}: {what}, {share} % of it.", blame.latency_ns)
}

/// The names of what a thread starts, with how many of each had the CPU, those of the longest time first.
fn started(legs: &[BlameLeg], starter: Option<i32>) -> Vec<String> {
    let mut each: Vec<(&str, BTreeSet<i32>, i64)> = Vec::new();
    for leg in legs {
        let Some(thread) = &leg.thread else { continue };
        let is_child = thread.started_by.as_ref().map(|one| one.id) == starter;
        if !is_child || Some(thread.id) == starter {
            continue;
        }
        let (name, length) = (leg.holder.name.as_str(), leg.length().0);
        match each.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, ids, total)) => {
                ids.insert(thread.id);
                *total += length;
            }
            None => each.push((name, [thread.id].into(), length)),
        }
    }
    each.sort_by_key(|(.., total)| Reverse(*total));
    let words = each.iter().take(NAMED_CHILDREN).map(|(name, ids, _)| match ids.len() {
        1 => name.to_string(),
        count => format!("{name} {count} times"),
    });
    words.collect()
}

/// What stands in a name for a function until its own name is known.
pub(crate) fn unnamed_function(address: u64) -> String {
    format!("@{address:x}@")
}

/// Puts the names of functions where their addresses stand, and says whose threads the threads are.
pub fn complete_names(blame: &mut SpikeBlame, names: &TraceFormats) {
    let functions = &names.functions;
    let known = |id: i32| -> Option<&KnownThread> { names.threads.iter().find(|one| one.id == id) };
    for leg in &mut blame.legs {
        leg.thread.iter_mut().for_each(|thread| thread.known = known(thread.id).cloned());
        name_function(&mut leg.holder.name, functions);
        leg.detail.iter_mut().for_each(|detail| name_function(detail, functions));
    }
    blame.cause.iter_mut().for_each(|cause| name_function(&mut cause.name, functions));
    blame.sentence = sentence(blame);
}

fn name_function(text: &mut String, functions: &[KernelFunction]) {
    let mut parts = text.splitn(3, '@');
    let (Some(before), Some(address), Some(after)) = (parts.next(), parts.next(), parts.next())
    else {
        return;
    };
    let Ok(address) = u64::from_str_radix(address, 16) else { return };
    let known = functions.iter().find(|function| function.address == address);
    let name = known.map_or("an unknown function", |function| function.name.as_str());
    *text = format!("{before}{name}{after}");
}
