//! The generalised Pareto distribution of excesses known only by their cells.

use super::cells::TailCells;
use crate::optimise::minimum_in_plane;

/// Shapes closer to zero are treated as exponential.
const NO_SHAPE: f64 = 1e-7;
/// Lower shapes are not plausible tails.
pub const LEAST_SHAPE: f64 = -1.5;
const LARGEST_SHAPE: f64 = 2.0;

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParetoFit {
    pub scale: f64,
    /// Below zero the tail has an end, above zero it is heavy.
    pub shape: f64,
    /// Negative log-likelihood.
    pub cost: f64,
}

impl ParetoFit {
    /// Share above an excess.
    pub fn survival(&self, excess: f64) -> f64 {
        log_survival(excess, self.scale, self.shape).exp()
    }

    /// The excess that this share exceeds.
    pub fn excess_at(&self, share: f64) -> f64 {
        let logarithm = -share.ln();
        match self.shape.abs() < NO_SHAPE {
            true => self.scale * logarithm,
            false => self.scale * (self.shape * logarithm).exp_m1() / self.shape,
        }
    }
}

/// Logarithm of the share above an excess.
pub fn log_survival(excess: f64, scale: f64, shape: f64) -> f64 {
    if shape.abs() < NO_SHAPE {
        return -excess / scale;
    }
    let inner = shape * excess / scale;
    if inner > -1.0 { -inner.ln_1p() / shape } else { f64::NEG_INFINITY }
}

/// The scale for which this share exceeds an excess.
pub fn scale_of(excess: f64, share: f64, shape: f64) -> f64 {
    let logarithm = -share.ln();
    match shape.abs() < NO_SHAPE {
        true => excess / logarithm,
        false => excess * shape / (shape * logarithm).exp_m1(),
    }
}

/// Negative log-likelihood of the cells (Ma, Yan and Zhang 2026).
pub fn cost(cells: &TailCells, scale: f64, shape: f64) -> f64 {
    if !(scale > 0.0 && (LEAST_SHAPE..LARGEST_SHAPE).contains(&shape)) {
        return f64::INFINITY;
    }
    let mut sum = 0.0;
    // Neighbours share an edge.
    let mut known = (0.0, 0.0);
    for &(low, high, count) in cells.occupied() {
        let above_low = if known.0 == low { known.1 } else { log_survival(low, scale, shape) };
        if above_low == f64::NEG_INFINITY {
            return f64::INFINITY;
        }
        let above_high = log_survival(high, scale, shape);
        sum -= count * (above_low + (-(above_high - above_low).exp_m1()).ln());
        known = (high, above_high);
    }
    if cells.above > 0.0 {
        sum -= cells.above * log_survival(cells.end(), scale, shape);
    }
    sum
}

/// The maximum-likelihood fit; `None` if all cells are empty.
pub fn fit(cells: &TailCells, tolerance: f64) -> Option<ParetoFit> {
    let total = cells.total();
    let sum = |of: &dyn Fn(f64) -> f64| {
        let middles =
            cells.occupied().iter().map(|(low, high, count)| (of((low + high) / 2.0), count));
        middles.map(|(value, count)| value * count).sum::<f64>() + cells.above * of(cells.end())
    };
    if total <= 0.0 {
        return None;
    }
    let mean = (sum(&|value| value) / total).max(1e-9);
    let variance = sum(&|value| (value - mean).powi(2)) / total;
    let shape = (0.5 * (1.0 - mean * mean / variance.max(1e-12))).clamp(-0.4, 0.4);
    let largest = cells.occupied().last().map_or(cells.end(), |(low, ..)| *low);
    let starts = [(mean * (1.0 - shape), shape), (mean, 0.0), (mean * 1.3, -0.2)];
    let found = starts.into_iter().filter_map(|(scale, shape)| {
        // A tail with an end must reach the largest observation.
        let ends_early = shape < 0.0 && 1.0 + shape * largest / scale <= 0.0;
        let scale = if ends_early { -shape * largest * 1.1 } else { scale };
        let of = |logarithm: f64, shape: f64| cost(cells, logarithm.exp(), shape);
        minimum_in_plane((scale.ln(), shape), (0.15, 0.08), tolerance, of)
    });
    let mut found = found.peekable();
    // The first start is nearly always close.
    let first = *found.peek()?;
    let best =
        if first.0.is_finite() { first } else { found.min_by(|a, b| a.0.total_cmp(&b.0))? };
    let (cost, (logarithm, shape)) = best;
    Some(ParetoFit { scale: logarithm.exp(), shape, cost })
}
