//! Findings about the journal of a run.

use super::kinds::{FindingRow, findings};
use super::{ERROR, INVALID, WARNING, Weight};
use serde::{Deserialize, Serialize};

findings! {
    /// What happened to the journal.
    JournalFinding {
        "journal-not-synced" JournalNotSynced {
            /// Error from the disk.
            error: String,
        } => WARNING;
        "folder-deleted" FolderDeleted {
            /// Length of the rewritten journal, in bytes.
            bytes: u64,
            /// Folder it was written to.
            folder: String,
        } => WARNING;
        "journal-not-written" JournalNotWritten {
            /// Frames that could not be written.
            frames: u64,
            /// Last error from the disk.
            error: String,
        } => INVALID;
        "journal-cut" JournalCut {
            /// Bytes at the end that are not a whole frame.
            bytes: u64,
        } => WARNING;
        "journal-damaged" JournalDamaged {
            /// Number of damaged bytes.
            bytes: u64,
            /// Their position in the journal.
            part: JournalPart,
            /// Kind of damage, if there is only one.
            damage: Option<String>,
        } => ERROR, INVALID if *part == JournalPart::Middle;
    }
}

/// Position of damaged bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum JournalPart {
    /// Not at the end: whole frames follow.
    Middle,
    /// At the end.
    End,
}
