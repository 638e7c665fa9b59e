//! Ratio of each quantile between the sides: a plot of what changed, and where.

use super::MeasuredRun;
use super::figures::quantiles;
use crate::comparison::QuantileShift;
use crate::random::Random;
use crate::rank::{FEWEST_VALUES, median_difference};

/// The plotted quantiles in parts per million; the far ones need enough latencies.
const SHARES: [u32; 27] = [
    10_000, 50_000, 100_000, 200_000, 300_000, 400_000, 500_000, 600_000, 700_000, 800_000,
    900_000, 950_000, 970_000, 980_000, 990_000, 995_000, 997_000, 998_000, 999_000, 999_500,
    999_700, 999_800, 999_900, 999_950, 999_970, 999_980, 999_990,
];
/// Bootstrap resamples for the band.
const CHOICES: usize = 400;
const FEWEST_CHOICES: usize = 50;
/// With more pairs of runs, fewer resamples are taken.
const MANY_PAIRS: usize = 10_000;
const SEED: u64 = 8;

/// The ratio of each quantile that all runs support, with its bootstrap band.
pub fn quantile_shifts(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Vec<QuantileShift> {
    let logs = |side: &[MeasuredRun]| -> Vec<Vec<Option<f64>>> {
        let of = |run: &MeasuredRun| -> Vec<Option<f64>> {
            quantiles(run, &SHARES).into_iter().map(|value| value.ok().map(f64::ln)).collect()
        };
        side.iter().map(of).collect()
    };
    let (base, candidate) = (logs(base), logs(candidate));
    let has_band = base.len().min(candidate.len()) >= FEWEST_VALUES;
    let choices = choices(base.len(), candidate.len());
    let at = |place: usize| {
        let of = |side: &[Vec<Option<f64>>]| -> Option<Vec<f64>> {
            side.iter().map(|run| run[place]).collect()
        };
        let (base, candidate) = (of(&base)?, of(&candidate)?);
        Some(QuantileShift {
            parts_per_million: SHARES[place],
            ratio: median_difference(&base, &candidate).exp(),
            band: has_band.then(|| band(&base, &candidate, &choices)),
        })
    };
    (0..SHARES.len()).filter_map(at).collect()
}

/// Runs of both sides, drawn with replacement.
type Choice = (Vec<usize>, Vec<usize>);

/// The same resamples for every quantile, so that the band is one of whole runs.
fn choices(base: usize, candidate: usize) -> Vec<Choice> {
    let mut random = Random::new(SEED);
    let mut draw = |of: usize| -> Vec<usize> { (0..of).map(|_| random.below(of)).collect() };
    // Each resample takes all pairs of runs, so hundreds of runs get fewer.
    let choices = (CHOICES * MANY_PAIRS / (base * candidate).max(MANY_PAIRS)).max(FEWEST_CHOICES);
    (0..choices).map(|_| (draw(base), draw(candidate))).collect()
}

fn band(base: &[f64], candidate: &[f64], choices: &[Choice]) -> (f64, f64) {
    let estimate = |(first, second): &Choice| {
        let pick =
            |side: &[f64], of: &[usize]| -> Vec<f64> { of.iter().map(|at| side[*at]).collect() };
        median_difference(&pick(base, first), &pick(candidate, second))
    };
    let mut estimates: Vec<f64> = choices.iter().map(estimate).collect();
    estimates.sort_by(f64::total_cmp);
    let last = estimates.len().saturating_sub(1);
    let at = |share: f64| estimates.get((share * last as f64).round() as usize);
    (at(0.025).copied().unwrap_or(0.0).exp(), at(0.975).copied().unwrap_or(0.0).exp())
}
