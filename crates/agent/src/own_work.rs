//! Sends the CPU time of our own threads (self-interference) from their logs to the stream.

use latlab_model::own_work::{OwnThread, OwnWork, WorkStretch};
use latlab_sys::work_log::TakenLog;

/// The frame for what was taken from a log; `None` if that was empty.
pub fn own_work(taken: TakenLog<OwnThread>) -> Option<OwnWork> {
    let TakenLog { owner, allowed, lost, stretches } = taken;
    let each = stretches.into_iter();
    let each = each
        .map(|one| WorkStretch::new(one.begin, one.end, one.ran, (one.first_cpu, one.last_cpu)));
    OwnWork::new(owner, allowed, lost, each.collect())
}
