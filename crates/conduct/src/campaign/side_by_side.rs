//! Runs whose targets boot for each run: they need no machine for themselves, so that several are
//! made side by side.

use super::attempt::{attempt, position};
use super::request::{CampaignRequest, Notify};
use crate::{Failure, lock, thread_died};
use latlab_store::CampaignProgress;
use std::sync::Mutex;
use std::thread;

/// Makes one attempt at each run that is missing; whether the user has ended the campaign.
pub fn make_missing(
    request: &CampaignRequest<'_>,
    tried: &mut CampaignProgress,
    notify: &Notify<'_>,
) -> Result<bool, Failure> {
    let campaign = &request.folder.campaign;
    let missing = tried.missing_side_by_side(campaign);
    let missing = Mutex::new(missing.into_iter());
    let tried = Mutex::new(tried);
    let work = || -> Result<bool, Failure> {
        loop {
            let Some((index, number)) = lock(&missing).next() else { return Ok(false) };
            if request.stop.is_set() {
                return Ok(true);
            }
            let position = position(campaign, &lock(&tried), index, number);
            if attempt(request, &position, notify)?.record(&mut lock(&tried)) {
                return Ok(true);
            }
        }
    };
    let results: Vec<Result<bool, Failure>> = thread::scope(|scope| {
        let count = request.side_by_side.max(1);
        let start = |_| thread::Builder::new().spawn_scoped(scope, work);
        let (threads, failed): (Vec<_>, Vec<_>) = (0..count).map(start).partition(Result::is_ok);
        // Those that could be started make all runs.
        let none = threads.is_empty().then(|| failed.into_iter().find_map(Result::err)).flatten();
        let ended = threads.into_iter().flatten();
        let ended = ended.map(|one| one.join().map_err(|_| thread_died())?);
        none.map(|error| Err(Failure::Thread(error))).into_iter().chain(ended).collect()
    });
    results.into_iter().try_fold(false, |interrupted, one| Ok(interrupted | one?))
}
