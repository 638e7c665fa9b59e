//! What a comparison of the runs of two sides says.
//!
//! Each run gives one number for each metric; the wake-ups within a run are not independent
//! replications.

use latlab_model::explanation::CauseCounts;
use latlab_model::run::{BurstLimit, IncompleteRun};
use latlab_model::{Nanos, text_enum};
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// Result of a comparison, ascending by severity.
    ComparisonWord {
        /// The candidate is not worse by more than the margin.
        NoRegression = "no-regression",
        /// The candidate is worse; more runs are needed to tell whether by more than the margin.
        Changed = "changed",
        /// The runs cannot show whether the candidate is worse.
        Inconclusive = "inconclusive",
        /// The runs cannot answer the question, whatever their figures.
        Refused = "refused",
        /// The candidate is worse by more than the margin.
        Regressed = "regressed",
    }
}

text_enum! {
    /// A figure of a run that is compared.
    Metric {
        /// Median.
        P50 = "p50",
        /// p99.
        P99 = "p99",
        /// p99.9.
        P99_9 = "p99.9",
        /// p99.99.
        P99_99 = "p99.99",
        /// Median of the maxima of equal stretches of the run.
        MedianMaximum = "median maximum",
    }
}

/// Comparison of two sides of runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunComparison {
    /// Tolerated relative increase of the candidate: 0.05 for 5 %.
    pub margin: f64,
    /// The most severe result of all scenarios.
    pub word: ComparisonWord,
    /// Each scenario measured on both sides.
    pub scenarios: Vec<ScenarioComparison>,
    /// Scenarios of only one side.
    pub only_one_side: Vec<String>,
    /// Runs left out because they are invalid.
    pub invalid: Vec<String>,
    /// Runs left out because latencies may be missing.
    pub incomplete: Vec<IncompleteRun>,
}

/// A scenario measured on both sides.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScenarioComparison {
    /// Row of the campaign; `None` for runs outside of campaigns.
    pub name: Option<String>,
    /// The most severe result of all metrics.
    pub word: ComparisonWord,
    /// Runs of the base.
    pub base: Vec<ComparedRun>,
    /// Runs of the candidate.
    pub candidate: Vec<ComparedRun>,
    /// Metrics that all runs support.
    pub metrics: Vec<MetricComparison>,
    /// Metrics that at least one run does not support.
    pub unsupported: Vec<UnsupportedMetric>,
    /// Ratio of each quantile, candidate to base, ascending.
    pub shifts: Vec<QuantileShift>,
    /// Deadline misses; `None` if the runs have no common deadline.
    pub misses: Option<MissComparison>,
    /// Causes of the recorded spikes; `None` unless both sides recorded spikes.
    pub causes: Option<ComparedCauses>,
    /// Limitations of the comparison.
    pub remarks: Vec<ComparisonRemark>,
}

impl ScenarioComparison {
    /// Whether the guests of all runs measured the same to the last bit.
    pub fn is_identical(&self) -> bool {
        let mut sums = self.base.iter().chain(&self.candidate).map(|run| &run.measurement_sha256);
        let first = sums.next().and_then(Option::as_ref);
        first.is_some() && sums.all(|sum| sum.as_ref() == first)
    }
}

/// Causes of the spikes of both sides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCauses {
    /// Causes on the base side.
    pub base: CauseCounts,
    /// Causes on the candidate side.
    pub candidate: CauseCounts,
}

/// A run of one side.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// Run id.
    pub id: String,
    /// First counted release, UTC.
    pub started: String,
    /// Host name of the measured machine.
    pub hostname: Option<String>,
    /// Boot id of its machine; `None` if unknown.
    pub boot_id: Option<String>,
    /// From the first counted release to the end of the last interval.
    pub measured_ns: Nanos,
    /// Latencies recorded.
    pub cycles: u64,
    /// Releases due.
    pub releases: u64,
    /// Overruns; `None` if unknown.
    pub overruns: Option<u64>,
    /// Deadline misses; `None` without a deadline.
    pub misses: Option<u64>,
    /// Smallest latency.
    pub min_ns: Option<Nanos>,
    /// Observed maximum.
    pub max_ns: Option<Nanos>,
    /// SHA-256 of what a guest measured; `None` outside of virtual time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measurement_sha256: Option<String>,
}

/// One metric on both sides.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricComparison {
    /// The metric.
    pub metric: Metric,
    /// Its value in each run of the base, in order, as stated by the run.
    pub base_ns: Vec<f64>,
    /// Its value in each run of the candidate, in order, as stated by the run.
    pub candidate_ns: Vec<f64>,
    /// Ratio candidate to base (Hodges and Lehmann), from values interpolated within their bins.
    pub ratio: f64,
    /// Confidence interval of the ratio: exact, or from the spread of earlier runs; `None` with too
    /// few runs.
    pub interval: Option<RatioInterval>,
    /// Exact two-sided p-value of the ranks (Mann and Whitney); if the spread of earlier runs is
    /// used, that of Student's t.
    pub p: f64,
    /// The p-value adjusted for all metrics and scenarios.
    pub p_of_all: f64,
    /// Tolerated relative increase of this metric.
    pub margin: f64,
    /// Relative variation between runs of one side: the standard deviation of their logarithms;
    /// `None` with one run per side.
    pub variation: Option<f64>,
    /// Runs per side needed to detect a change by the margin in four of five comparisons; `None` if
    /// more than 30 are needed or the variation is unknown.
    pub runs_needed: Option<u32>,
    /// Additional runs per side needed for a decision; `None` if nothing is undecided or more than
    /// 30 per side are needed.
    pub more_runs: Option<u32>,
    /// Result for this metric.
    pub word: ComparisonWord,
}

/// Confidence interval of a ratio.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioInterval {
    /// Lower limit.
    pub low: f64,
    /// Upper limit.
    pub high: f64,
    /// Confidence level, at least 0.95.
    pub level: f64,
}

/// A quantile compared on both sides.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantileShift {
    /// The quantile in parts per million: 999000 is p99.9.
    pub parts_per_million: u32,
    /// Ratio candidate to base.
    pub ratio: f64,
    /// Range of the ratio in 95 % of the bootstrap samples of the runs; `None` with too few runs.
    pub band: Option<(f64, f64)>,
}

/// A metric for which a run has too few latencies, or no intervals.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnsupportedMetric {
    /// The metric.
    pub metric: Metric,
    /// Id of the first run that lacks it.
    pub run: String,
    /// Number of latencies, or of stretches of the run, available.
    pub has: u64,
    /// Number needed.
    pub needs: u64,
    /// Lower bound of its value if the bins of an imported file end before it; `None` if there are
    /// too few latencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_ns: Option<Nanos>,
}

/// Deadline misses of both sides, relative to the releases.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissComparison {
    /// The deadline.
    pub deadline_ns: Nanos,
    /// Misses of all base runs.
    pub base: u64,
    /// Releases of all base runs.
    pub base_releases: u64,
    /// Misses of all candidate runs.
    pub candidate: u64,
    /// Releases of all candidate runs.
    pub candidate_releases: u64,
    /// Exact p-value of the difference of the shares, run by run.
    pub p: f64,
    /// The p-value adjusted for all metrics, misses and scenarios.
    pub p_of_all: f64,
    /// Bursts of misses; `None` if a run's bursts or length are unknown.
    pub bursts: Option<BurstComparison>,
    /// `regressed` if the candidate misses more, or more than tolerated; `inconclusive` if the runs
    /// are too short to show what is tolerated; otherwise `None`.
    pub word: Option<ComparisonWord>,
}

/// Rates of bursts of deadline misses of both sides.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstComparison {
    /// Bursts of the base.
    pub base: BurstRate,
    /// Bursts of the candidate.
    pub candidate: BurstRate,
    /// Exact one-sided p-value of the candidate's share of all bursts, if the rates are equal;
    /// `None` if the runs of one side differ by more than chance.
    pub p: Option<f64>,
    /// The tolerated rate, and the rates that the candidate's runs leave possible; `None` if no
    /// rate is given.
    pub limit: Option<BurstLimit>,
}

/// Bursts over a time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstRate {
    /// Number of bursts.
    pub bursts: u64,
    /// Misses at unknown times, each of which may be a separate burst.
    pub unknown: u64,
    /// Total measured time of all runs.
    pub measured_ns: Nanos,
    /// Upper limit (95 % confidence) of bursts per hour.
    pub at_most_per_hour: f64,
}

/// A metric that changes steadily from run to run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricDrift {
    /// The metric.
    pub metric: Metric,
    /// Relative growth from one run to the next.
    pub a_run: f64,
}

/// A limitation of a comparison.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum ComparisonRemark {
    /// Too few runs per side for any conclusion.
    TooFewRuns {
        /// Number of base runs.
        base: usize,
        /// Number of candidate runs.
        candidate: usize,
    },
    /// The sides have few runs, so their variation is taken from earlier runs on this machine.
    EarlierRuns {
        /// Number of earlier runs.
        runs: usize,
    },
    /// Each side was measured within a single boot, and the boots differ.
    OneBootEach,
    /// Both sides were measured in the same boot.
    OneBoot,
    /// The boots in which the runs were measured are unknown.
    BootsUnknown,
    /// All runs of one side were measured before all of the other; the intervals allow for a drift.
    OneAfterTheOther {
        /// The steepest drift within the sides, which leaves every metric undecided; `None` if no
        /// drift is seen.
        drift: Option<MetricDrift>,
    },
    /// The sides recorded latencies at different rates.
    FewerLatencies {
        /// Whether the candidate has fewer.
        of_candidate: bool,
        /// Missing share.
        share: f64,
        /// Whether the lengths of the runs are known; otherwise they are taken as equal.
        is_timed: bool,
    },
    /// The runs of the sides differ in length.
    OtherLength {
        /// Median length of the base runs.
        base_ns: Nanos,
        /// Median length of the candidate runs.
        candidate_ns: Nanos,
    },
    /// There were overruns, whose latencies no quantile includes.
    MoreOverruns {
        /// Overruns of the base, as a share of its releases.
        base: f64,
        /// Overruns of the candidate, as a share of its releases.
        candidate: f64,
    },
    /// Runs of one side were measured differently.
    UnequalRuns {
        /// How they differ.
        what: String,
    },
    /// The runs recorded different quantities, which cannot be compared.
    OtherKind {
        /// Quantity recorded by the base.
        base: String,
        /// Quantity recorded by the candidate.
        candidate: String,
    },
    /// The two sides were measured by different methods, each side by one.
    OtherMethod {
        /// How they differ.
        what: String,
    },
    /// Runs with exactly the latencies of another run of their side are left out.
    Copies {
        /// Number of these runs.
        runs: usize,
    },
    /// The runs have different deadlines, so misses are not compared.
    OtherDeadlines,
}
