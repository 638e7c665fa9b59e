//! What a run says of latencies beyond those that it counted: computed from its tables when it is shown.

use crate::Nanos;
use crate::run::Quantiles;
use serde::{Deserialize, Serialize};

/// Statistics of a run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunStatistics {
    /// Intervals of the quantiles of all threads together.
    pub quantiles: Vec<QuantileInterval>,
    /// The quantiles with the releases that late cycles swallowed; none where nothing was swallowed.
    pub corrected: Option<CorrectedQuantiles>,
    /// Each measuring thread.
    pub threads: Vec<ThreadStatistics>,
}

/// Statistics of one measuring thread.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadStatistics {
    /// Its number.
    pub thread: u32,
    /// The CPU it is pinned to.
    pub cpu: Option<u32>,
    /// Intervals of its quantiles.
    pub quantiles: Vec<QuantileInterval>,
    /// Whether its largest latencies still grow; none of too short a run.
    pub growth: Option<Growth>,
    /// A model of its largest latencies, or why there is none.
    pub tail: TailModel,
    /// Large latencies that come with a period.
    pub periodic: Option<PeriodicLatencies>,
}

/// The interval in which a quantile lies with 95 % confidence, by order statistics.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuantileInterval {
    /// The quantile, as a share of a million: 999000 is p99.9.
    pub parts_per_million: u32,
    /// The quantile is not below this; `None` where the interval is refused.
    pub low_ns: Option<Nanos>,
    /// Nor above this; `None` where the latencies are too few to limit it, or the interval is refused.
    pub high_ns: Option<Nanos>,
    /// Latencies it rests on.
    pub latencies: u64,
    /// So many latencies say as much as one that depends on no other; `None` where their order is not
    /// known, so that the interval holds if each is independent.
    pub per_event: Option<f64>,
    /// Latencies from which on there is an upper limit.
    pub latencies_needed: u64,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refusal: Option<IntervalRefusal>,
}

/// Why a quantile has no interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum IntervalRefusal {
    /// The latencies vary so slowly that the run shows too few ups and downs.
    SlowVariation {
        /// How many times longer a run would have to be.
        times: f64,
    },
}

/// Quantiles in which a stall counts for each release that it made late (coordinated omission).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CorrectedQuantiles {
    /// Latencies of which nothing was recorded, because the cycle before was late by more than a period.
    pub added: u64,
    /// Whether there were more, of stalls whose length is not known.
    pub at_least: bool,
    /// The quantiles with them.
    pub quantiles: Quantiles,
}

/// Whether the largest latencies of a thread grow with time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    /// The probability that a thread without growth looks this much like growing, for all threads
    /// together.
    pub p: f64,
    /// Whether that is too small: what is said of its largest latencies does not hold for later.
    pub grows: bool,
    /// How rising the maxima of its stretches are, from -1 to 1 (Kendall's tau).
    pub trend: f64,
    /// How many stretches there are.
    pub stretches: u64,
    /// When the observed maximum was, as a share of the run.
    pub max_at_share: Option<f64>,
    /// By how much another run of this length exceeds the observed maximum if it does, which has a
    /// probability of a half; none without a model.
    pub typical_ns: Option<Nanos>,
}

/// A model of the largest latencies of a thread: a generalised Pareto distribution of the largest of each
/// burst. It estimates, it proves nothing.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailModel {
    /// Bursts that it was made of.
    pub bursts: u64,
    /// The latency from which on they were taken.
    pub threshold_ns: Option<Nanos>,
    /// Width of the cells in which they were counted.
    pub cell_ns: Option<Nanos>,
    /// The share of large latencies that begin a burst, by the distances between them (Ferro and Segers).
    pub extremal_index: Option<f64>,
    /// The same by the gaps between bursts (Suveges and Davison), with its standard error, as a check.
    pub extremal_index_by_gaps: Option<(f64, f64)>,
    /// Scale of the distribution.
    pub scale_ns: Option<f64>,
    /// Its shape: below zero it has an end, above zero it is heavy.
    pub shape: Option<f64>,
    /// The interval of the shape with 95 % confidence.
    pub shape_interval: Option<(f64, f64)>,
    /// What it estimates; none where a test speaks against it.
    pub estimate: Option<TailEstimate>,
    /// What speaks against it.
    pub refusals: Vec<TailRefusal>,
    /// What is to be kept in mind.
    pub remarks: Vec<TailRemark>,
}

/// A latency that a model expects to be exceeded about once in a time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TailEstimate {
    /// The time: ten times that of the run, beyond which nothing is estimated.
    pub once_per_ns: Nanos,
    /// The latency.
    pub value_ns: Nanos,
    /// With 95 % confidence it is not smaller, if the model holds.
    pub low_ns: Nanos,
    /// Nor larger.
    pub high_ns: Nanos,
}

/// Why there is no model of the largest latencies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum TailRefusal {
    /// The times of the largest latencies are not known.
    NoTimes {},
    /// Some of the largest latencies were lost.
    Clipped {
        /// How many.
        lost: u64,
    },
    /// There are too few bursts.
    TooFewBursts {
        /// How many there are.
        has: u64,
        /// How many it takes.
        needs: u64,
    },
    /// Nearly all large latencies are alike in the resolution in which they were recorded.
    TooCoarse {
        /// Cells with a count.
        cells: u64,
        /// Their width.
        width_ns: Nanos,
    },
    /// The counts do not fit one distribution.
    NotOneMechanism {
        /// The probability of such a difference by chance.
        p: f64,
    },
    /// Its larger part has another shape than the whole.
    ShapeChanges {
        /// Twice the difference of the logarithms of both likelihoods.
        deviance: f64,
    },
    /// The largest do not fit the others.
    OtherMechanism {
        /// How many of the largest were set aside.
        largest: u64,
        /// The probability that they are so large by chance.
        p: f64,
    },
    /// No end is in sight.
    HeavyTail {
        /// The shape is not below this.
        low: f64,
        /// Nor above this.
        high: Option<f64>,
    },
    /// The largest latencies grow with time.
    Growing {
        /// The probability of such growth by chance.
        p: f64,
    },
    /// The first half of the run does not predict the second.
    HalvesDiffer {
        /// The latency that was to be exceeded so often …
        level_ns: Nanos,
        /// … in the second half.
        expected: f64,
        /// How often it was.
        seen: u64,
    },
}

/// What limits a model of the largest latencies.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum TailRemark {
    /// Fewer than a thousand bursts: its interval is wide.
    FewBursts {
        /// How many.
        has: u64,
    },
    /// Few cells have a count.
    Coarse {
        /// How many.
        cells: u64,
    },
    /// It may have no end.
    MayBeHeavy {
        /// The shape is not below this.
        low: f64,
    },
}

/// Large latencies that come with a period.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PeriodicLatencies {
    /// The period.
    pub period_ns: Nanos,
    /// Large latencies that were looked at, each the first of its burst.
    pub events: u64,
    /// The smallest of them.
    pub from_ns: Nanos,
    /// The share of them that comes with the period.
    pub share: f64,
    /// The interval of that share with 95 % confidence.
    pub share_interval: (f64, f64),
    /// How closely they keep to it: 1 where all come at the same point of the period, 0 where they come
    /// at any.
    pub concentration: f64,
    /// That point, as a share of the period since the first release.
    pub phase: f64,
    /// The probability that events without a period look this periodic, for all threads together.
    pub p: f64,
    /// The period of the releases, where it fits that of the disturbance, so that they meet always or
    /// never.
    pub locked_to_ns: Option<Nanos>,
    /// A period of releases that does not.
    pub better_period_ns: Option<Nanos>,
}
