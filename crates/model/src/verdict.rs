//! The judgement of a run against its deadline.

use crate::Nanos;
use crate::finding::Finding;
use crate::run::EndReason;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// The judgement of a run against a deadline.
    VerdictWord {
        /// No miss, and nothing that forbids it.
        Pass = "pass",
        /// At least one release was later than the deadline.
        Fail = "fail",
        /// The data cannot decide.
        Inconclusive = "inconclusive",
        /// Samples were lost, or a setting that matters was refused.
        Invalid = "invalid",
    }
}

/// The judgement of a run against its deadline, by counting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// One of the four words.
    pub word: VerdictWord,
    /// The deadline.
    pub deadline_ns: Nanos,
    /// Releases later than the deadline, skipped ones included.
    pub misses: u64,
    /// Releases that were due.
    pub activations: u64,
    /// With 95 % confidence no larger share of the releases begins a burst of misses; only for zero misses.
    pub at_most_share: Option<f64>,
    /// The same as misses in a second of watching, for an instrument that has no releases.
    pub at_most_per_second: Option<f64>,
    /// The bursts in which misses came, and how often further ones may; of releases only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<MissBursts>,
    /// The tolerated rate of bursts, and what the run says of it; none where every miss fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<BurstLimit>,
    /// Why the counts alone do not decide; none of `pass` and `fail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<VerdictReason>,
    /// The judgement in sentences; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
}

/// Deadline misses as the events that they are: misses that come together are one burst.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissBursts {
    /// Bursts of misses of the machine: what several threads met at once is one.
    pub count: u64,
    /// Misses of the largest.
    pub largest: u64,
    /// Misses whose time is not known, which may be bursts of their own.
    pub unknown: u64,
    /// With 95 % confidence no more bursts than these come in an hour.
    pub at_most_per_hour: f64,
    /// With 95 % confidence no larger share of the releases begins a burst; `None` where times of misses
    /// are not known.
    pub begins_at_most: Option<f64>,
    /// With 95 % confidence no larger share of the releases misses, with regard to how misses depend
    /// on each other; `None` where times of misses are not known, or bursts are too few to know their
    /// sizes.
    pub share_at_most: Option<f64>,
    /// How many bursts come together, of these or of bursts at a lower level; `None` where that is not
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clump: Option<f64>,
    /// The level below the deadline from whose bursts the sizes are taken, because there are fewer than
    /// ten at the deadline; none where these are enough, or no lower level is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes_above_ns: Option<Nanos>,
}

/// A tolerated rate of bursts of deadline misses, and the rates that a run leaves possible.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstLimit {
    /// Bursts that are tolerated in an hour.
    pub per_hour: f64,
    /// With 95 % confidence no more bursts come in an hour.
    pub at_most_per_hour: f64,
    /// With 95 % confidence no fewer bursts come in an hour.
    pub at_least_per_hour: f64,
    /// Whether both hold although the run may have been ended for what it showed, which makes them
    /// wider.
    pub at_any_time: bool,
    /// How much longer the run would have to be, without a further burst, to keep the limit; none
    /// where that is decided.
    pub more_ns: Option<Nanos>,
}

/// Why a verdict is `invalid` or `inconclusive`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum VerdictReason {
    /// Findings make the figures worthless.
    Findings {
        /// Their codes, the heaviest first.
        findings: Vec<String>,
    },
    /// Nothing was recorded.
    NothingRecorded,
    /// Nothing was recorded on some threads.
    SilentThreads {
        /// How many.
        silent: usize,
        /// Of so many.
        threads: usize,
    },
    /// The instrument did not measure some responses, which may have missed.
    ResponsesNotMeasured {
        /// How many.
        count: u64,
        /// Of so many stimuli.
        stimuli: u64,
    },
    /// An imported file does not tell whether some latencies missed.
    LatenciesUnknown {
        /// How many; none where not even that is known.
        count: Option<u64>,
    },
    /// Latencies may be missing, so that the counts do not show a pass.
    PassForbidden {
        /// The first finding that says so, as the findings of a run are.
        #[cfg_attr(
            feature = "schema",
            schemars(with = "serde_json::Map<String, serde_json::Value>")
        )]
        finding: Finding,
        /// How many further ones there are.
        others: u64,
    },
    /// The run is too short to show whether the limit is kept.
    LimitOpen,
    /// The run ended before its time.
    Ended {
        /// Why.
        reason: EndReason,
    },
}
