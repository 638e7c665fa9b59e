//! What is known of a recording that another tool has made.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Where the figures of an imported run come from, as far as the file says.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Import {
    /// Name of the file.
    pub file: String,
    /// Name under which the folder of the run holds it, byte for byte.
    pub original: Option<String>,
    /// Its format, in words: `cyclictest histogram`.
    pub format: String,
    /// What the latencies are: `wake-up latency`, `IRQ latency`, `noise in a period`.
    pub quantity: String,
    /// The tool with its version, where the file says it.
    pub tool: Option<String>,
    /// The command line of the tool.
    pub command: Option<String>,
    /// When it was recorded, as the file says it.
    pub recorded: Option<String>,
    /// The unit to which the tool cuts off its values; none where nobody knows it.
    pub resolution_ns: Option<Nanos>,
    /// Whether the file has a histogram or samples, or only figures.
    pub is_summary: bool,
    /// That the file lists gaps of a busy loop, and no latencies of cycles.
    pub gaps: Option<ListedGaps>,
    /// Further statements of the file, such as `Kernel` and `CPUs`.
    pub facts: Vec<ImportFact>,
}

/// Gaps that another tool's busy loop saw while it watched, which may be none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedGaps {
    /// Every longer gap is in the file; none where the file does not say from which length on.
    pub above_ns: Option<Nanos>,
}

/// A statement of a file about the recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportFact {
    /// What it is about.
    pub name: String,
    /// What it says.
    pub text: String,
}
