//! Findings about the programs that load the machine.

use super::kinds::{FindingRow, findings};
use super::{INVALID, NO_PASS, WARNING, Weight};
use crate::load::{Evidence, ExitStatus};
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

findings! {
    /// What the loads did.
    LoadFinding {
        "load-started-late" LoadStartedLate {
            /// The load.
            load: String,
            /// When it did.
            start: LoadStart,
        } => INVALID;
        "load-ended-early" LoadEndedEarly {
            /// The load.
            load: String,
            /// How long before the end of the measurement.
            early_ns: Nanos,
            /// How its last process ended.
            status: ExitStatus,
            /// The last line that it printed.
            last_line: Option<String>,
        } => INVALID;
        "load-died" LoadDied {
            /// The load.
            load: String,
            /// How.
            death: LoadDeath,
        } => INVALID;
        "load-too-weak" LoadTooWeak {
            /// The load.
            load: String,
            /// What was too little.
            shortfall: LoadShortfall,
        } => INVALID;
        "load-elsewhere" LoadElsewhere {
            /// The load.
            load: String,
            /// The CPUs it was put on.
            asked: CpuSet,
            /// The CPUs it was on.
            seen: CpuSet,
        } => NO_PASS;
        "load-lost-cpus" LoadLostCpus {
            /// The load.
            load: String,
            /// The CPUs that none of its threads could use any more.
            lost: CpuSet,
            /// The CPUs that were left to them.
            left: CpuSet,
        } => NO_PASS;
        "load-lost-priority" LoadLostPriority {
            /// The load.
            load: String,
            /// Its policy with priority or nice value before.
            held: String,
            /// The same since then.
            now: String,
        } => NO_PASS;
        "load-paused" LoadPaused {
            /// The load.
            load: String,
            /// How long it took next to nothing.
            idle_ns: Nanos,
            /// Of this time.
            watched_ns: Nanos,
            /// Share of one CPU that it took before.
            share_before: f64,
        } => NO_PASS;
        "load-not-ended" LoadNotEnded {
            /// The load.
            load: String,
            /// How many.
            processes: u32,
        } => WARNING;
    }
}

/// When a load that started late began to take its CPU.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadStart {
    /// After the first counted release.
    Late {
        /// How long after.
        late_ns: Nanos,
    },
    /// Never.
    Never {
        /// Share of one CPU that it should have taken; 0 for any.
        least_share: f64,
    },
}

/// How a load died.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadDeath {
    /// It was never started.
    NotStarted,
    /// The process that watched it was killed, so it is unknown whether it ran.
    Unwatched,
    /// It failed.
    Failed {
        /// How long before the end of the measurement.
        early_ns: Nanos,
        /// How its last process ended.
        status: ExitStatus,
        /// The last line that it printed.
        last_line: Option<String>,
    },
}

/// What a load did too little of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadShortfall {
    /// It took too little CPU.
    Cpu {
        /// Mean share of one CPU.
        mean_share: f64,
        /// Share that its definition demands.
        least_share: f64,
        /// How long it was below that.
        weak_ns: Nanos,
        /// Of this time.
        measured_ns: Nanos,
    },
    /// Its counter of the kernel grew too slowly.
    Counter {
        /// The counter.
        counter: Evidence,
        /// Its unit: `1/s`, `B/s`.
        unit: String,
        /// Mean growth each second.
        mean_per_second: f64,
        /// Growth that its definition demands.
        least_per_second: f64,
    },
}
