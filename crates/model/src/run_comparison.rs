//! Runs of two sides against each other: what `latlab compare` comes to.
//!
//! One run gives one number for each metric; the wake-ups of a run are no replications of it.

use crate::Nanos;
use crate::comparison::{Comparison, FactChange};
use crate::explanation::CauseCounts;
use crate::run::{BurstLimit, IncompleteRun};
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// What a comparison comes to, the heaviest last.
    ComparisonWord {
        /// The candidate is not worse by more than the care limit.
        NoRegression = "no-regression",
        /// The candidate is worse; whether by more than the care limit, more runs must show.
        Changed = "changed",
        /// The runs cannot tell whether the candidate is worse.
        Inconclusive = "inconclusive",
        /// The runs cannot answer the question, whatever their figures are.
        Refused = "refused",
        /// The candidate is worse by more than the care limit.
        Regressed = "regressed",
    }
}

text_enum! {
    /// A figure of a run that is compared.
    Metric {
        /// The median.
        P50 = "p50",
        /// 99 %.
        P99 = "p99",
        /// 99.9 %.
        P99_9 = "p99.9",
        /// 99.99 %.
        P99_99 = "p99.99",
        /// The median of the largest latencies of equal stretches of the run.
        MedianMaximum = "median maximum",
    }
}

/// Two sides of runs: `latlab compare --format json`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunComparison {
    /// A share by which the candidate may be worse: 0.05 for 5 %.
    pub care: f64,
    /// The heaviest word of the scenarios.
    pub word: ComparisonWord,
    /// What was measured on both sides, each by itself.
    pub scenarios: Vec<ScenarioComparison>,
    /// Scenarios that only one side has.
    pub only_one_side: Vec<String>,
    /// Runs that are left out because they are invalid.
    pub invalid: Vec<String>,
    /// Runs that are left out because latencies may be missing.
    pub incomplete: Vec<IncompleteRun>,
    /// What was asked for, measured with, and found on the machines otherwise than on the base side.
    pub changes: Vec<FactChange>,
    /// The machine of the first run of each side; none where one of them has no snapshot.
    pub machines: Option<Comparison>,
}

/// What was measured alike on both sides.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScenarioComparison {
    /// The row of the campaign; none of runs that belong to no campaign.
    pub name: Option<String>,
    /// The heaviest word of the metrics.
    pub word: ComparisonWord,
    /// The runs that the others are compared with.
    pub base: Vec<ComparedRun>,
    /// The runs that are judged.
    pub candidate: Vec<ComparedRun>,
    /// The metrics that all runs support.
    pub metrics: Vec<MetricComparison>,
    /// The metrics that some run does not support.
    pub unsupported: Vec<UnsupportedMetric>,
    /// How many times larger each quantile is on the candidate's side, from the low ones to the high
    /// ones.
    pub shifts: Vec<QuantileShift>,
    /// Deadline misses; none where the runs have no common deadline.
    pub misses: Option<MissComparison>,
    /// Causes of the recorded spikes of both sides; none unless both have recorded spikes.
    pub causes: Option<ComparedCauses>,
    /// What limits the comparison.
    pub remarks: Vec<ComparisonRemark>,
}

/// Causes of the spikes of both sides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedCauses {
    /// Those of the base.
    pub base: CauseCounts,
    /// Those of the candidate.
    pub candidate: CauseCounts,
}

/// A run of a side.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// Its id.
    pub id: String,
    /// First counted release, in UTC.
    pub started: String,
    /// Name of the machine that was measured.
    pub hostname: Option<String>,
    /// The boot it was measured in; none where nobody knows it.
    pub boot_id: Option<String>,
    /// From the first counted release to the end of the last interval.
    pub measured_ns: Nanos,
    /// Latencies recorded.
    pub cycles: u64,
    /// Releases that were due.
    pub activations: u64,
    /// Missed releases; none where they are not known.
    pub missed: Option<u64>,
    /// Deadline misses; none without a deadline.
    pub misses: Option<u64>,
    /// Observed maximum.
    pub max_ns: Option<Nanos>,
}

/// A metric of both sides.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricComparison {
    /// Which one.
    pub metric: Metric,
    /// Its value in each run of the base, in their order, as the run states it.
    pub base_ns: Vec<f64>,
    /// Its value in each run of the candidate, in their order, as the run states it.
    pub candidate_ns: Vec<f64>,
    /// How many times larger it is on the candidate's side (Hodges and Lehmann), of values that are
    /// interpolated within their bins.
    pub ratio: f64,
    /// The interval of the ratio: exact, or by the spread of earlier runs; none of too few runs.
    pub interval: Option<RatioInterval>,
    /// The exact two-sided probability of ranks at least this far apart (Mann and Whitney), if
    /// nothing differs; by the spread of earlier runs that of Student's t.
    pub p: f64,
    /// The same for the largest difference among all metrics and scenarios.
    pub p_of_all: f64,
    /// The share by which this metric may be worse.
    pub care: f64,
    /// By which share the runs of one side differ from each other: the standard deviation of their
    /// logarithms; none of one run a side.
    pub variation: Option<f64>,
    /// Runs a side that show a change of the care limit in four of five comparisons; none where more
    /// than 30 are needed, or the variation is not known.
    pub runs_needed: Option<u32>,
    /// Runs a side that are to be added to decide; none where nothing is open, or where more than
    /// 30 a side are needed.
    pub more_runs: Option<u32>,
    /// What it comes to.
    pub word: ComparisonWord,
}

/// An interval of a ratio.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RatioInterval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
    /// Its confidence, which is 0.95 at least.
    pub level: f64,
}

/// A quantile of both sides.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantileShift {
    /// The share of the latencies that it does not exceed, in parts per million.
    pub parts_per_million: u32,
    /// How many times larger it is on the candidate's side.
    pub ratio: f64,
    /// Where the ratio lies in 95 % of the bootstrap samples of the runs; none of too few runs.
    pub band: Option<(f64, f64)>,
}

/// A metric for which some run has too few latencies, or no intervals.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnsupportedMetric {
    /// Which one.
    pub metric: Metric,
    /// The first run that lacks it.
    pub run: String,
    /// Latencies, or stretches of the run, that it has.
    pub has: u64,
    /// How many it would need.
    pub needs: u64,
    /// What its value lies above, where the bins of an imported file end before it; none where it has too
    /// few latencies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_ns: Option<Nanos>,
}

/// Deadline misses of both sides, as shares of the releases.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissComparison {
    /// The deadline.
    pub deadline_ns: Nanos,
    /// Misses of all runs of the base.
    pub base: u64,
    /// Releases of all runs of the base.
    pub base_activations: u64,
    /// Misses of all runs of the candidate.
    pub candidate: u64,
    /// Releases of all runs of the candidate.
    pub candidate_activations: u64,
    /// The exact probability of shares at least this far apart, run by run, if nothing differs.
    pub p: f64,
    /// The same for the largest difference among all metrics, misses and scenarios.
    pub p_of_all: f64,
    /// The bursts in which they came; none where some run does not know its bursts or its length.
    pub bursts: Option<BurstComparison>,
    /// `regressed` where the candidate misses more, or more than is tolerated; `inconclusive` where the
    /// runs are too short to show what is tolerated; none where the runs show neither.
    pub word: Option<ComparisonWord>,
}

/// Bursts of deadline misses of both sides, as rates.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstComparison {
    /// Bursts of the base.
    pub base: BurstRate,
    /// Bursts of the candidate.
    pub candidate: BurstRate,
    /// The exact one-sided probability that the candidate has so many of all bursts or more, if the
    /// rates do not differ; none where the runs of a side differ by more than chance.
    pub p: Option<f64>,
    /// The tolerated rate, and what the candidate's runs say of it; none where none was given.
    pub limit: Option<BurstLimit>,
}

/// Bursts in a time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstRate {
    /// How many.
    pub bursts: u64,
    /// Misses whose times are not known, which may be bursts of their own.
    pub unknown: u64,
    /// The time of all runs together.
    pub measured_ns: Nanos,
    /// With 95 % confidence no more come in an hour.
    pub at_most_per_hour: f64,
}

/// A metric that changes steadily from run to run.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricDrift {
    /// Which one.
    pub metric: Metric,
    /// The share by which it grows from one run to the next.
    pub a_run: f64,
}

/// Something that limits what a comparison can say.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum ComparisonRemark {
    /// Fewer runs a side than any conclusion needs.
    TooFewRuns {
        /// Runs of the base.
        base: usize,
        /// Runs of the candidate.
        candidate: usize,
    },
    /// The sides have few runs: how much runs differ is that of earlier ones of this machine.
    EarlierRuns {
        /// How many.
        runs: usize,
    },
    /// Each side was measured in one boot of its own.
    OneBootEach,
    /// Both sides were measured in the same boot.
    OneBoot,
    /// Nobody knows in which boots the runs were measured.
    BootsUnknown,
    /// All runs of one side were measured before all of the other: the intervals allow for a drift.
    OneAfterTheOther {
        /// The steepest drift within the sides, which leaves every metric undecided; none where no drift
        /// is seen.
        drift: Option<MetricDrift>,
    },
    /// The sides recorded latencies at different rates.
    FewerLatencies {
        /// Whether it is the candidate that has fewer.
        of_candidate: bool,
        /// The share that is missing.
        share: f64,
        /// Whether it is known how long the runs were; else they are taken to be equally long.
        is_timed: bool,
    },
    /// The runs of the sides are not equally long.
    OtherLength {
        /// The median of the base.
        base_ns: Nanos,
        /// The median of the candidate.
        candidate_ns: Nanos,
    },
    /// Releases were missed, whose latencies no quantile counts.
    MissedReleases {
        /// The share of the base's releases.
        base: f64,
        /// The share of the candidate's.
        candidate: f64,
    },
    /// Runs of one side were not measured alike.
    UnequalRuns {
        /// What they differ in.
        what: String,
    },
    /// The runs recorded different things, whose sizes do not compare.
    OtherKind {
        /// What the base recorded.
        base: String,
        /// What the candidate recorded.
        candidate: String,
    },
    /// The sides were measured in different ways, each in one.
    OtherMethod {
        /// What they differ in.
        what: String,
    },
    /// Runs hold exactly the latencies of another run of their side, and are left out.
    Copies {
        /// How many.
        runs: usize,
    },
    /// Not all runs have the same deadline, so that misses are not compared.
    OtherDeadlines,
}
