//! Runs of a campaign: made one after the other, guests and boards side by side, until none is missing
//! or something prevents it.

mod attempt;
mod board_lock;
mod cool_down;
mod request;
mod side_by_side;

use crate::{Failure, lock};
use attempt::{attempt, position};
pub use cool_down::CoolDownState;
use latlab_store::NextStep;
use latlab_sys::files::Root;
pub use request::{CampaignEvent, CampaignRequest, Connect, RunPosition};
use side_by_side::SideBySide;
use std::sync::Mutex;

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

/// Makes the runs that are missing, those of targets that boot for each run and those of several boards
/// side by side; `watch` is called for each event, from several threads.
///
/// What cannot be measured is noted and is no reason to measure nothing else; what is wrong with
/// the disk, with the program itself or with what every run needs ends the campaign, to be resumed.
/// What failed before gets its tries anew.
pub fn run_campaign(
    request: &CampaignRequest<'_>,
    watch: impl FnMut(CampaignEvent<'_>) + Send,
) -> Result<CampaignEnd, Failure> {
    let CampaignRequest { folder, release, stop, timing, .. } = *request;
    let campaign = &folder.campaign;
    let watch = Mutex::new(watch);
    let notify = |event: CampaignEvent<'_>| lock(&watch)(event);
    let mut tried = folder.progress()?.forget_failures();
    let mut first = true;
    loop {
        let (index, number) = match tried.next_step(campaign, release) {
            NextStep::End => return Ok(CampaignEnd::Complete),
            NextStep::Boot { kernel, runs } => return Ok(CampaignEnd::Boot { kernel, runs }),
            NextStep::Run { index, attempt } => (index, attempt),
        };
        if !std::mem::take(&mut first) {
            let (rule, root) = (&campaign.cool_down, Root::default());
            cool_down::wait(rule, &root, stop, timing.refresh, |state| {
                notify(CampaignEvent::CoolingDown(state))
            });
        }
        if stop.is_set() {
            return Ok(CampaignEnd::Interrupted);
        }
        let target = campaign.target_of(&campaign.runs[index]);
        let interrupted = match SideBySide::with(target, request, &tried) {
            Some(several) => several.make(request, &mut tried, &notify)?,
            None => {
                let position = position(campaign, &tried, index, number, false);
                attempt(request, &position, &notify)?.record(&mut tried)
            }
        };
        if interrupted {
            return Ok(CampaignEnd::Interrupted);
        }
    }
}
