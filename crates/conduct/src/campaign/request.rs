//! The request for a campaign, and its events.

use super::cool_down::CoolDownState;
use crate::link::Link;
use crate::live::LiveRun;
use crate::{Failure, StopFlag, Timing};
use latlab_model::{Nanos, Plan};
use latlab_store::{CampaignFolder, CampaignProgress, Finished};
use std::path::PathBuf;

/// Connects to the agent for a plan; returns the plan with what is now known of its target.
pub type Connect<'a> = dyn Fn(Plan) -> Result<(Box<dyn Link>, Plan), Failure> + Sync + 'a;

/// Takes events, from several threads if runs are made in parallel.
pub(super) type Notify<'a> = dyn Fn(CampaignEvent<'_>) + Sync + 'a;

pub struct CampaignRequest<'a> {
    /// Locked by this process.
    pub folder: &'a CampaignFolder,
    pub connect: &'a Connect<'a>,
    /// Parallel runs of targets that boot for each run.
    pub guests_at_once: usize,
    /// Boards measured in parallel.
    pub boards_at_once: usize,
    /// Folder of the lock files of boards.
    pub board_locks: PathBuf,
    /// Kernel release of this machine.
    pub release: &'a str,
    /// Whether the runs so far suffice, so that no other is begun.
    pub is_enough: &'a (dyn Fn(&CampaignProgress) -> bool + Sync),
    /// Ends the campaign when set.
    pub stop: &'a StopFlag,
    pub timing: Timing,
}

pub enum CampaignEvent<'a> {
    /// The machine is cooling down.
    CoolingDown(&'a CoolDownState),
    /// Waiting for another campaign that measures the same board, with its name.
    BoardIsTaken(&'a RunPosition, &'a str),
    RunStarted(&'a RunPosition, &'a Plan),
    /// At each refresh.
    RunProgress(&'a RunPosition, &'a LiveRun),
    /// A change left by a killed agent was undone; one line.
    Restored(&'a RunPosition, &'a str),
    RunStored(&'a RunPosition, &'a Finished),
    /// It left nothing to store, for this reason.
    RunFailed(&'a RunPosition, &'a str),
}

/// The position of a run in its campaign.
#[derive(Clone, PartialEq, Debug)]
pub struct RunPosition {
    /// Place in the order, from 1.
    pub number: usize,
    /// Number of runs in the campaign.
    pub of: usize,
    /// Label of its row.
    pub row: String,
    /// Repeat number in the row, from 1.
    pub repeat: u32,
    /// From 1.
    pub attempt: u32,
    /// Estimated time for all missing runs, including this one.
    pub left_ns: Nanos,
    /// Whether other runs are being made in parallel.
    pub is_beside_others: bool,
}
