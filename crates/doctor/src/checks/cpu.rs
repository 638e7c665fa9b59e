//! Siblings, isolation, kinds of cores, CPUs that are not there.

use crate::check::{Check, Observation};
use crate::facts::Facts;
use latlab_model::CpuSet;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;

/// What is looked for.
pub const CHECKS: &[Check] = &[
    Check {
        code: "smt",
        severity: Severity::Info,
        topic: Topic::Cpu,
        title: "two CPUs share one core",
        why: "What the sibling does takes execution units and caches from real-time work, and no \
              priority can keep it from that.",
        cost: "code may take up to about twice as long while the sibling works",
        remedy: Some("echo off | tee /sys/devices/system/cpu/smt/control"),
        undo: Some("echo on | tee /sys/devices/system/cpu/smt/control"),
        observe: smt,
    },
    Check {
        code: "no-isolation",
        severity: Severity::Info,
        topic: Topic::Cpu,
        title: "no CPU is kept free for real-time work",
        why: "Ordinary work on the same CPU fills its caches and holds the kernel's locks, which \
              a priority does not prevent.",
        cost: "typically some microseconds to tens of them at the maximum",
        remedy: Some("add isolcpus=managed_irq,domain,CPUS to the kernel's command line, boot"),
        undo: Some("take it out of the command line, boot"),
        observe: no_isolation,
    },
    Check {
        code: "isolated-workqueues",
        severity: Severity::Warning,
        topic: Topic::Cpu,
        title: "the kernel's unbound work may run on isolated CPUs",
        why: "Deferred work of drivers and file systems then comes to the CPUs that were to be \
              left alone.",
        cost: "microseconds to milliseconds for work without real-time priority, caches for all",
        remedy: Some("echo MASK | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: isolated_workqueues,
    },
    Check {
        code: "unlike-cores",
        severity: Severity::Info,
        topic: Topic::Cpu,
        title: "the cores are of different kinds",
        why: "The same code takes longer on a small core, so that figures of one kind say nothing \
              about the other.",
        cost: "latencies grow about as the capacity falls, where the kernel gives one",
        remedy: Some("measure the kinds apart: latlab run --cpus CPUS"),
        undo: None,
        observe: unlike_cores,
    },
    Check {
        code: "offline-cpus",
        severity: Severity::Info,
        topic: Topic::Cpu,
        title: "some CPUs are switched off",
        why: "Work and interrupts of the missing CPUs fall on the others, and a measurement does \
              not cover them.",
        cost: "nothing by itself",
        remedy: Some("echo 1 | tee /sys/devices/system/cpu/cpuN/online"),
        undo: Some("echo 0 | tee /sys/devices/system/cpu/cpuN/online"),
        observe: offline_cpus,
    },
    Check {
        code: "single-cpu",
        severity: Severity::Info,
        topic: Topic::Cpu,
        title: "there is only one CPU",
        why: "All interrupts and all ordinary work run where the real-time work runs, latlab's own \
              reports too.",
        cost: "each interrupt handler and each stretch without preemption counts in full",
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
        let text = format!("CPU {inside} is isolated, CPU {outside} of the same core is not.");
        return Some(Observation::new(SIBLINGS, *list, text).with_severity(Severity::Warning));
    }
    let (list, siblings) = shared.first()?;
    let text = match shared.len() {
        1 => format!("CPU {siblings} share a core."),
        cores => format!("CPU {siblings} share a core, and {} more cores are shared.", cores - 1),
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
    let remedy = format!(
        "add isolcpus=managed_irq,domain,{last} to the kernel's command line for CPU {last}, \
         and boot"
    );
    let text = format!("None of the CPUs {online} is isolated.");
    let undo = "take isolcpus= out of the kernel's command line, and boot";
    Some(Observation::new(file, value, text).with_remedy(remedy, Some(undo)))
}

fn isolated_workqueues(facts: &Facts<'_>) -> Option<Observation> {
    let all = "sys/devices/virtual/workqueue/cpumask";
    let writeback = "sys/devices/virtual/workqueue/writeback/cpumask";
    // What the common mask leaves out is out for each single one too.
    let file = if facts.text(all).is_some() { all } else { writeback };
    let mask = facts.text(file)?;
    let inside = CpuSet::from_mask(mask)?.and(&facts.isolated());
    let rest = facts.housekeeping();
    if inside.is_empty() || rest.is_empty() {
        return None;
    }
    let remedy = format!("echo {} | tee {{file}}", rest.to_mask());
    let text = format!("Unbound work may run on CPU {inside}, which is isolated.");
    Some(Observation::new(file, mask, text).with_remedy(remedy, Some("echo {value} | tee {file}")))
}

fn unlike_cores(facts: &Facts<'_>) -> Option<Observation> {
    let capacity = "sys/devices/system/cpu/cpu*/cpu_capacity";
    let kinds = facts.values_by_cpu(capacity);
    if kinds.len() > 1 {
        let words = kinds.iter().map(|(capacity, cpus)| format!("{capacity} (CPU {cpus})"));
        let value = words.collect::<Vec<_>>().join(", ");
        let first = &kinds[0].1;
        let text = format!("The capacities of the cores are {value}.");
        return Some(
            Observation::new(capacity, value, text).with_remedy(separate_run_remedy(first), None),
        );
    }
    let file = "sys/devices/cpu_atom/cpus";
    let small = facts.snapshot.value::<CpuSet>(file).filter(|cpus| !cpus.is_empty())?;
    let large = facts.snapshot.value::<CpuSet>("sys/devices/cpu_core/cpus")?;
    let text = format!("CPU {large} are performance cores, CPU {small} efficiency cores.");
    Some(
        Observation::new(file, small.to_string(), text)
            .with_remedy(separate_run_remedy(&large), None),
    )
}

fn separate_run_remedy(cpus: &CpuSet) -> String {
    format!("measure the kinds apart: latlab run --cpus {cpus}")
}

fn offline_cpus(facts: &Facts<'_>) -> Option<Observation> {
    let file = "sys/devices/system/cpu/offline";
    // The list holds CPUs too that this machine could have and does not.
    let present = facts.snapshot.value::<CpuSet>("sys/devices/system/cpu/present")?;
    let missing = facts.snapshot.value::<CpuSet>(file)?.and(&present);
    let files: Vec<String> =
        missing.iter().map(|cpu| format!("/sys/devices/system/cpu/cpu{cpu}/online")).collect();
    if files.is_empty() {
        return None;
    }
    let files = files.join(" ");
    let text = format!("CPU {missing} is there and switched off.");
    let seen = Observation::new(file, missing.to_string(), text);
    Some(seen.with_remedy(format!("echo 1 | tee {files}"), Some(&format!("echo 0 | tee {files}"))))
}

fn single_cpu(facts: &Facts<'_>) -> Option<Observation> {
    let online = facts.online();
    let text = format!("CPU {online} is the only one.");
    let file = "sys/devices/system/cpu/online";
    (online.len() == 1).then(|| Observation::new(file, online.to_string(), text))
}
