//! Deadline misses of two sides, as shares of the releases.

use super::MeasuredRun;
use crate::rank::{rank_test, shift};
use latlab_model::Nanos;
use latlab_model::run_comparison::{ComparisonWord, MissComparison};

/// A larger probability than this is chance.
const ALPHA: f64 = 0.05;

/// The misses, where all runs have the same deadline. Each run counts alike: misses come in bursts, so
/// that two of them are not two observations.
pub fn compare_misses(
    base: &[MeasuredRun],
    candidate: &[MeasuredRun],
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
    let ((base, base_activations), (candidate, candidate_activations)) =
        (sum(base), sum(candidate));
    Some(MissComparison {
        deadline_ns,
        base,
        base_activations,
        candidate,
        candidate_activations,
        p,
        word: (is_more && p <= ALPHA && !refused).then_some(ComparisonWord::Regressed),
    })
}

fn common_deadline<'a>(mut runs: impl Iterator<Item = &'a MeasuredRun<'a>>) -> Option<Nanos> {
    let first = runs.next()?.run.asked.deadline_ns?;
    runs.all(|one| one.run.asked.deadline_ns == Some(first)).then_some(first)
}
