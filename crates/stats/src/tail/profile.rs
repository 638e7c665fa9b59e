//! Intervals by profile likelihood, which are as one-sided as the data (Coles 2001): the only ones that
//! hold for a tail.

use super::cells::TailCells;
use super::pareto::{ParetoFit, cost, scale_of};
use crate::optimise::{minimum, root};

/// Half of what the chi-square distribution with one degree of freedom exceeds with 5 %.
const HALF: f64 = 1.920_729_410_347_062;
/// Shapes that are tried for an excess.
const SHAPES: (f64, f64) = (-1.0, 1.5);
/// A limit that lies farther out, in multiples of the estimate, is none.
const FARTHEST: f64 = 1e5;

/// An interval; none to a side that nothing limits.
pub type Interval = (Option<f64>, Option<f64>);

/// The interval of the shape.
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

/// The interval of the excess that this share lies above, and the estimate.
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

/// The cost of an excess near the shape that was fitted, where the search in steps may miss a narrow
/// minimum.
fn cost_near(cells: &TailCells, fit: &ParetoFit, excess: f64, share: f64) -> f64 {
    let of = |shape: f64| cost(cells, scale_of(excess, share, shape), shape);
    minimum(fit.shape - 0.1, fit.shape + 0.1, 8, of)
}
