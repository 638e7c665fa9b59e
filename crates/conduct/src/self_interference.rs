//! Self-interference: brings the logs of the conductor's threads to the journal.

use latlab_model::Plan;
use latlab_model::frame::Message;
use latlab_model::plan::Measurement;
use latlab_model::run::AppliedSetup;
use latlab_model::self_interference::{OwnThread, SelfInterference, WorkStretch, fixed_releases};
use latlab_store::{OpenRun, Result};
use latlab_sys::release_times::ReleaseTimes;
use latlab_sys::work_log::{TakenLog, TimedLog, WorkLogs};
use std::time::{Duration, Instant};

/// Distance of two frames of a thread's log.
const EVERY: Duration = Duration::from_secs(1);

/// What the conductor's threads know of the target and log about themselves, if they share its
/// CPUs.
#[derive(Clone, Default)]
pub struct OwnThreads {
    logs: WorkLogs<OwnThread>,
    releases: ReleaseTimes,
}

impl OwnThreads {
    /// Starts the log of the calling thread, whose work is kept between the releases.
    pub fn begin_log(&self, thread: OwnThread) -> TimedLog {
        TimedLog::new(self.logs.begin(thread), self.releases.clone())
    }

    /// Notes when the threads of a plan are released.
    pub fn prepare(&self, plan: &Plan, prepared: &AppliedSetup) {
        // An invalid plan measures nothing.
        if let Ok(measurement) = Measurement::new(plan.clone()) {
            self.releases.publish(&fixed_releases(&measurement, &prepared.threads));
        }
    }
}

/// Appends the logs of the conductor's threads to the journal, among the frames of the stream.
pub struct SelfInterferenceWriter<'a> {
    threads: &'a OwnThreads,
    written: Instant,
}

impl<'a> SelfInterferenceWriter<'a> {
    pub fn new(threads: &'a OwnThreads) -> SelfInterferenceWriter<'a> {
        SelfInterferenceWriter { threads, written: Instant::now() }
    }

    /// Appends new log entries, once a second or if this is the `last` time.
    pub fn write(&mut self, journal: &mut OpenRun, last: bool) -> Result<()> {
        if !last && self.written.elapsed() < EVERY {
            return Ok(());
        }
        self.written = Instant::now();
        for work in self.threads.logs.take().into_iter().filter_map(self_interference) {
            journal.append(&Message::SelfInterference(work).encode())?;
        }
        Ok(())
    }
}

fn self_interference(taken: TakenLog<OwnThread>) -> Option<SelfInterference> {
    let TakenLog { owner, allowed, lost, stretches } = taken;
    let each = stretches.into_iter();
    let each = each
        .map(|one| WorkStretch::new(one.begin, one.end, one.ran, (one.first_cpu, one.last_cpu)));
    SelfInterference::new(owner, allowed, lost, each.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::Nanos;
    use latlab_model::nanos::MILLISECOND;
    use latlab_model::run::ThreadSetup;

    #[test]
    fn the_conductor_knows_the_releases_of_the_prepared_threads() {
        let thread = ThreadSetup {
            thread: 0,
            cpu: Some(0),
            core_type: None,
            capacity: None,
            thread_id: None,
            policy: "fifo 90".to_string(),
            period_ns: Some(MILLISECOND),
            first_release_ns: Nanos(7),
        };
        let prepared = AppliedSetup {
            settings: Vec::new(),
            threads: vec![thread],
            helpers_on: "0".to_string(),
        };
        let threads = OwnThreads::default();
        threads.prepare(&Plan::default(), &prepared);
        assert_eq!(threads.releases.threads(), [(0, 7, 1_000_000)]);
    }
}
