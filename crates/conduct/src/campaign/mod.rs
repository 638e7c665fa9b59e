//! The runs of a campaign, one after the other, until all are made or something is in the way.

mod cooling;
mod guests;

use crate::live::Live;
use crate::{By, Failure, Order, check_room, interrupted, listen, run};
pub use cooling::Cooling;
use latlab_model::campaign::{Campaign, FailedTry, Planned, Row};
use latlab_model::guest::TIME_LIMIT;
use latlab_model::run::EndReason;
use latlab_model::{Nanos, Plan};
use latlab_store::{CampaignFolder, Finished, Next, Tried};
use latlab_sys::files::Root;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Says who measures a row by a plan, and gives the plan with what that adds to it.
pub type Chooser<'a> = dyn Fn(&Row, Plan) -> Result<(By, Plan), Failure> + Sync + 'a;

/// Takes what happens, from several threads where guests run side by side.
type Telling<'a> = dyn Fn(Event<'_>) + Sync + 'a;

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

/// Makes the runs that are missing; those of guests side by side.
///
/// What cannot be measured is noted and is no reason to measure nothing else; what is wrong with
/// the disk, with the program itself or with what every run needs ends the campaign, to be resumed.
/// What failed before gets its tries anew.
pub fn campaign(
    order: &CampaignOrder<'_>,
    watch: impl FnMut(Event<'_>) + Send,
) -> Result<CampaignEnd, Failure> {
    let CampaignOrder { folder, release, keep_going, .. } = *order;
    let campaign = &folder.campaign;
    listen(keep_going).map_err(io::Error::from)?;
    let watch = Mutex::new(watch);
    let tell = |event: Event<'_>| lock(&watch)(event);
    let mut tried = folder.tried()?.tried_anew();
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
        if campaign.rows[campaign.runs[index].row].is_guest() {
            if guests::all(order, &mut tried, &tell)? {
                return Ok(CampaignEnd::Interrupted);
            }
            continue;
        }
        let position = position(campaign, &tried, index, attempt);
        if attempt_one(order, &position, &tell)?.note(&mut tried) {
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

impl Try {
    /// Puts it to the others, and says whether the user has ended the campaign.
    fn note(self, tried: &mut Tried) -> bool {
        match self {
            Try::Made(finished) => {
                let Finished { path, run } = *finished;
                // What ended a guest of too much time was not the user.
                let slow = run.findings.iter().any(|finding| finding.code == TIME_LIMIT);
                let cut = run.ended == EndReason::Interrupted && !slow;
                tried.runs.push((path, run));
                cut
            }
            Try::Failed(failed) => {
                tried.failures.push(failed);
                false
            }
            Try::Interrupted => true,
        }
    }
}

fn attempt_one(
    order: &CampaignOrder<'_>,
    position: &Position,
    tell: &Telling<'_>,
) -> Result<Try, Failure> {
    let CampaignOrder { folder, by, keep_going, .. } = *order;
    let campaign = &folder.campaign;
    let planned = &campaign.runs[position.number - 1];
    let plan = campaign.plan(planned, position.attempt);
    check_room(&plan, folder.runs())?;
    let (by, plan) = by(&campaign.rows[planned.row], plan)?;
    tell(Event::Begins(position, &plan));
    let id = folder.run_id(&plan.name);
    let order = Order { plan: &plan, by, store: folder.runs(), id: &id, keep_going };
    match run(order, |live| tell(Event::GoesOn(position, live))) {
        Ok(finished) => {
            tell(Event::Ended(position, &finished));
            Ok(Try::Made(Box::new(finished)))
        }
        Err(Failure::Nothing) if interrupted() => Ok(Try::Interrupted),
        Err(Failure::Refused(refusal)) if refusal.of_every_run => Err(Failure::Refused(refusal)),
        Err(failure @ (Failure::Refused(_) | Failure::Nothing | Failure::Guest { .. })) => {
            let reason = failure.to_string();
            tell(Event::Failed(position, &reason));
            let cell = plan.cell.clone().unwrap_or_else(|| campaign.cell(planned));
            Ok(Try::Failed(folder.note_failure(cell, reason)?))
        }
        Err(failure) => Err(failure),
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
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
    let lengths = missing.iter().filter_map(|run| campaign.length_of(run));
    lengths.sum::<Nanos>() + campaign.pauses_of(missing.len())
}
