//! What a campaign is made with, and what happens meanwhile.

use super::cool_down::CoolDownState;
use crate::link::Link;
use crate::live::LiveRun;
use crate::{Failure, StopFlag, Timing};
use latlab_model::{Nanos, Plan};
use latlab_store::{CampaignFolder, Finished};
use std::path::PathBuf;

/// Gives the way to the agent that measures by a plan, and the plan with what is now known of its
/// target.
pub type Connect<'a> = dyn Fn(Plan) -> Result<(Box<dyn Link>, Plan), Failure> + Sync + 'a;

/// Takes events, from several threads where runs are made side by side.
pub(super) type Notify<'a> = dyn Fn(CampaignEvent<'_>) + Sync + 'a;

/// What a campaign is made with.
pub struct CampaignRequest<'a> {
    /// The campaign, which this process has the lock of.
    pub folder: &'a CampaignFolder,
    /// The ways to the agents.
    pub connect: &'a Connect<'a>,
    /// Runs that are made at once, where each boots a machine of its own.
    pub guests_at_once: usize,
    /// Boards that are measured at once.
    pub boards_at_once: usize,
    /// Folder of the files that keep a board for one campaign at a time.
    pub board_locks: PathBuf,
    /// Release of the kernel that runs on this machine.
    pub release: &'a str,
    /// Ends the campaign when it is set.
    pub stop: &'a StopFlag,
    /// How often runs are looked at.
    pub timing: Timing,
}

/// What happens meanwhile.
pub enum CampaignEvent<'a> {
    /// The machine cools down.
    CoolingDown(&'a CoolDownState),
    /// Another campaign measures its board, which is waited for; who that is.
    BoardIsTaken(&'a RunPosition, &'a str),
    /// A run begins.
    RunStarted(&'a RunPosition, &'a Plan),
    /// It goes on; at each refresh.
    RunProgress(&'a RunPosition, &'a LiveRun),
    /// A change of a killed agent was undone; a line.
    Restored(&'a RunPosition, &'a str),
    /// It is stored.
    RunStored(&'a RunPosition, &'a Finished),
    /// It left nothing to store, for this reason.
    RunFailed(&'a RunPosition, &'a str),
}

/// Where in the campaign a run is.
#[derive(Clone, PartialEq, Debug)]
pub struct RunPosition {
    /// Its place in the order, from 1 on.
    pub number: usize,
    /// Runs of the campaign.
    pub of: usize,
    /// Label of its row.
    pub row: String,
    /// The repeat of the row, from 1 on.
    pub repeat: u32,
    /// The attempt, from 1 on.
    pub attempt: u32,
    /// What the runs that are missing take, this one included.
    pub left_ns: Nanos,
    /// Whether others are made meanwhile.
    pub is_beside_others: bool,
}
