//! Deadline misses of two sides, as shares of the releases and as bursts in their time.

use super::{MeasuredRun, Tolerance};
use crate::limit::{BurstCount, may_be_chosen, word};
use crate::rank::{rank_test, shift};
use crate::special::{chance_of_at_least, chance_of_dispersion};
use latlab_model::Nanos;
use latlab_model::run::VerdictWord;
use latlab_model::run_comparison::{BurstComparison, BurstRate, ComparisonWord, MissComparison};

/// A larger probability than this is chance.
const ALPHA: f64 = 0.05;
/// Runs whose bursts differ so much by chance only this rarely do not differ by chance.
const ALPHA_OF_DISPERSION: f64 = 0.01;

/// The misses, where all runs have the same deadline. Each run counts alike: misses come in bursts, so
/// that two of them are not two observations.
pub fn compare_misses(
    base: &[MeasuredRun],
    candidate: &[MeasuredRun],
    tolerance: &Tolerance,
    refused: bool,
) -> Option<MissComparison> {
    let deadline_ns = common_deadline(base.iter().chain(candidate))?;
    let sum = |side: &[MeasuredRun]| {
        let misses = side.iter().filter_map(|one| one.run.total.misses);
        let due = side.iter().map(|one| one.run.total.activations);
        (misses.fold(0, u64::saturating_add), due.fold(0, u64::saturating_add))
    };
    let share = |one: &MeasuredRun| {
        one.run.total.misses.unwrap_or(0) as f64 / one.run.total.activations.max(1) as f64
    };
    let shares = |side: &[MeasuredRun]| -> Vec<f64> { side.iter().map(share).collect() };
    let (base_shares, candidate_shares) = (shares(base), shares(candidate));
    let p = rank_test(&base_shares, &candidate_shares);
    let is_more =
        shift(&base_shares, &candidate_shares).interval.is_some_and(|(low, _, _)| low > 0.0);
    let bursts = compare_bursts(base, candidate, tolerance);
    let against_limit = bursts.and_then(|bursts| bursts.limit).map(|limit| word(&limit));
    let word = match against_limit {
        // The candidate's own runs show it, whatever the base is.
        Some(Some(VerdictWord::Fail)) => Some(ComparisonWord::Regressed),
        _ if is_more && p <= ALPHA && !refused => Some(ComparisonWord::Regressed),
        Some(None) => Some(ComparisonWord::Inconclusive),
        _ => None,
    };
    let ((base, base_activations), (candidate, candidate_activations)) =
        (sum(base), sum(candidate));
    Some(MissComparison {
        deadline_ns,
        base,
        base_activations,
        candidate,
        candidate_activations,
        p,
        bursts,
        word,
    })
}

fn common_deadline<'a>(mut runs: impl Iterator<Item = &'a MeasuredRun<'a>>) -> Option<Nanos> {
    let first = runs.next()?.run.asked.deadline_ns?;
    runs.all(|one| one.run.asked.deadline_ns == Some(first)).then_some(first)
}

fn compare_bursts(
    base: &[MeasuredRun],
    candidate: &[MeasuredRun],
    tolerance: &Tolerance,
) -> Option<BurstComparison> {
    let counts = |side: &[MeasuredRun]| -> Option<Vec<BurstCount>> {
        side.iter().map(|one| BurstCount::of_run(one.run)).collect()
    };
    let (base_counts, candidate_counts) = (counts(base)?, counts(candidate)?);
    let (of_base, of_candidate) = (sum(&base_counts)?, sum(&candidate_counts)?);
    let is_chance = |counts: &[BurstCount]| {
        let each: Vec<(u64, f64)> =
            counts.iter().map(|one| (one.most, one.measured.0 as f64)).collect();
        chance_of_dispersion(&each) >= ALPHA_OF_DISPERSION
    };
    let share =
        of_candidate.measured.0 as f64 / (of_base.measured + of_candidate.measured).0 as f64;
    let p = || {
        let all = of_base.most.saturating_add(of_candidate.most);
        chance_of_at_least(of_candidate.most, all, share)
    };
    let any_time = candidate.iter().any(|one| may_be_chosen(&one.run.asked, one.run.ended));
    Some(BurstComparison {
        base: rate(of_base),
        candidate: rate(of_candidate),
        p: (is_chance(&base_counts) && is_chance(&candidate_counts)).then(p),
        limit: tolerance.bursts_per_hour.map(|rate| of_candidate.against(rate, any_time)),
    })
}

fn sum(counts: &[BurstCount]) -> Option<BurstCount> {
    counts.iter().copied().reduce(BurstCount::plus)
}

fn rate(of: BurstCount) -> BurstRate {
    BurstRate {
        bursts: of.least,
        unknown: of.most.saturating_sub(of.least),
        measured_ns: of.measured,
        at_most_per_hour: of.against(1.0, false).at_most_per_hour,
    }
}
