//! Minima and roots of functions, by argmin.

use argmin::core::{CostFunction, Error, Executor, State};
use argmin::solver::brent::{BrentOpt, BrentRoot};
use argmin::solver::neldermead::NelderMead;

/// What stands for infinity, which the methods cannot calculate with.
const HUGE: f64 = 1e12;

struct OfOne<F>(F);

impl<F: Fn(f64) -> f64> CostFunction for OfOne<F> {
    type Param = f64;
    type Output = f64;

    fn cost(&self, at: &f64) -> Result<f64, Error> {
        Ok(finite((self.0)(*at)))
    }
}

struct OfTwo<F>(F);

impl<F: Fn(f64, f64) -> f64> CostFunction for OfTwo<F> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, at: &Vec<f64>) -> Result<f64, Error> {
        Ok(finite((self.0)(at[0], at[1])))
    }
}

fn finite(value: f64) -> f64 {
    if value.is_finite() { value.clamp(-HUGE, HUGE) } else { HUGE }
}

/// The smallest value near these points of a plane, and where it is (Nelder and Mead); none where the
/// function has no finite value there.
pub fn minimum_in_plane(
    start: (f64, f64),
    steps: (f64, f64),
    tolerance: f64,
    of: impl Fn(f64, f64) -> f64,
) -> Option<(f64, (f64, f64))> {
    let (x, y) = start;
    let corners = vec![vec![x, y], vec![x + steps.0, y], vec![x, y + steps.1]];
    let solver = NelderMead::new(corners).with_sd_tolerance(tolerance).ok()?;
    let search = Executor::new(OfTwo(of), solver).configure(|state| state.max_iters(600));
    let found = search.timer(false).run().ok()?;
    let (at, value) = (found.state().get_best_param()?, found.state().get_best_cost());
    (value < HUGE).then(|| (value, (at[0], at[1])))
}

/// The smallest value between two points, of so many equal steps and then between the neighbours of the
/// best (Brent).
pub fn minimum(from: f64, to: f64, steps: usize, of: impl Fn(f64) -> f64) -> f64 {
    let width = (to - from) / steps.max(1) as f64;
    let at = |step: usize| from + width * step as f64;
    let values = (0..=steps).map(|step| (finite(of(at(step))), step));
    let Some((best, step)) = values.min_by(|one, other| one.0.total_cmp(&other.0)) else {
        return HUGE;
    };
    let (low, high) = (at(step.saturating_sub(1)), at((step + 1).min(steps)));
    let solver = BrentOpt::new(low, high).set_tolerance(1e-7, 1e-7);
    let search = Executor::new(OfOne(of), solver).configure(|state| state.max_iters(100));
    let found = search.timer(false).run().map(|found| found.state().get_best_cost());
    found.map_or(best, |found| best.min(found))
}

/// Where a function that has other signs at two points is zero, as exactly as told (Brent).
pub fn root(low: f64, high: f64, tolerance: f64, of: impl Fn(f64) -> f64) -> Option<f64> {
    let solver = BrentRoot::new(low, high, tolerance);
    let search = Executor::new(OfOne(of), solver).configure(|state| state.max_iters(200));
    let found = search.timer(false).run().ok()?;
    found.state().get_best_param().copied()
}
