//! Evidence that the loads of a finished run ran.

use super::frames::ExitStatus;
use super::plan::Evidence;
use crate::Nanos;
use serde::{Deserialize, Serialize};

/// A load of a finished run, with the evidence that it ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRun {
    /// Name of its definition.
    pub name: String,
    /// The load as requested.
    pub words: String,
    /// Path of its program; `None` if it was never started.
    pub program: Option<String>,
    /// Version of the program; `None` if it reports none.
    pub version: Option<String>,
    /// Program and arguments of each process.
    pub argv: Vec<Vec<String>>,
    /// CPUs it may run on, as read back.
    pub placement: String,
    /// Start of its first process, on CLOCK_MONOTONIC.
    pub started_ns: Option<Nanos>,
    /// When it reached its expected CPU use, on CLOCK_MONOTONIC; `None` if it never did.
    pub shown_ns: Option<Nanos>,
    /// When it stopped loading, on CLOCK_MONOTONIC.
    pub ended_ns: Option<Nanos>,
    /// Number of restarts.
    pub restarts: u64,
    /// Upper bound of the total time it was not running because of restarts.
    pub gap_ns: Nanos,
    /// Share of one CPU its processes took during the measurement; `None` for a short run.
    pub cpu_share: Option<Spread>,
    /// Growth of its kernel counter per second, for the whole machine.
    pub evidence: Option<EvidenceRun>,
    /// Its own figures, as printed.
    pub rates: Vec<LoadRate>,
    /// Exit status of its last process; `None` if unknown.
    pub status: Option<ExitStatus>,
    /// Number of processes that had to be killed at the end.
    pub killed: u32,
    /// Bytes it printed.
    pub output_bytes: u64,
    /// Lines with figures that were dropped.
    pub lines_dropped: u64,
    /// Last lines it printed.
    pub last_lines: Vec<String>,
}

/// Minimum, mean and maximum of a figure.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Minimum between two readings.
    pub min: f64,
    /// Mean over the measured time.
    pub mean: f64,
    /// Maximum between two readings.
    pub max: f64,
}

/// Growth of a kernel counter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceRun {
    /// The counter.
    pub counter: Evidence,
    /// Unit: `1/s`, `B/s`.
    pub unit: String,
    /// Growth per second.
    pub per_second: Spread,
}

/// A figure printed by a load.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRate {
    /// Name of the figure.
    pub name: String,
    /// Distinguishes several figures of one name; `None` if there is only one.
    pub of: Option<String>,
    /// Unit of the figure.
    pub unit: String,
    /// Number of times it was printed.
    pub count: u64,
    /// Smallest printed value.
    pub min: f64,
    /// Mean of the printed values.
    pub mean: f64,
    /// Largest printed value.
    pub max: f64,
    /// Last printed value.
    pub last: f64,
}
