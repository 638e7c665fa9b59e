//! Tests several metrics of the same runs together, so that the false-alarm rate is that of one
//! test.
//!
//! The runs are dealt to the two sides in all ways, for all metrics at once, and each metric is
//! compared with the rarest difference that any of them shows by chance (Westfall and Young).
//! Correlated metrics cost nothing that way, and one with many equal values has no advantage.

use crate::random::Random;
use crate::rank::{chances, doubled_ranks};

/// With more ways to deal than this, this many are drawn with a fixed seed.
const MOST_WAYS: u64 = 200_000;
const DRAWN_WAYS: u64 = 20_000;
const SEED: u64 = 0;

/// A metric of both sides, with a value per run.
pub type Sides<'a> = (&'a [f64], &'a [f64]);

/// For each metric, the probability that any of them differs at least as much if nothing changed.
/// All metrics have a value for every run.
pub fn joint_test(metrics: &[Sides]) -> Vec<f64> {
    let Some((first, second)) = metrics.first() else { return Vec::new() };
    let (chosen, runs) = (first.len(), first.len() + second.len());
    let ranked: Vec<Ranked> = metrics.iter().map(|sides| Ranked::new(*sides)).collect();
    let own: Vec<usize> = (0..chosen).collect();
    let seen: Vec<f64> = ranked.iter().map(|one| one.chance(&own)).collect();
    let mut reached = vec![0_u64; metrics.len()];
    let mut ways = 0_u64;
    let mut count = |way: &[usize]| {
        let least = ranked.iter().map(|one| one.chance(way)).fold(1.0, f64::min);
        ways += 1;
        for (reached, seen) in reached.iter_mut().zip(&seen) {
            *reached += u64::from(least <= seen * (1.0 + 1e-9));
        }
    };
    match choices(runs, chosen) {
        all if all <= MOST_WAYS => {
            each_choice(runs, chosen, &mut count);
        }
        _ => {
            // The measured assignment counts as one of the draws.
            count(&own);
            draw_choices(runs, chosen, &mut count);
        }
    }
    reached.into_iter().map(|reached| reached as f64 / ways.max(1) as f64).collect()
}

/// The ranks of a metric, and the probability of each distance of a rank sum from its mean.
struct Ranked {
    ranks: Vec<usize>,
    mean: usize,
    chances: Vec<f64>,
}

impl Ranked {
    fn new((first, second): Sides) -> Ranked {
        let ranks = doubled_ranks(&[first, second].concat());
        let mean = first.len() * (ranks.len() + 1);
        Ranked { chances: chances(&ranks, first.len()), mean, ranks }
    }

    /// Probability of this rank sum or one further from the mean.
    fn chance(&self, way: &[usize]) -> f64 {
        let sum: usize = way.iter().map(|run| self.ranks[*run]).sum();
        self.chances.get(sum.abs_diff(self.mean)).copied().unwrap_or(1.0)
    }
}

/// Number of ways to choose `chosen` of `of`.
fn choices(of: usize, chosen: usize) -> u64 {
    (0..chosen).fold(1_u64, |ways, at| ways.saturating_mul((of - at) as u64) / (at as u64 + 1))
}

fn each_choice(of: usize, chosen: usize, count: &mut impl FnMut(&[usize])) {
    let mut way: Vec<usize> = (0..chosen).collect();
    loop {
        count(&way);
        let Some(at) = (0..chosen).rev().find(|&at| way[at] < of - chosen + at) else { return };
        way[at] += 1;
        for next in at + 1..chosen {
            way[next] = way[next - 1] + 1;
        }
    }
}

/// Draws ways to deal, reproducibly.
fn draw_choices(of: usize, chosen: usize, count: &mut impl FnMut(&[usize])) {
    let mut random = Random::new(SEED);
    let mut runs: Vec<usize> = (0..of).collect();
    for _ in 0..DRAWN_WAYS {
        for at in 0..chosen {
            runs.swap(at, at + random.below(of - at));
        }
        count(&runs[..chosen]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::rank_test;

    #[test]
    fn one_metric_is_tested_as_by_itself() {
        let (first, second) = ([41.2, 39.8, 43.1, 40.5, 42.0], [45.9, 41.1, 42.3, 43.6, 46.0]);
        let alone = rank_test(&first, &second);
        assert!((joint_test(&[(&first, &second)])[0] - alone).abs() < 1e-9);
        // Repeating a metric is no second chance for a false alarm.
        let twice = joint_test(&[(&first, &second), (&first, &second)]);
        assert!(twice.iter().all(|p| (p - alone).abs() < 1e-9), "{twice:?}");
    }

    #[test]
    fn another_metric_is_another_chance_for_a_false_alarm() {
        let (first, second) = ([1.0, 2.0, 3.0, 5.0, 4.0], [6.0, 7.0, 8.0, 9.0, 3.5]);
        let (other, noise) = ([3.0, 9.0, 1.0, 4.0, 2.0], [5.0, 6.0, 0.0, 8.0, 7.0]);
        let together = joint_test(&[(&first, &second), (&other, &noise)]);
        assert!(together[0] > rank_test(&first, &second), "{together:?}");
        assert!(together[1] > rank_test(&other, &noise) && together[1] <= 1.0);
        assert_eq!(joint_test(&[(&[1.0; 5], &[1.0; 5])]), [1.0]);
        assert!(joint_test(&[]).is_empty());
    }

    #[test]
    fn drawn_ways_stand_for_all() {
        let low: Vec<f64> = (0..15).map(f64::from).collect();
        let high: Vec<f64> = (0..15).map(|at| f64::from(at) + 4.5).collect();
        let (drawn, exact) = (joint_test(&[(&low, &high)])[0], rank_test(&low, &high));
        assert!((drawn - exact).abs() < 0.006, "{drawn} for {exact}");
        assert_eq!(drawn, joint_test(&[(&low, &high)])[0], "the same each time");
        let apart: Vec<f64> = (0..15).map(|at| f64::from(at) + 99.0).collect();
        assert!(joint_test(&[(&low, &apart)])[0] > 0.0, "no probability is zero");
    }
}
