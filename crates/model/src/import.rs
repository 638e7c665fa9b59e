//! What is known of an imported recording made by another tool.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Source of an imported run's figures, as far as the file states it.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Import {
    /// File name.
    pub file: String,
    /// Name of the byte-for-byte copy in the run folder; `None` if there is no copy.
    pub original: Option<String>,
    /// File format in words: `cyclictest histogram`.
    pub format: String,
    /// The measured quantity: `wake-up latency`, `IRQ latency`, `noise in a period`.
    pub quantity: String,
    /// Tool and version, if the file states them.
    pub tool: Option<String>,
    /// Command line of the tool, if the file states it.
    pub command: Option<String>,
    /// Time of the recording as stated in the file.
    pub recorded: Option<String>,
    /// Resolution to which the tool truncates its values; `None` if unknown.
    pub resolution_ns: Option<Nanos>,
    /// Whether the file has only summary figures, and neither a histogram nor samples.
    pub is_summary: bool,
    /// Set if the file lists gaps of a busy loop rather than latencies of cycles.
    pub gaps: Option<ListedGaps>,
    /// Further facts from the file, such as `Kernel` and `CPUs`.
    pub facts: Vec<ImportFact>,
}

/// Gaps that another tool's busy loop found; there may be none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedGaps {
    /// Threshold: every longer gap is in the file; `None` if the file states no threshold.
    pub above_ns: Option<Nanos>,
}

/// A fact from the file about the recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportFact {
    /// Name of the fact.
    pub name: String,
    /// Value, as stated in the file.
    pub text: String,
}
