//! The result of `latlab verify`.

use serde::{Deserialize, Serialize};

/// Result of checking every file of a run folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Verification {
    /// Run id.
    pub run: String,
    /// Path of its folder.
    pub path: String,
    /// Whether every file is present and unchanged, and all checksums match.
    pub whole: bool,
    /// Number of files verified.
    pub files: usize,
    /// Their total size, in bytes.
    pub bytes: u64,
    /// Problems found.
    pub wrong: Vec<Mismatch>,
    /// Files this user may not read, which are therefore unverified.
    pub unread: Vec<Mismatch>,
    /// Files that are not part of the run, which do no harm.
    pub extra: Vec<String>,
}

/// A difference between a run folder and what was stored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mismatch {
    /// File name.
    pub file: String,
    /// What differs from the stored file.
    pub what: String,
}
