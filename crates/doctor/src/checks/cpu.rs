//! SMT siblings, isolation, kinds of cores, missing CPUs.

use crate::check::{Check, Observation};
use crate::effect::{Effect, acts, us};
use crate::facts::Facts;
use latlab_model::CpuSet;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;

pub const CHECKS: &[Check] = &[
    Check {
        code: "smt",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "two CPUs share a core",
        why: "The sibling CPU uses the same execution units and caches, regardless of priorities.",
        cost: "code may take up to twice as long while the sibling works",
        remedy: Some("echo off | tee /sys/devices/system/cpu/smt/control"),
        undo: Some("echo on | tee /sys/devices/system/cpu/smt/control"),
        observe: smt,
    },
    Check {
        code: "no-isolation",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "no CPU is reserved for real-time work",
        why: "Other work on the same CPU evicts its caches and holds kernel locks, regardless of \
              priorities.",
        cost: "typically a few to tens of microseconds at the maximum",
        remedy: Some("add isolcpus=managed_irq,domain,CPUS to the kernel command line and reboot"),
        undo: Some("remove it from the kernel command line and reboot"),
        observe: no_isolation,
    },
    Check {
        code: "isolated-workqueues",
        severity: Severity::Warning,
        topic: Topic::Cpu,
        effect: acts(us(2), us(500)),
        title: "unbound kernel work may run on isolated CPUs",
        why: "Deferred work of drivers and file systems can run on the isolated CPUs.",
        cost: "microseconds to milliseconds for threads without a real-time priority; cache \
               misses for all",
        remedy: Some("echo MASK | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: isolated_workqueues,
    },
    Check {
        code: "unlike-cores",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "the cores are of different types",
        why: "The same code takes longer on a small core, so results of one type do not hold for \
              the other.",
        cost: "latencies grow roughly as the capacity of the core shrinks",
        remedy: Some("measure each type separately: latlab run --cpus CPUS"),
        undo: None,
        observe: unlike_cores,
    },
    Check {
        code: "offline-cpus",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "some CPUs are offline",
        why: "The other CPUs do the work and handle the interrupts of the offline ones, and no \
              measurement covers those.",
        cost: "none by itself",
        remedy: Some("echo 1 | tee /sys/devices/system/cpu/cpuN/online"),
        undo: Some("echo 0 | tee /sys/devices/system/cpu/cpuN/online"),
        observe: offline_cpus,
    },
    Check {
        code: "single-cpu",
        severity: Severity::Info,
        topic: Topic::Cpu,
        effect: Effect::NONE,
        title: "there is only one CPU",
        why: "All interrupts and all other work run on the CPU of the real-time work, including \
              latlab's own reporting.",
        cost: "the full length of each interrupt handler and of each section without preemption",
        remedy: None,
        undo: None,
        observe: single_cpu,
    },
];

const SIBLINGS: &str = "sys/devices/system/cpu/cpu*/topology/thread_siblings_list";

fn smt(facts: &Facts<'_>) -> Option<Observation> {
    let (online, isolated) = (facts.online(), facts.isolated());
    let groups = facts.values_by_cpu(SIBLINGS);
    let shared = groups.iter().filter_map(|(list, _)| {
        let siblings = list.parse::<CpuSet>().ok()?;
        let siblings = if online.is_empty() { siblings } else { siblings.and(&online) };
        (siblings.len() > 1).then_some((*list, siblings))
    });
    let shared: Vec<(&str, CpuSet)> = shared.collect();
    let half = shared.iter().find(|(_, siblings)| {
        let inside = siblings.and(&isolated).len();
        inside > 0 && inside < siblings.len()
    });
    if let Some((list, siblings)) = half {
        let (inside, outside) = (siblings.and(&isolated), siblings.without(&isolated));
        let text = format!("CPU {inside} is isolated, but CPU {outside} of the same core is not.");
        return Some(Observation::new(SIBLINGS, *list, text).with_severity(Severity::Warning));
    }
    let (list, siblings) = shared.first()?;
    let text = match shared.len() {
        1 => format!("CPU {siblings} share a core."),
        cores => {
            format!("CPU {siblings} share a core, and so do the CPUs of {} other cores.", cores - 1)
        }
    };
    Some(Observation::new(SIBLINGS, *list, text))
}

fn no_isolation(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/devices/system/cpu/isolated";
    let value = facts.text(file)?;
    let online = facts.online();
    if online.len() < 4 || !facts.isolated().is_empty() {
        return None;
    }
    let last = online.iter().last()?;
    let cpu = last.to_string();
    let remedy = Line::new("add").word(format!("isolcpus=managed_irq,domain,{cpu}"));
    let remedy = remedy.text("to the kernel command line to isolate CPU").word(cpu);
    let remedy = remedy.end(", and reboot");
    let text = format!("None of the CPUs {online} is isolated.");
    let undo = "remove isolcpus= from the kernel command line and reboot";
    Some(Observation::new(file, value, text).with_remedy(remedy, Some(undo.into())))
}

fn isolated_workqueues(facts: &Facts<'_>) -> Option<Observation> {
    let all = "sys/devices/virtual/workqueue/cpumask";
    let writeback = "sys/devices/virtual/workqueue/writeback/cpumask";
    // CPUs excluded from the common mask are excluded from each single one too.
    let file = if facts.text(all).is_some() { all } else { writeback };
    let mask = facts.text(file)?;
    let inside = CpuSet::from_mask(mask)?.and(&facts.isolated());
    let rest = facts.housekeeping();
    if inside.is_empty() || rest.is_empty() {
        return None;
    }
    let remedy = Line::new("echo").word(rest.to_mask()).text("| tee").word(format!("/{file}"));
    let text = format!("Unbound kernel work may run on the isolated CPU {inside}.");
    Some(
        Observation::new(file, mask, text)
            .with_remedy(remedy, Some("echo {value} | tee {file}".into())),
    )
}

fn unlike_cores(facts: &Facts<'_>) -> Option<Observation> {
    let capacity = "sys/devices/system/cpu/cpu*/cpu_capacity";
    let kinds = facts.values_by_cpu(capacity);
    if kinds.len() > 1 {
        let words = kinds.iter().map(|(capacity, cpus)| format!("{capacity} (CPU {cpus})"));
        let value = words.collect::<Vec<_>>().join(", ");
        let first = &kinds[0].1;
        let text = format!("The cores have different capacities: {value}.");
        return Some(
            Observation::new(capacity, value, text).with_remedy(separate_run_remedy(first), None),
        );
    }
    let file = "sys/devices/cpu_atom/cpus";
    let small = facts.snapshot.value::<CpuSet>(file).filter(|cpus| !cpus.is_empty())?;
    let large = facts.snapshot.value::<CpuSet>("sys/devices/cpu_core/cpus")?;
    let text = format!("CPU {large} are performance cores, CPU {small} are efficiency cores.");
    Some(
        Observation::new(file, small.to_string(), text)
            .with_remedy(separate_run_remedy(&large), None),
    )
}

fn separate_run_remedy(cpus: &CpuSet) -> Line {
    Line::new("measure each type separately: latlab run --cpus").word(cpus.to_string())
}

fn offline_cpus(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/devices/system/cpu/offline";
    // The list includes CPUs that this machine could have but does not.
    let present = facts.snapshot.value::<CpuSet>("sys/devices/system/cpu/present")?;
    let missing = facts.snapshot.value::<CpuSet>(file)?.and(&present);
    let files: Vec<String> =
        missing.iter().map(|cpu| format!("/sys/devices/system/cpu/cpu{cpu}/online")).collect();
    if files.is_empty() {
        return None;
    }
    let text = format!("CPU {missing} is present, but offline.");
    let seen = Observation::new(file, missing.to_string(), text);
    let [on, off] = ["echo 1 | tee", "echo 0 | tee"].map(|write| Line::new(write).words(&files));
    Some(seen.with_remedy(on, Some(off.into())))
}

fn single_cpu(facts: &Facts<'_>) -> Option<Observation> {
    let online = facts.online();
    let text = format!("CPU {online} is the only CPU.");
    let file = "sys/devices/system/cpu/online";
    (online.len() == 1).then(|| Observation::new(file, online.to_string(), text))
}
