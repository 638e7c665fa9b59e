//! The runs of a campaign, one after the other, until all are made or something is in the way.

mod cooling;

use crate::live::Live;
use crate::{By, Failure, Order, check_room, interrupted, listen, run};
pub use cooling::Cooling;
use latlab_model::campaign::{Campaign, FailedTry, Planned, Row};
use latlab_model::run::EndReason;
use latlab_model::{Nanos, Plan};
use latlab_store::{CampaignFolder, Finished, Next, Tried};
use latlab_sys::files::Root;
use std::io;
use std::sync::{Mutex, PoisonError};

/// Says who measures a row by a plan, and gives the plan with what that adds to it.
pub type Chooser<'a> = dyn Fn(&Row, Plan) -> Result<(By, Plan), Failure> + Sync + 'a;

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

/// Why there is no next run.
#[derive(Debug)]
pub enum CampaignEnd {
    /// Each has been made, or given up.
    Complete,
    /// The user ended it.
    Interrupted,
    /// The runs that are left need another kernel.
    Boot {
        /// Which one.
        kernel: String,
        /// How many wait for it.
        runs: usize,
    },
}

/// What happens meanwhile.
pub enum Event<'a> {
    /// The machine cools down.
    Cools(&'a Cooling),
    /// A run begins.
    Begins(&'a Position, &'a Plan),
    /// It goes on; four times a second.
    GoesOn(&'a Live),
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

/// Makes the runs that are missing; those of guests side by side.
///
/// What cannot be measured is noted and is no reason to measure nothing else; what is wrong with
/// the disk or with the program itself ends the campaign, to be resumed.
pub fn campaign(
    order: &CampaignOrder<'_>,
    watch: impl FnMut(Event<'_>) + Send,
) -> Result<CampaignEnd, Failure> {
    let CampaignOrder { folder, release, keep_going, guests, .. } = *order;
    let campaign = &folder.campaign;
    listen(keep_going).map_err(io::Error::from)?;
    let watch = Mutex::new(watch);
    let tell = |event: Event<'_>| watch.lock().unwrap_or_else(PoisonError::into_inner)(event);
    let mut tried = folder.tried()?;
    let mut first = true;
    loop {
        let (index, attempt) = match tried.next(campaign, release) {
            Next::End => return Ok(CampaignEnd::Complete),
            Next::Boot { kernel, runs } => return Ok(CampaignEnd::Boot { kernel, runs }),
            Next::Run { index, attempt } => (index, attempt),
        };
        if !std::mem::take(&mut first) {
            cooling::wait(&campaign.cool_down, &Root::default(), |state| tell(Event::Cools(state)));
        }
        if interrupted() {
            return Ok(CampaignEnd::Interrupted);
        }
        let mut batch = vec![(index, attempt)];
        if campaign.rows[campaign.runs[index].row].is_guest() {
            batch = tried.missing_guests(campaign);
            batch.truncate(guests.max(1));
        }
        let positions: Vec<Position> = batch
            .iter()
            .map(|&(index, attempt)| position(campaign, &tried, index, attempt))
            .collect();
        let made: Vec<Result<Try, Failure>> = std::thread::scope(|scope| {
            let tell = &tell;
            let start = |position| scope.spawn(move || attempt_one(order, position, tell));
            let threads: Vec<_> = positions.iter().map(start).collect();
            threads.into_iter().map(|one| one.join().map_err(|_| crate::died())?).collect()
        });
        let mut cut = false;
        for one in made {
            match one? {
                Try::Made(finished) => {
                    cut |= finished.run.ended == EndReason::Interrupted;
                    let Finished { path, run } = *finished;
                    tried.runs.push((path, run));
                }
                Try::Failed(failed) => tried.failures.push(failed),
                Try::Interrupted => cut = true,
            }
        }
        if cut {
            return Ok(CampaignEnd::Interrupted);
        }
    }
}

/// What became of one try.
enum Try {
    Made(Box<Finished>),
    Failed(FailedTry),
    Interrupted,
}

fn attempt_one(
    order: &CampaignOrder<'_>,
    position: &Position,
    tell: &dyn Fn(Event<'_>),
) -> Result<Try, Failure> {
    let CampaignOrder { folder, by, keep_going, .. } = *order;
    let campaign = &folder.campaign;
    let planned = &campaign.runs[position.number - 1];
    let plan = campaign.plan(planned, position.attempt);
    tell(Event::Begins(position, &plan));
    check_room(&plan, folder.runs())?;
    let id = folder.run_id(&plan.name);
    let (by, plan) = by(&campaign.rows[planned.row], plan)?;
    let order = Order { plan: &plan, by, store: folder.runs(), id: &id, keep_going };
    match run(order, |live| tell(Event::GoesOn(live))) {
        Ok(finished) => {
            tell(Event::Ended(position, &finished));
            Ok(Try::Made(Box::new(finished)))
        }
        Err(Failure::Nothing) if interrupted() => Ok(Try::Interrupted),
        Err(failure @ (Failure::Refused(_) | Failure::Nothing | Failure::Guest { .. })) => {
            let reason = failure.to_string();
            tell(Event::Failed(position, &reason));
            let cell = plan.cell.clone().unwrap_or_else(|| campaign.cell(planned));
            Ok(Try::Failed(folder.note_failure(cell, reason)?))
        }
        Err(failure) => Err(failure),
    }
}

fn position(campaign: &Campaign, tried: &Tried, index: usize, attempt: u32) -> Position {
    let planned = &campaign.runs[index];
    Position {
        number: index + 1,
        of: campaign.runs.len(),
        row: campaign.rows[planned.row].label.clone(),
        repeat: planned.repeat,
        attempt,
        left_ns: left(campaign, tried),
    }
}

fn left(campaign: &Campaign, tried: &Tried) -> Nanos {
    use latlab_store::CellState;
    let missing =
        |one: &&Planned| matches!(tried.standing(campaign, one), CellState::Missing { .. });
    let missing: Vec<&Planned> = campaign.runs.iter().filter(missing).collect();
    let pauses = campaign.cool_down.pause_ns * (missing.len() as i64 - 1).max(0);
    missing.iter().fold(pauses, |sum, one| sum + campaign.length_of(one).unwrap_or_default())
}
