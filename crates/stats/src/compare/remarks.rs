//! What limits a comparison: too few runs or boots, the order of runs, uncounted releases.

use super::MeasuredRun;
use super::earlier::EarlierRuns;
use super::judgement::middle;
use crate::comparison::ComparisonRemark;
use crate::rank::FEWEST_VALUES;
use latlab_model::Nanos;
use latlab_model::plan::{Method, Recorded};
use latlab_model::run::Run;
use std::collections::BTreeSet;

/// Smaller relative differences in length or recording rate are ignored.
const NOTABLE: f64 = 0.01;
/// A smaller share of overruns changes no figure.
const NOTABLE_MISSED: f64 = 0.001;

/// Whether this remark rules out any judgement.
pub fn refuses(remark: &ComparisonRemark) -> bool {
    matches!(
        remark,
        ComparisonRemark::TooFewRuns { .. }
            | ComparisonRemark::OneBootEach
            | ComparisonRemark::OtherKind { .. }
    )
}

/// All that limits the comparison, most serious first. `copies` were left out, `order` is the limit
/// set by the order of the runs, and `earlier` are runs that tell how much runs, and perhaps boots,
/// differ.
pub fn remarks(
    base: &[MeasuredRun],
    candidate: &[MeasuredRun],
    copies: usize,
    order: Option<ComparisonRemark>,
    earlier: Option<&EarlierRuns>,
) -> Vec<ComparisonRemark> {
    let too_few = (base.len().min(candidate.len()) < FEWEST_VALUES)
        .then_some(ComparisonRemark::TooFewRuns { base: base.len(), candidate: candidate.len() });
    let too_few = too_few.filter(|_| earlier.is_none());
    let boots = boots(base, candidate).filter(|one| {
        *one != ComparisonRemark::OneBootEach || !earlier.is_some_and(EarlierRuns::know_boots)
    });
    let first = kind(base, candidate).into_iter().chain(too_few).chain(boots);
    first
        .chain(earlier.map(|earlier| ComparisonRemark::EarlierRuns { runs: earlier.count() }))
        .chain(order)
        .chain((copies > 0).then_some(ComparisonRemark::Copies { runs: copies }))
        .chain(unequal(base))
        .chain(unequal(candidate).filter(|_| unequal(base).is_none()))
        .chain(method(base, candidate))
        .chain(deadlines(base, candidate))
        .chain(length(base, candidate))
        .chain(rate(base, candidate))
        .chain(overruns(base, candidate))
        .collect()
}

fn are_in_virtual_time(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> bool {
    base.iter().chain(candidate).all(|one| one.run.asked.on.target.has_virtual_time())
}

fn boots(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let boots = |side: &[MeasuredRun]| -> Option<BTreeSet<String>> {
        side.iter().map(|one| one.run.machine.boot_id.clone()).collect()
    };
    // Virtual time boots a guest per run, and each boot with the same seed is the same.
    if are_in_virtual_time(base, candidate) {
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

/// A property of a run, as text.
type Fact = fn(&Run) -> String;

/// What the runs of one side were asked to do differently.
fn unequal(side: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let facts = ["load", "kernel", "period", "instrument", "board"];
    let what = differences(side.iter().map(|one| one.run), &facts);
    what.map(|what| ComparisonRemark::UnequalRuns { what })
}

/// The properties in which runs differ; `None` if in none.
pub fn differences<'a>(
    runs: impl Iterator<Item = &'a Run> + Clone,
    named: &[&str],
) -> Option<String> {
    let facts: [(&str, Fact); 5] = [
        ("load", |run| format!("{} {:?}", run.load_or("none"), run.asked.on.loads)),
        ("kernel", |run| run.machine.kernel.clone()),
        ("period", period),
        ("instrument", instrument),
        ("board", |run| run.machine.board.clone().unwrap_or_default()),
    ];
    let differs = |fact: Fact| runs.clone().map(fact).collect::<BTreeSet<_>>().len() > 1;
    let what = facts.into_iter().filter(|(what, fact)| named.contains(what) && differs(*fact));
    let what: Vec<&str> = what.map(|(what, _)| what).collect();
    (!what.is_empty()).then(|| what.join(", "))
}

fn period(run: &Run) -> String {
    format!("{:?}", run.applied.threads.first().map(|one| one.period_ns))
}

fn instrument(run: &Run) -> String {
    match &run.asked.method {
        Method::Import(import) => format!("import of a {}", import.format),
        method => method.instrument().to_string(),
    }
}

/// What was recorded, in the terms of the glossary.
pub fn recorded(run: &Run) -> String {
    let words = match (&run.asked.method, run.asked.method.records()) {
        (Method::Import(import), _) => match import.quantity.as_str() {
            "wake-up latency" | "latency" | "latency from one thread to another" => "latencies",
            "time taken from a busy loop" => "gaps",
            other => other,
        },
        (_, Recorded::Latency) => "latencies",
        (_, Recorded::Gap) => "gaps",
        (_, Recorded::Response) => "responses",
    };
    words.to_string()
}

/// Latencies, gaps of a busy loop and pin responses cannot be compared with each other.
fn kind(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let kinds = |side: &[MeasuredRun]| -> BTreeSet<String> {
        side.iter().map(|one| recorded(one.run)).collect()
    };
    let (base, candidate) = (kinds(base), kinds(candidate));
    let words = |kinds: &BTreeSet<String>| kinds.iter().cloned().collect::<Vec<_>>().join(" and ");
    (base.union(&candidate).count() > 1)
        .then(|| ComparisonRemark::OtherKind { base: words(&base), candidate: words(&candidate) })
}

/// How the method differs between two sides that are each uniform.
fn method(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let facts: [(&str, Fact); 2] = [("period", period), ("instrument", instrument)];
    let values = |side: &[MeasuredRun], fact: Fact| -> BTreeSet<String> {
        side.iter().map(|one| fact(one.run)).collect()
    };
    let differs = |fact: Fact| values(base, fact) != values(candidate, fact);
    let what: Vec<&str> =
        facts.into_iter().filter(|(_, fact)| differs(*fact)).map(|(what, _)| what).collect();
    (!what.is_empty()).then(|| ComparisonRemark::OtherMethod { what: what.join(", ") })
}

fn deadlines(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let all = base.iter().chain(candidate).map(|one| one.run.asked.until.deadline_ns);
    (all.collect::<BTreeSet<_>>().len() > 1).then_some(ComparisonRemark::OtherDeadlines)
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

/// A side that records fewer latencies in the same time has omitted late ones.
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
            // The length of an imported histogram may be unknown.
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

fn overruns(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<ComparisonRemark> {
    let share = |side: &[MeasuredRun]| {
        let overruns = side.iter().filter_map(|one| one.run.total.overruns);
        let overruns: f64 = overruns.map(|overruns| overruns as f64).sum();
        let due: f64 = side.iter().map(|one| one.run.total.releases as f64).sum();
        overruns / due.max(1.0)
    };
    let (base, candidate) = (share(base), share(candidate));
    (base.max(candidate) >= NOTABLE_MISSED)
        .then_some(ComparisonRemark::MoreOverruns { base, candidate })
}
