//! Bounds of an event rate that hold at any time, so a run may be stopped because of what it has
//! shown so far.
//!
//! The evidence is the likelihood ratio of rates on one side of a limit against the limit itself,
//! averaged over these rates. If the true rate lies on the other side, the probability that this
//! ratio ever exceeds 20 is at most 5 % (an e-process; the mixtures of Robbins 1970 for a Poisson
//! process: Howard, Ramdas, McAuliffe and Sekhon 2021, Annals of Statistics 49: 1055). Most weight
//! is on rates far from the limit, where a machine that clearly meets it is.

use crate::special::root;
use statrs::function::gamma::{gamma_lr, gamma_ur, ln_gamma};

/// Exponent by which the weight of a rate falls towards the limit, from either side.
const WEIGHT: f64 = 0.25;

/// Expected number of events at the highest rate that `events` or fewer do not exclude, with error
/// probability `chance` at any time. `events` need not be whole.
pub fn any_time_above(events: f64, chance: f64) -> f64 {
    let shape = events + WEIGHT;
    // Mean likelihood ratio of all smaller rates against this one.
    let evidence = |expected: f64| {
        let gamma = gamma_lr(shape, expected).max(f64::MIN_POSITIVE).ln() + ln_gamma(shape);
        expected + WEIGHT.ln() + gamma - shape * expected.ln()
    };
    let most = 4.0 * events + 20.0 - 4.0 * chance.ln();
    root(f64::MIN_POSITIVE, most, |expected| -chance.ln() - evidence(expected))
}

/// The same for the lowest rate that `events` or more do not exclude; zero if there are too few to
/// exclude any.
pub fn any_time_below(events: f64, chance: f64) -> f64 {
    let shape = events - WEIGHT;
    if shape <= 0.0 {
        return 0.0;
    }
    let evidence = |expected: f64| {
        let gamma = gamma_ur(shape, expected).max(f64::MIN_POSITIVE).ln() + ln_gamma(shape);
        expected + WEIGHT.ln() + gamma - shape * expected.ln()
    };
    root(f64::MIN_POSITIVE, events, |expected| evidence(expected) + chance.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the mean likelihood ratios by numeric integration at the computed bounds.
    #[test]
    fn at_the_bound_the_evidence_is_one_over_the_chance() {
        const STEPS: i32 = 2_000_000;
        let steps = || (0..STEPS).map(|step| (f64::from(step) + 0.5) / f64::from(STEPS));
        for events in [0.0, 1.0, 3.0, 10.5] {
            let bound = any_time_above(events, 0.05);
            // With u = v^4 the weight is uniform in v.
            let mean: f64 =
                steps().map(|v| v.powf(4.0 * events) * (bound * (1.0 - v.powi(4))).exp()).sum();
            assert!((mean / f64::from(STEPS) / 20.0 - 1.0).abs() < 1e-3, "{events}: {bound}");
        }
        for events in [1.0, 3.0, 10.5] {
            let bound = any_time_below(events, 0.05);
            // With u = v^-4.
            let mean: f64 =
                steps().map(|v| v.powf(-4.0 * events) * (bound * (1.0 - v.powi(-4))).exp()).sum();
            assert!((mean / f64::from(STEPS) / 20.0 - 1.0).abs() < 1e-2, "{events}: {bound}");
        }
        assert_eq!(any_time_below(0.0, 0.05), 0.0);
    }
}
