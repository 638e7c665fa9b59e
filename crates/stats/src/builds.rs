//! A series of builds: the result of `latlab trend`.

use crate::comparison::{ComparisonWord, Metric, RatioInterval, UnsupportedMetric};
use latlab_model::Nanos;
use latlab_model::run::IncompleteRun;
use serde::{Deserialize, Serialize};

/// A metric over builds: `latlab trend --format json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trend {
    /// The metric.
    pub metric: Metric,
    /// Tolerated relative increase from one level to the next.
    pub margin: f64,
    /// Comparison of the newest level with the one before.
    pub word: ComparisonWord,
    /// Builds, oldest first.
    pub builds: Vec<Build>,
    /// Builds at which the level of the series changes.
    pub steps: Vec<TrendStep>,
    /// Why steps cannot be attributed to builds; `None` if they can.
    pub limit: Option<TrendLimit>,
    /// Whether the newest builds lie above their level by more than tolerated and by more than
    /// chance, but are no step yet: it is a single build, or single builds before were as high.
    pub newest_is_high: bool,
    /// Smallest step of the newest three builds that is detected in four of five cases, relative to
    /// the level; `None` if there are too few builds to estimate their scatter.
    pub smallest_step: Option<f64>,
    /// Deadline; `None` unless all runs have the same.
    pub deadline_ns: Option<Nanos>,
    /// Relative variation between builds of one level: the standard deviation of their logarithms;
    /// `None` if no level has two builds.
    pub variation: Option<f64>,
    /// Builds at the new level, after at least as many at the old one, needed to detect a step by
    /// the margin in four of five series; `None` if more than 30 are needed or the variation is
    /// unknown.
    pub builds_needed: Option<u32>,
    /// How the runs differ apart from their builds; `None` if no difference is known.
    pub unequal: Option<String>,
    /// Runs left out because they do not support the metric.
    pub unsupported: Vec<UnsupportedMetric>,
    /// Runs left out because they are invalid.
    pub invalid: Vec<String>,
    /// Runs left out because latencies may be missing.
    pub incomplete: Vec<IncompleteRun>,
}

/// The runs of a build.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Build {
    /// Identity of the build: its kernel, the name of its runs, or its run.
    pub name: String,
    /// Start of its first run, UTC.
    pub started: String,
    /// Ids of its runs.
    pub runs: Vec<String>,
    /// The metric of each run.
    pub values_ns: Vec<f64>,
    /// Median of the values.
    pub value_ns: f64,
    /// Smallest latency of all its runs.
    pub min_ns: Option<Nanos>,
    /// Observed maximum of all its runs.
    pub max_ns: Option<Nanos>,
    /// Releases due in all its runs.
    pub releases: u64,
    /// Deadline misses of all its runs; `None` without a deadline.
    pub misses: Option<u64>,
    /// Total measured time.
    pub measured_ns: Nanos,
}

impl Build {
    /// Adds the runs of another build; the medians of both become invalid.
    pub fn join(&mut self, other: Build) {
        self.runs.extend(other.runs);
        self.values_ns.extend(other.values_ns);
        self.min_ns = self.min_ns.into_iter().chain(other.min_ns).min();
        self.max_ns = self.max_ns.max(other.max_ns);
        self.releases = self.releases.saturating_add(other.releases);
        let sum = |(here, there): (u64, u64)| here.saturating_add(there);
        self.misses = self.misses.zip(other.misses).map(sum);
        self.measured_ns += other.measured_ns;
    }
}

/// A build at which the level of the series changes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TrendStep {
    /// Index of the build, from 0.
    pub at: usize,
    /// Name of the build.
    pub build: String,
    /// The p-value of such a step in a series without one.
    pub p: f64,
    /// Ratio of the level to the previous one (Hodges and Lehmann).
    pub ratio: f64,
    /// Exact confidence interval of the ratio; `None` if the levels are too short.
    pub interval: Option<RatioInterval>,
    /// Result for this step.
    pub word: ComparisonWord,
}

/// Why steps cannot be attributed to builds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum TrendLimit {
    /// Too few builds to search for steps.
    TooFewBuilds {
        /// Number of builds.
        has: usize,
        /// Number needed.
        needs: usize,
    },
    /// The runs recorded different quantities, which cannot be compared.
    OtherKinds,
    /// Neighbouring builds are correlated beyond their steps: the environment drifts.
    Drift {
        /// Rank correlation of neighbouring builds.
        correlation: f64,
    },
}
