//! What used the CPUs and the memory while they were measured.

use super::figures::BUSY;
use super::finding_parts::{at_first_stretch, latencies, span};
use super::points::{Stretch, median, stretches};
use super::{ConditionsView, busy_threads};
use latlab_model::finding::{CompetingThread, ConditionFinding, Finding, ThreadShare};
use latlab_model::telemetry::{BusyThread, Conditions, metric};
use latlab_model::{CpuSet, Nanos};

/// Reported share of stolen time, over the run or in one step.
const STEAL: (f64, f64) = (0.001, 0.02);
/// The load has changed if it differs from the usual one by more than this share of a CPU.
const OTHER_LOAD: f64 = 0.25;
/// Most load changes reported per CPU, the longest ones.
const MOST_CHANGES: usize = 3;
/// Memory that is taken within this many steps …
const MEMORY_STEPS: usize = 10;
/// … and is more than this share of all is reported; less left than the second share is a warning.
const MEMORY: (f64, f64) = (0.1, 0.05);
/// A thread that ran for less than this did no measurable harm.
const SHORT: Nanos = Nanos(1_000_000);
/// Most threads named in one sentence.
const NAMED: usize = 5;
/// Least number of stolen 10 ms ticks; every guest has one or two.
const TICKS: f64 = 3.0;

/// The hypervisor ran another guest.
pub fn stolen(at: &ConditionsView<'_>, cpu: u32) -> Option<Finding> {
    let shares = at.cpu_shares(cpu, &["steal"]);
    let known: Vec<f64> = shares.iter().flatten().copied().collect();
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let worst = known.iter().copied().fold(0.0, f64::max);
    let ticks = at.data.one(metric::CPU_TIME, &format!("cpu{cpu} steal"));
    let ticks: f64 = ticks.map_or(0.0, |points| at.growths(points).iter().flatten().sum());
    if ticks < TICKS || mean < STEAL.0 && worst < STEAL.1 {
        return None;
    }
    let least = STEAL.1.min(worst);
    let when = stretches(at.times, |step| shares[step].is_some_and(|share| share >= least));
    let cpus = [cpu].into_iter().collect();
    let finding = ConditionFinding::Steal {
        cpu,
        mean_share: mean,
        worst_share: worst,
        when: span(at, &when),
        latencies: latencies(at, &when, Some(&cpus)),
    };
    Some(at_first_stretch(at, finding, &when))
}

/// Pages went to swap, or came back.
pub fn swapped(at: &ConditionsView<'_>) -> Option<Finding> {
    let pages = ["pswpin", "pswpout"].map(|name| at.data.one(metric::PAGES, name));
    let growths: Vec<Vec<Option<f64>>> =
        pages.into_iter().flatten().map(|points| at.growths(points)).collect();
    let moved = |step: usize| growths.iter().filter_map(|all| all[step]).sum::<f64>();
    let when = stretches(at.times, |step| moved(step) > 0.0);
    let total: f64 = (0..at.times.len().saturating_sub(1)).map(moved).sum();
    let finding = ConditionFinding::Swapped {
        pages: total.round() as u64,
        when: span(at, &when)?,
        latencies: latencies(at, &when, None),
    };
    Some(at_first_stretch(at, finding, &when))
}

/// Threads that preempt the measuring ones ran on their CPUs.
pub fn outranked(at: &ConditionsView<'_>, conditions: &Conditions) -> Option<Finding> {
    let competes = |thread: &&BusyThread| {
        let ran = thread.mean_share * (at.input.to - at.input.from).0 as f64;
        // The kernel's own migration thread preempts everything by design.
        !thread.name.starts_with("migration/")
            && at.input.policy.is_some_and(|own| busy_threads::outranks(&thread.policy, own))
            && ran >= SHORT.0 as f64
            && !thread.cpus.and(&at.input.measured).is_empty()
    };
    let found: Vec<&BusyThread> = conditions.threads.iter().filter(competes).collect();
    let mut when: Vec<Stretch> =
        found.iter().flat_map(|thread| busy_threads::active_stretches(at, thread)).collect();
    when.sort_by_key(|stretch| stretch.from);
    let cpus: CpuSet = found.iter().flat_map(|thread| thread.cpus.iter()).collect();
    let cpus = cpus.and(&at.input.measured);
    let competing_thread = |thread: &&BusyThread| CompetingThread {
        name: thread.name.clone(),
        id: thread.id,
        policy: thread.policy.clone(),
        mean_share: thread.mean_share,
        peak_share: thread.peak_share,
        peak_at_ns: at.since_start(thread.peak_at_ns),
    };
    let finding = ConditionFinding::CompetingThread {
        threads: found.iter().take(NAMED).map(competing_thread).collect(),
        others: found.len().saturating_sub(NAMED) as u64,
        latencies: latencies(at, &when, Some(&cpus)),
        cpus,
    };
    (!found.is_empty()).then(|| at_first_stretch(at, finding, &when))
}

/// A CPU was more or less busy than usual.
pub fn load_changed(at: &ConditionsView<'_>, cpu: u32) -> Vec<Finding> {
    let shares = at.cpu_shares(cpu, BUSY);
    let Some(usual) = median(shares.iter().flatten().copied()) else { return Vec::new() };
    let spread = median(shares.iter().flatten().map(|share| (share - usual).abs()));
    // Three standard deviations, for a load that always varies.
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
        let finding = ConditionFinding::LoadChanged {
            cpu,
            share: then,
            usual_share: usual,
            when: span(at, &[when])?,
            threads: busy_threads::busiest(at, when, cpu),
            shorter_changes: if number == 0 { more as u64 } else { 0 },
            latencies: latencies(at, &[when], Some(&cpus)),
        };
        Some(at_first_stretch(at, finding, &[when]))
    };
    found.into_iter().enumerate().filter_map(tell).collect()
}

/// A machine expected to be idle was busy all the time; changes are reported by [`load_changed`].
pub fn other_work(at: &ConditionsView<'_>, conditions: &Conditions) -> Option<Finding> {
    let own = busy_threads::largest_own_share(at);
    let share = |cpu: u32| {
        let known: Vec<f64> = at.cpu_shares(cpu, BUSY).into_iter().flatten().collect();
        known.iter().sum::<f64>() / known.len().max(1) as f64 - own
    };
    let shares = at.input.measured.iter().map(|cpu| (cpu, share(cpu)));
    let busy: Vec<(u32, f64)> = shares.filter(|(_, share)| *share > OTHER_LOAD).collect();
    let cpus: CpuSet = busy.iter().map(|(cpu, _)| *cpu).collect();
    let threads = conditions.threads.iter().filter(|one| !one.cpus.and(&cpus).is_empty());
    let thread_share = |one: &BusyThread| ThreadShare {
        name: one.name.clone(),
        id: one.id,
        share: one.mean_share,
    };
    let finding = ConditionFinding::OtherWork {
        share: busy.iter().map(|(_, share)| *share).fold(0.0, f64::max),
        threads: threads.take(NAMED).map(thread_share).collect(),
        cpus,
    };
    (at.input.is_idle && !busy.is_empty()).then(|| Finding::new(finding))
}

/// Much memory was taken at once, or nearly all of it.
pub fn memory_taken(at: &ConditionsView<'_>) -> Option<Finding> {
    let total = at.data.one(metric::MEMORY, "MemTotal")?.values().next()?.value as f64;
    let available = at.data.one(metric::MEMORY, "MemAvailable")?;
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
    // It begins where a tenth of the total drop happens.
    let falls = |step: usize| {
        let now = values[step].zip(values[step + 1]).map_or(0.0, |(before, after)| before - after);
        now > 0.1 * worst.max(MEMORY.1 * total)
    };
    let when = stretches(at.times, falls);
    let of_kilobytes = |kilobytes: f64| (kilobytes * 1024.0) as u64;
    let finding = ConditionFinding::MemoryTaken {
        taken_bytes: of_kilobytes(worst),
        total_bytes: of_kilobytes(total),
        least_bytes: of_kilobytes(least),
        scarce: least <= MEMORY.1 * total,
        when: span(at, &when),
        latencies: latencies(at, &when, None),
    };
    Some(at_first_stretch(at, finding, &when))
}
