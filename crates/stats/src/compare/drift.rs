//! Sides measured one after the other, not in turn: separates the change from a drift over time.

use super::MeasuredRun;
use crate::special::student_above;

/// Each tail of a two-sided 95 % interval.
const TAIL: f64 = 0.025;

/// The values of a metric in order of time, and which side came first.
#[derive(Clone, Debug)]
pub struct InTurn {
    base: Vec<usize>,
    candidate: Vec<usize>,
    base_is_first: bool,
}

impl InTurn {
    /// Order of the runs of two sides; `None` if the sides took turns, or in virtual time, which
    /// does not drift.
    pub fn of(base: &[MeasuredRun], candidate: &[MeasuredRun]) -> Option<InTurn> {
        let has_virtual_time = |one: &MeasuredRun| one.run.asked.on.target.has_virtual_time();
        let is_still = base.iter().chain(candidate).all(has_virtual_time);
        // Runs of the same second are ordered by their numbers.
        let started = |side: &[MeasuredRun], at: usize| {
            let run = &side[at].run;
            (run.started.clone(), run.id.clone())
        };
        let order = |side: &[MeasuredRun]| -> Vec<usize> {
            let mut order: Vec<usize> = (0..side.len()).collect();
            order.sort_by_key(|at| started(side, *at));
            order
        };
        let (of_base, of_candidate) = (order(base), order(candidate));
        let is_before =
            |one: &[MeasuredRun], ones: &[usize], other: &[MeasuredRun], others: &[usize]| match (
                ones.last(),
                others.first(),
            ) {
                (Some(last), Some(first)) => started(one, *last) < started(other, *first),
                _ => false,
            };
        let base_is_first = is_before(base, &of_base, candidate, &of_candidate);
        let candidate_is_first = is_before(candidate, &of_candidate, base, &of_base);
        let is_apart =
            base.len() > 1 && candidate.len() > 1 && (base_is_first || candidate_is_first);
        (is_apart && !is_still).then_some(InTurn {
            base: of_base,
            candidate: of_candidate,
            base_is_first,
        })
    }

    /// The step between the sides and the drift within them, for one metric. `None` with too few
    /// values.
    pub fn fit(&self, base: &[f64], candidate: &[f64]) -> Option<DriftFit> {
        let of = |values: &[f64], order: &[usize]| -> Vec<f64> {
            order.iter().map(|at| values[*at]).collect()
        };
        let (base, candidate) = (of(base, &self.base), of(candidate, &self.candidate));
        match self.base_is_first {
            true => step_beside_drift(&base, &candidate),
            false => step_beside_drift(&candidate, &base).map(DriftFit::turned),
        }
    }
}

/// A step between two series in addition to a steady drift within both.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DriftFit {
    /// Interval of the step from the base to the candidate, corrected for drift.
    pub step: (f64, f64),
    /// Difference between a value and the one before it.
    pub slope: f64,
    /// Whether the slope is significant.
    pub is_seen: bool,
}

impl DriftFit {
    fn turned(self) -> DriftFit {
        let (low, high) = self.step;
        DriftFit { step: (-high, -low), ..self }
    }
}

/// The step from one series to the next in addition to a steady drift: least squares of a step and
/// a slope (regression discontinuity: Thistlethwaite and Campbell 1960), with Student's t.
fn step_beside_drift(first: &[f64], second: &[f64]) -> Option<DriftFit> {
    let (n, m) = (first.len() as f64, second.len() as f64);
    let freedom = n + m - 3.0;
    if freedom < 1.0 {
        return None;
    }
    // Time counts runs from the first; the pause between the sides is one step.
    let times = |values: &[f64], from: f64| -> Vec<f64> {
        (0..values.len()).map(|at| from + at as f64).collect()
    };
    let (first_times, second_times) = (times(first, 0.0), times(second, n));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let products = |one: &[f64], other: &[f64]| {
        let (of_one, of_other) = (mean(one), mean(other));
        one.iter().zip(other).map(|(a, b)| (a - of_one) * (b - of_other)).sum::<f64>()
    };
    let spread = products(&first_times, &first_times) + products(&second_times, &second_times);
    if spread <= 0.0 {
        return None;
    }
    let common = products(&first_times, first) + products(&second_times, second);
    let slope = common / spread;
    let apart = mean(&second_times) - mean(&first_times);
    let step = mean(second) - mean(first) - slope * apart;
    let squares = products(first, first) + products(second, second) - slope * common;
    let variance = squares.max(0.0) / freedom;
    let reach = |of_variance: f64| student_above(freedom, TAIL) * (variance * of_variance).sqrt();
    let of_step = reach(1.0 / n + 1.0 / m + apart * apart / spread);
    Some(DriftFit {
        step: (step - of_step, step + of_step),
        slope,
        is_seen: slope.abs() > reach(1.0 / spread),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_is_no_step_and_a_step_is_one_beside_a_drift() {
        let scatter = [0.1, -0.2, 0.15, 0.0, -0.1, 0.2, -0.15, 0.05, 0.1, -0.05];
        let series = |step: f64| -> Vec<f64> {
            let value = |at: usize| at as f64 + scatter[at] + if at < 5 { 0.0 } else { step };
            (0..10).map(value).collect()
        };
        let (still, stepped) = (series(0.0), series(3.0));
        let fit = step_beside_drift(&still[..5], &still[5..]).unwrap();
        let (low, high) = fit.step;
        assert!(low < 0.0 && high > 0.0 && high - low < 1.0, "{low} {high}");
        assert!(fit.is_seen && (fit.slope - 1.0).abs() < 0.1, "{fit:?}");
        let (low, high) = step_beside_drift(&stepped[..5], &stepped[5..]).unwrap().step;
        assert!(low < 3.0 && high > 3.0 && low > 2.0, "{low} {high}");
        assert_eq!(step_beside_drift(&[1.0], &[1.0, 2.0]), None);
        let step = step_beside_drift(&[1.0, 1.0], &[2.0, 2.0]);
        assert_eq!(step, Some(DriftFit { step: (1.0, 1.0), slope: 0.0, is_seen: false }));
        let scatter = step_beside_drift(&scatter[..5], &scatter[5..]).unwrap();
        assert!(!scatter.is_seen, "{scatter:?}");
    }
}
