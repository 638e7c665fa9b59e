//! Changes in the conditions of a run, each with its time and the latencies then.

use super::finding_parts::{at_first_stretch, counter_findings, latencies, span};
use super::points::{Points, Stretch, median};
use super::{ConditionsView, heat, load};
use latlab_model::Nanos;
use latlab_model::finding::{ConditionFinding, Finding, Throttling};
use latlab_model::telemetry::{Conditions, metric};

/// Readings that take more than this share of a CPU are too expensive.
const DEAR: f64 = 0.005;
/// A distance of readings this many times larger than usual is a gap.
const GAP: f64 = 3.0;

/// All findings of the telemetry.
pub fn findings(at: &ConditionsView<'_>, conditions: &Conditions) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(heat::throttled(at));
    found.extend(counter_findings(
        at,
        metric::THERMAL_THROTTLES,
        &|subject, count, when, latencies| {
            let by = Throttling::Counter { subject: subject.to_string(), count };
            ConditionFinding::Throttled { by, when, latencies }
        },
    ));
    found.extend(heat::capped(at));
    found.extend(heat::frequency_changed(at, &conditions.figures));
    found.extend(conditions.figures.iter().filter_map(|figure| heat::drifted(at, figure)));
    found.extend(at.input.measured.iter().filter_map(|cpu| load::stolen(at, cpu)));
    found.extend(load::swapped(at));
    found.extend(load::outranked(at, conditions));
    found.extend(at.input.measured.iter().flat_map(|cpu| load::load_changed(at, cpu)));
    found.extend(load::other_work(at, conditions));
    found.extend(load::memory_taken(at));
    found.extend(clocksource_changed(at));
    found.extend(counter_findings(at, metric::SMI, &|_, count, when, latencies| {
        ConditionFinding::Smi { count, when, latencies }
    }));
    found.extend(counter_findings(at, metric::KERNEL_EVENTS, &|event, count, when, latencies| {
        ConditionFinding::KernelEvent { event: event.to_string(), count, when, latencies }
    }));
    found.extend(lost(at, conditions));
    found.extend(telemetry_gap(at));
    found
}

/// The longest gap in the telemetry, and the number of further ones.
fn telemetry_gap(at: &ConditionsView<'_>) -> Option<Finding> {
    let usual = at.input.every.map(Nanos::as_secs_f64).or(median(at.seconds()))?;
    let steps = at.times.windows(2).map(|pair| Stretch { from: pair[0], to: pair[1] });
    let is_gap = |step: &Stretch| (step.to - step.from).as_secs_f64() > GAP * usual;
    let gaps: Vec<Stretch> = steps.filter(is_gap).collect();
    let longest = *gaps.iter().max_by_key(|gap| gap.to - gap.from)?;
    let finding = ConditionFinding::TelemetryGap {
        gaps: gaps.len() as u64,
        when: span(at, &[longest])?,
        usual_ns: Nanos((usual * 1e9) as i64),
        latencies: latencies(at, &[longest], None),
    };
    Some(at_first_stretch(at, finding, &[longest]))
}

fn clocksource_changed(at: &ConditionsView<'_>) -> Option<Finding> {
    let is_in_use = |points: &Points, time: Nanos| points.at(time).is_some();
    let sources: Vec<(&str, &Points)> = at.data.all(metric::CLOCKSOURCE).collect();
    let now = |time: Nanos| sources.iter().find(|(_, points)| is_in_use(points, time));
    let before = now(*at.times.first()?)?.0;
    let changed =
        at.times.iter().find(|time| now(**time).is_some_and(|(name, _)| *name != before))?;
    let after = now(*changed)?.0;
    let when = [Stretch { from: *changed, to: *changed + Nanos(1) }];
    let finding = ConditionFinding::ClocksourceChanged {
        before: before.to_string(),
        after: after.to_string(),
        since_start_ns: at.since_start(*changed),
        latencies: latencies(at, &when, None),
    };
    Some(at_first_stretch(at, finding, &when))
}

/// How many readings are missing, if too few are left for what needs two of them.
fn too_few(at: &ConditionsView<'_>, conditions: &Conditions) -> u64 {
    let every = at.input.every.filter(|_| conditions.cost_share.is_none());
    let length = (at.input.to - at.input.from).0.max(0);
    let due = every.map_or(0, |every| (length / every.0.max(1)).unsigned_abs());
    due.saturating_sub(at.times.len() as u64)
}

fn lost(at: &ConditionsView<'_>, conditions: &Conditions) -> impl Iterator<Item = Finding> {
    let readings = conditions.lost.max(too_few(at, conditions));
    let lost = (readings > 0).then_some(ConditionFinding::TelemetryLost { readings });
    let cost = conditions.cost_share.filter(|share| *share > DEAR);
    let expensive =
        cost.map(|cpu_share| ConditionFinding::TelemetryCost { cpu_share, limit_share: DEAR });
    lost.into_iter().chain(expensive).map(Finding::new)
}
