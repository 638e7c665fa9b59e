//! Idle states: how long a CPU takes to wake up.

use crate::check::{Check, Observation};
use crate::commands::with_paths;
use crate::effect::{Effect, Sign, acts, ms, us};
use crate::facts::{Facts, cpu_in};
use latlab_model::CpuSet;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;
use std::collections::BTreeMap;

pub const CHECKS: &[Check] = &[
    Check {
        code: "deep-idle",
        severity: Severity::Warning,
        topic: Topic::Cpu,
        effect: acts(us(2), ms(2)).if_seen(Sign::Sleeps),
        title: "idle CPUs enter deep idle states",
        why: "`latlab run` sets /dev/cpu_dma_latency to 0 and so measures without these states by \
              default; a program that does not do the same wakes up from them.",
        cost: "the exit latency of the state, and more if its caches were flushed",
        remedy: Some("echo 1 | tee {file}"),
        undo: Some("echo 0 | tee {file}"),
        observe: deep_idle,
    },
    Check {
        code: "no-idle-driver",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "the kernel has no idle driver",
        why: "A single instruction or the hypervisor then decides how an idle CPU sleeps, and its \
              exit latency is unknown.",
        cost: "usually little on bare metal; in a guest the time that the host needs to wake it",
        remedy: None,
        undo: None,
        observe: no_idle_driver,
    },
    Check {
        code: "graphics-power-saving",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "the Intel graphics driver saves power",
        why: "Graphics, CPUs and caches share a package: while the graphics part leaves a power \
              saving state, the CPUs may wait for memory and clocks.",
        cost: "little on most machines; tens of microseconds were reported",
        remedy: Some("add i915.enable_dc=0 i915.enable_psr=0 to the kernel command line"),
        undo: Some("remove them from the kernel command line"),
        observe: graphics_power_saving,
    },
    Check {
        code: "resume-latency",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "some CPUs have a limit of idle states",
        why: "CPUs with a limit of their own wake faster than the others, so their results are \
              not comparable.",
        cost: "none; it avoids the exit latency of deeper states on these CPUs",
        remedy: None,
        undo: None,
        observe: resume_latency,
    },
];

/// Exit latency of a deep state, in microseconds.
const DEEP_US: u64 = 20;
const LATENCY: &str = "sys/devices/system/cpu/cpu*/cpuidle/state*/latency";
const LIMIT: &str = "sys/devices/system/cpu/cpu*/power/pm_qos_resume_latency_us";

/// An enabled deep state of one CPU.
struct State<'a> {
    cpu: u32,
    number: &'a str,
    name: &'a str,
    latency_us: u64,
    /// The file that disables it.
    disable: &'a str,
}

fn deep_states<'a>(facts: &Facts<'a>) -> Vec<State<'a>> {
    let state = |(file, latency): (&'a str, &'a str)| {
        let latency_us = latency.parse().ok().filter(|latency| *latency > DEEP_US)?;
        let folder = file.strip_suffix("/latency")?;
        let (disable, _) = facts.snapshot.files.get_key_value(&format!("{folder}/disable"))?;
        let cpu = cpu_in(file).filter(|cpu| may_sleep(facts, *cpu, latency_us))?;
        let may_be_used = facts.text(disable) == Some("0");
        let number = folder.rsplit_once("/state")?.1;
        let name = facts.text(&format!("{folder}/name")).unwrap_or("an unnamed state");
        may_be_used.then_some(State { cpu, number, name, latency_us, disable })
    };
    facts.snapshot.matching(LATENCY).into_iter().filter_map(state).collect()
}

/// Whether this CPU's own limit lets it use a state; 0 is no limit, and `n/a` allows none.
fn may_sleep(facts: &Facts<'_>, cpu: u32, latency_us: u64) -> bool {
    match facts.text(&LIMIT.replace("cpu*", &format!("cpu{cpu}"))) {
        None | Some("0") => true,
        Some(limit) => limit.parse().is_ok_and(|limit: u64| latency_us <= limit),
    }
}

fn deep_idle(facts: &Facts<'_>) -> Option<Observation> {
    let states = deep_states(facts);
    let deepest = states.iter().max_by_key(|state| state.latency_us)?;
    let like = states.iter().filter(|state| state.name == deepest.name);
    let cpus: CpuSet = like.map(|state| state.cpu).collect();
    let (name, latency) = (deepest.name, deepest.latency_us);
    let text = format!(
        "CPU {cpus} may enter the idle state '{name}', which has an exit latency \
                        of {latency} us."
    );
    let [make, undo] = ["echo 1 | tee", "echo 0 | tee"]
        .map(|write| with_switches(Line::new(write), facts, &states));
    let file = LATENCY.replace("state*", &format!("state{}", deepest.number));
    Some(Observation::new(file, latency.to_string(), text).with_remedy(make, Some(undo.into())))
}

/// The line with the files that disable these states, one pattern per state number.
fn with_switches(line: Line, facts: &Facts<'_>, states: &[State<'_>]) -> Line {
    let mut numbers: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for state in states {
        numbers.entry(state.number).or_default().push(state.disable);
    }
    numbers.into_iter().fold(line, |line, (number, files)| {
        let pattern = format!("sys/devices/system/cpu/cpu*/cpuidle/state{number}/disable");
        with_paths(line, facts, &pattern, &files)
    })
}

fn no_idle_driver(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/devices/system/cpu/cpuidle/current_driver";
    let driver = facts.text(file).filter(|driver| *driver == "none")?;
    let text = match facts.is_guest() {
        true => "No idle driver is in use: the host decides what an idle CPU costs.",
        false => "No idle driver is in use.",
    };
    Some(Observation::new(file, driver, text))
}

fn resume_latency(facts: &Facts<'_>) -> Option<Observation> {
    let (limit, cpus) = facts.values_by_cpu(LIMIT).into_iter().find(|(limit, _)| *limit != "0")?;
    let text = match limit {
        "n/a" => format!("CPU {cpus} may not enter any idle state with an exit latency."),
        limit => {
            format!(
                "CPU {cpus} may only enter idle states with an exit latency of up to {limit} \
                     us."
            )
        }
    };
    Some(Observation::new(LIMIT, limit, text))
}

/// Parameters of i915, and what they allow; `enable_rc6` disappeared in 4.16.
const GRAPHICS: &[(&str, &str)] = &[
    ("enable_dc", "display power states (DC)"),
    ("enable_psr", "panel self refresh (PSR)"),
    ("enable_rc6", "graphics idle states (RC6)"),
];

fn graphics_power_saving(facts: &Facts<'_>) -> Option<Observation> {
    let file = |parameter: &str| format!("sys/module/i915/parameters/{parameter}");
    // -1 is the driver's default: on if the chip supports it.
    let is_on = |parameter| facts.number(&file(parameter)).is_some_and(|value| value != 0);
    let on: Vec<_> = GRAPHICS.iter().filter(|(parameter, _)| is_on(parameter)).collect();
    let (first, _) = on.first()?;
    let names: Vec<&str> = on.iter().map(|(_, name)| *name).collect();
    let text = format!("i915 may use {}.", names.join(" and "));
    let words = on.iter().map(|(parameter, _)| format!("i915.{parameter}=0"));
    let value = facts.text(&file(first))?;
    let remedy = Line::new("add").words(words.clone()).text("to the kernel command line");
    let undo = Line::new("remove").words(words).text("from the kernel command line");
    Some(Observation::new(file(first), value, text).with_remedy(remedy, Some(undo.into())))
}
