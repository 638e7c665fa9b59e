//! What the loads did.

use super::kinds::{FindingWords, Said, Worded, words};
use latlab_model::Nanos;
use latlab_model::finding::{LoadDeath, LoadFinding, LoadShortfall, LoadStart};
use latlab_model::load::ExitStatus;
use latlab_model::shell::Line;
use latlab_model::units::{counted, percent};

words! { LoadFinding {
    /// A load had not used its expected CPU time before the first counted release.
    LoadStartedLate
    { load, start: LoadStart::Late { late_ns } } =>
        says "The load {load} started to use its CPU {late_ns} after the first counted release.";
        remedy "Use a longer --warm-up.";
    { load, start: LoadStart::Never { least_share: 0.0 } } =>
        says "The load {load} had not used any CPU time when the measurement began.";
        remedy RUN_BY_HAND;
    { load, start: LoadStart::Never { least_share } } =>
        says "The load {load} had not used {share} of a CPU when the measurement began.",
            share = percent(*least_share);
        remedy RUN_BY_HAND;

    /// A load ended before the measurement did.
    LoadEndedEarly { load, early_ns, status, last_line } =>
        says "The load {load} ended {early_ns} before the end of the measurement ({status}).{last_line}",
            status = exit(*status), last_line = quoted(last_line);
        remedy "Let it run longer, or set `restart = true` in its definition.";

    /// A load was never started, failed, or lost the process that watches it.
    LoadDied
    { load, death: LoadDeath::NotStarted } =>
        says "The load {load} was never started.";
        remedy RUN_BY_HAND;
    { load, death: LoadDeath::Unwatched } =>
        says "The process that supervised the load {load} was killed, so it is unknown whether the load ran.";
        remedy "Measure again, and stop none of its processes by hand.";
    { load, death: LoadDeath::Failed { early_ns, status, last_line } } =>
        says "The load {load} failed {early_ns} before the end of the measurement ({status}).{last_line}",
            status = exit(*status), last_line = quoted(last_line);
        remedy RUN_BY_HAND;

    /// A load took less CPU, or its counter of the kernel grew less, than its definition demands.
    LoadTooWeak
    { load, shortfall: LoadShortfall::Cpu { mean_share, least_share, weak_ns, measured_ns } } =>
        says "The load {load} used {mean} of a CPU on average, and was below {least} for {weak} of {measured}.",
            mean = percent(*mean_share), least = percent(*least_share), weak = seconds(*weak_ns),
            measured = seconds(*measured_ns);
        remedy "Find out what else uses the CPUs, or use a stronger load.";
    { load, shortfall: LoadShortfall::Counter { counter, unit, mean_per_second, least_per_second } } =>
        says "With the load {load}, the kernel counter of {counter} grew by {mean} {unit} on average; the \
              load should make it grow by at least {least}.",
            mean = format!("{mean_per_second:.0}"), least = format!("{least_per_second:.0}");
        remedy "Find out what else uses the CPUs, or use a stronger load.";

    /// Processes of a load moved to other CPUs than those they were placed on.
    LoadElsewhere { load, asked, seen } =>
        says "The load {load} was placed on CPU {asked}, but moved itself to CPU {seen}.";
        remedy "Remove `taskset` and the like from its command, or place it there with --load-on.";

    /// During a run, the threads of a load were given fewer CPUs than they had used when it began.
    LoadLostCpus { load, lost, left } =>
        says "The load {load} was moved away from CPU {lost} during the run; CPU {left} was left to it.";
        remedy "Find out who set its CPUs (`taskset`, a cpuset), and measure again.";

    /// During a run, a thread of a load was given a lower priority than it had when it began: another policy,
    /// such as SCHED_IDLE, or a higher nice value.
    LoadLostPriority { load, held, now } =>
        says "A thread of the load {load} was set from '{held}' to '{now}' during the run.";
        remedy "Find out who changed it (`chrt`, `renice`, a daemon), and measure again.";

    /// A load used almost no CPU time for more than a quarter of the time, although it had used more before.
    LoadPaused { load, idle_ns, watched_ns, share_before } =>
        says "The load {load} used almost no CPU time for {idle} of {watched}, after {share_before} before.",
            idle = seconds(*idle_ns), watched = seconds(*watched_ns), share_before = percent(*share_before);
        remedy "Find out whether it was stopped or waited: its CPU time is in the telemetry.";

    /// Processes of a load could not be stopped, most often because they hang in the kernel.
    LoadNotEnded { load, processes } =>
        says "{processes} of the load {load} could not be stopped.",
            processes = counted(u64::from(*processes), "process", "processes");
        remedy "Look for them with `ps`; they disturb the next run.";
}}

const RUN_BY_HAND: &str = "Run it by hand: the section on the load shows the command.";

fn exit(status: ExitStatus) -> String {
    match status.code {
        // As shells report it.
        Some(127) => "exit code 127: a command was not found".to_string(),
        _ => status.to_string(),
    }
}

fn quoted(last_line: &Option<String>) -> String {
    last_line.as_ref().map(|line| format!(" Its last line: '{line}'.")).unwrap_or_default()
}

fn seconds(time: Nanos) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
