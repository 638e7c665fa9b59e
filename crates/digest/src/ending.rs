//! How a stream ended, and what that says of the run.

use latlab_model::frame::Damage;
use latlab_model::run::{Finding, Severity};

/// How the stream ended, from whoever read it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Ending {
    /// What is wrong after the last whole frame.
    pub damage: Option<Damage>,
    /// Bytes after the last whole frame.
    pub journal_bytes: u64,
    /// Bytes before it that were no whole frame.
    pub skipped_bytes: u64,
    /// Whether the program that wrote the journal was gone before it finished the run.
    pub recovered: bool,
    /// What the writer of the journal has to add.
    pub findings: Vec<Finding>,
}

/// What is wrong with the journal itself.
pub fn damaged(ending: &Ending) -> Vec<Finding> {
    let mut found = Vec::new();
    if ending.skipped_bytes > 0 {
        let text = format!(
            "{} bytes within the journal are damaged: what they held is lost, and everything \
             before and after them is in this run.",
            ending.skipped_bytes
        );
        found.push(Finding::new("journal-damaged", Severity::Error, text).invalidates());
    }
    if let Some(damage) = &ending.damage {
        let bytes = ending.journal_bytes;
        let (code, severity, what) = match damage {
            Damage::CutOff => ("journal-cut", Severity::Warning, "no whole frame"),
            _ => ("journal-damaged", Severity::Error, "damaged"),
        };
        let text = format!(
            "The last {bytes} bytes of the journal are {what} ({damage}); everything before \
             them is in this run."
        );
        found.push(Finding::new(code, severity, text));
    }
    found
}
