//! Runs made in parallel: those whose targets boot for each run, since they need no machine to
//! themselves, and those of several boards, each board making its own runs one after the other.

use super::attempt::{attempt, position};
use super::cool_down;
use super::request::{CampaignRequest, Notify};
use crate::{Failure, lock, thread_died};
use latlab_model::Target;
use latlab_model::campaign::{Campaign, CoolDown};
use latlab_store::CampaignProgress;
use latlab_sys::files::Root;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Missing runs as places and attempts.
type MissingRuns = Vec<(usize, u32)>;

/// Rows of missing runs: each row is made in order, this many rows at once.
pub struct SideBySide {
    rows: Vec<MissingRuns>,
    at_once: usize,
}

impl SideBySide {
    /// The runs that can be made in parallel with this one, including it; `None` if it must run
    /// alone.
    pub fn with(
        target: &Target,
        request: &CampaignRequest<'_>,
        tried: &CampaignProgress,
    ) -> Option<SideBySide> {
        let campaign = &request.folder.campaign;
        if target.boots_for_each_run() {
            let missing = tried.missing(campaign, Target::boots_for_each_run);
            let rows = missing.into_iter().map(|one| vec![one]).collect();
            return Some(SideBySide { rows, at_once: request.guests_at_once });
        }
        if !target.is_behind_a_link() || request.boards_at_once < 2 {
            return None;
        }
        let missing = tried.missing(campaign, Target::is_behind_a_link);
        let rows = by_target(campaign, missing);
        (rows.len() > 1).then_some(SideBySide { rows, at_once: request.boards_at_once })
    }

    /// Makes one attempt at each run; returns whether the user has ended the campaign.
    pub fn make(
        self,
        request: &CampaignRequest<'_>,
        tried: &mut CampaignProgress,
        notify: &Notify<'_>,
    ) -> Result<bool, Failure> {
        let SideBySide { rows, at_once } = self;
        let campaign = &request.folder.campaign;
        let pause = CoolDown { pause_ns: campaign.cool_down.pause_ns, ..CoolDown::default() };
        let rows = Mutex::new(rows.into_iter());
        let tried = Mutex::new(tried);
        // An error that ends the campaign, such as a full disk, lets running measurements finish
        // but starts no more.
        let is_over = AtomicBool::new(false);
        let make_rows = || -> Result<bool, Failure> {
            loop {
                let Some(row) = lock(&rows).next() else { return Ok(false) };
                for (at, (index, number)) in row.into_iter().enumerate() {
                    if at > 0 {
                        let refresh = request.timing.refresh;
                        cool_down::wait(&pause, &Root::default(), request.stop, refresh, |_| {});
                    }
                    if request.stop.is_set() {
                        return Ok(true);
                    }
                    if is_over.load(Ordering::Relaxed) {
                        return Ok(false);
                    }
                    let position = position(campaign, &lock(&tried), index, number, true);
                    if attempt(request, &position, notify)?.record(&mut lock(&tried)) {
                        return Ok(true);
                    }
                }
            }
        };
        let work = || make_rows().inspect_err(|_| is_over.store(true, Ordering::Relaxed));
        let results: Vec<Result<bool, Failure>> = thread::scope(|scope| {
            let start = |_| thread::Builder::new().spawn_scoped(scope, work);
            let (threads, failed): (Vec<_>, Vec<_>) =
                (0..at_once.max(1)).map(start).partition(Result::is_ok);
            // The threads that could be started make all runs.
            let none =
                threads.is_empty().then(|| failed.into_iter().find_map(Result::err)).flatten();
            let ended = threads.into_iter().flatten();
            let ended = ended.map(|one| one.join().map_err(|_| thread_died())?);
            none.map(|error| Err(Failure::Thread(error))).into_iter().chain(ended).collect()
        });
        results.into_iter().try_fold(false, |interrupted, one| Ok(interrupted | one?))
    }
}

/// Groups runs by target, in order.
fn by_target(campaign: &Campaign, missing: MissingRuns) -> Vec<MissingRuns> {
    let mut all: Vec<(&Target, MissingRuns)> = Vec::new();
    for one in missing {
        let target = campaign.target_of(&campaign.runs[one.0]);
        match all.iter_mut().find(|(known, _)| *known == target) {
            Some((_, runs)) => runs.push(one),
            None => all.push((target, vec![one])),
        }
    }
    all.into_iter().map(|(_, runs)| runs).collect()
}
