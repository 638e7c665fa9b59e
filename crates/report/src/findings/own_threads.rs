//! latlab's own threads, except those that measure.

use super::kinds::{FindingWords, Said, Worded, words};
use latlab_model::finding::OwnThreadFinding;
use latlab_model::self_interference::OwnThread;
use latlab_model::shell::Line;
use latlab_model::units::counted;

words! { OwnThreadFinding {
    /// Some of the 20 largest latencies lie in the work of a thread of latlab on that CPU: telemetry, drainer,
    /// journal or another. A warning if the largest does. `--telemetry off` shows what the readings cost.
    InLargest { affected, compared, threads, max_ns, max_without_ns } =>
        says "{affected} of the {compared} largest latencies {lie} in the work of latlab's own threads on that \
              CPU ({threads}).{without}",
            lie = if *affected == 1 { "lies" } else { "lie" }, threads = names(threads),
            without = match max_without_ns {
                Some(without) if without == max_ns => String::new(),
                Some(without) => format!(
                    " Without such latencies, the largest would be {without} instead of {max_ns}."
                ),
                None => " No latency among the largest 200 is without such work.".to_string(),
            };
        remedy "Leave a CPU that is not measured with --cpus: these threads run there then.";

    /// Threads of latlab that do not measure ran on measured CPUs, although they had others.
    OnMeasuredCpus { ran_ns, threads } =>
        says "latlab's own threads ran on measured CPUs for {ran_ns}, although they had other CPUs ({threads}).",
            threads = names(threads);
        remedy "Another program may have moved them: look for changes of affinity and cpusets.";

    /// latlab does not know of all work of its own threads, because it was not sent in time.
    WorkLost { stretches } =>
        says "latlab does not know {stretches} of its own threads; large latencies may lie in them.",
            stretches = counted(*stretches, "stretch of work", "stretches of work");
}}

/// `telemetry, drainer`.
fn names(threads: &[OwnThread]) -> String {
    let names: Vec<&str> = threads.iter().map(|thread| thread.as_str()).collect();
    names.join(", ")
}
