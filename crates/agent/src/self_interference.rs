//! Sends the CPU time of our own threads (self-interference) from their logs to the stream.

use latlab_model::self_interference::{OwnThread, SelfInterference, WorkStretch};
use latlab_sys::work_log::TakenLog;

/// The frame for what was taken from a log; `None` if that was empty.
pub fn self_interference(taken: TakenLog<OwnThread>) -> Option<SelfInterference> {
    let TakenLog { owner, allowed, lost, stretches } = taken;
    let each = stretches.into_iter();
    let each = each
        .map(|one| WorkStretch::new(one.begin, one.end, one.ran, (one.first_cpu, one.last_cpu)));
    SelfInterference::new(owner, allowed, lost, each.collect())
}
