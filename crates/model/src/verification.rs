//! The document of `verify`.

use serde::{Deserialize, Serialize};

/// Result of checking every file of a run folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Id of the run.
    pub run: String,
    /// Its folder.
    pub path: String,
    /// Whether every file is there as it was stored, and all sums agree.
    pub whole: bool,
    /// Files that were compared.
    pub files: usize,
    /// Their size.
    pub bytes: u64,
    /// What is wrong.
    pub wrong: Vec<Mismatch>,
    /// What this user may not read, so that nobody knows whether it is whole.
    pub unread: Vec<Mismatch>,
    /// Files that the run does not know of, which harm nothing.
    pub extra: Vec<String>,
}

/// A difference between a run folder and what was stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mismatch {
    /// The file.
    pub file: String,
    /// What is wrong with it.
    pub what: String,
}
