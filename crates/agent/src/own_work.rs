//! The work of our own threads, from their logs to frames of the stream.

use latlab_model::Nanos;
use latlab_model::own_work::{OwnThread, OwnWork, WorkStretch};
use latlab_sys::work_log::{Stretch, TakenLog};

/// The frame of what was taken from a log; none where there was nothing.
pub fn own_work(taken: TakenLog<OwnThread>) -> Option<OwnWork> {
    let TakenLog { owner, allowed, lost, stretches } = taken;
    let stretch = |Stretch { begin, end, ran, first_cpu, last_cpu }: Stretch| WorkStretch {
        begin_ns: Nanos(begin),
        length_ns: Nanos(end - begin),
        ran_ns: Nanos(ran),
        first_cpu,
        last_cpu,
    };
    (lost > 0 || !stretches.is_empty()).then(|| OwnWork {
        thread: owner,
        allowed: allowed.into_iter().collect(),
        lost,
        stretches: stretches.into_iter().map(stretch).collect(),
    })
}
