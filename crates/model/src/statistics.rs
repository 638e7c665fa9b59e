//! Statistics of a run beyond its counts, computed from its tables when it is shown.

use crate::Nanos;
use crate::run::Quantiles;
use serde::{Deserialize, Serialize};

/// Statistics of a run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunStatistics {
    /// Confidence intervals of the quantiles of all threads together.
    pub quantiles: Vec<QuantileInterval>,
    /// Quantiles including releases skipped by late cycles; `None` if none were skipped.
    pub corrected: Option<CorrectedQuantiles>,
    /// Each measuring thread.
    pub threads: Vec<ThreadStatistics>,
}

/// Statistics of one measuring thread.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadStatistics {
    /// Number of the measuring thread.
    pub thread: u32,
    /// The CPU it is pinned to.
    pub cpu: Option<u32>,
    /// Confidence intervals of its quantiles.
    pub quantiles: Vec<QuantileInterval>,
    /// Whether its largest latencies still grow; `None` if the run is too short.
    pub growth: Option<Growth>,
    /// Model of its largest latencies, or why there is none.
    pub tail: TailModel,
    /// Large latencies that recur periodically; `None` if none do.
    pub periodic: Option<PeriodicLatencies>,
}

/// The 95 % confidence interval of a quantile, from order statistics.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantileInterval {
    /// The quantile in parts per million: 999000 is p99.9.
    pub parts_per_million: u32,
    /// Lower limit; `None` if the interval is refused.
    pub low_ns: Option<Nanos>,
    /// Upper limit; `None` if there are too few latencies for one, or the interval is refused.
    pub high_ns: Option<Nanos>,
    /// Number of latencies it is based on.
    pub latencies: u64,
    /// Number of dependent latencies that carry as much information as an independent one; `None`
    /// if their order is unknown, so that the interval assumes independence.
    pub per_event: Option<f64>,
    /// Number of latencies needed for an upper limit.
    pub latencies_needed: u64,
    /// Why there is no interval; `None` if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<IntervalRefusal>,
}

/// Why a quantile has no interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum IntervalRefusal {
    /// The latencies vary so slowly that the run shows too few fluctuations.
    SlowVariation {
        /// Factor by which a run would have to be longer.
        times: f64,
    },
}

/// Quantiles in which a stall counts for each release it delayed (coordinated omission).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CorrectedQuantiles {
    /// Latencies added for releases skipped because the previous cycle was late by more than a
    /// period.
    pub added: u64,
    /// Whether there were more, from stalls of unknown length.
    pub at_least: bool,
    /// Quantiles including the added latencies.
    pub quantiles: Quantiles,
}

/// Whether the largest latencies of a thread grow over time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    /// The p-value of this growth under no growth, adjusted for all threads.
    pub p: f64,
    /// Whether the growth is significant, so that statements about its largest latencies do not
    /// hold for later.
    pub grows: bool,
    /// Trend of the maxima of its stretches, from -1 to 1 (Kendall's tau).
    pub trend: f64,
    /// Number of stretches.
    pub stretches: u64,
    /// Time of the observed maximum, as a share of the run.
    pub max_at_share: Option<f64>,
    /// Typical excess over the observed maximum in another run of this length, if it is exceeded at
    /// all, which has a probability of one half; `None` without a model.
    pub typical_ns: Option<Nanos>,
}

/// Model of a thread's largest latencies: a generalised Pareto distribution of the maximum of each
/// burst. An extrapolation, not a bound.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailModel {
    /// Number of bursts it is based on.
    pub bursts: u64,
    /// Threshold above which latencies were used.
    pub threshold_ns: Option<Nanos>,
    /// Width of the cells in which they were counted.
    pub cell_ns: Option<Nanos>,
    /// Share of large latencies that begin a burst, from the distances between them (Ferro and
    /// Segers).
    pub extremal_index: Option<f64>,
    /// The same share from the gaps between bursts (Suveges and Davison), with its standard error,
    /// as a check.
    pub extremal_index_by_gaps: Option<(f64, f64)>,
    /// Scale parameter.
    pub scale_ns: Option<f64>,
    /// Shape parameter: negative for a finite end, positive for a heavy tail.
    pub shape: Option<f64>,
    /// The 95 % confidence interval of the shape.
    pub shape_interval: Option<(f64, f64)>,
    /// The extrapolation; `None` if a test rejects the model.
    pub estimate: Option<TailEstimate>,
    /// Tests that reject the model.
    pub refusals: Vec<TailRefusal>,
    /// Limitations of the model.
    pub remarks: Vec<TailRemark>,
}

/// A latency that the model expects to be exceeded about once in a time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailEstimate {
    /// The time: ten times the length of the run; nothing is extrapolated further.
    pub once_per_ns: Nanos,
    /// The expected latency.
    pub value_ns: Nanos,
    /// Lower 95 % confidence limit, if the model holds.
    pub low_ns: Nanos,
    /// Upper 95 % confidence limit, if the model holds.
    pub high_ns: Nanos,
}

/// Why the largest latencies have no model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum TailRefusal {
    /// The times of the largest latencies are unknown.
    NoTimes {},
    /// Some of the largest latencies were lost.
    Clipped {
        /// Number of lost latencies.
        lost: u64,
    },
    /// There are too few bursts.
    TooFewBursts {
        /// Number of bursts.
        has: u64,
        /// Number needed.
        needs: u64,
    },
    /// Almost all large latencies are equal within the resolution of the recording.
    TooCoarse {
        /// Number of non-empty cells.
        cells: u64,
        /// Width of a cell.
        width_ns: Nanos,
    },
    /// The counts do not fit a single distribution.
    NotOneMechanism {
        /// The p-value of the fit.
        p: f64,
    },
    /// The upper part has a different shape than the whole.
    ShapeChanges {
        /// Twice the difference of the log-likelihoods.
        deviance: f64,
    },
    /// The largest latencies do not fit the others.
    OtherMechanism {
        /// Number of the largest that were set aside.
        largest: u64,
        /// The p-value of their size.
        p: f64,
    },
    /// The tail has no visible end.
    HeavyTail {
        /// Lower confidence limit of the shape.
        low: f64,
        /// Upper confidence limit of the shape; `None` if unknown.
        high: Option<f64>,
    },
    /// The largest latencies grow with time.
    Growing {
        /// The p-value of the growth.
        p: f64,
    },
    /// The first half of the run does not predict the second.
    HalvesDiffer {
        /// Level whose exceedances were predicted.
        level_ns: Nanos,
        /// Expected number in the second half.
        expected: f64,
        /// Observed number in the second half.
        seen: u64,
    },
}

/// A limitation of a model of the largest latencies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum TailRemark {
    /// Fewer than a thousand bursts, so the interval is wide.
    FewBursts {
        /// Number of bursts.
        has: u64,
    },
    /// Few cells are non-empty.
    Coarse {
        /// Number of non-empty cells.
        cells: u64,
    },
    /// The tail may have no end.
    MayBeHeavy {
        /// Lower confidence limit of the shape.
        low: f64,
    },
}

/// Large latencies that recur periodically.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PeriodicLatencies {
    /// Period of the recurrence.
    pub period_ns: Nanos,
    /// Number of large latencies examined, each the first of its burst.
    pub events: u64,
    /// Smallest of these latencies.
    pub from_ns: Nanos,
    /// Share of them that follows the period.
    pub share: f64,
    /// The 95 % confidence interval of that share.
    pub share_interval: (f64, f64),
    /// How closely they follow it: 1 if all come at the same phase of the period, 0 if at any.
    pub concentration: f64,
    /// That phase, as a share of the period, from the first release.
    pub phase: f64,
    /// The p-value of this periodicity, adjusted for all threads.
    pub p: f64,
    /// Period of the releases, if it is locked to that of the disturbance, so that they always or
    /// never coincide.
    pub locked_to_ns: Option<Nanos>,
    /// A period of the releases that is not locked to it.
    pub better_period_ns: Option<Nanos>,
}
