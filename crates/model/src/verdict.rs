//! The verdict of a run against its deadline.

use crate::Nanos;
use crate::finding::Finding;
use crate::run::EndReason;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// The verdict of a run against its deadline, in one word.
    VerdictWord {
        /// No miss, and no finding that prevents a pass.
        Pass = "pass",
        /// At least one release was later than the deadline.
        Fail = "fail",
        /// The data cannot decide.
        Inconclusive = "inconclusive",
        /// Samples were lost, or a setting that matters was refused.
        Invalid = "invalid",
    }
}

/// The verdict of a run against its deadline, from its counts.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verdict {
    /// One of the four words.
    pub word: VerdictWord,
    /// The deadline.
    pub deadline_ns: Nanos,
    /// Releases later than the deadline, including skipped ones.
    pub misses: u64,
    /// Releases that were due.
    pub releases: u64,
    /// Upper limit (95 % confidence) of the share of releases that begin a burst of misses; only
    /// without misses.
    pub at_most_share: Option<f64>,
    /// The same limit as misses per second of observation, for instruments without releases.
    pub at_most_per_second: Option<f64>,
    /// Bursts of the misses and their possible rate; only with releases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<MissBursts>,
    /// The tolerated burst rate and the rates the run leaves possible; `None` if every miss fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<BurstLimit>,
    /// Why the counts alone do not decide; `None` for `pass` and `fail`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<VerdictReason>,
    /// The verdict in sentences; printed, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
}

/// Deadline misses as events: misses close together form one burst.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MissBursts {
    /// Bursts on the machine; misses of several threads at the same time form one burst.
    pub count: u64,
    /// Misses in the largest burst.
    pub largest: u64,
    /// Misses at unknown times, each of which may be a separate burst.
    pub unknown: u64,
    /// Upper limit (95 % confidence) of bursts per hour.
    pub at_most_per_hour: f64,
    /// Upper limit (95 % confidence) of the share of releases that begin a burst; `None` if times
    /// of misses are unknown.
    pub begins_at_most: Option<f64>,
    /// Upper limit (95 % confidence) of the share of releases that miss, with misses treated as
    /// dependent; `None` if times of misses are unknown, or there are too few bursts to estimate
    /// their sizes.
    pub share_at_most: Option<f64>,
    /// Number of bursts that come together, from these or from bursts at a lower level; `None` if
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clump: Option<f64>,
    /// Level below the deadline from whose bursts the sizes are taken, because fewer than ten reach
    /// the deadline; `None` if those suffice, or no lower level is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes_above_ns: Option<Nanos>,
}

/// A tolerated rate of bursts of deadline misses, and the rates a run leaves possible.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BurstLimit {
    /// Tolerated bursts per hour.
    pub per_hour: f64,
    /// Upper limit (95 % confidence) of bursts per hour.
    pub at_most_per_hour: f64,
    /// Lower limit (95 % confidence) of bursts per hour.
    pub at_least_per_hour: f64,
    /// Whether both limits hold even if the run was ended because of its results, which makes them
    /// wider.
    pub at_any_time: bool,
    /// Additional time without a burst needed to pass the limit; `None` once it is decided.
    pub more_ns: Option<Nanos>,
}

/// Why a verdict is `invalid` or `inconclusive`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum VerdictReason {
    /// Findings make the figures worthless.
    Findings {
        /// Their codes, most severe first.
        findings: Vec<String>,
    },
    /// Nothing was recorded.
    NothingRecorded,
    /// Nothing was recorded on some threads.
    SilentThreads {
        /// Number of silent threads.
        silent: usize,
        /// Number of threads in total.
        threads: usize,
    },
    /// The instrument failed to measure some responses, which may be misses.
    ResponsesNotMeasured {
        /// Number of such responses.
        count: u64,
        /// Number of stimuli in total.
        stimuli: u64,
    },
    /// An imported file does not show whether some latencies are misses.
    LatenciesUnknown {
        /// Number of such latencies; `None` if unknown.
        count: Option<u64>,
    },
    /// Latencies may be missing, so that the counts do not show a pass.
    PassForbidden {
        /// The first finding that says so.
        #[cfg_attr(
            feature = "schema",
            schemars(with = "serde_json::Map<String, serde_json::Value>")
        )]
        finding: Finding,
        /// Number of further such findings.
        others: u64,
    },
    /// The run is too short to decide whether the limit is kept.
    LimitOpen,
    /// The run ended early.
    Ended {
        /// Reason for the end.
        reason: EndReason,
    },
}
