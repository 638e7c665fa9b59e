//! One try of a run of a campaign.

use super::order::{CampaignOrder, Event, Position, Telling};
use crate::{Failure, Order, check_room, interrupted, run};
use latlab_model::Nanos;
use latlab_model::campaign::{Campaign, FailedTry, Planned};
use latlab_model::guest::TIME_LIMIT_FINDING;
use latlab_model::run::EndReason;
use latlab_store::{CellState, Finished, Tried};

/// What became of one try.
pub enum Try {
    /// It is stored.
    Made(Box<Finished>),
    /// It left nothing to store.
    Failed(FailedTry),
    /// The user has ended it before it began.
    Interrupted,
}

impl Try {
    /// Puts it to the others, and says whether the user has ended the campaign.
    pub fn note(self, tried: &mut Tried) -> bool {
        match self {
            Try::Made(finished) => {
                let Finished { path, run } = *finished;
                // What ended a guest of too much time was not the user.
                let slow = run.findings.iter().any(|finding| finding.code == TIME_LIMIT_FINDING);
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

/// Makes a run, and notes why it could not be made.
pub fn attempt(
    order: &CampaignOrder<'_>,
    position: &Position,
    tell: &Telling<'_>,
) -> Result<Try, Failure> {
    let CampaignOrder { folder, by, keep_going, .. } = *order;
    let campaign = &folder.campaign;
    let planned = &campaign.runs[position.number - 1];
    let plan = campaign.plan(planned, position.attempt);
    check_room(&plan, folder.runs())?;
    let (by, plan) = by(plan)?;
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
        Err(failure @ (Failure::Refused(_) | Failure::Nothing | Failure::Guest(_))) => {
            let reason = failure.to_string();
            tell(Event::Failed(position, &reason));
            let cell = plan.cell.clone().unwrap_or_else(|| campaign.cell(planned));
            Ok(Try::Failed(folder.note_failure(cell, reason)?))
        }
        Err(failure) => Err(failure),
    }
}

/// Where a run stands among all.
pub fn position(campaign: &Campaign, tried: &Tried, index: usize, attempt: u32) -> Position {
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
    let missing =
        |one: &&Planned| matches!(tried.standing(campaign, one), CellState::Missing { .. });
    let missing: Vec<&Planned> = campaign.runs.iter().filter(missing).collect();
    let lengths = missing.iter().filter_map(|run| campaign.length_of(run));
    lengths.sum::<Nanos>() + campaign.pauses_of(missing.len())
}
