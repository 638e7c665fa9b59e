//! How long a run must be: what `latlab plan` comes to.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// How long a run must be to show that bursts of misses come less often than a limit.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunLength {
    /// The tolerated rate: bursts of deadline misses in an hour.
    pub limit_per_hour: f64,
    /// The confidence: 0.95 for 95 %.
    pub confidence: f64,
    /// A plan for each number of bursts that may come during the run.
    pub plans: Vec<AllowedBursts>,
}

/// A plan that allows some bursts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AllowedBursts {
    /// So many bursts may come.
    pub bursts: u64,
    /// The length, where number and length are fixed before the run.
    pub fixed_ns: Nanos,
    /// The length, where somebody watches and may stop at any time.
    pub any_time_ns: Nanos,
}
