//! Whether a tail is one mechanism: the distance of counts from a fitted distribution, against those of
//! tails that are one (Choulakian, Lockhart and Stephens 1994).

use super::cells::TailCells;
use super::pareto::{ParetoFit, fit};
use crate::random::Random;

/// Tails that are drawn.
const DRAWN: usize = 199;
const SEED: u64 = 4;

/// Distances of Anderson and Darling for cells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Distances {
    /// Both ends alike.
    pub both: f64,
    /// The upper end alone.
    pub upper: f64,
}

/// How far the counts lie from the distribution.
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

/// The probabilities that a tail of one mechanism lies as far from its fit, for both distances.
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

/// So many excesses of a distribution, in cells.
pub fn drawn(random: &mut Random, of: &ParetoFit, count: usize, width: f64) -> TailCells {
    let excesses: Vec<f64> = (0..count).map(|_| of.excess_at(random.uniform())).collect();
    TailCells::of_excesses(&excesses, width)
}
