//! Runs of a campaign: made one after the other, guests side by side, until none is missing or
//! something prevents it.

mod attempt;
mod cooling;
mod guests;
mod order;

use crate::sync::lock;
use crate::{Failure, interrupted, listen};
use attempt::{attempt, position};
pub use cooling::Cooling;
use latlab_store::Next;
use latlab_sys::files::Root;
pub use order::{CampaignOrder, Chooser, Event, Position};
use std::io;
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
        let (index, number) = match tried.next(campaign, release) {
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
        if campaign.rows[campaign.runs[index].row].plan.target.boots_for_each_run() {
            if guests::all(order, &mut tried, &tell)? {
                return Ok(CampaignEnd::Interrupted);
            }
            continue;
        }
        let position = position(campaign, &tried, index, number);
        if attempt(order, &position, &tell)?.note(&mut tried) {
            return Ok(CampaignEnd::Interrupted);
        }
    }
}
