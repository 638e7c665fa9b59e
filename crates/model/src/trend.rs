//! A series of builds: what `latlab trend` comes to.

use crate::Nanos;
use crate::run::IncompleteRun;
use crate::run_comparison::{ComparisonWord, Metric, RatioInterval, UnsupportedMetric};
use serde::{Deserialize, Serialize};

/// A metric over builds: `latlab trend --format json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trend {
    /// Which metric.
    pub metric: Metric,
    /// The share by which a level may be higher than the one before.
    pub care: f64,
    /// What the newest level comes to against the one before.
    pub word: ComparisonWord,
    /// The builds, the oldest first.
    pub builds: Vec<Build>,
    /// The builds from which on the series lies at another level.
    pub steps: Vec<TrendStep>,
    /// Why steps are not to be ascribed to builds.
    pub limit: Option<TrendLimit>,
    /// Whether the newest build alone lies above its level by more than is tolerated and by more than
    /// chance, or with others that are as high as single builds before.
    pub newest_is_high: bool,
    /// The smallest step of the newest three builds that is seen in four of five cases, as a share; `None`
    /// where the builds are too few to know their scatter.
    pub smallest_step: Option<f64>,
    /// The deadline, where all runs have the same.
    pub deadline_ns: Option<Nanos>,
    /// By which share the builds of a level differ from each other: the standard deviation of their
    /// logarithms; none where no level has two builds.
    pub variation: Option<f64>,
    /// Builds of the new level, behind at least as many of the old one, that show a step of the limit in
    /// four of five series; none where more than 30 are needed, or the variation is not known.
    pub builds_needed: Option<u32>,
    /// In what the runs differ besides their builds; none where nothing is known.
    pub unequal: Option<String>,
    /// Runs that do not support the metric and are left out.
    pub unsupported: Vec<UnsupportedMetric>,
    /// Runs that are left out because they are invalid.
    pub invalid: Vec<String>,
    /// Runs that are left out because latencies may be missing.
    pub incomplete: Vec<IncompleteRun>,
}

/// The runs of a build.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// What tells it from the others: its kernel, the name of its runs, or its run.
    pub name: String,
    /// When the first of its runs was measured, in UTC.
    pub started: String,
    /// Its runs.
    pub runs: Vec<String>,
    /// The metric of each of them.
    pub values_ns: Vec<f64>,
    /// The median of these.
    pub value_ns: f64,
    /// Observed maximum of all of them.
    pub max_ns: Option<Nanos>,
    /// Releases that were due in all of them.
    pub activations: u64,
    /// Deadline misses of all of them; none without a deadline.
    pub misses: Option<u64>,
    /// Their measured time together.
    pub measured_ns: Nanos,
}

impl Build {
    /// Takes in the runs of another; the medians of both no longer hold.
    pub fn join(&mut self, other: Build) {
        self.runs.extend(other.runs);
        self.values_ns.extend(other.values_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.activations = self.activations.saturating_add(other.activations);
        let sum = |(here, there): (u64, u64)| here.saturating_add(there);
        self.misses = self.misses.zip(other.misses).map(sum);
        self.measured_ns += other.measured_ns;
    }
}

/// A build from which on the series lies at another level.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrendStep {
    /// Its place among the builds, from 0.
    pub at: usize,
    /// Its name.
    pub build: String,
    /// The probability of such a step in a series without one.
    pub p: f64,
    /// How many times higher the level is than the one before (Hodges and Lehmann).
    pub ratio: f64,
    /// The exact interval of the ratio; none of levels that are too short.
    pub interval: Option<RatioInterval>,
    /// What it comes to.
    pub word: ComparisonWord,
}

/// Why steps are not to be ascribed to builds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum TrendLimit {
    /// There are too few builds to search for steps.
    TooFewBuilds {
        /// How many there are.
        has: usize,
        /// How many it takes.
        needs: usize,
    },
    /// The runs recorded different things, whose sizes do not compare.
    OtherKinds,
    /// Neighbours are alike beyond their steps: the surroundings drift.
    Drift {
        /// How much the rank of a build says of that of the next one.
        correlation: f64,
    },
}
