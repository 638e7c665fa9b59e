//! How the parts of a reading are spread over the time between two of them.

use crate::release_times::ReleaseTimes;
use latlab_sys::clock::Clock;
use latlab_sys::work_log::{Work, WorkLog};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// A part of a reading goes on for this long before it rests; the kernel can take the CPU away at
/// the end of each of its calls.
const PART: i64 = 50_000;
/// The longest rest: the parts of a reading are of one time, nearly.
const LONGEST: Duration = Duration::from_millis(3);
/// Rests of a reading that are expected before one has been read.
const FIRST_GUESS: u32 = 50;
/// A reading rests within this part of the time between two of them; what is left is read at once,
/// since a machine where each rest lasts that long gives the next one no time.
const RESTED: u32 = 2;

/// How readings are spread over the time between two of them.
#[derive(Clone, Copy)]
pub struct Spread {
    every: Duration,
    /// Rests of the last reading.
    rests: u32,
}

impl Spread {
    /// Of readings at this distance.
    pub fn over(every: Duration) -> Spread {
        Spread { every, rests: FIRST_GUESS }
    }

    fn rest(self) -> Duration {
        (self.every / RESTED / self.rests.max(1)).min(LONGEST)
    }
}

/// A reading under way: its thread works, and rests between the parts where they are spread.
pub struct Pace<'a> {
    log: &'a WorkLog,
    work: Option<Work>,
    stopped: &'a Receiver<()>,
    releases: &'a ReleaseTimes,
    spread: Option<Spread>,
    begun: i64,
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
        let (work, begun) = (Some(log.work()), Clock::Monotonic.now());
        let part_begun = begun;
        Pace {
            log,
            work,
            stopped,
            releases,
            spread,
            begun,
            part_begun,
            rests: 0,
            is_stopped: false,
        }
    }

    /// Between two parts: rests where it is time to.
    pub fn rest(&mut self) {
        let Some(spread) = self.spread.filter(|_| !self.is_stopped) else { return };
        let now = Clock::Monotonic.now();
        if now - self.begun > (spread.every / RESTED).as_nanos() as i64 {
            return;
        }
        if self.releases.are_known() {
            if !self.releases.is_free() {
                self.work = None;
                self.releases.wait();
                self.work = Some(self.log.work());
            }
            return;
        }
        if now - self.part_begun < PART {
            return;
        }
        self.work = None;
        // What is left after the word to stop is read at once, since nothing is measured any more.
        let rested = self.stopped.recv_timeout(spread.rest());
        self.is_stopped = !matches!(rested, Err(RecvTimeoutError::Timeout));
        self.work = Some(self.log.work());
        self.part_begun = Clock::Monotonic.now();
        self.rests += 1;
    }

    /// Ends the reading: whether the word to stop has come, and how the next one is spread.
    pub fn end(self) -> (bool, Option<Spread>) {
        (self.is_stopped, self.spread.map(|spread| Spread { rests: self.rests, ..spread }))
    }
}
