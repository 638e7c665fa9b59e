//! Judges whether a load ran properly for the whole measured time.

use super::measured_time::{MeasuredTime, Step};
use latlab_model::fault::FAULT;
use latlab_model::finding::{Finding, LoadDeath, LoadFinding, LoadShortfall, LoadStart};
use latlab_model::load::{Load, LoadEnd, LoadRun, LostCpus, LostPriority};
use latlab_model::{CpuSet, Nanos};

/// Share of time that a load may be weak, since it shares the machine with others.
const WEAK_FOR: f64 = 0.1;
/// A share of one CPU that counts as idle, …
const IDLE: f64 = 0.001;
/// … and one that counts as active.
const ACTIVE: f64 = 0.02;
/// A load that was idle for more than this share of the time is reported.
const IDLE_FOR: f64 = 0.25;

/// All findings about a load.
pub fn findings(
    load: &Load,
    run: &LoadRun,
    end: Option<&LoadEnd>,
    steps: &[Step],
    window: &MeasuredTime,
) -> Vec<Finding> {
    if run.started_ns.is_none() {
        return vec![death_finding(load, LoadDeath::NotStarted)];
    }
    let ended = match end {
        None => missing_end(load, window),
        Some(end) => ended_early(load, end, window),
    };
    // If it ended before it was active, only its end is reported.
    let begun = match ended.is_some() && run.shown_ns.is_none() {
        true => None,
        false => began_late(load, run, window),
    };
    let by_itself = end.is_some_and(|end| end.by_itself);
    let weak = if by_itself { None } else { weakness(load, run, steps, window) };
    let weak = weak.map(|shortfall| {
        Finding::new(LoadFinding::LoadTooWeak { load: load.name.clone(), shortfall })
    });
    let left = end.and_then(|end| not_ended(load, end));
    // Weakness is reported once, and a fault is only active for a moment.
    let told = by_itself || weak.is_some() || load.name == FAULT;
    let idle = if told { None } else { idleness(load, steps) };
    [begun, ended, weak, idle, left].into_iter().flatten().collect()
}

fn death_finding(load: &Load, death: LoadDeath) -> Finding {
    Finding::new(LoadFinding::LoadDied { load: load.name.clone(), death })
}

/// It must be active before the first release that counts.
fn began_late(load: &Load, run: &LoadRun, window: &MeasuredTime) -> Option<Finding> {
    let start = match run.shown_ns {
        Some(shown) if shown <= window.from => return None,
        Some(shown) => LoadStart::Late { late_ns: shown - window.from },
        None => LoadStart::Never { least_share: load.least.cpu_share },
    };
    Some(Finding::new(LoadFinding::LoadStartedLate { load: load.name.clone(), start }))
}

/// A cut run lacks the last message of every load; in a complete one, the load was killed.
fn missing_end(load: &Load, window: &MeasuredTime) -> Option<Finding> {
    window.whole.then(|| death_finding(load, LoadDeath::Unwatched))
}

/// It must run until measuring is over.
fn ended_early(load: &Load, end: &LoadEnd, window: &MeasuredTime) -> Option<Finding> {
    if !end.by_itself || end.ended_ns >= window.to {
        return None;
    }
    let last = end.last_lines.iter().rev().find(|line| !line.trim().is_empty());
    let last_line = last.map(|line| line.trim().to_string());
    let (early_ns, status) = (window.to - end.ended_ns, end.status);
    Some(match status.code {
        Some(0) => {
            let load = load.name.clone();
            Finding::new(LoadFinding::LoadEndedEarly { load, early_ns, status, last_line })
        }
        _ => death_finding(load, LoadDeath::Failed { early_ns, status, last_line }),
    })
}

/// It must stay where it was placed.
pub fn wrong_cpus(put: &str, run: &LoadRun) -> Option<Finding> {
    let (asked, seen) = (put.parse::<CpuSet>().ok()?, run.placement.parse::<CpuSet>().ok()?);
    let load = run.name.clone();
    (!seen.without(&asked).is_empty())
        .then(|| Finding::new(LoadFinding::LoadElsewhere { load, asked, seen }))
}

/// CPUs must not be taken from it while it is measured.
pub fn lost_cpus(load: &Load, end: &LoadEnd, window: &MeasuredTime) -> Option<Finding> {
    let LostCpus { at_ns, previous_ns, lost, left } = end.lost_cpus.clone()?;
    let load = load.name.clone();
    let finding = Finding::new(LoadFinding::LoadLostCpus { load, lost, left });
    // Checks of thousands of processes are far apart, so only the one after the measured time may
    // see it.
    let in_window = previous_ns.unwrap_or(at_ns) < window.to;
    in_window.then(|| finding.at(Some(at_ns.min(window.to))))
}

/// The priority of its threads must not be lowered while it is measured.
pub fn lost_priority(load: &Load, end: &LoadEnd, window: &MeasuredTime) -> Option<Finding> {
    let LostPriority { at_ns, previous_ns, held, now } = end.lost_priority.clone()?;
    let load = load.name.clone();
    let finding = Finding::new(LoadFinding::LoadLostPriority { load, held, now });
    (previous_ns < window.to).then(|| finding.at(Some(at_ns.min(window.to))))
}

/// Nothing of it may be left.
fn not_ended(load: &Load, end: &LoadEnd) -> Option<Finding> {
    let (load, processes) = (load.name.clone(), end.left);
    (processes > 0).then(|| Finding::new(LoadFinding::LoadNotEnded { load, processes }))
}

/// What it did too little of, if anything.
fn weakness(
    load: &Load,
    run: &LoadRun,
    steps: &[Step],
    window: &MeasuredTime,
) -> Option<LoadShortfall> {
    let least = load.least;
    let measured_ns = window.to - window.from;
    if let Some(share) = run.cpu_share.filter(|_| least.cpu_share > 0.0) {
        let weak: f64 =
            steps.iter().filter(|step| step.cpu_share < least.cpu_share).map(|s| s.seconds).sum();
        let often = weak > 1.5 && weak > WEAK_FOR * measured_ns.as_secs_f64();
        if share.mean < least.cpu_share || often {
            return Some(LoadShortfall::Cpu {
                mean_share: share.mean,
                least_share: least.cpu_share,
                weak_ns: nanos_of_seconds(weak),
                measured_ns,
            });
        }
    }
    let evidence = run.evidence.as_ref()?;
    let mean = evidence.per_second.mean;
    (mean < least.evidence_per_second).then(|| LoadShortfall::Counter {
        counter: evidence.counter,
        unit: evidence.unit.clone(),
        mean_per_second: mean,
        least_per_second: least.evidence_per_second,
    })
}

/// Whether it was idle for a large part of the time, after being active before.
fn idleness(load: &Load, steps: &[Step]) -> Option<Finding> {
    let is_idle = |step: &&Step| step.cpu_share < IDLE;
    let busy = steps.iter().position(|step| step.cpu_share > ACTIVE)?;
    let idle: f64 = steps[busy..].iter().filter(is_idle).map(|step| step.seconds).sum();
    let all: f64 = steps.iter().map(|step| step.seconds).sum();
    let paused = LoadFinding::LoadPaused {
        load: load.name.clone(),
        idle_ns: nanos_of_seconds(idle),
        watched_ns: nanos_of_seconds(all),
        share_before: steps[busy].cpu_share,
    };
    (idle > IDLE_FOR * all).then(|| Finding::new(paused))
}

fn nanos_of_seconds(seconds: f64) -> Nanos {
    Nanos((seconds * 1e9).round() as i64)
}
