//! Preemption model and scheduler.

use crate::check::{Check, Seen};
use crate::facts::Facts;
use latlab_model::doctor::Topic;
use latlab_model::run::Severity;

/// What is looked for.
pub const CHECKS: &[Check] = &[Check {
    code: "rt-throttling",
    severity: Severity::Warning,
    topic: Topic::Kernel,
    title: "real-time threads are stopped when they use too much of a second",
    why: "Once real-time threads have used their share of a period, the kernel lets none of them \
          run until the next one.",
    cost: "50 ms in each second with the kernel's own setting, once the share is used up",
    remedy: Some("sysctl -w kernel.sched_rt_runtime_us=-1"),
    undo: Some("sysctl -w kernel.sched_rt_runtime_us={value}"),
    look: rt_throttling,
}];

fn rt_throttling(facts: &Facts<'_>) -> Option<Seen> {
    let file = "proc/sys/kernel/sched_rt_runtime_us";
    let runtime = facts.number(file)?;
    let period = facts.number("proc/sys/kernel/sched_rt_period_us")?;
    // From 6.12 on the fair server has taken this over.
    if runtime < 0 || runtime >= period || facts.kernel() >= Some((6, 12)) {
        return None;
    }
    let text = format!("Real-time threads may use {runtime} of each {period} us.");
    Some(Seen::new(file, runtime.to_string(), text))
}
