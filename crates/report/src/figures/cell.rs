//! The figures of a campaign's cell.

use latlab_model::Nanos;
use serde::{Deserialize, Serialize};
use std::ops::Not;

/// Figures of one run, or of several pooled.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellFigures {
    /// Latencies recorded.
    pub cycles: u64,
    /// Smallest latency.
    pub min_ns: Option<Nanos>,
    /// Observed maximum.
    pub max_ns: Option<Nanos>,
    /// Whether latencies may be missing, so that the true maximum may be larger.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub max_is_at_least: bool,
    /// p99.9; `None` if fewer than 1000 latencies were recorded.
    pub p99_9_ns: Option<Nanos>,
    /// Lower bound of p99.9 if its value lies beyond the bins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_9_above_ns: Option<Nanos>,
    /// Overruns; `None` if they are not defined.
    pub overruns: Option<u64>,
    /// Releases later than the deadline; `None` without a deadline.
    pub misses: Option<u64>,
}
