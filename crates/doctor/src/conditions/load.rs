//! Who took the CPUs and the memory while they were measured.

use super::figures::BUSY;
use super::points::{Stretch, median, stretches};
use super::tell::{span, told};
use super::{Sight, rivals};
use latlab_model::run::{Finding, Severity};
use latlab_model::telemetry::{BusyThread, Conditions, metric};
use latlab_model::{CpuSet, Nanos};

/// Stolen time above this part, over the run or in one step, is told.
const STEAL: (f64, f64) = (0.001, 0.02);
/// A load that differs by more than this part of a CPU from what is usual has changed.
const OTHER_LOAD: f64 = 0.25;
/// Changes of the load that are told for each CPU, the longest ones.
const MOST_CHANGES: usize = 3;
/// Memory that goes within so many steps …
const MEMORY_STEPS: usize = 10;
/// … and is more than this part of all is told; less left than the second part is warned of.
const MEMORY: (f64, f64) = (0.1, 0.05);
/// A thread that ran for less than this did no harm that anyone could measure.
const SHORT: Nanos = Nanos(1_000_000);
/// Threads that are named in one sentence.
const NAMED: usize = 5;
/// Ticks of 10 ms that were stolen at least; one or two are in every guest.
const TICKS: f64 = 3.0;

/// The hypervisor ran somebody else.
pub fn stolen(at: &Sight<'_>, cpu: u32) -> Option<Finding> {
    let shares = at.cpu_shares(cpu, &["steal"]);
    let known: Vec<f64> = shares.iter().flatten().copied().collect();
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let worst = known.iter().copied().fold(0.0, f64::max);
    let ticks = at.watch.one(metric::CPU_TIME, &format!("cpu{cpu} steal"));
    let ticks: f64 = ticks.map_or(0.0, |points| at.growths(points).iter().flatten().sum());
    if ticks < TICKS || mean < STEAL.0 && worst < STEAL.1 {
        return None;
    }
    let least = STEAL.1.min(worst);
    let when = stretches(at.times, |step| shares[step].is_some_and(|share| share >= least));
    let text = format!(
        "The hypervisor took {:.2} % of CPU {cpu} over the run and up to {:.1} % between two \
         readings, {}",
        mean * 100.0,
        worst * 100.0,
        span(at, &when)
    );
    let cpus = [cpu].into_iter().collect();
    let finding = told(at, "steal", Severity::Warning, text, &when, Some(&cpus));
    Some(finding.remedy("Measure on bare metal, or give the guest CPUs of its own."))
}

/// Pages went to swap, or came back.
pub fn swapped(at: &Sight<'_>) -> Option<Finding> {
    let pages = ["pswpin", "pswpout"].map(|name| at.watch.one(metric::PAGES, name));
    let growths: Vec<Vec<Option<f64>>> =
        pages.into_iter().flatten().map(|points| at.growths(points)).collect();
    let moved = |step: usize| growths.iter().filter_map(|all| all[step]).sum::<f64>();
    let when = stretches(at.times, |step| moved(step) > 0.0);
    let total: f64 = (0..at.times.len().saturating_sub(1)).map(moved).sum();
    (!when.is_empty()).then(|| {
        let text = format!("{total:.0} pages were swapped {}", span(at, &when));
        let finding = told(at, "swapped", Severity::Warning, text, &when, None);
        finding.remedy("Turn swap off for the run: `swapoff -a`.")
    })
}

/// Threads that go before the measuring ones ran on their CPUs.
pub fn outranked(at: &Sight<'_>, conditions: &Conditions) -> Option<Finding> {
    let rival = |thread: &&BusyThread| {
        let ran = thread.mean_share * (at.context.to - at.context.from).0 as f64;
        // The kernel's own, with which it moves threads, goes before everything by its nature.
        !thread.name.starts_with("migration/")
            && at.context.policy.is_some_and(|own| rivals::outranks(&thread.policy, own))
            && ran >= SHORT.0 as f64
            && !thread.cpus.and(&at.context.measured).is_empty()
    };
    let found: Vec<&BusyThread> = conditions.threads.iter().filter(rival).collect();
    let mut when: Vec<Stretch> =
        found.iter().flat_map(|thread| rivals::active(at, thread)).collect();
    when.sort_by_key(|stretch| stretch.from);
    let cpus: CpuSet = found.iter().flat_map(|thread| thread.cpus.iter()).collect();
    let cpus = cpus.and(&at.context.measured);
    let told_of = |thread: &&BusyThread| {
        format!(
            "'{}' ({}, {}) {:.2} % of a CPU, up to {:.0} % at {}",
            thread.name,
            thread.id,
            thread.policy,
            thread.mean_share * 100.0,
            thread.peak_share * 100.0,
            at.since_start(thread.peak_at_ns)
        )
    };
    let names: Vec<String> = found.iter().take(NAMED).map(told_of).collect();
    let others = match found.len().saturating_sub(NAMED) {
        0 => String::new(),
        others => format!("; and {others} more"),
    };
    let text = format!(
        "Threads that go before the measuring ones ran on CPU {cpus}: {}{others}",
        names.join("; ")
    );
    let first = found.first()?;
    let finding = told(at, "rival-thread", Severity::Warning, text, &when, Some(&cpus));
    Some(finding.remedy(format!(
        "Keep them off, as with `taskset -cp CPUS {0}` or `chrt -o -p 0 {0}`; or measure at their \
         priority on purpose.",
        first.id
    )))
}

/// A CPU was busier, or less busy, than it usually was.
pub fn load_changed(at: &Sight<'_>, cpu: u32) -> Vec<Finding> {
    let shares = at.cpu_shares(cpu, BUSY);
    let Some(usual) = median(shares.iter().flatten().copied()) else { return Vec::new() };
    let spread = median(shares.iter().flatten().map(|share| (share - usual).abs()));
    // Three standard deviations, where the load is never the same.
    let limit = OTHER_LOAD.max(3.0 * 1.4826 * spread.unwrap_or(0.0));
    let apart = |step: usize| shares[step].map_or(0.0, |share| share - usual);
    let mut found: Vec<(Stretch, f64)> = Vec::new();
    for more in [true, false] {
        let sign = if more { 1.0 } else { -1.0 };
        for when in stretches(at.times, |step| apart(step) * sign > limit) {
            let within = (0..shares.len())
                .filter(|&step| at.times[step] >= when.from && at.times[step + 1] <= when.to);
            let then = median(within.filter_map(|step| shares[step]));
            found.extend(then.map(|then| (when, then)));
        }
    }
    found.sort_by_key(|(when, _)| std::cmp::Reverse((when.to - when.from).0));
    let more = found.len().saturating_sub(MOST_CHANGES);
    found.truncate(MOST_CHANGES);
    let cpus: CpuSet = [cpu].into_iter().collect();
    let tell = |(number, (when, then)): (usize, (Stretch, f64))| {
        let who = rivals::who(at, when, cpu).map(|who| format!("; {who}")).unwrap_or_default();
        let others = match (number, more) {
            (0, 1..) => format!("; and {more} shorter changes"),
            _ => String::new(),
        };
        let text = format!(
            "The load changed: CPU {cpu} was {:.0} % busy {}, usually {:.0} %{who}{others}",
            then * 100.0,
            span(at, &[when]),
            usual * 100.0
        );
        told(at, "load-changed", Severity::Warning, text, &[when], Some(&cpus))
    };
    found.into_iter().enumerate().map(tell).collect()
}

/// Somebody took much memory at once, or nearly all of it.
pub fn memory_taken(at: &Sight<'_>) -> Option<Finding> {
    let total = at.watch.one(metric::MEMORY, "MemTotal")?.values().next()?.1 as f64;
    let available = at.watch.one(metric::MEMORY, "MemAvailable")?;
    let values: Vec<Option<f64>> = at.times.iter().map(|time| available.at(*time)).collect();
    let fall = |step: usize| {
        let before = values[step.saturating_sub(MEMORY_STEPS)..=step].iter().flatten().copied();
        let highest = before.fold(f64::NEG_INFINITY, f64::max);
        values[step + 1].map_or(0.0, |now| highest - now)
    };
    let steps = at.times.len().saturating_sub(1);
    let worst = (0..steps).map(fall).fold(0.0, f64::max);
    let least = values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
    if worst < MEMORY.0 * total && least > MEMORY.1 * total {
        return None;
    }
    // It begins where it falls by a tenth of what it will.
    let falls = |step: usize| {
        let now = values[step].zip(values[step + 1]).map_or(0.0, |(before, after)| before - after);
        now > 0.1 * worst.max(MEMORY.1 * total)
    };
    let when = stretches(at.times, falls);
    let severity = if least <= MEMORY.1 * total { Severity::Warning } else { Severity::Info };
    let gib = |kilobytes: f64| kilobytes / (1 << 20) as f64;
    let text = format!(
        "Memory was taken: {:.2} of {:.2} GiB within a few seconds, at least {:.2} GiB were left, {}",
        gib(worst),
        gib(total),
        gib(least),
        span(at, &when)
    );
    Some(told(at, "memory-taken", severity, text, &when, None))
}
