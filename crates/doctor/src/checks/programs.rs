//! Programs that disturb measurements.

use crate::check::{Check, Observation};
use crate::effect::{Effect, SECOND, acts, us};
use crate::facts::{Facts, Thread};
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;
use latlab_model::snapshot::made;

/// Default priority of measuring threads.
const PRIORITY: u32 = 90;
/// Kernel threads that must preempt all others, by the start of their names; those of timerlat are
/// what is measured.
const OF_THE_KERNEL: &[&str] = &[
    "migration/",
    "stopper/",
    "watchdog/",
    "watchdogd",
    "sugov:",
    "rcu",
    "idle_inject/",
    "timerlat/",
];
/// Most names in a sentence.
const MOST_NAMES: usize = 5;

pub const CHECKS: &[Check] = &[
    Check {
        code: "irqbalance",
        severity: Severity::Info,
        topic: Topic::Programs,
        effect: Effect::NONE,
        title: "irqbalance moves interrupts",
        why: "irqbalance redistributes interrupts every ten seconds by load, without regard to \
              measured CPUs.",
        cost: "the interrupts of a device, while they are routed to a measured CPU",
        remedy: Some("systemctl stop irqbalance"),
        undo: Some("systemctl start irqbalance"),
        observe: irqbalance,
    },
    Check {
        code: "tuning-daemons",
        severity: Severity::Info,
        topic: Topic::Programs,
        effect: Effect::NONE,
        title: "a daemon changes CPU settings",
        why: "The daemon may change the governor, frequency limits or idle states during a run.",
        cost: "the effect of the changed setting; two halves of a run may differ",
        remedy: Some("systemctl stop, with the names of the services"),
        undo: Some("systemctl start, with the names of the services"),
        observe: tuning_daemons,
    },
    Check {
        code: "higher-realtime-threads",
        severity: Severity::Warning,
        topic: Topic::Programs,
        effect: acts(us(2), SECOND),
        title: "other real-time threads have a higher priority",
        why: "A thread with a higher priority, or with SCHED_DEADLINE, preempts a measuring \
              thread whenever it is ready.",
        cost: "the run time of those threads",
        remedy: Some("chrt -f -p 50 {value}, or measure with a higher priority"),
        undo: None,
        observe: higher_realtime_threads,
    },
    Check {
        code: "realtime-kit",
        severity: Severity::Info,
        topic: Topic::Programs,
        effect: Effect::NONE,
        title: "desktop programs may get real-time priorities",
        why: "RealtimeKit gives sound servers and browsers a real-time priority on request.",
        cost: "none for threads above their priority; tens of microseconds for threads below it",
        remedy: Some("systemctl stop rtkit-daemon"),
        undo: Some("systemctl start rtkit-daemon"),
        observe: realtime_kit,
    },
    Check {
        code: "background-work",
        severity: Severity::Info,
        topic: Topic::Programs,
        effect: Effect::NONE,
        title: "a background service runs from time to time",
        why: "Updates and indexing load the disk, memory and CPUs in bursts.",
        cost: "hundreds of microseconds on a stock kernel while they run; two runs may differ",
        remedy: Some("systemctl stop, with the names of the services"),
        undo: Some("systemctl start, with the names of the services"),
        observe: background_work,
    },
];

/// Processes whose names begin with this, with the name of their service.
fn running<'a>(
    facts: &Facts<'a>,
    services: &[(&'static str, &'static str)],
) -> Vec<(Thread<'a>, &'static str)> {
    let service = |thread: &Thread<'_>| {
        services.iter().find(|(name, _)| thread.name.starts_with(name)).map(|(_, unit)| *unit)
    };
    facts.threads().filter_map(|thread| service(&thread).map(|unit| (thread, unit))).collect()
}

/// The names of threads, without duplicates.
fn names<'a>(threads: impl Iterator<Item = &'a Thread<'a>>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for thread in threads {
        if !names.contains(&thread.name) {
            names.push(thread.name);
        }
    }
    names
}

fn listed(names: &[&str]) -> String {
    let shown = names[..names.len().min(MOST_NAMES)].join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// An observation about running services, which are stopped and started by their units.
fn services(
    facts: &Facts<'_>,
    known: &[(&'static str, &'static str)],
    what: &str,
) -> Option<Observation> {
    let found = running(facts, known);
    let mut units: Vec<&str> = found.iter().map(|(_, unit)| *unit).collect();
    units.sort_unstable();
    units.dedup();
    let text = format!("Running: {}; {what}.", units.join(", "));
    let names = names(found.iter().map(|(thread, _)| thread));
    let [stop, start] =
        ["systemctl stop", "systemctl start"].map(|command| Line::new(command).words(&units));
    let seen = Observation::new(made::THREADS, names.join(" "), text);
    let seen = seen.with_remedy(stop, Some(start.into()));
    (!found.is_empty()).then_some(seen)
}

fn irqbalance(facts: &Facts<'_>) -> Option<Observation> {
    let thread = facts.threads().find(|thread| thread.name.starts_with("irqbalance"))?;
    let apart = facts.isolated_by_parameters();
    let seen = |text: String| Observation::new(made::THREADS, thread.name, text);
    Some(match apart.is_empty() {
        true => seen("irqbalance is running.".to_string()),
        false => seen(format!(
            "irqbalance is running, although CPU {apart} is isolated or \
                               tickless."
        ))
        .with_severity(Severity::Warning),
    })
}

fn tuning_daemons(facts: &Facts<'_>) -> Option<Observation> {
    let known = [
        ("tuned", "tuned"),
        ("tlp", "tlp"),
        ("auto-cpufreq", "auto-cpufreq"),
        ("power-profiles-", "power-profiles-daemon"),
        ("thermald", "thermald"),
    ];
    services(facts, &known, "CPU settings may change during a run")
}

fn realtime_kit(facts: &Facts<'_>) -> Option<Observation> {
    let thread = facts.threads().find(|thread| thread.name.starts_with("rtkit-daemon"))?;
    let text = "RealtimeKit is running, and gives programs real-time priorities on request.";
    Some(Observation::new(made::THREADS, thread.name, text))
}

fn background_work(facts: &Facts<'_>) -> Option<Observation> {
    let known = [
        ("packagekitd", "packagekit"),
        ("unattended-upgr", "unattended-upgrades"),
        ("updatedb", "plocate-updatedb"),
        ("fwupd", "fwupd"),
        ("snapd", "snapd"),
    ];
    services(facts, &known, "they may load the machine during a run")
}

fn higher_realtime_threads(facts: &Facts<'_>) -> Option<Observation> {
    let is_higher = |thread: &Thread<'_>| match thread.policy {
        "deadline" => true,
        _ => thread.is_realtime() && thread.priority > PRIORITY,
    };
    let ours = |thread: &Thread<'_>| OF_THE_KERNEL.iter().any(|name| thread.name.starts_with(name));
    let found: Vec<Thread<'_>> =
        facts.threads().filter(|thread| is_higher(thread) && !ours(thread)).collect();
    let first = found.first()?;
    let text = format!(
        "Threads above priority {PRIORITY}: {}; the first has {} {} on CPU {}.",
        listed(&names(found.iter())),
        first.policy,
        first.priority,
        first.cpu
    );
    let seen = Observation::new(made::THREADS, first.id.to_string(), text);
    if first.policy == "deadline" {
        return Some(seen.with_remedy(Line::new("stop").word(first.name), None));
    }
    let chrt = |priority: u32| {
        let option = format!("--{}", first.policy);
        Line::new("chrt").words([&option, "-p", &priority.to_string(), &first.id.to_string()])
    };
    Some(seen.with_remedy(chrt(50), Some(chrt(first.priority).into())))
}
