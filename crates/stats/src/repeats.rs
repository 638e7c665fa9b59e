//! Judges repeats of a run together against a tolerated rate of miss bursts.

use crate::comparison::BurstRate;
use crate::limit::{BurstCount, may_be_chosen, rejudge, word};
use crate::special::{chance_of_dispersion, share_above};
use latlab_model::Run;
use latlab_model::run::{BurstLimit, VerdictReason, VerdictWord};
use serde::{Deserialize, Serialize};

/// Error probability of a one-sided 95 % bound.
const CHANCE: f64 = 0.05;
/// Runs differ by more than chance if their bursts differ this much with a smaller probability.
const ALPHA_OF_DISPERSION: f64 = 0.01;

/// The repeats of a row together against a tolerated rate of miss bursts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepeatsVerdict {
    /// Joint verdict.
    pub word: VerdictWord,
    /// Number of repeats.
    pub runs: usize,
    /// Their deadline misses.
    pub misses: u64,
    /// Releases due in them.
    pub releases: u64,
    /// Their bursts and measured time.
    pub bursts: BurstRate,
    /// The tolerated rate and the rates the repeats leave possible; if repeats differ, those of the
    /// repeat with the highest burst rate.
    pub limit: BurstLimit,
    /// Repeats with at least one deadline miss.
    pub runs_with_misses: usize,
    /// Upper bound (95 % confidence) of the share of such runs with a miss.
    pub at_most_share_of_runs: f64,
    /// Whether their bursts differ by more than chance, so that each repeat must keep the limit.
    pub differ: bool,
    /// Repeats not measured as planned, so that they cannot show that the limit is kept.
    pub undecided: usize,
}

/// Whether the burst counts of these runs are consistent with one rate.
pub fn is_chance(counts: &[BurstCount]) -> bool {
    let each: Vec<(u64, f64)> =
        counts.iter().map(|one| (one.most, one.measured.0 as f64)).collect();
    chance_of_dispersion(&each) >= ALPHA_OF_DISPERSION
}

/// What the repeats together show about the limit; `None` without runs, or if one has no bursts in
/// a known time.
pub fn judge_repeats(runs: &[&Run], per_hour: f64) -> Option<RepeatsVerdict> {
    let counts: Vec<BurstCount> =
        runs.iter().map(|run| BurstCount::of_run(run)).collect::<Option<_>>()?;
    let all = counts.iter().copied().reduce(BurstCount::plus)?;
    let any_time = runs.iter().any(|run| may_be_chosen(&run.asked, run.ended));
    let undecided = runs.iter().filter(|run| !is_as_planned(run, per_hour)).count();
    let differ = !is_chance(&counts);
    let together = all.against(per_hour, any_time);
    // A bad boot or hour must not be averaged away by the others.
    let limit = match differ && word(&together) != Some(VerdictWord::Fail) {
        true => counts
            .iter()
            .map(|one| one.against(per_hour, any_time))
            .max_by(|one, other| one.at_most_per_hour.total_cmp(&other.at_most_per_hour))?,
        false => together,
    };
    let word = match word(&limit) {
        Some(VerdictWord::Pass) if undecided > 0 => VerdictWord::Inconclusive,
        word => word.unwrap_or(VerdictWord::Inconclusive),
    };
    let sum =
        |of: fn(&Run) -> u64| runs.iter().fold(0, |sum: u64, run| sum.saturating_add(of(run)));
    let runs_with_misses = counts.iter().filter(|one| one.most > 0).count();
    Some(RepeatsVerdict {
        word,
        runs: runs.len(),
        misses: sum(|run| run.total.misses.unwrap_or(0)),
        releases: sum(|run| run.total.releases),
        bursts: all.rate(),
        limit,
        runs_with_misses,
        at_most_share_of_runs: share_above(runs_with_misses as f64, runs.len() as f64, CHANCE),
        differ,
        undecided,
    })
}

/// Whether only the length of the run keeps it from a verdict.
fn is_as_planned(run: &Run, per_hour: f64) -> bool {
    rejudge(run, per_hour).is_some_and(|verdict| {
        verdict.word != VerdictWord::Invalid
            && matches!(verdict.reason, None | Some(VerdictReason::LimitOpen))
    })
}
