//! How far a campaign and its cells are.

use latlab_model::Run;
use latlab_model::run::VerdictWord;
use latlab_model::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Number of runs by state; all others are still to be made.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CampaignCounts {
    /// Runs planned.
    pub planned: usize,
    /// Runs measured.
    pub measured: usize,
    /// Runs that were invalid at every attempt.
    pub invalid: usize,
    /// Runs whose last attempt left nothing to store.
    pub failed: usize,
    /// Runs that were measured but whose files are damaged.
    pub damaged: usize,
}

impl CampaignCounts {
    /// Runs with attempts left.
    pub fn missing(&self) -> usize {
        self.planned.saturating_sub(self.measured + self.invalid + self.failed + self.damaged)
    }
}

impl fmt::Display for CampaignCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} measured", self.measured, self.planned)?;
        let others =
            [(self.invalid, "invalid"), (self.failed, "failed"), (self.damaged, "damaged")];
        for (count, word) in others.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {word}")?;
        }
        Ok(())
    }
}

/// A campaign in a list of campaigns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CampaignSummary {
    /// Number of runs by state.
    pub counts: CampaignCounts,
    /// Number of runs by verdict; runs without a verdict are left out.
    pub verdicts: Vec<(VerdictWord, usize)>,
}

text_enum! {
    /// State of a cell.
    CellWord {
        /// The run is done.
        Done = "done",
        /// All attempts failed or are invalid.
        Failed = "failed",
        /// The run is still to be made.
        Missing = "missing",
        /// The run was made, but its files are damaged.
        Damaged = "damaged",
        /// Left out because a program is missing.
        LeftOut = "left-out",
    }
}

/// Verdict of a cell that shows this run; `has_failed` says whether an attempt that does not count
/// missed the deadline.
pub fn cell_verdict(state: CellWord, run: Option<&Run>, has_failed: bool) -> Option<VerdictWord> {
    let of_run = run.and_then(|run| run.verdict.as_ref()).map(|verdict| verdict.word);
    let has_ended = matches!(state, CellWord::Done | CellWord::Failed);
    // A deadline miss stays a miss, whatever else is wrong with the run or follows it.
    if has_ended && has_failed {
        return Some(VerdictWord::Fail);
    }
    let is_spoilt = state == CellWord::Failed && run.is_some();
    if is_spoilt && of_run != Some(VerdictWord::Fail) {
        return Some(VerdictWord::Invalid);
    }
    of_run
}
