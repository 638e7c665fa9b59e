//! The work of the conductor's threads: from their logs to the journal.

use latlab_model::frame::Message;
use latlab_model::own_work::{OwnThread, OwnWork, WorkStretch};
use latlab_store::{OpenRun, Result};
use latlab_sys::work_log::{TakenLog, WorkLogs};
use std::time::{Duration, Instant};

/// Distance of two frames of a thread's work.
const EVERY: Duration = Duration::from_secs(1);

/// Appends what the threads of the conductor note to the journal, among the frames of the stream.
pub struct OwnWorkWriter<'a> {
    logs: &'a WorkLogs<OwnThread>,
    written: Instant,
}

impl<'a> OwnWorkWriter<'a> {
    /// Of these logs.
    pub fn new(logs: &'a WorkLogs<OwnThread>) -> OwnWorkWriter<'a> {
        OwnWorkWriter { logs, written: Instant::now() }
    }

    /// Appends what was noted since the last time, where that is a second ago or this is the `last`
    /// time.
    pub fn write(&mut self, journal: &mut OpenRun, last: bool) -> Result<()> {
        if !last && self.written.elapsed() < EVERY {
            return Ok(());
        }
        self.written = Instant::now();
        for work in self.logs.take().into_iter().filter_map(own_work) {
            journal.append(&Message::OwnWork(work).encode())?;
        }
        Ok(())
    }
}

fn own_work(taken: TakenLog<OwnThread>) -> Option<OwnWork> {
    let TakenLog { owner, allowed, lost, stretches } = taken;
    let each = stretches.into_iter();
    let each = each
        .map(|one| WorkStretch::new(one.begin, one.end, one.ran, (one.first_cpu, one.last_cpu)));
    OwnWork::new(owner, allowed, lost, each.collect())
}
