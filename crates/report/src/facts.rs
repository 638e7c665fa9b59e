//! Facts of a run that figures and sentences use.

use latlab_model::run::{Summary, ThreadRun};
use latlab_model::{Nanos, Run};

/// Shown instead of the number of overruns if the mechanism has no releases.
pub const NOT_DEFINED: &str = "not defined";

/// The kernel and its preemption, without repetition.
pub fn kernel(run: &Run) -> String {
    kernel_words(&run.machine.kernel, run.machine.preemption.as_deref())
}

/// As `kernel`, for a kernel that is not that of a run.
pub fn kernel_words(kernel: &str, preemption: Option<&str>) -> String {
    match preemption {
        Some(preemption) if !kernel.contains(preemption) => format!("{kernel} {preemption}"),
        _ => kernel.to_string(),
    }
}

/// The start of a run, to the second: `2026-11-21T17:09:16Z`.
pub fn started(time: &str) -> String {
    match time.split_once('.') {
        Some((seconds, rest)) => {
            format!("{seconds}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        None => time.to_string(),
    }
}

/// Time from the first counted release of the run to the maximum of a summary.
pub fn since_first_release(run: &Run, summary: &Summary) -> Option<Nanos> {
    Some(summary.max_at_ns? - run.first_release()?)
}

/// Type and capacity of a core, if the machine reports them.
pub fn core(thread: &ThreadRun) -> Option<String> {
    let setup = &thread.setup;
    match (&setup.core_type, setup.capacity) {
        (Some(name), Some(capacity)) => Some(format!("{name}, {capacity}")),
        (Some(name), None) => Some(name.clone()),
        (None, capacity) => capacity.map(|capacity| capacity.to_string()),
    }
}

/// Whether the machine reports different cores.
pub fn cores_differ(run: &Run) -> bool {
    let mut setups = run.threads.iter().map(|thread| &thread.setup);
    let first = setups.next().and_then(|setup| setup.capacity);
    run.threads.iter().any(|thread| thread.setup.core_type.is_some())
        || setups.any(|setup| setup.capacity != first)
}

/// Whether a finding makes the figures worthless, with or without a deadline.
pub fn is_invalid(run: &Run) -> bool {
    run.findings.iter().any(|finding| finding.invalidates())
}

/// Whether a run has timestamps; a list of readings has none.
pub fn is_timed(run: &Run) -> bool {
    let is_known = !run.asked.method.is_import() || run.measured_ns > Nanos::ZERO;
    run.responses().map_or(is_known, |responses| responses.is_timed)
}

/// What the files of a run folder hold next to `run.json`.
pub const STORED_FILES: &[(&str, &str)] = &[
    ("histogram.parquet", "Every bin of the histogram of every thread."),
    ("intervals.parquet", "The figures of each second of each thread."),
    ("spikes.parquet", "The 4096 largest spikes of each thread, with their times."),
    ("samples.parquet", "With --samples or --breakdown: every latency with its release."),
    (
        "breakdown.parquet",
        "With --breakdown or --instrument timerlat: every bin of each part of every thread.",
    ),
    (
        "trace.parquet",
        "With --breakdown: the recorded trace events from which the breakdown was computed.",
    ),
    ("pages.parquet", "With --explain: pages of the kernel's trace around the spikes."),
    ("recording.json", "With --explain: the spikes, and what is needed to read these pages."),
    (
        "telemetry.parquet",
        "Temperatures, frequencies, CPU time, interrupts and busy threads, each second.",
    ),
    ("clocks.parquet", "Monotonic, boot, real and TAI time, read together each second."),
    (
        "snapshot.json",
        "The kernel files of the machine at the start of the run; latlab doctor examines them.",
    ),
];
