//! Whether a tail comes from one mechanism: the distance of its counts from a fitted distribution,
//! compared with simulated tails that do (Choulakian, Lockhart and Stephens 1994).

use super::cells::TailCells;
use super::pareto::{ParetoFit, fit};
use crate::random::Random;

/// Number of simulated tails.
const DRAWN: usize = 199;
const SEED: u64 = 4;

/// Anderson-Darling distances for grouped data.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Distances {
    /// Sensitive to both ends.
    pub both: f64,
    /// Sensitive to the upper end.
    pub upper: f64,
}

/// Distances of the counts from the distribution.
pub fn distances(cells: &TailCells, fit: &ParetoFit) -> Distances {
    let total = cells.total();
    let mut found = Distances { both: 0.0, upper: 0.0 };
    let (mut below, mut off) = (0.0, 0.0);
    let counts = cells.counts.iter().copied().chain([cells.above]);
    let ends = cells.edges[1..].iter().map(|edge| 1.0 - fit.survival(*edge)).chain([1.0]);
    for (count, end) in counts.zip(ends) {
        let share = end - below;
        off += count - total * share;
        below = end;
        if end > 1e-12 && end < 1.0 - 1e-12 && share > 0.0 {
            found.both += off * off * share / (end * (1.0 - end));
            found.upper += off * off * share / (1.0 - end);
        }
    }
    Distances { both: found.both / total, upper: found.upper / total }
}

/// Probabilities that a tail of one mechanism is this far from its fit, for both distances.
pub fn chances(cells: &TailCells, fitted: &ParetoFit, width: f64) -> Distances {
    let seen = distances(cells, fitted);
    let mut random = Random::new(SEED);
    let (mut both, mut upper) = (1.0, 1.0);
    for _ in 0..DRAWN {
        let drawn = drawn(&mut random, fitted, cells.total() as usize, width);
        let Some(again) = fit(&drawn, 1e-6) else { continue };
        let far = distances(&drawn, &again);
        both += f64::from(u8::from(far.both >= seen.both));
        upper += f64::from(u8::from(far.upper >= seen.upper));
    }
    let all = (1 + DRAWN) as f64;
    Distances { both: both / all, upper: upper / all }
}

/// Draws `count` excesses of a distribution, in cells.
pub fn drawn(random: &mut Random, of: &ParetoFit, count: usize, width: f64) -> TailCells {
    let excesses: Vec<f64> = (0..count).map(|_| of.excess_at(random.uniform())).collect();
    TailCells::of_excesses(&excesses, width)
}
