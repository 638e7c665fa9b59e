//! One attempt at a run of a campaign.

use super::board_lock;
use super::request::{CampaignEvent, CampaignRequest, Notify, RunPosition};
use crate::{Failure, RunRequest, check_disk_space, run};
use latlab_model::campaign::{Campaign, FailedAttempt, PlannedRun};
use latlab_model::guest::TIME_LIMIT_FINDING;
use latlab_model::run::EndReason;
use latlab_model::{Nanos, Plan, Target};
use latlab_store::{CampaignProgress, CellState, Finished};

pub enum AttemptResult {
    Stored(Box<Finished>),
    /// It left nothing to store.
    Failed(FailedAttempt),
    /// The user ended it before anything was measured.
    Interrupted,
}

impl AttemptResult {
    /// Adds it to the earlier attempts; returns whether the user has ended the campaign.
    pub fn record(self, tried: &mut CampaignProgress) -> bool {
        match self {
            AttemptResult::Stored(finished) => {
                let Finished { path, run } = *finished;
                // A guest that was ended for taking too long was not ended by the user.
                let slow = run.findings.iter().any(|finding| finding.code() == TIME_LIMIT_FINDING);
                let cut = run.ended == EndReason::Interrupted && !slow;
                tried.runs.push((path, run));
                cut
            }
            AttemptResult::Failed(failed) => {
                tried.failures.push(failed);
                false
            }
            AttemptResult::Interrupted => true,
        }
    }
}

/// Makes a run, or notes why it failed.
pub fn attempt(
    request: &CampaignRequest<'_>,
    position: &RunPosition,
    notify: &Notify<'_>,
) -> Result<AttemptResult, Failure> {
    let CampaignRequest { folder, connect, stop, timing, .. } = *request;
    let campaign = &folder.campaign;
    let planned = &campaign.runs[position.number - 1];
    let plan = campaign.plan(planned, position.attempt);
    check_disk_space(&plan, folder.runs())?;
    let _alone = match &plan.on.target {
        Target::Board(board) => board_lock::wait(request, board, |holder| {
            notify(CampaignEvent::BoardIsTaken(position, holder));
        }),
        _ => None,
    };
    if stop.is_set() {
        return Ok(AttemptResult::Interrupted);
    }
    let (mut link, plan) = match connect(plan.clone()) {
        Ok(connected) => connected,
        Err(failure) => return failed(request, position, notify, &plan, failure),
    };
    notify(CampaignEvent::RunStarted(position, &plan));
    let id = folder.run_id(&plan.name);
    let link = link.as_mut();
    let made = RunRequest { plan: &plan, link, store: folder.runs(), id: &id, stop, timing };
    let result = run(made, |live| notify(CampaignEvent::RunProgress(position, live)));
    // Changes left by a killed agent would affect the next run.
    for change in link.restore() {
        notify(CampaignEvent::Restored(position, &change));
    }
    match result {
        Ok(finished) => {
            notify(CampaignEvent::RunStored(position, &finished));
            Ok(AttemptResult::Stored(Box::new(finished)))
        }
        Err(failure) => failed(request, position, notify, &plan, failure),
    }
}

/// Notes why a run failed if others may still succeed.
fn failed(
    request: &CampaignRequest<'_>,
    position: &RunPosition,
    notify: &Notify<'_>,
    plan: &Plan,
    failure: Failure,
) -> Result<AttemptResult, Failure> {
    let CampaignRequest { folder, stop, .. } = *request;
    match failure {
        Failure::Nothing if stop.is_set() => Ok(AttemptResult::Interrupted),
        // It says nothing about another board.
        Failure::Refused(refusal) if refusal.of_every_run && !plan.on.target.is_behind_a_link() => {
            Err(Failure::Refused(refusal))
        }
        Failure::Refused(_) | Failure::Nothing | Failure::Guest(_) | Failure::Board(_) => {
            let reason = failure.to_string();
            notify(CampaignEvent::RunFailed(position, &reason));
            let campaign = &folder.campaign;
            let planned = &campaign.runs[position.number - 1];
            let cell = plan.cell.clone().unwrap_or_else(|| campaign.cell(planned));
            Ok(AttemptResult::Failed(folder.record_failure(cell, reason)?))
        }
        failure => Err(failure),
    }
}

/// The position of a run in its campaign.
pub fn position(
    campaign: &Campaign,
    tried: &CampaignProgress,
    index: usize,
    attempt: u32,
    is_beside_others: bool,
) -> RunPosition {
    let planned = &campaign.runs[index];
    RunPosition {
        number: index + 1,
        of: campaign.runs.len(),
        row: campaign.rows[planned.row].label.clone(),
        repeat: planned.repeat,
        attempt,
        left_ns: remaining_time(campaign, tried),
        is_beside_others,
    }
}

fn remaining_time(campaign: &Campaign, tried: &CampaignProgress) -> Nanos {
    let missing =
        |one: &&PlannedRun| matches!(tried.cell_state(campaign, one), CellState::Missing { .. });
    let missing: Vec<&PlannedRun> = campaign.runs.iter().filter(missing).collect();
    let lengths = missing.iter().filter_map(|run| campaign.run_duration(run));
    lengths.sum::<Nanos>() + campaign.pause_time_of(missing.len())
}
