//! What happened to the conditions of a run, each with its time and the latencies beside it.

use super::figures::BUSY;
use super::latencies::beside;
use super::points::{Points, Stretch, median, stretches};
use super::{Sight, rivals};
use latlab_model::run::{Finding, Severity};
use latlab_model::telemetry::{Conditions, Figure, metric};
use latlab_model::{CpuSet, Nanos};

/// A drift of the temperature by so many degrees is told, and warned of.
const DRIFT: (f64, f64) = (5.0, 10.0);
/// A frequency that falls by more than this part is another frequency.
const OTHER_FREQUENCY: f64 = 0.05;
/// Stolen time above this part, over the run or in one step, is told.
const STEAL: (f64, f64) = (0.001, 0.01);
/// A load that differs by more than this part of a CPU from what is usual has changed.
const OTHER_LOAD: f64 = 0.25;
/// Changes of the load that are told for each CPU, the longest ones.
const MOST_CHANGES: usize = 3;
/// Memory that goes within so many steps …
const MEMORY_STEPS: usize = 10;
/// … and is more than this part of all is told; less left than the second part is warned of.
const MEMORY: (f64, f64) = (0.1, 0.05);
/// A thread that ran for less than this did no harm that anyone could measure.
const SHORT: Nanos = Nanos(100_000);
/// Readings that take more than this part of a CPU are too dear.
const DEAR: f64 = 0.005;

/// All findings of the telemetry.
pub fn findings(at: &Sight<'_>, conditions: &Conditions) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(throttled(at));
    found.extend(counted_up(at, metric::THERMAL_THROTTLES, "throttled", &|subject| {
        format!("{subject} was slowed down by its heat")
    }));
    found.extend(capped(at));
    found.extend(frequency_changed(at, &conditions.figures));
    found.extend(conditions.figures.iter().filter_map(|figure| drifted(at, figure)));
    found.extend(at.context.measured.iter().filter_map(|cpu| stolen(at, cpu)));
    found.extend(swapped(at));
    found.extend(outranked(at, conditions));
    found.extend(at.context.measured.iter().flat_map(|cpu| load_changed(at, cpu)));
    found.extend(memory_taken(at));
    found.extend(clocksource_changed(at));
    found.extend(counted_up(at, metric::SMI, "smi", &|_| {
        "The firmware took all CPUs for system-management interrupts".to_string()
    }));
    found.extend(counted_up(at, metric::KERNEL_EVENTS, "kernel-event", &|kind| {
        format!("The kernel's log told of '{kind}'")
    }));
    found.extend(lost(conditions));
    found
}

/// `at` of the first stretch, and the latencies of all of them beside the text.
fn told(
    at: &Sight<'_>,
    code: &str,
    severity: Severity,
    text: String,
    when: &[Stretch],
    cpus: Option<&CpuSet>,
) -> Finding {
    let latencies = beside(&at.watch.intervals, when, cpus);
    let finding = Finding::new(code, severity, format!("{text} ({latencies})."));
    match when.first() {
        Some(first) => finding.at(first.from),
        None => finding,
    }
}

fn span(at: &Sight<'_>, when: &[Stretch]) -> String {
    let (Some(first), Some(last)) = (when.first(), when.last()) else { return String::new() };
    let to = last.to.min(at.context.to);
    format!("from {} to {}", at.since_start(first.from), at.since_start(to))
}

/// The bits of a Raspberry Pi's firmware that say what is so now.
const THROTTLE_BITS: [(i64, &str); 4] = [
    (1 << 0, "the supply voltage was too low"),
    (1 << 1, "the frequency was capped"),
    (1 << 2, "the CPU was throttled"),
    (1 << 3, "the soft temperature limit was reached"),
];

fn throttled(at: &Sight<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (_, points) in at.watch.all(metric::THROTTLE_FLAGS) {
        let flags = |time: Nanos| points.at(time).map_or(0, |flags| flags as i64);
        for (bit, text) in THROTTLE_BITS {
            // The sticky bit, 16 higher, tells of what came and went between two readings.
            let sticky = bit << 16;
            let when = stretches(at.times, |step| {
                let (before, after) = (flags(at.times[step]), flags(at.times[step + 1]));
                after & bit != 0 || (after & sticky != 0 && before & sticky == 0)
            });
            if !when.is_empty() {
                let text = format!("The firmware says that {text}, {}", span(at, &when));
                found.push(told(at, "throttled", Severity::Warning, text, &when, None));
            }
        }
    }
    found
}

/// A counter of something that should not happen has grown.
fn counted_up(
    at: &Sight<'_>,
    metric: &str,
    code: &str,
    text: &dyn Fn(&str) -> String,
) -> Vec<Finding> {
    let grown = |(subject, points): (&str, &Points)| {
        let growths = at.growths(points);
        let times: f64 = growths.iter().flatten().sum();
        let when = stretches(at.times, |step| growths[step].is_some_and(|growth| growth > 0.0));
        (!when.is_empty()).then(|| {
            let text = format!("{}, {times:.0} times {}", text(subject), span(at, &when));
            told(at, code, Severity::Warning, text, &when, None)
        })
    };
    at.watch.all(metric).filter_map(grown).collect()
}

/// The limit of the frequency went down, for whatever reason.
fn capped(at: &Sight<'_>) -> Option<Finding> {
    let mut lowest: Option<(f64, f64, CpuSet, Vec<Stretch>)> = None;
    for (subject, points) in at.watch.all(metric::FREQUENCY_LIMIT) {
        let cpu: Option<u32> = subject.strip_prefix("cpu").and_then(|number| number.parse().ok());
        let high = points.values().map(|(_, limit)| limit as f64).fold(0.0, f64::max);
        let is_low = |step: usize| points.at(at.times[step + 1]).is_some_and(|now| now < high);
        let when = stretches(at.times, is_low);
        let low = points.values().map(|(_, limit)| limit as f64).fold(f64::INFINITY, f64::min);
        if let (Some(cpu), false) = (cpu, when.is_empty()) {
            let cpus = lowest.iter().flat_map(|(_, _, cpus, _)| cpus.iter()).chain([cpu]).collect();
            lowest = Some((low, high, cpus, when));
        }
    }
    let (low, high, cpus, when) = lowest?;
    let text = format!(
        "The frequency of CPU {cpus} was limited to {:.0} of {:.0} MHz {}",
        low / 1000.0,
        high / 1000.0,
        span(at, &when)
    );
    Some(told(at, "throttled", Severity::Warning, text, &when, Some(&cpus)))
}

fn frequency_changed(at: &Sight<'_>, figures: &[Figure]) -> Option<Finding> {
    let changed = |figure: &&Figure| {
        figure.metric == "cpu_frequency" && figure.min < figure.max * (1.0 - OTHER_FREQUENCY)
    };
    let changed: Vec<&Figure> = figures.iter().filter(changed).collect();
    let low = changed.iter().map(|figure| figure.min).reduce(f64::min)?;
    let high = changed.iter().map(|figure| figure.max).reduce(f64::max)?;
    let cpus: CpuSet =
        changed.iter().filter_map(|one| one.subject.strip_prefix("cpu")?.parse().ok()).collect();
    let is_low = |step: usize| {
        changed.iter().any(|figure| {
            let points = at.watch.one(metric::FREQUENCY, &figure.subject);
            let now = points.and_then(|points| points.at(at.times[step + 1]));
            now.is_some_and(|now| now / 1000.0 < high * (1.0 - OTHER_FREQUENCY))
        })
    };
    let when = stretches(at.times, is_low);
    let text = format!(
        "CPU {cpus} ran at {low:.0} to {high:.0} MHz; below the highest {}",
        span(at, &when)
    );
    let finding = told(at, "frequency-changed", Severity::Warning, text, &when, Some(&cpus));
    Some(finding.remedy("Hold the frequency: `latlab doctor` says how."))
}

fn drifted(at: &Sight<'_>, figure: &Figure) -> Option<Finding> {
    let drift = figure.last_tenth - figure.first_tenth;
    if figure.metric != "temperature" || drift.abs() < DRIFT.0 {
        return None;
    }
    let severity = if drift.abs() < DRIFT.1 { Severity::Info } else { Severity::Warning };
    let tenth = Nanos((at.context.to - at.context.from).0 / 10);
    let when = [Stretch { from: at.context.to - tenth, to: at.context.to }];
    let text = format!(
        "The temperature of {} went from {:.1} C in the first tenth of the run to {:.1} C in the last",
        figure.subject, figure.first_tenth, figure.last_tenth
    );
    let finding = told(at, "temperature-drift", severity, text, &when, None);
    Some(finding.remedy("Let the machine warm up under its load before the run: --warm-up."))
}

fn stolen(at: &Sight<'_>, cpu: u32) -> Option<Finding> {
    let shares = at.cpu_shares(cpu, &["steal"]);
    let known: Vec<f64> = shares.iter().flatten().copied().collect();
    let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
    let worst = known.iter().copied().fold(0.0, f64::max);
    if mean < STEAL.0 && worst < STEAL.1 {
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

fn swapped(at: &Sight<'_>) -> Option<Finding> {
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

fn outranked(at: &Sight<'_>, conditions: &Conditions) -> Vec<Finding> {
    let rival = |thread: &&latlab_model::telemetry::BusyThread| {
        let ran = thread.mean_share * (at.context.to - at.context.from).0 as f64;
        rivals::outranks(&thread.policy, &at.context.policy)
            && ran >= SHORT.0 as f64
            && !thread.cpus.and(&at.context.measured).is_empty()
    };
    let found = conditions.threads.iter().filter(rival).map(|thread| {
        let cpus = thread.cpus.and(&at.context.measured);
        let when = rivals::active(at, thread);
        let text = format!(
            "The thread '{}' ({}, {}) goes before the measuring ones and ran on CPU {cpus}: \
             {:.2} % of it over the run, up to {:.0} % at {}",
            thread.name,
            thread.id,
            thread.policy,
            thread.mean_share * 100.0,
            thread.peak_share * 100.0,
            at.since_start(thread.peak_at_ns)
        );
        let finding = told(at, "rival-thread", Severity::Warning, text, &when, Some(&cpus));
        let remedy = format!(
            "Keep it off: `taskset -p`, `chrt -p` on {}; or measure at its priority on purpose.",
            thread.id
        );
        finding.remedy(remedy)
    });
    found.collect()
}

fn load_changed(at: &Sight<'_>, cpu: u32) -> Vec<Finding> {
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

fn memory_taken(at: &Sight<'_>) -> Option<Finding> {
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

fn clocksource_changed(at: &Sight<'_>) -> Option<Finding> {
    let is_in_use = |points: &Points, time: Nanos| points.at(time).is_some();
    let sources: Vec<(&str, &Points)> = at.watch.all(metric::CLOCKSOURCE).collect();
    let now = |time: Nanos| sources.iter().find(|(_, points)| is_in_use(points, time));
    let before = now(*at.times.first()?)?.0;
    let changed =
        at.times.iter().find(|time| now(**time).is_some_and(|(name, _)| *name != before))?;
    let after = now(*changed)?.0;
    let text = format!(
        "The clock source changed from {before} to {after} at {}",
        at.since_start(*changed)
    );
    let when = [Stretch { from: *changed, to: *changed + Nanos(1) }];
    let finding = told(at, "clocksource-changed", Severity::Error, text, &when, None);
    Some(finding.remedy("Look for 'clocksource' in the kernel's log."))
}

fn lost(conditions: &Conditions) -> Vec<Finding> {
    let mut found = Vec::new();
    if conditions.lost > 0 {
        let text = format!(
            "{} readings of the conditions are missing, because the stream was not taken in time \
             or is damaged.",
            conditions.lost
        );
        found.push(Finding::new("telemetry-lost", Severity::Info, text));
    }
    if let Some(share) = conditions.cost_share.filter(|share| *share > DEAR) {
        let text = format!(
            "Reading the conditions took {:.2} % of a CPU, where {:.1} % are meant to be enough.",
            share * 100.0,
            DEAR * 100.0
        );
        let finding = Finding::new("telemetry-dear", Severity::Warning, text);
        found.push(finding.remedy("Read them less often: --telemetry 5s, or --telemetry off."));
    }
    found
}
