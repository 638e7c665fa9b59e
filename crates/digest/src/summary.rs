//! All threads of a run together, as the verdict needs them.

use crate::thread::ThreadCounts;
use latlab_model::deadline::is_miss;
use latlab_model::histogram::DifferentLayouts;
use latlab_model::plan::Recorded;
use latlab_model::run::{EndReason, Finding, Summary, ThreadRun};
use latlab_model::{Histogram, Nanos, Plan};
use latlab_stats::summary;

/// All threads together; the time of the observed maximum is that of its thread.
pub fn summarize(plan: &Plan, counted: &[ThreadCounts], threads: &[ThreadRun]) -> Summary {
    let together = sum(counted.iter().map(|one| one.total.clone()));
    // Threads whose bins have different edges have no common quantiles.
    let without_bins = || counted.iter().map(|one| one.total.without_bins());
    let all = together.clone().or_else(|_| sum(without_bins())).unwrap_or_default();
    let of_max = threads.iter().filter(|one| one.summary.max_ns == Some(all.max_ns));
    let max_at = of_max.filter_map(|one| one.summary.max_at_ns).min();
    let noise = threads.iter().filter_map(|one| one.summary.noise).reduce(|mut sum, one| {
        sum.add(one);
        sum
    });
    let all = summary(plan, &all, max_at);
    let releases = match plan.method.records() {
        Recorded::Response => threads.iter().map(|one| one.summary.releases).sum(),
        Recorded::Latency | Recorded::Gap => all.releases,
    };
    let quantiles = all.quantiles.filter(|_| together.is_ok());
    Summary { noise, releases, quantiles, ..all }
}

fn sum(parts: impl Iterator<Item = Histogram>) -> Result<Histogram, DifferentLayouts> {
    let mut all = Histogram::default();
    for part in parts {
        all.add(&part)?;
    }
    Ok(all)
}

/// Marks the maxima for which a finding says that a larger latency may be missing.
pub fn mark_maxima(threads: &mut [ThreadRun], total: &mut Summary, findings: &[Finding]) {
    let hidden: Vec<Option<u32>> =
        findings.iter().filter(|one| one.hides_maximum()).map(|one| one.thread).collect();
    total.max_is_at_least = !hidden.is_empty();
    for thread in threads {
        let number = thread.setup.thread;
        thread.summary.max_is_at_least =
            hidden.iter().any(|of| of.is_none_or(|hidden| hidden == number));
    }
}

/// Whether nothing was recorded for a thread; for a busy loop, no gap is a result too.
pub fn is_silent(thread: &ThreadRun) -> bool {
    match thread.summary.noise {
        Some(noise) => noise.of_ns <= Nanos::ZERO,
        None => thread.summary.releases == 0,
    }
}

/// Why the run as a whole ended, or the first reason of a thread to end before it.
pub fn end_reason(plan: &Plan, ended: EndReason, threads: &[ThreadRun]) -> EndReason {
    // Without a planned end, a run normally ends by being interrupted.
    let open_ended = plan.until.duration_ns.is_none() && plan.until.cycles.is_none();
    let reasons = threads.iter().filter_map(|thread| thread.end.as_ref().map(|end| end.reason));
    std::iter::once(ended)
        .chain(reasons)
        .filter(|&reason| !(open_ended && reason == EndReason::Interrupted))
        .find(|&reason| reason != EndReason::Finished)
        .unwrap_or(EndReason::Finished)
}

/// Adds what was seen after the last interval, as far as it concerns the verdict.
pub fn include_uncounted(
    plan: &Plan,
    total: &Summary,
    late: impl Iterator<Item = Nanos>,
) -> Summary {
    late.fold(total.clone(), |total, latency| Summary {
        misses: total
            .misses
            .zip(plan.until.deadline_ns)
            .map(|(misses, deadline)| misses + u64::from(is_miss(latency.0, deadline.0))),
        max_ns: total.max_ns.max(Some(latency)),
        releases: total.releases + 1,
        ..total
    })
}
