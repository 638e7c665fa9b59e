//! How a stream ended, and what that means for the run.

use latlab_model::finding::{Finding, JournalFinding, JournalPart};
use latlab_model::frame::Damage;

/// How the stream ended, according to its reader.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct StreamEnd {
    /// Damage after the last whole frame.
    pub damage: Option<Damage>,
    /// Bytes after the last whole frame.
    pub journal_bytes: u64,
    /// Bytes before it that were no whole frame.
    pub skipped_bytes: u64,
    /// Whether the program that wrote the journal was gone before it finished the run.
    pub recovered: bool,
    /// Findings of the journal's writer.
    pub findings: Vec<Finding>,
}

/// Findings about the journal itself.
pub fn damage_findings(ending: &StreamEnd) -> Vec<Finding> {
    let middle = (ending.skipped_bytes > 0).then_some(JournalFinding::JournalDamaged {
        bytes: ending.skipped_bytes,
        part: JournalPart::Middle,
        damage: None,
    });
    let bytes = ending.journal_bytes;
    let end = ending.damage.as_ref().map(|damage| match damage {
        Damage::CutOff => JournalFinding::JournalCut { bytes },
        other => JournalFinding::JournalDamaged {
            bytes,
            part: JournalPart::End,
            damage: Some(other.to_string()),
        },
    });
    middle.into_iter().chain(end).map(Finding::new).collect()
}
