//! Runs of guests: they need no machine for themselves, so that several are made side by side.

use super::attempt::{attempt, position};
use super::order::{CampaignOrder, Telling};
use crate::sync::lock;
use crate::{Failure, died, interrupted};
use latlab_store::Tried;
use std::sync::Mutex;
use std::thread;

/// Makes one try of each that is missing; whether the user has ended the campaign.
pub fn all(
    order: &CampaignOrder<'_>,
    tried: &mut Tried,
    tell: &Telling<'_>,
) -> Result<bool, Failure> {
    let campaign = &order.folder.campaign;
    let missing = Mutex::new(tried.missing_guests(campaign).into_iter());
    let tried = Mutex::new(tried);
    let work = || -> Result<bool, Failure> {
        loop {
            let Some((index, number)) = lock(&missing).next() else { return Ok(false) };
            if interrupted() {
                return Ok(true);
            }
            let position = position(campaign, &lock(&tried), index, number);
            if attempt(order, &position, tell)?.note(&mut lock(&tried)) {
                return Ok(true);
            }
        }
    };
    let ended: Vec<Result<bool, Failure>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..order.guests.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|one| one.join().map_err(|_| died())?).collect()
    });
    ended.into_iter().try_fold(false, |cut, one| Ok(cut | one?))
}
