//! What the table of test vectors needs from counts of cells.

use super::cells::TailCells;
use super::goodness::distances;
use super::pareto::{cost, fit};
use super::profile::{excess_interval, shape_interval};
use crate::optimise::minimum;

/// A fit with all that is derived from it.
pub struct Fitted {
    pub parameters: [f64; 2],
    pub cost: f64,
    pub shape: Vec<f64>,
    pub excess: Vec<f64>,
    pub distances: Vec<f64>,
}

/// Fits counts of cells of one width.
pub fn fitted(counts: &[f64], width: f64) -> Fitted {
    let cells = TailCells::of_counts(counts, width);
    let found = fit(&cells, 1e-9).unwrap();
    let shape = shape_interval(&cells, &found);
    let (excess, limits) = excess_interval(&cells, &found, 1e-3);
    let off = distances(&cells, &found);
    Fitted {
        parameters: [found.scale, found.shape],
        cost: found.cost,
        shape: vec![shape.0.unwrap(), shape.1.unwrap()],
        excess: vec![excess, limits.0.unwrap(), limits.1.unwrap()],
        distances: vec![off.both, off.upper],
    }
}

/// Maximum-likelihood scale for shape 0.
pub fn exponential_scale(counts: &[f64]) -> f64 {
    let cells = TailCells::of_counts(counts, 1.0);
    let least = minimum(0.0, 3.0, 60, |logarithm| cost(&cells, logarithm.exp(), 0.0));
    // The scale at which the minimum is reached.
    let near = |scale: &f64| cost(&cells, *scale, 0.0) - least < 1e-6;
    let scales: Vec<f64> = (0..40_000).map(|at| 2.0 + f64::from(at) * 5e-5).filter(near).collect();
    scales.iter().sum::<f64>() / scales.len() as f64
}
