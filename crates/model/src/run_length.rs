//! Required length of a run: the result of `latlab plan`.

use crate::Nanos;
use serde::{Deserialize, Serialize};

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
