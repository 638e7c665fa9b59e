//! The evidence that the loads of a finished run ran.

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
    /// What asked for it.
    pub words: String,
    /// Where its program lies; none where it was never started.
    pub program: Option<String>,
    /// Version of the program, where it tells.
    pub version: Option<String>,
    /// Program and arguments of its processes.
    pub argv: Vec<Vec<String>>,
    /// CPUs it may run on, as read back.
    pub placement: String,
    /// When its first process was started, on CLOCK_MONOTONIC.
    pub started_ns: Option<Nanos>,
    /// When it took the CPU that it should.
    pub shown_ns: Option<Nanos>,
    /// When it stopped to load.
    pub ended_ns: Option<Nanos>,
    /// Times it was started again.
    pub restarts: u64,
    /// Time in which it did not run between two of them, at most.
    pub gap_ns: Nanos,
    /// Share of one CPU that its processes took while it was measured; none of a short run.
    pub cpu_share: Option<Spread>,
    /// Its counter of the kernel, each second, of the whole machine.
    pub evidence: Option<EvidenceRun>,
    /// Its own figures, as it printed them.
    pub rates: Vec<LoadRate>,
    /// How its last process ended; none where nobody saw it.
    pub status: Option<ExitStatus>,
    /// Processes that had to be killed at the end.
    pub killed: u32,
    /// Bytes that it printed.
    pub output_bytes: u64,
    /// Lines with figures that were not kept.
    pub lines_dropped: u64,
    /// The last lines that it printed.
    pub last_lines: Vec<String>,
}

/// Smallest, mean and largest of a figure.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// Smallest, between two readings.
    pub min: f64,
    /// Mean over the time that was measured.
    pub mean: f64,
    /// Largest, between two readings.
    pub max: f64,
}

/// What a counter of the kernel says.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EvidenceRun {
    /// Which counter.
    pub counter: Evidence,
    /// Its unit: `1/s`, `B/s`.
    pub unit: String,
    /// Its growth each second.
    pub per_second: Spread,
}

/// A figure that a load printed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRate {
    /// What it is.
    pub name: String,
    /// Of what, where there are several of one name.
    pub of: Option<String>,
    /// Its unit.
    pub unit: String,
    /// How often it was printed.
    pub count: u64,
    /// Smallest.
    pub min: f64,
    /// Mean of those that were printed.
    pub mean: f64,
    /// Largest.
    pub max: f64,
    /// The one that was printed last.
    pub last: f64,
}
