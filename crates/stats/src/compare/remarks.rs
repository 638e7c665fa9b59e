//! What limits a comparison: too few runs, boots, order, releases that were not counted.

use super::MeasuredRun;
use super::judgement::middle;
use crate::rank::FEWEST_VALUES;
use latlab_model::Nanos;
use latlab_model::run::Run;
use latlab_model::run_comparison::ComparisonRemark;
use std::collections::BTreeSet;

/// Sides that differ by less than this share are equally long, or recorded alike.
const NOTABLE: f64 = 0.01;
/// Missed releases that are fewer than this share change no figure.
const NOTABLE_MISSED: f64 = 0.001;

/// Whether no figure can be trusted to answer the question.
pub fn refuses(remark: &ComparisonRemark) -> bool {
    matches!(remark, ComparisonRemark::TooFewRuns { .. } | ComparisonRemark::OneBootEach)
}

/// All that limits the comparison, the heaviest first.
pub fn remarks(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Vec<ComparisonRemark> {
    let too_few = (base.len().min(candidate.len()) < FEWEST_VALUES)
        .then_some(ComparisonRemark::TooFewRuns { base: base.len(), candidate: candidate.len() });
    let first = too_few.into_iter().chain(boots(base, candidate)).chain(order(base, candidate));
    first
        .chain(unequal(base))
        .chain(unequal(candidate).filter(|_| unequal(base).is_none()))
        .chain(length(base, candidate))
        .chain(rate(base, candidate))
        .chain(missed(base, candidate))
        .collect()
}

fn boots(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let boots = |side: &[MeasuredRun]| -> Option<BTreeSet<String>> {
        side.iter().map(|one| one.run.machine.boot_id.clone()).collect()
    };
    // A guest in virtual time is booted for each run, and is the same at each boot with its seed.
    if base.iter().chain(candidate).all(|one| one.run.asked.target.has_virtual_time()) {
        return None;
    }
    let (Some(of_base), Some(of_candidate)) = (boots(base), boots(candidate)) else {
        return Some(ComparisonRemark::BootsUnknown);
    };
    match (of_base == of_candidate, of_base.len(), of_candidate.len()) {
        (true, 1, _) => Some(ComparisonRemark::OneBoot),
        (false, 1, 1) => Some(ComparisonRemark::OneBootEach),
        (false, 1, _) | (false, _, 1) if of_base.is_disjoint(&of_candidate) => {
            Some(ComparisonRemark::OneBootEach)
        }
        _ => None,
    }
}

/// A machine that drifts looks like one that has changed.
fn order(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let times = |side: &[MeasuredRun]| {
        let started = || side.iter().map(|one| one.run.started.as_str());
        Some((started().min()?.to_string(), started().max()?.to_string()))
    };
    let ((first, last), (other_first, other_last)) = (times(base)?, times(candidate)?);
    let several = base.len() > 1 && candidate.len() > 1;
    (several && (last < other_first || other_last < first))
        .then_some(ComparisonRemark::OneAfterTheOther)
}

/// Something of a run, as text.
type Fact = fn(&Run) -> String;

/// What runs of one side were asked for differently.
fn unequal(side: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let facts: [(&str, Fact); 4] = [
        ("load", |run| format!("{:?}", run.asked.loads)),
        ("kernel", |run| run.machine.kernel.clone()),
        ("period", |run| format!("{:?}", run.applied.threads.first().map(|one| one.period_ns))),
        ("instrument", |run| run.asked.method.instrument().to_string()),
    ];
    let differs =
        |fact: Fact| side.iter().map(|one| fact(one.run)).collect::<BTreeSet<_>>().len() > 1;
    let what: Vec<&str> =
        facts.into_iter().filter(|(_, fact)| differs(*fact)).map(|(what, _)| what).collect();
    (!what.is_empty()).then(|| ComparisonRemark::UnequalRuns { what: what.join(", ") })
}

fn middle_of(side: &[MeasuredRun], of: impl Fn(&Run) -> f64) -> f64 {
    middle(&side.iter().map(|one| of(one.run)).collect::<Vec<_>>())
}

fn length(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let of = |side: &[MeasuredRun]| middle_of(side, |run| run.measured_ns.0 as f64);
    let (base, candidate) = (of(base), of(candidate));
    ((base - candidate).abs() > base.max(candidate) * 0.05).then_some(
        ComparisonRemark::OtherLength {
            base_ns: Nanos(base as i64),
            candidate_ns: Nanos(candidate as i64),
        },
    )
}

/// A side that records fewer latencies in the same time has left out late ones.
fn rate(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let period = |one: &MeasuredRun| one.run.applied.threads.first().and_then(|one| one.period_ns);
    let all = || base.iter().chain(candidate);
    let mut periods = all().map(period);
    let first = periods.next()?;
    if !periods.all(|period| period == first) {
        return None;
    }
    let of = |side: &[MeasuredRun]| {
        middle_of(side, |run| {
            let threads = run.threads.len().max(1) as f64;
            // Of an imported histogram the length may not be known.
            let seconds = if run.measured_ns.0 > 0 { run.measured_ns.as_secs_f64() } else { 1.0 };
            run.total.cycles as f64 / threads / seconds
        })
    };
    let (base, candidate) = (of(base), of(candidate));
    let is_timed = all().all(|one| one.run.measured_ns > Nanos::ZERO);
    let most = base.max(candidate);
    let share = (base - candidate).abs() / if most > 0.0 { most } else { 1.0 };
    let of_candidate = candidate < base;
    (share >= NOTABLE).then_some(ComparisonRemark::FewerLatencies { of_candidate, share, is_timed })
}

fn missed(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let share = |side: &[MeasuredRun]| {
        let missed: u64 = side.iter().filter_map(|one| one.run.total.missed).sum();
        let due: u64 = side.iter().map(|one| one.run.total.activations).sum();
        missed as f64 / due.max(1) as f64
    };
    let (base, candidate) = (share(base), share(candidate));
    (base.max(candidate) >= NOTABLE_MISSED)
        .then_some(ComparisonRemark::MissedReleases { base, candidate })
}
