//! Findings about the loads of a run.

use super::kinds::{FindingRow, findings};
use super::{INVALID, NO_PASS, WARNING, Weight};
use crate::load::{Evidence, ExitStatus};
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

findings! {
    /// What the loads did.
    LoadFinding {
        "load-started-late" LoadStartedLate {
            /// Name of the load's definition.
            load: String,
            /// When it began to load.
            start: LoadStart,
        } => INVALID;
        "load-ended-early" LoadEndedEarly {
            /// Name of the load's definition.
            load: String,
            /// Time before the end of the measurement.
            early_ns: Nanos,
            /// Exit status of its last process.
            status: ExitStatus,
            /// The last line it printed; `None` if it printed nothing.
            last_line: Option<String>,
        } => INVALID;
        "load-died" LoadDied {
            /// Name of the load's definition.
            load: String,
            /// How it died.
            death: LoadDeath,
        } => INVALID;
        "load-too-weak" LoadTooWeak {
            /// Name of the load's definition.
            load: String,
            /// What it did too little of.
            shortfall: LoadShortfall,
        } => INVALID;
        "load-elsewhere" LoadElsewhere {
            /// Name of the load's definition.
            load: String,
            /// CPUs it was placed on.
            asked: CpuSet,
            /// CPUs it was seen on.
            seen: CpuSet,
        } => NO_PASS;
        "load-lost-cpus" LoadLostCpus {
            /// Name of the load's definition.
            load: String,
            /// CPUs that none of its threads may use any more.
            lost: CpuSet,
            /// CPUs its threads may still use.
            left: CpuSet,
        } => NO_PASS;
        "load-lost-priority" LoadLostPriority {
            /// Name of the load's definition.
            load: String,
            /// Policy with priority or nice value before the change.
            held: String,
            /// Policy with priority or nice value after it.
            now: String,
        } => NO_PASS;
        "load-paused" LoadPaused {
            /// Name of the load's definition.
            load: String,
            /// Time it was nearly idle.
            idle_ns: Nanos,
            /// Time it was observed.
            watched_ns: Nanos,
            /// Share of one CPU it took before.
            share_before: f64,
        } => NO_PASS;
        "load-not-ended" LoadNotEnded {
            /// Name of the load's definition.
            load: String,
            /// Number of processes.
            processes: u32,
        } => WARNING;
    }
}

/// When a late load began to take CPU time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadStart {
    /// After the first counted release.
    Late {
        /// Delay after the first counted release.
        late_ns: Nanos,
    },
    /// Never.
    Never {
        /// Share of one CPU it should have taken; 0 for any.
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
    /// Its supervising process was killed, so whether it ran is unknown.
    Unwatched,
    /// It failed.
    Failed {
        /// Time before the end of the measurement.
        early_ns: Nanos,
        /// Exit status of its last process.
        status: ExitStatus,
        /// The last line it printed; `None` if it printed nothing.
        last_line: Option<String>,
    },
}

/// What a load did too little of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadShortfall {
    /// It took too little CPU time.
    Cpu {
        /// Mean share of one CPU.
        mean_share: f64,
        /// Share required by its definition.
        least_share: f64,
        /// Time it was below that.
        weak_ns: Nanos,
        /// Time it was measured.
        measured_ns: Nanos,
    },
    /// Its kernel counter grew too slowly.
    Counter {
        /// The counter.
        counter: Evidence,
        /// Its unit: `1/s`, `B/s`.
        unit: String,
        /// Mean growth per second.
        mean_per_second: f64,
        /// Growth per second required by its definition.
        least_per_second: f64,
    },
}
