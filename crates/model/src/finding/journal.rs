//! Findings about the journal of a run.

use super::kinds::{FindingRow, findings};
use super::{ERROR, INVALID, WARNING, Weight};
use serde::{Deserialize, Serialize};

findings! {
    /// What happened to the journal.
    JournalFinding {
        "journal-not-synced" JournalNotSynced {
            /// What the disk said.
            error: String,
        } => WARNING;
        "folder-deleted" FolderDeleted {
            /// Length of the journal that was written again.
            bytes: u64,
            /// Where to.
            folder: String,
        } => WARNING;
        "journal-not-written" JournalNotWritten {
            /// Frames that could not be written.
            frames: u64,
            /// What the disk said last.
            error: String,
        } => INVALID;
        "journal-cut" JournalCut {
            /// How many bytes.
            bytes: u64,
        } => WARNING;
        "journal-damaged" JournalDamaged {
            /// How many bytes.
            bytes: u64,
            /// Where they are.
            part: JournalPart,
            /// What is wrong with them, where one thing is.
            damage: Option<String>,
        } => ERROR, INVALID if *part == JournalPart::Middle;
    }
}

/// Where damaged bytes are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum JournalPart {
    /// Before its end: whole frames follow.
    Middle,
    /// At its end.
    End,
}
