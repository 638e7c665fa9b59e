//! Steps in a series with one value per build.
//!
//! E-divisive (Matteson and James 2014) on ranks, so that a spoiled run weighs no more than any
//! other. Permutation decides what is a step: how good the best split is if the order of the values
//! means nothing. If neighbours are alike, blocks of them are permuted, so that they stay so.

use crate::newest::Scatter;
use crate::random::Random;
use crate::rank::{Shift, doubled_ranks, shift};

/// Shorter series are not searched.
pub const FEWEST_BUILDS: usize = 10;
/// Fewer values between two steps are not a level.
const SHORTEST: usize = 3;
/// Permutations: with fewer, a clear step among a dozen builds is missed by chance.
const ORDERS: usize = 999;
/// Significance level of a split.
const ALPHA: f64 = 0.01;
/// With a higher correlation of neighbours the series drifts with something other than its builds.
const DRIFT: f64 = 0.3;
/// If the correlation beyond the steps may be this high, a step may be that of a random walk.
const WALK: f64 = 0.5;
const SEED: u64 = 9;

/// Start of a different level.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ChangePoint {
    /// Index of the first value after the step, from 0.
    pub at: usize,
    /// Probability of such a step in a series without one.
    pub p: f64,
    /// Difference between the values up to the next step and those back to the previous one.
    pub shift: Shift,
}

/// Why steps cannot be attributed to builds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SeriesLimit {
    /// There are too few values; no step is reported.
    TooFew { has: usize, needs: usize },
    /// Neighbours are correlated beyond their steps: the environment drifts.
    Drift {
        /// Correlation between the ranks of neighbours.
        correlation: f64,
    },
}

#[derive(Clone, PartialEq, Debug)]
pub struct SeriesChanges {
    /// In order.
    pub points: Vec<ChangePoint>,
    /// Why they may be wrong.
    pub limit: Option<SeriesLimit>,
}

/// The steps of a series. For logarithms, shifts are ratios.
pub fn change_points(values: &[f64]) -> SeriesChanges {
    if values.len() < FEWEST_BUILDS {
        let limit = SeriesLimit::TooFew { has: values.len(), needs: FEWEST_BUILDS };
        return SeriesChanges { points: Vec::new(), limit: Some(limit) };
    }
    let ranks: Vec<f64> = doubled_ranks(values).into_iter().map(|rank| rank as f64).collect();
    let mut random = Random::new(SEED);
    // Starts of levels, with the probability of each but the first.
    let mut begins = vec![(0, 1.0)];
    while let Some(found) = next_step(&ranks, &begins, &mut random) {
        begins.push(found);
        begins.sort_by_key(|(at, _)| *at);
    }
    let levels: Vec<&[f64]> = levels(values, &begins).collect();
    let point = |(pair, (at, p)): (&[&[f64]], &(usize, f64))| ChangePoint {
        at: *at,
        p: *p,
        shift: shift(pair[0], pair[1]),
    };
    let points = levels.windows(2).zip(&begins[1..]).map(point).collect();
    let correlation = correlation(&ranks, &begins);
    // A random walk looks like levels too, but these are no steps of builds.
    let may_walk = |scatter: Scatter| scatter.correlation_at_most() > WALK;
    let walks = begins.len() > 1 && Scatter::of(&levels).is_some_and(may_walk);
    let limit = (correlation > DRIFT || walks).then_some(SeriesLimit::Drift { correlation });
    SeriesChanges { points, limit }
}

/// The values between the steps.
fn levels<'a>(values: &'a [f64], begins: &[(usize, f64)]) -> impl Iterator<Item = &'a [f64]> {
    let ends = begins[1..].iter().map(|(at, _)| *at).chain([values.len()]);
    begins.iter().zip(ends).map(|((from, _), to)| &values[*from..to])
}

/// The best further split, if significant.
fn next_step(ranks: &[f64], begins: &[(usize, f64)], random: &mut Random) -> Option<(usize, f64)> {
    let mut best: Option<(usize, f64)> = None;
    for (level, (from, _)) in levels(ranks, begins).zip(begins) {
        let found = best_split(level).filter(|(_, size)| best.is_none_or(|(_, most)| *size > most));
        best = found.map(|(at, size)| (from + at, size)).or(best);
    }
    let (at, size) = best.filter(|(_, size)| *size > 0.0)?;
    let block = block(ranks, begins, at);
    let mut as_good = 0;
    for _ in 0..ORDERS {
        let mut reaches = false;
        for level in levels(ranks, begins) {
            let order = in_blocks(level, block, random);
            reaches |= best_split(&order).is_some_and(|(_, other)| other >= size - 1e-9);
        }
        as_good += usize::from(reaches);
    }
    let p = (1 + as_good) as f64 / (1 + ORDERS) as f64;
    (p <= ALPHA).then_some((at, p))
}

/// Block length: as many neighbours as count as one independent value, beyond the known steps and
/// the one in question.
fn block(ranks: &[f64], begins: &[(usize, f64)], at: usize) -> usize {
    let mut begins = begins.to_vec();
    begins.push((at, 1.0));
    begins.sort_by_key(|(at, _)| *at);
    let levels: Vec<&[f64]> = levels(ranks, &begins).collect();
    // The best place for a step leaves the least correlation, so the true one is higher.
    Scatter::of(&levels).map_or(1, |scatter| scatter.alike())
}

/// A level with its blocks shuffled; the first and last block may be shorter.
fn in_blocks(level: &[f64], block: usize, random: &mut Random) -> Vec<f64> {
    let first = random.below(block).min(level.len());
    let mut blocks: Vec<&[f64]> = std::iter::once(&level[..first])
        .chain(level[first..].chunks(block))
        .filter(|block| !block.is_empty())
        .collect();
    random.shuffle(&mut blocks);
    blocks.concat()
}

/// The split of a level with the largest divergence; `None` for a short level.
fn best_split(level: &[f64]) -> Option<(usize, f64)> {
    let fits = |at: &usize| *at >= SHORTEST && level.len() - at >= SHORTEST;
    let splits = divergences(level).into_iter().filter(|(at, _)| fits(at));
    splits.max_by(|one, other| one.1.total_cmp(&other.1))
}

/// Divergence between the first n values and the rest, for each n that leaves two per side.
fn divergences(values: &[f64]) -> Vec<(usize, f64)> {
    let distances = |of: f64, among: &[f64]| among.iter().map(|one| (one - of).abs()).sum::<f64>();
    let whole: f64 = (0..values.len()).map(|at| distances(values[at], &values[..at])).sum();
    let (mut before, mut behind) = (0.0, whole);
    let mut found = Vec::new();
    for at in 1..values.len() {
        // One value moves from the second side to the first.
        before += distances(values[at - 1], &values[..at - 1]);
        behind -= distances(values[at - 1], &values[at..]);
        let (n, m) = (at as f64, (values.len() - at) as f64);
        if at < 2 || values.len() - at < 2 {
            continue;
        }
        let between = whole - before - behind;
        let divergence = 2.0 / (m + n) * between
            - 2.0 * m / ((m + n) * (n - 1.0)) * before
            - 2.0 * n / ((m + n) * (m - 1.0)) * behind;
        found.push((at, divergence));
    }
    found
}

/// Correlation of the ranks of neighbours, each relative to the mean of its level.
fn correlation(ranks: &[f64], begins: &[(usize, f64)]) -> f64 {
    let rest = |level: &[f64]| -> Vec<f64> {
        let mean = level.iter().sum::<f64>() / level.len() as f64;
        level.iter().map(|rank| rank - mean).collect()
    };
    let rests: Vec<f64> = levels(ranks, begins).flat_map(rest).collect();
    let squares: f64 = rests.iter().map(|rest| rest * rest).sum();
    let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if squares > 0.0 { products / squares } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Otava's PairDistanceCalculator.
    #[test]
    fn divergences_are_those_of_the_oracle() {
        let series = [10, 11, 10, 9, 10, 11, 15, 16, 15, 14, 15, 16].map(f64::from);
        let expected = [
            (2, 3.370_370_370_370_370_2),
            (3, 7.291_666_666_666_666),
            (4, 12.333_333_333_333_33),
            (5, 19.055_555_555_555_554),
            (6, 24.799_999_999_999_997),
            (7, 16.916_666_666_666_66),
            (8, 10.238_095_238_095_239),
            (9, 5.916_666_666_666_666),
            (10, 4.999_999_999_999_999),
        ];
        for ((at, got), (expected_at, expected)) in divergences(&series).into_iter().zip(expected) {
            assert_eq!(at, expected_at);
            assert!((got - expected).abs() < 1e-12 * expected.max(1.0) * 10.0, "{at}: {got}");
        }
        let changes = change_points(&series);
        assert_eq!(changes.points.len(), 1, "{changes:?}");
        assert_eq!(changes.points[0].at, 6);
        assert!(changes.points[0].p <= 0.01 && changes.points[0].shift.estimate == 5.0);
    }

    /// Values around a level, nearly normal.
    fn level(random: &mut Random, builds: usize, at: f64, scatter: f64) -> Vec<f64> {
        let value = |random: &mut Random| {
            (0..12).map(|_| random.below(1_001) as f64 / 1e3).sum::<f64>() - 6.0
        };
        (0..builds).map(|_| at + scatter * value(random)).collect()
    }

    /// Section 4 of the specification: no false alarm in a hundred series, and each step of a fifth
    /// found, even if one run in twenty is spoiled.
    #[test]
    fn steps_are_found_and_chance_is_none() {
        let (mut alarms, mut found, mut found_among_spoiled) = (0, 0, 0);
        for seed in 0..40 {
            let random = &mut Random::new(seed);
            alarms += usize::from(!change_points(&level(random, 60, 100.0, 5.0)).points.is_empty());
            let mut series = level(random, 40, 100.0, 5.0);
            series.extend(level(random, 20, 120.0, 5.0));
            let is_there = |series: &[f64]| {
                change_points(series).points.iter().any(|point| point.at.abs_diff(40) <= 1)
            };
            found += usize::from(is_there(&series));
            for _ in 0..3 {
                let at = random.below(60);
                series[at] *= 10.0;
            }
            found_among_spoiled += usize::from(is_there(&series));
        }
        assert!(alarms <= 2, "{alarms} false alarms in 40 series");
        assert!(found >= 39 && found_among_spoiled >= 36, "{found} {found_among_spoiled}");
    }

    #[test]
    fn neighbours_that_are_alike_are_no_step() {
        let mut alarms = 0;
        for seed in 0..60 {
            let random = &mut Random::new(1_000 + seed);
            let mut last = 0.0;
            let series: Vec<f64> = (0..60)
                .map(|_| {
                    last = 0.3 * last + level(random, 1, 0.0, 1.0)[0];
                    last
                })
                .collect();
            alarms += usize::from(!change_points(&series).points.is_empty());
        }
        assert!(alarms <= 5, "{alarms} false alarms in 60 series");
    }

    #[test]
    fn what_no_build_explains_is_said() {
        let few = change_points(&[1.0; 9]);
        assert_eq!(few.limit, Some(SeriesLimit::TooFew { has: 9, needs: 10 }));
        assert_eq!(change_points(&[5.0; 30]), SeriesChanges { points: Vec::new(), limit: None });
        let mut drifting = vec![0.0];
        let mut random = Random::new(5);
        for _ in 0..60 {
            let last = drifting[drifting.len() - 1];
            drifting.push(0.8 * last + level(&mut random, 1, 0.0, 1.0)[0]);
        }
        let limit = change_points(&drifting).limit;
        assert!(matches!(limit, Some(SeriesLimit::Drift { .. })), "{limit:?}");
    }
}
