//! How long a run must be to exclude a rate of miss bursts.

use crate::special::count_above;
use latlab_model::Nanos;
use latlab_model::run_length::{AllowedBursts, RunLength};

/// Bursts that a plan may allow.
const MOST_BURSTS: u64 = 4;
const HOUR_NS: f64 = 3.6e12;

/// The lengths that exclude this many bursts in an hour or more, for each number of bursts that may
/// come meanwhile.
pub fn run_length(limit_per_hour: f64, confidence: f64) -> RunLength {
    let chance = 1.0 - confidence;
    let length = |bursts: u64, chance: f64| {
        // Whoever asks for more than 292 years gets these.
        Nanos((count_above(bursts as f64, chance) / limit_per_hour * HOUR_NS) as i64)
    };
    let plan = |bursts: u64| {
        // The chances of all stops together are no more than the whole.
        let of_stop = chance / ((bursts + 1) * (bursts + 2)) as f64;
        AllowedBursts {
            bursts,
            fixed_ns: length(bursts, chance),
            any_time_ns: length(bursts, of_stop),
        }
    };
    RunLength { limit_per_hour, confidence, plans: (0..=MOST_BURSTS).map(plan).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiples of the time between two bursts: Garwood's limits (scipy.stats.chi2.ppf), and the
    /// union bound of 0.05/((b+1)(b+2)).
    #[test]
    fn lengths_are_those_of_the_oracle() {
        let plans = run_length(1.0, 0.95).plans;
        let fixed = [2.995_732_273_55, 4.743_864_518_39, 6.30, 7.753_656_527_93];
        let any_time = [3.69, 6.85, 9.50, 11.89, 14.11];
        for (plan, expected) in plans.iter().zip(fixed) {
            let tolerance = if expected == 6.30 { 0.005 } else { 1e-9 };
            let hours = plan.fixed_ns.0 as f64 / HOUR_NS;
            assert!((hours - expected).abs() < tolerance, "{plan:?}");
        }
        for (plan, expected) in plans.iter().zip(any_time) {
            assert!((plan.any_time_ns.0 as f64 / HOUR_NS - expected).abs() < 0.006, "{plan:?}");
        }
        let strict = run_length(0.1, 0.99).plans[0];
        assert!((strict.fixed_ns.0 as f64 / HOUR_NS - 46.051_701_859_88).abs() < 1e-9);
    }
}
