//! Findings about the journal of a run.

use super::kinds::{FindingEntry, findings};
use super::{ERROR, INVALID, WARNING, Weight};
use crate::shell::Line;
use crate::units::{counted, grouped};
use serde::{Deserialize, Serialize};

findings! {
    /// What happened to the journal.
    JournalFinding {
        /// The journal was written, but the disk did not confirm that it survives a power cut.
        JournalNotSynced = "journal-not-synced" ("warning", "none", "Check the disk.") {
            /// What the disk said.
            error: String,
        }
        /// The folder of the run was deleted during the run. It was written again completely.
        FolderDeleted = "folder-deleted" ("warning", "none", "Find out what deleted it.") {
            /// Length of the journal that was written again.
            bytes: u64,
            /// Where to.
            folder: String,
        }
        /// A part of the journal could not be written: most often the disk is full.
        JournalNotWritten = "journal-not-written" (
            "error",
            "invalid",
            "Free some space, or use `--out` on a larger disk."
        ) {
            /// Frames that could not be written.
            frames: u64,
            /// What the disk said last.
            error: String,
        }
        /// The last bytes of an interrupted run are not a complete frame. The run contains
        /// everything before them.
        JournalCut = "journal-cut" (
            "warning",
            "none",
            "Nothing: this is the effect of a kill or a power cut."
        ) {
            /// How many bytes.
            bytes: u64,
        }
        /// Bytes of the journal are damaged and lost. The run contains the rest.
        JournalDamaged = "journal-damaged" (
            "error",
            "invalid unless it is at the end of the journal",
            "Check the disk and the memory. The journal is kept in the folder of the run."
        ) {
            /// How many bytes.
            bytes: u64,
            /// Where they are.
            part: JournalPart,
            /// What is wrong with them, where one thing is.
            damage: Option<String>,
        }
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

impl JournalFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        match self {
            JournalFinding::JournalNotWritten { .. }
            | JournalFinding::JournalDamaged { part: JournalPart::Middle, .. } => INVALID,
            JournalFinding::JournalDamaged { .. } => ERROR,
            JournalFinding::JournalNotSynced { .. }
            | JournalFinding::FolderDeleted { .. }
            | JournalFinding::JournalCut { .. } => WARNING,
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        match self {
            JournalFinding::JournalNotSynced { error } => {
                format!("The journal could not be synced to the disk: {error}.")
            }
            JournalFinding::FolderDeleted { bytes, folder } => format!(
                "The folder of this run was deleted during the run. The journal of {} bytes was \
                 written again to {folder}; nothing is lost.",
                grouped(*bytes)
            ),
            JournalFinding::JournalNotWritten { frames, error } => format!(
                "{} could not be written to the journal: {error}.",
                counted(*frames, "frame", "frames")
            ),
            JournalFinding::JournalCut { bytes } => format!(
                "The last {} bytes of the journal are not a complete frame. The run contains \
                 everything before them.",
                grouped(*bytes)
            ),
            JournalFinding::JournalDamaged { bytes, part: JournalPart::Middle, .. } => format!(
                "{} bytes in the middle of the journal are damaged and lost; the run contains \
                 everything before and after them.",
                grouped(*bytes)
            ),
            JournalFinding::JournalDamaged { bytes, part: JournalPart::End, damage } => {
                let damage = damage.as_ref().map(|damage| format!(" ({damage})"));
                format!(
                    "The last {} bytes of the journal are damaged{}. The run contains everything \
                     before them.",
                    grouped(*bytes),
                    damage.unwrap_or_default()
                )
            }
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        let remedy = match self {
            JournalFinding::JournalNotSynced { .. } => "Check the disk.",
            JournalFinding::JournalNotWritten { .. } => {
                "Free some space, or use --out on a larger disk."
            }
            JournalFinding::JournalDamaged { .. } => {
                "Check the disk and the memory. The journal is kept in the folder of the run."
            }
            JournalFinding::FolderDeleted { .. } | JournalFinding::JournalCut { .. } => {
                return None;
            }
        };
        Some(Line::new(remedy))
    }
}
