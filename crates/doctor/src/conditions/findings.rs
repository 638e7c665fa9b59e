//! What happened to the conditions of a run, each with its time and the latencies beside it.

use super::points::{Points, Stretch};
use super::tell::{counted_up, told};
use super::{Sight, heat, load};
use latlab_model::Nanos;
use latlab_model::run::{Finding, Severity};
use latlab_model::telemetry::{Conditions, metric};

/// Readings that take more than this part of a CPU are too dear.
const DEAR: f64 = 0.005;

/// All findings of the telemetry.
pub fn findings(at: &Sight<'_>, conditions: &Conditions) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(heat::throttled(at));
    found.extend(counted_up(
        at,
        metric::THERMAL_THROTTLES,
        ("throttled", Severity::Warning),
        &|subject| format!("{subject} was slowed down by its heat"),
    ));
    found.extend(heat::capped(at));
    found.extend(heat::frequency_changed(at, &conditions.figures));
    found.extend(conditions.figures.iter().filter_map(|figure| heat::drifted(at, figure)));
    found.extend(at.context.measured.iter().filter_map(|cpu| load::stolen(at, cpu)));
    found.extend(load::swapped(at));
    found.extend(load::outranked(at, conditions));
    found.extend(at.context.measured.iter().flat_map(|cpu| load::load_changed(at, cpu)));
    found.extend(load::memory_taken(at));
    found.extend(clocksource_changed(at));
    found.extend(counted_up(at, metric::SMI, ("smi", Severity::Warning), &|_| {
        "The firmware took all CPUs for system-management interrupts".to_string()
    }));
    found.extend(counted_up(
        at,
        metric::KERNEL_EVENTS,
        ("kernel-event", Severity::Warning),
        &|kind| format!("The kernel's log told of '{kind}'"),
    ));
    found.extend(lost(conditions));
    found
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
