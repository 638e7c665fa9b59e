//! What can be traced, and what is being traced.

use crate::check::{Check, Observation};
use crate::effect::{Effect, acts, ms, us};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::snapshot::{Content, made};

const TRACERS: &[&str] =
    &["sys/kernel/tracing/available_tracers", "sys/kernel/debug/tracing/available_tracers"];
/// Tracers that can show where a latency comes from.
const WANTED: &[&str] =
    &["timerlat", "osnoise", "hwlat", "wakeup_rt", "irqsoff", "preemptirqsoff", "function_graph"];

pub const CHECKS: &[Check] = &[
    Check {
        code: "tracers",
        severity: Severity::Info,
        topic: Topic::Tracing,
        effect: Effect::NONE,
        title: "tracers that explain latencies are missing",
        why: "Without a tracer for it, a kind of latency must be derived from single events.",
        cost: "no latency",
        remedy: Some("boot a kernel built with TIMERLAT_TRACER, OSNOISE_TRACER and HWLAT_TRACER"),
        undo: None,
        observe: tracers,
    },
    Check {
        code: "tracer-active",
        severity: Severity::Warning,
        topic: Topic::Tracing,
        effect: acts(us(2), ms(1)),
        title: "a tracer is active",
        why: "An active tracer records kernel events while they happen; a function tracer records \
              every function call.",
        cost: "up to a microsecond for each event; tens of microseconds a cycle with a function \
               tracer",
        remedy: Some("echo nop | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: tracer_active,
    },
    Check {
        code: "tracing-closed",
        severity: Severity::Info,
        topic: Topic::Tracing,
        effect: Effect::NONE,
        title: "the kernel supports tracing, but its files cannot be read",
        why: "Without the tracing files, latlab cannot list or use the tracers.",
        cost: "no latency",
        remedy: Some("mount -t tracefs tracefs /sys/kernel/tracing"),
        undo: Some("umount /sys/kernel/tracing"),
        observe: tracing_closed,
    },
    Check {
        code: "perf-interrupts",
        severity: Severity::Warning,
        topic: Topic::Tracing,
        effect: acts(us(1), ms(1)),
        title: "perf sampling has delayed CPUs",
        why: "The interrupt of a performance counter took so long that the kernel lowered its \
              rate, and nothing can mask that interrupt.",
        cost: "the time in the kernel log, for each sample",
        remedy: Some("stop the profiler: ps -ef | grep -w perf"),
        undo: None,
        observe: perf_interrupts,
    },
    Check {
        code: "profiling",
        severity: Severity::Warning,
        topic: Topic::Tracing,
        effect: acts(us(1), us(200)),
        title: "the kernel profiles itself at every tick",
        why: "With profile=, or if enabled at run time, the kernel records its position at each \
              tick.",
        cost: "less than a microsecond for each tick",
        remedy: Some("remove profile= from the kernel command line"),
        undo: Some("add it to the kernel command line again"),
        observe: profiling,
    },
    Check {
        code: "statistics",
        severity: Severity::Info,
        topic: Topic::Tracing,
        effect: Effect::NONE,
        title: "the kernel keeps optional statistics",
        why: "Each of them reads a clock or counts at every context switch or every run of a BPF \
              program.",
        cost: "tens of nanoseconds for each wake-up",
        remedy: Some("echo 0 | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: statistics,
    },
];

fn tracers(facts: &Facts<'_>) -> Option<Observation> {
    let (file, text) =
        TRACERS.iter().find_map(|file| facts.text(file).map(|text| (*file, text)))?;
    let has = |name: &&&str| text.split_whitespace().any(|word| word == **name);
    let names = |names: Vec<&&str>| match names.is_empty() {
        true => "none".to_string(),
        false => names.into_iter().copied().collect::<Vec<_>>().join(", "),
    };
    let (there, missing): (Vec<&&str>, Vec<&&str>) = WANTED.iter().partition(has);
    if missing.is_empty() {
        return None;
    }
    let said = format!("Tracers available: {}; missing: {}.", names(there), names(missing));
    Some(Observation::new(file, text, said))
}

fn tracer_active(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/kernel/tracing/current_tracer";
    let tracer = facts.text(file).filter(|tracer| !matches!(*tracer, "nop" | ""))?;
    let text = format!("The tracer '{tracer}' is active.");
    Some(Observation::new(file, tracer, text))
}

fn tracing_closed(facts: &Facts<'_>) -> Option<Observation> {
    if TRACERS.iter().any(|file| facts.text(file).is_some()) {
        return None;
    }
    let closed = TRACERS.iter().find_map(|file| match facts.snapshot.files.get(*file)? {
        Content::Unreadable { unreadable } => Some((*file, unreadable)),
        Content::Text(_) => None,
    });
    if let Some((file, reason)) = closed {
        let text = format!("The tracing files cannot be read: {reason}.");
        let seen = Observation::new(file, reason, text);
        return Some(seen.with_remedy("run it as root, or: sudo latlab doctor", None));
    }
    let text = "The kernel was built with TRACING, but tracefs is not mounted or this user may not read \
         it.";
    let seen = Observation::new(made::KERNEL_CONFIG, "CONFIG_TRACING=y", text);
    facts.has_option("TRACING").then_some(seen)
}

fn perf_interrupts(facts: &Facts<'_>) -> Option<Observation> {
    let line = facts.log_lines("perf: interrupt took too long").last()?;
    let text = "The kernel log reports that a perf interrupt took too long.";
    Some(Observation::new(made::KERNEL_LOG, line, text))
}

fn profiling(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/kernel/profiling";
    let value = facts.number(file).filter(|value| *value != 0)?;
    let seen =
        Observation::new(file, value.to_string(), "The kernel profiles itself at every tick.");
    Some(match facts.parameter("profile") {
        Some(_) => seen,
        // Once enabled, the kernel does not disable it again.
        None => seen.with_remedy("reboot: it was enabled at run time", None),
    })
}

fn statistics(facts: &Facts<'_>) -> Option<Observation> {
    let switches = ["sched_schedstats", "task_delayacct", "bpf_stats_enabled"];
    let on = switches.into_iter().find_map(|switch| {
        let file = format!("proc/sys/kernel/{switch}");
        let value = facts.number(&file).filter(|value| *value != 0)?;
        Some((switch, file, value))
    });
    let (switch, file, value) = on?;
    Some(Observation::new(
        file,
        value.to_string(),
        format!("The kernel keeps statistics ({switch})."),
    ))
}
