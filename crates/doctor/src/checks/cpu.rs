//! Frequency, idle states, siblings, isolation.

use crate::check::{Check, Seen};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;

/// What is looked for.
pub const CHECKS: &[Check] = &[Check {
    code: "governor",
    severity: Severity::Warning,
    topic: Topic::Cpu,
    title: "the frequency follows the load",
    why: "A CPU that was slowed down while it was idle starts its next work at the low frequency.",
    cost: "tens of microseconds after a wake-up, and up to milliseconds of slower work",
    remedy: Some("echo performance | tee {file}"),
    undo: Some("echo {value} | tee {file}"),
    look: governor,
}];

fn governor(facts: &Facts<'_>) -> Option<Seen> {
    let file = "sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
    let slow = facts.by_cpu(file).into_iter().find(|(governor, _)| *governor != "performance");
    let (governor, cpus) = slow?;
    let text = format!("The governor of CPU {cpus} is '{governor}'.");
    Some(Seen::new(file, governor, text))
}
