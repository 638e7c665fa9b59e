//! How long a run must be to exclude a rate of miss bursts.

use crate::any_time::any_time_above;
use crate::special::count_above;
use latlab_model::Nanos;
use serde::{Deserialize, Serialize};

/// Most bursts that a plan may allow.
const MOST_BURSTS: u64 = 4;
const HOUR_NS: f64 = 3.6e12;

/// Length of a run needed to show that bursts of misses are rarer than a limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunLength {
    /// Tolerated bursts of deadline misses per hour.
    pub limit_per_hour: f64,
    /// Confidence level: 0.95 for 95 %.
    pub confidence: f64,
    /// A plan for each number of bursts allowed during the run.
    pub plans: Vec<AllowedBursts>,
}

/// A plan that allows some bursts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllowedBursts {
    /// Number of bursts allowed.
    pub bursts: u64,
    /// Length if number and length are fixed before the run.
    pub fixed_ns: Nanos,
    /// Length if the run is watched and may be stopped at any time.
    pub any_time_ns: Nanos,
}

/// For each allowed number of bursts, the run length that excludes this rate or a higher one.
pub fn run_length(limit_per_hour: f64, confidence: f64) -> RunLength {
    let chance = 1.0 - confidence;
    // Cap at 292 years, the range of nanoseconds.
    let length = |multiple: f64| Nanos((multiple / limit_per_hour * HOUR_NS) as i64);
    let plan = |bursts: u64| AllowedBursts {
        bursts,
        fixed_ns: length(count_above(bursts as f64, chance)),
        any_time_ns: length(any_time_above(bursts as f64, chance)),
    };
    RunLength { limit_per_hour, confidence, plans: (0..=MOST_BURSTS).map(plan).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiples of the time between two bursts: Garwood's limits (scipy.stats.chi2.ppf), and those
    /// of the mixture of likelihoods (Python's math.lgamma and series).
    #[test]
    fn lengths_are_those_of_the_oracle() {
        let plans = run_length(1.0, 0.95).plans;
        let fixed = [2.995_732_273_55, 4.743_864_518_39, 6.30, 7.753_656_527_93];
        let any_time = [3.4033, 6.8958, 9.2686, 11.3395, 13.2511];
        for (plan, expected) in plans.iter().zip(fixed) {
            let tolerance = if expected == 6.30 { 0.005 } else { 1e-9 };
            let hours = plan.fixed_ns.0 as f64 / HOUR_NS;
            assert!((hours - expected).abs() < tolerance, "{plan:?}");
        }
        for (plan, expected) in plans.iter().zip(any_time) {
            assert!((plan.any_time_ns.0 as f64 / HOUR_NS - expected).abs() < 1e-4, "{plan:?}");
        }
        let strict = run_length(0.1, 0.99).plans[0];
        assert!((strict.fixed_ns.0 as f64 / HOUR_NS - 46.051_701_859_88).abs() < 1e-9);
    }
}
