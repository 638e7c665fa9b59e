//! What is found of a run when its stream has ended: a finding from each function.

use latlab_model::guest::{Guest, VIRTUAL_TIME_SHOWS};
use latlab_model::load::Load;
use latlab_model::machine::Machine;
use latlab_model::run::{End, Finding, Losses, Prepared, Setting, Severity};
use latlab_model::{Nanos, Plan, Target};
use latlab_stats::stroboscope;

/// What nobody may take the figures of a guest for.
pub fn guests_time(target: &Target, guest: &Guest) -> Finding {
    if let Some(by) = &guest.accelerator {
        let text = format!(
            "Measured on {target} in the host's time, by {by}: the emulator and whatever else the host \
             did are in every latency, so that the figures are noisy and are those of no machine."
        );
        let noisy = Finding::new("guest-noisy", Severity::Warning, text);
        return noisy.remedy("Leave --realtime out to measure in virtual time.");
    }
    let text = format!(
        "Measured in virtual time on {target}: {VIRTUAL_TIME_SHOWS}; times of day are the guest's \
         own."
    );
    Finding::new("virtual-time", Severity::Info, text)
}

/// A fault that is there on purpose, and must be taken for nothing else.
pub fn planted(fault: &Load) -> Finding {
    let text = format!("A fault was planted on purpose: {}.", fault.words);
    Finding::new("planted-fault", Severity::Info, text)
}

/// A stream without its end; `last` says how far it came.
pub fn lost(measured_to: Option<Nanos>, last: &str) -> Finding {
    let text = format!(
        "The stream ended without a last word, because latlab was killed or the link to the agent \
         was cut: {last}."
    );
    let finding = Finding::new("stream-lost", Severity::Error, text);
    Finding { at_ns: measured_to, ..finding }
}

/// What was seen after the last interval is in no histogram, but it was seen.
pub fn uncounted(latencies: &[Nanos]) -> Option<Finding> {
    let largest = latencies.iter().max()?;
    let text = format!(
        "{} latencies came after the last interval that was stored, the largest {largest}: they \
         are in spikes.parquet and in the verdict, and in no other figure.",
        latencies.len()
    );
    Some(Finding::new("spikes-uncounted", Severity::Warning, text))
}

/// Intervals that are longer than they were to be.
pub fn merged(losses: &Losses) -> Option<Finding> {
    let text = format!(
        "{} intervals were merged with their next one, because the stream was not taken in time; \
         no count is lost by it.",
        losses.intervals_merged
    );
    (losses.intervals_merged > 0).then(|| Finding::new("intervals-merged", Severity::Info, text))
}

/// Without a reading of the clocks.
pub fn clocks_unknown() -> Finding {
    let text = "The clocks were never read side by side: a suspend or a clock that was set would \
                not show.";
    Finding::new("clocks-unknown", Severity::Warning, text)
}

/// A spike command that failed.
pub fn failed_hook(end: &End) -> Option<Finding> {
    let hook = end.spike_hook.as_ref().filter(|hook| hook.failed > 0)?;
    let text = format!(
        "The spike command failed {} times; it was started {} times.",
        hook.failed, hook.started
    );
    Some(Finding::new("spike-command-failed", Severity::Warning, text))
}

/// A setting that is not as it was asked for.
pub fn refused_setting(setting: &Setting) -> Option<Finding> {
    let Setting { what, thread, asked, applied, matters, remedy, .. } = setting;
    if setting.holds() {
        return None;
    }
    let text = format!("The setting '{what}' was asked as '{asked}', but is '{applied}'.");
    let finding = match matters {
        true => Finding::new("setting-refused", Severity::Error, text).invalidates(),
        false => Finding::new("setting-refused", Severity::Warning, text),
    };
    Some(Finding { thread: *thread, remedy: remedy.clone(), ..finding })
}

/// Whether a setting is the memory lock, and does not hold.
pub fn is_refused_memory_lock(setting: &Setting) -> bool {
    setting.what == "memory lock" && !setting.holds()
}

/// A thread that ended without its counts.
pub fn no_last_word(thread: u32) -> Finding {
    let text = "The thread ended without a word, so its counts cannot be checked.";
    Finding::new("thread-lost", Severity::Error, text).of_thread(thread).invalidates()
}

/// A warning for the first thread whose period fits the tick of the kernel.
pub fn sampling_phase(plan: &Plan, machine: &Machine, prepared: &Prepared) -> Option<Finding> {
    // A relative sleep adds its own latency to each period, so it does not stay in step.
    if !plan.method.has_releases() {
        return None;
    }
    let periods = prepared.threads.iter().map(|thread| thread.period_ns);
    periods.flatten().find_map(|period| stroboscope(period, machine.tick_hz))
}
