//! Runs of a campaign: one after the other, guests and boards in parallel, until all are made or
//! something prevents it.

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
    /// Each run was made or given up, or those made suffice.
    Complete,
    /// The user ended it.
    Interrupted,
    /// The remaining runs need another kernel.
    Boot {
        /// Its release.
        kernel: String,
        /// Runs that wait for it.
        runs: usize,
    },
}

/// Makes the missing runs; those of targets that boot for each run, and those of several boards, in
/// parallel. `watch` is called for each event, from several threads.
///
/// A run that cannot be measured is noted and does not stop the others. An error of the disk, of
/// the program itself or of something that every run needs ends the campaign, which can then be
/// resumed. Earlier failures get all their tries again.
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
        if (request.is_enough)(&tried) {
            return Ok(CampaignEnd::Complete);
        }
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
