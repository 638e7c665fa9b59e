//! Deadline misses of two sides, as shares of the releases and as bursts in their time.

use super::drift::InTurn;
use super::{MeasuredRun, Tolerance};
use crate::comparison::{BurstComparison, ComparisonWord, MissComparison};
use crate::limit::{BurstCount, may_be_chosen, word};
use crate::rank::{rank_test, shift};
use crate::repeats::is_chance;
use crate::special::chance_of_at_least;
use latlab_model::Nanos;
use latlab_model::run::VerdictWord;

/// Significance level.
const ALPHA: f64 = 0.05;

/// Share of each run's releases that missed the deadline.
pub struct MissShares {
    pub deadline_ns: Nanos,
    pub base: Vec<f64>,
    pub candidate: Vec<f64>,
}

/// The shares, if all runs have the same deadline.
pub fn miss_shares(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<MissShares> {
    let deadline_ns = common_deadline(base.iter().chain(candidate))?;
    let share = |one: &MeasuredRun| {
        one.run.total.misses.unwrap_or(0) as f64 / one.run.total.releases.max(1) as f64
    };
    let shares = |side: &[MeasuredRun]| -> Vec<f64> { side.iter().map(share).collect() };
    Some(MissShares { deadline_ns, base: shares(base), candidate: shares(candidate) })
}

pub struct MissEvidence<'a> {
    pub shares: MissShares,
    /// Probability of such a difference, adjusted for all metrics and misses together.
    pub p_of_all: f64,
    /// Order of the runs, if the sides did not take turns.
    pub in_turn: Option<&'a InTurn>,
    /// Whether the runs drift, so that sides and time cannot be separated.
    pub drifts: bool,
    pub refused: bool,
}

/// The misses of both sides. Each run counts once: misses come in bursts, so two misses are not two
/// observations.
pub fn compare_misses(
    base: &[MeasuredRun],
    candidate: &[MeasuredRun],
    tolerance: &Tolerance,
    evidence: &MissEvidence,
) -> MissComparison {
    let MissEvidence { shares, p_of_all, in_turn, drifts, refused } = evidence;
    let sum = |side: &[MeasuredRun]| {
        let misses = side.iter().filter_map(|one| one.run.total.misses);
        let due = side.iter().map(|one| one.run.total.releases);
        (misses.fold(0, u64::saturating_add), due.fold(0, u64::saturating_add))
    };
    let p = rank_test(&shares.base, &shares.candidate);
    let is_more =
        shift(&shares.base, &shares.candidate).interval.is_some_and(|(low, _, _)| low > 0.0);
    let fit = in_turn.and_then(|turn| turn.fit(&shares.base, &shares.candidate));
    let is_more = is_more && fit.is_none_or(|fit| fit.step.0 > 0.0 && !fit.is_seen);
    let bursts = compare_bursts(base, candidate, tolerance);
    let against_limit = bursts.and_then(|bursts| bursts.limit).map(|limit| word(&limit));
    let word = match against_limit {
        // The candidate's own runs show it, regardless of the base.
        Some(Some(VerdictWord::Fail)) => Some(ComparisonWord::Regressed),
        _ if is_more && *p_of_all <= ALPHA && !refused && !drifts => {
            Some(ComparisonWord::Regressed)
        }
        Some(None) => Some(ComparisonWord::Inconclusive),
        _ => None,
    };
    let ((base, base_releases), (candidate, candidate_releases)) = (sum(base), sum(candidate));
    MissComparison {
        deadline_ns: shares.deadline_ns,
        base,
        base_releases,
        candidate,
        candidate_releases,
        p,
        p_of_all: *p_of_all,
        bursts,
        word,
    }
}

fn common_deadline<'a>(mut runs: impl Iterator<Item = &'a MeasuredRun<'a>>) -> Option<Nanos> {
    let first = runs.next()?.run.asked.until.deadline_ns?;
    runs.all(|one| one.run.asked.until.deadline_ns == Some(first)).then_some(first)
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
    let share =
        of_candidate.measured.0 as f64 / (of_base.measured + of_candidate.measured).0 as f64;
    let p = || {
        let all = of_base.most.saturating_add(of_candidate.most);
        chance_of_at_least(of_candidate.most, all, share)
    };
    let any_time = candidate.iter().any(|one| may_be_chosen(&one.run.asked, one.run.ended));
    Some(BurstComparison {
        base: of_base.rate(),
        candidate: of_candidate.rate(),
        p: (is_chance(&base_counts) && is_chance(&candidate_counts)).then(p),
        limit: tolerance.bursts_per_hour.map(|rate| of_candidate.against(rate, any_time)),
    })
}

fn sum(counts: &[BurstCount]) -> Option<BurstCount> {
    counts.iter().copied().reduce(BurstCount::plus)
}
