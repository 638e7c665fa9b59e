//! Findings about a run when its stream has ended, one per function.

use latlab_model::finding::{EndFinding, Finding, LossFinding, MachineFinding};
use latlab_model::guest::Guest;
use latlab_model::load::Load;
use latlab_model::machine::Machine;
use latlab_model::run::{AgentEnd, AppliedSetup, Losses, Setting};
use latlab_model::{Nanos, Plan, Target};
use latlab_stats::period_aliases_tick;

/// What a guest's figures must not be mistaken for.
pub fn guest_time(target: &Target, guest: &Guest) -> Finding {
    let target = target.clone();
    match guest.accelerator.clone() {
        Some(accelerator) => Finding::new(EndFinding::GuestNoisy { target, accelerator }),
        None => Finding::new(EndFinding::VirtualTime { target }),
    }
}

/// An intentional fault, which must not be mistaken for anything else.
pub fn injected_fault(fault: &Load) -> Finding {
    Finding::new(EndFinding::PlantedFault { fault: fault.words.clone() })
}

/// A stream without its end; the last interval ends at this time, in UTC.
pub fn incomplete_stream(measured_to: Option<String>) -> Finding {
    Finding::new(EndFinding::StreamLost { measured_to })
}

/// Latencies seen after the last interval, which are in no histogram.
pub fn uncounted_latencies(latencies: &[Nanos]) -> Option<Finding> {
    let (count, largest_ns) = (latencies.len() as u64, *latencies.iter().max()?);
    Some(Finding::new(LossFinding::SpikesUncounted { count, largest_ns }))
}

/// Intervals that are longer than requested.
pub fn merged_intervals(losses: &Losses) -> Option<Finding> {
    let count = losses.intervals_merged;
    (count > 0).then(|| Finding::new(LossFinding::IntervalsMerged { count }))
}

/// A spike command that failed.
pub fn spike_command_failed(end: &AgentEnd) -> Option<Finding> {
    let hook = end.spike_hook.as_ref().filter(|hook| hook.failed > 0)?;
    let (failed, started) = (hook.failed, hook.started);
    Some(Finding::new(EndFinding::SpikeCommandFailed { failed, started }))
}

/// A setting that was not applied as requested.
pub fn refused_setting(setting: &Setting) -> Option<Finding> {
    let Setting { what, thread, asked, applied, matters, .. } = setting.clone();
    let refused = MachineFinding::SettingRefused { setting: what, asked, applied, matters };
    (!setting.holds()).then(|| Finding::new(refused).of_thread(thread))
}

/// Whether a setting is the memory lock, and failed.
pub fn is_refused_memory_lock(setting: &Setting) -> bool {
    setting.what == "memory lock" && !setting.holds()
}

/// A thread that ended without its counts.
pub fn no_thread_end(thread: u32) -> Finding {
    Finding::new(EndFinding::ThreadLost {}).of_thread(thread)
}

/// A warning for the first thread whose period aliases with the kernel's tick.
pub fn sampling_phase(plan: &Plan, machine: &Machine, prepared: &AppliedSetup) -> Option<Finding> {
    // A relative sleep adds its own latency to each period, so it does not stay in phase.
    if !plan.method.has_releases() || plan.method.attach().is_some() {
        // The period of an attached program cannot be changed.
        return None;
    }
    let periods = prepared.threads.iter().map(|thread| thread.period_ns);
    periods.flatten().find_map(|period| period_aliases_tick(period, machine.tick_hz))
}
