//! Spreads the parts of a reading over the time between two readings.

use latlab_sys::clock::Clock;
use latlab_sys::release_times::ReleaseTimes;
use latlab_sys::work_log::{Work, WorkLog};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How long one part works before it rests, in nanoseconds; the kernel can preempt it at the end of
/// each system call.
const PART: i64 = 50_000;
/// Longest rest, so that the parts of a reading are of nearly the same time.
const LONGEST: Duration = Duration::from_millis(3);
/// Number of rests assumed for the first reading.
const FIRST_GUESS: u32 = 50;
/// How readings are spread: over at most half of the time between two of them.
#[derive(Clone, Copy)]
pub struct Spread {
    every: Duration,
    /// Number of rests in the last reading.
    rests: u32,
}

impl Spread {
    /// For readings at this distance.
    pub fn over(every: Duration) -> Spread {
        Spread { every, rests: FIRST_GUESS }
    }

    fn rest(self) -> Duration {
        (self.every / 2 / self.rests.max(1)).min(LONGEST)
    }
}

/// A reading in progress, with rests between its parts if they are spread.
pub struct Pace<'a> {
    log: &'a WorkLog,
    work: Option<Work>,
    stopped: &'a Receiver<()>,
    releases: &'a ReleaseTimes,
    spread: Option<Spread>,
    part_begun: i64,
    rests: u32,
    is_stopped: bool,
}

impl<'a> Pace<'a> {
    /// Begins a reading; without a spread it never rests.
    pub fn begin(
        log: &'a WorkLog,
        stopped: &'a Receiver<()>,
        releases: &'a ReleaseTimes,
        spread: Option<Spread>,
    ) -> Pace<'a> {
        let (work, part_begun) = (Some(log.work()), Clock::Monotonic.now());
        Pace { log, work, stopped, releases, spread, part_begun, rests: 0, is_stopped: false }
    }

    /// Called between two parts: rests if it is time to. If hundreds of tasks share a CPU it stops
    /// resting, as rests would last until the next reading is due.
    pub fn rest(&mut self) {
        let may_rest = !self.is_stopped && !self.releases.is_crowded();
        let Some(spread) = self.spread.filter(|_| may_rest) else { return };
        if self.releases.are_known() {
            if !self.releases.is_free() {
                self.work = None;
                self.releases.wait();
                self.work = Some(self.log.work());
            }
            return;
        }
        let (now, rest) = (Clock::Monotonic.now(), spread.rest());
        if now - self.part_begun < PART {
            return;
        }
        self.work = None;
        // After the stop the remainder is read at once, since nothing is measured any more.
        let rested = self.stopped.recv_timeout(rest);
        self.is_stopped = !matches!(rested, Err(RecvTimeoutError::Timeout));
        self.releases.note_wake(now + rest.as_nanos() as i64);
        self.work = Some(self.log.work());
        self.part_begun = Clock::Monotonic.now();
        self.rests += 1;
    }

    /// Ends the reading; returns whether the stop was requested, and the spread of the next one.
    pub fn end(self) -> (bool, Option<Spread>) {
        (self.is_stopped, self.spread.map(|spread| Spread { rests: self.rests, ..spread }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_sys::work_log::WorkLogs;
    use std::sync::mpsc::channel;

    /// Simulates hundreds of tasks, where each rest ends too late.
    #[test]
    fn after_a_wake_that_is_far_too_late_a_reading_rests_no_more() {
        let rests_after = |late: i64| {
            let (log, (_stop, stopped)) = (WorkLogs::default().begin(()), channel());
            let (releases, spread) =
                (ReleaseTimes::default(), Spread::over(Duration::from_secs(1)));
            let mut pace = Pace::begin(&log, &stopped, &releases, Some(spread));
            releases.note_wake(Clock::Monotonic.now() - late);
            pace.part_begun -= 2 * PART;
            pace.rest();
            pace.rests
        };
        assert_eq!([14_000_000, 0].map(rests_after), [0, 1]);
    }
}
