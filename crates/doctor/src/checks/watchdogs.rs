//! Detectors of lockups and hangs, and their reports.

use crate::check::{Check, Observation};
use crate::effect::{Effect, SECOND, acts, ms};
use crate::facts::Facts;
use latlab_model::CpuSet;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;
use latlab_model::shell::Line;
use latlab_model::snapshot::made;

const MASK: &str = "proc/sys/kernel/watchdog_cpumask";

pub const CHECKS: &[Check] = &[
    Check {
        code: "nmi-watchdog",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE.protecting("a CPU that hangs is then not reported"),
        title: "a watchdog uses interrupts that cannot be masked",
        why: "The hard lockup detector sends a non-maskable interrupt, and occupies a performance \
              counter.",
        cost: "a few microseconds on each busy CPU, about every 10 s",
        remedy: Some("sysctl -w kernel.nmi_watchdog=0"),
        undo: Some("sysctl -w kernel.nmi_watchdog={value}"),
        observe: nmi_watchdog,
    },
    Check {
        code: "soft-watchdog",
        severity: Severity::Info,
        topic: Topic::Kernel,
        effect: Effect::NONE.protecting("a CPU that hangs is then not reported"),
        title: "a watchdog wakes a high-priority thread on each CPU",
        why: "The soft lockup detector sets a timer on each CPU, and its thread runs above all \
              other threads.",
        cost: "a few microseconds on each CPU, about every 4 s",
        remedy: Some("sysctl -w kernel.soft_watchdog=0"),
        undo: Some("sysctl -w kernel.soft_watchdog={value}"),
        observe: soft_watchdog,
    },
    Check {
        code: "lockup-panics",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: Effect::NONE.protecting("a machine that hangs then does not restart by itself"),
        title: "a busy real-time thread may cause a kernel panic",
        why: "Threads that wait for a busy real-time thread look hung to the kernel, which is set \
              to panic then.",
        cost: "the machine and the run, after 20 s to 120 s with a busy CPU",
        remedy: Some("echo 0 | tee {file}"),
        undo: Some("echo {value} | tee {file}"),
        observe: lockup_panics,
    },
    Check {
        code: "stall-reported",
        severity: Severity::Warning,
        topic: Topic::Kernel,
        effect: acts(ms(1), SECOND),
        title: "the kernel has reported a stall",
        why: "A CPU or a thread made no progress for many seconds since boot, and this may happen \
              again.",
        cost: "seconds, if it happens again",
        remedy: Some("dmesg | grep -A 30 -E 'lockup|LOCKUP|stall|blocked for more'"),
        undo: None,
        observe: stall_reported,
    },
];

/// CPUs watched by a watchdog, as far as it tells.
fn watched(facts: &Facts<'_>) -> CpuSet {
    facts.snapshot.value(MASK).unwrap_or_else(|| facts.online())
}

fn nmi_watchdog(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/kernel/nmi_watchdog";
    let value = facts.number(file).filter(|value| *value != 0)?;
    // The buddy detector uses a neighbouring CPU instead of a performance counter.
    if facts.has_option("HARDLOCKUP_DETECTOR_BUDDY") {
        return None;
    }
    let apart = watched(facts).and(&facts.isolated_by_parameters());
    let seen = |text: &str| Observation::new(file, value.to_string(), text);
    Some(match apart.is_empty() {
        true => seen("The hard lockup detector is on (nmi_watchdog)."),
        false => seen(&format!(
            "The hard lockup detector is on for CPU {apart}, which is isolated or \
                           tickless."
        ))
        .with_severity(Severity::Warning),
    })
}

fn soft_watchdog(facts: &Facts<'_>) -> Option<Observation> {
    let file = "proc/sys/kernel/soft_watchdog";
    let value = facts.number(file).filter(|value| *value != 0)?;
    let threshold = facts.number("proc/sys/kernel/watchdog_thresh").unwrap_or(10);
    let seconds = threshold.saturating_mul(2) / 5;
    let watched = watched(facts);
    let apart = watched.and(&facts.isolated_by_parameters());
    let rest = watched.without(&apart);
    if apart.is_empty() || rest.is_empty() || !facts.snapshot.has(MASK) {
        let text = format!("The soft lockup detector wakes each CPU every {seconds} s.");
        return Some(Observation::new(file, value.to_string(), text));
    }
    let text = format!(
        "The soft lockup detector wakes CPU {apart}, which is isolated or tickless, every \
         {seconds} s."
    );
    let seen = Observation::new(MASK, watched.to_string(), text).with_severity(Severity::Warning);
    let undo = "sysctl -w kernel.watchdog_cpumask={value}";
    let remedy = Line::new("sysctl -w").word(format!("kernel.watchdog_cpumask={rest}"));
    Some(seen.with_remedy(remedy, Some(undo.into())))
}

fn lockup_panics(facts: &Facts<'_>) -> Option<Observation> {
    let switches =
        ["softlockup_panic", "hardlockup_panic", "hung_task_panic", "panic_on_rcu_stall"];
    let on = switches.into_iter().find_map(|switch| {
        let file = format!("proc/sys/kernel/{switch}");
        let value = facts.number(&file).filter(|value| *value > 0)?;
        // If this is 0, hangs are not detected.
        let idle = switch == "hung_task_panic"
            && facts.number("proc/sys/kernel/hung_task_timeout_secs") == Some(0);
        (!idle).then_some((switch, file, value))
    });
    let (switch, file, value) = on?;
    let text = format!("{switch} is {value}: the kernel panics instead of reporting a stall.");
    Some(Observation::new(file, value.to_string(), text))
}

fn stall_reported(facts: &Facts<'_>) -> Option<Observation> {
    let signs = [
        "soft lockup - CPU#",
        "hard LOCKUP on cpu",
        "detected stalls on CPUs",
        "self-detected stall on CPU",
        "blocked for more than",
        "DL replenish lagged too much",
    ];
    let log = facts.text(made::KERNEL_LOG)?;
    let told: Vec<&str> =
        log.lines().filter(|line| signs.iter().any(|sign| line.contains(sign))).collect();
    let last = told.last()?;
    let text = format!("The kernel log reports {} stalls.", told.len());
    Some(Observation::new(made::KERNEL_LOG, *last, text))
}
