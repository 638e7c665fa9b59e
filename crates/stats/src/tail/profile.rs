//! Profile-likelihood intervals, which are as asymmetric as the data (Coles 2001): the only ones
//! that are valid for a tail.

use super::cells::TailCells;
use super::pareto::{ParetoFit, cost, scale_of};
use crate::optimise::{minimum, root};

/// Half the 95 % quantile of the chi-square distribution with one degree of freedom.
const HALF: f64 = 1.920_729_410_347_062;
/// Shapes searched for an excess.
const SHAPES: (f64, f64) = (-1.0, 1.5);
/// A limit beyond this multiple of the estimate counts as none.
const FARTHEST: f64 = 1e5;

/// `None` on a side without a limit.
pub type Interval = (Option<f64>, Option<f64>);

pub fn shape_interval(cells: &TailCells, fit: &ParetoFit) -> Interval {
    let middle = fit.scale.ln();
    let beyond = |shape: f64| {
        let of = |logarithm: f64| cost(cells, logarithm.exp(), shape);
        minimum(middle - 1.5, middle + 1.5, 30, of) - fit.cost - HALF
    };
    let limit = |sign: f64| {
        let mut step = 0.05;
        while beyond(fit.shape + sign * step) < 0.0 && step < 3.0 {
            step *= 1.6;
        }
        let (near, far) = (fit.shape, fit.shape + sign * step);
        root(near.min(far), near.max(far), 1e-4, beyond).filter(|_| beyond(far) > 0.0)
    };
    (limit(-1.0), limit(1.0))
}

/// The excess that this share exceeds: its interval, and the estimate.
pub fn excess_interval(cells: &TailCells, fit: &ParetoFit, share: f64) -> (f64, Interval) {
    let estimate = fit.excess_at(share);
    let beyond = |excess: f64| {
        let of = |shape: f64| cost(cells, scale_of(excess, share, shape), shape);
        minimum(SHAPES.0, SHAPES.1, 25, of).min(cost_near(cells, fit, excess, share))
            - fit.cost
            - HALF
    };
    let limit = |mut step: f64, faster: f64, farthest: f64, outwards: &dyn Fn(f64, f64) -> f64| {
        let mut far = outwards(estimate, step);
        while beyond(far) < 0.0 && (far / estimate).ln().abs() < farthest.ln() {
            step *= faster;
            far = outwards(far, step);
        }
        let (low, high) = (estimate.min(far), estimate.max(far));
        root(low, high, 1e-4 * estimate, beyond).filter(|_| beyond(far) > 0.0)
    };
    let below = limit(1.05, 1.2, 1e3, &|from, step| from / step);
    let above = limit(1.15, 1.3, FARTHEST, &|from, step| from * step);
    (estimate, (below, above))
}

/// The cost of an excess near the fitted shape, where the stepwise search may miss a narrow
/// minimum.
fn cost_near(cells: &TailCells, fit: &ParetoFit, excess: f64, share: f64) -> f64 {
    let of = |shape: f64| cost(cells, scale_of(excess, share, shape), shape);
    minimum(fit.shape - 0.1, fit.shape + 0.1, 8, of)
}
