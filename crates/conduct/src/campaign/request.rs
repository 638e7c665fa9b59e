//! What a campaign is asked for, and what it tells meanwhile.

use super::cooling::Cooling;
use crate::live::Live;
use crate::{By, Failure};
use latlab_model::{Nanos, Plan};
use latlab_store::{CampaignFolder, Finished};

/// Says who measures by a plan, and gives the plan with what that adds to it.
pub type Chooser<'a> = dyn Fn(Plan) -> Result<(By, Plan), Failure> + Sync + 'a;

/// Takes what happens, from several threads where guests run side by side.
pub(super) type Telling<'a> = dyn Fn(Event<'_>) + Sync + 'a;

/// What is to be conducted.
pub struct CampaignOrder<'a> {
    /// The campaign, which this process has the lock of.
    pub folder: &'a CampaignFolder,
    /// Who measures.
    pub by: &'a Chooser<'a>,
    /// Guests that run side by side.
    pub guests: usize,
    /// Release of the kernel that runs.
    pub release: &'a str,
    /// Whether to go on when the terminal is closed.
    pub keep_going: bool,
}

/// What happens meanwhile.
pub enum Event<'a> {
    /// The machine cools down.
    Cools(&'a Cooling),
    /// A run begins.
    Begins(&'a Position, &'a Plan),
    /// It goes on; four times a second.
    GoesOn(&'a Position, &'a Live),
    /// It is stored.
    Ended(&'a Position, &'a Finished),
    /// It left nothing to store, for this reason.
    Failed(&'a Position, &'a str),
}

/// Where in the campaign a run is.
#[derive(Clone, PartialEq, Debug)]
pub struct Position {
    /// Its place in the order, from 1 on.
    pub number: usize,
    /// Runs of the campaign.
    pub of: usize,
    /// Label of its row.
    pub row: String,
    /// The how many-th of this row.
    pub repeat: u32,
    /// The how many-th try.
    pub attempt: u32,
    /// What the runs that are missing take, this one included.
    pub left_ns: Nanos,
}
