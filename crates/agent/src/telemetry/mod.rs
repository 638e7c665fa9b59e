//! The telemetry of a run: readings of the machine each second, from other CPUs than the measured
//! ones.
//!
//! `sources.rs` keeps kernel files open and parses them, `threads.rs` finds the threads that use
//! the CPUs without reading every thread each second, `events.rs` reads the kernel's log and the
//! firmware. A register sends only what changed. Each sixtieth reading holds everything, and each
//! has a number, so that a lost one is counted and no value is invented.
//!
//! If every CPU is measured, readings are gentle: `pace.rs` places their parts between the
//! releases, or pauses between them if the releases are not known. Files whose reading holds the
//! CPU for long are read only before the first release and after the last; if the releases are not
//! known, so are threads and files that take more than some microseconds.

mod events;
mod pace;
mod parsers;
mod register;
mod sources;
mod threads;

use crate::outbox::Outbox;
use events::Events;
use latlab_model::Nanos;
use latlab_model::finding::{ConditionFinding, Finding};
use latlab_model::frame::Message;
use latlab_model::self_interference::OwnThread;
use latlab_model::telemetry::{Series, metric};
use latlab_sys::clock::{Clock, thread_cpu_time};
use latlab_sys::files::Root;
use latlab_sys::sched::{self, Scheduling};
use pace::{Pace, Spread};
use register::{Metric, Register};
use sources::Sources;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use threads::Threads;

const OWN_COST: Metric = Metric::counter(metric::OWN_COST, "ns");

/// How much is read while the threads measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// Everything, at once.
    Full,
    /// Only what does not hold a CPU for long, in small parts.
    Gentle,
}

/// Opened telemetry, with the first reading taken.
pub struct PreparedTelemetry {
    reader: Reader,
    every: Nanos,
}

impl PreparedTelemetry {
    /// Opens the sources and takes the first reading. In the process groups of the supervisors only
    /// real-time threads are read.
    pub fn new(
        root: &Root,
        every: Nanos,
        extent: Extent,
        supervisors: Vec<u32>,
    ) -> PreparedTelemetry {
        PreparedTelemetry { reader: Reader::open(root, extent, supervisors), every }
    }

    /// Starts reading, with a real-time priority if `raises_priority`; if no thread can be started,
    /// no telemetry is read.
    pub fn start(self, outbox: &Outbox, raises_priority: bool) -> Telemetry {
        let (stop, stopped) = channel();
        let outbox = outbox.clone();
        let work = move || {
            if raises_priority {
                // With hundreds of runnable tasks a SCHED_OTHER thread would wait for a second at
                // each file.
                let _ = sched::set_scheduling(Scheduling::Fifo(1));
            }
            self.read_loop(&outbox, &stopped);
        };
        let thread = std::thread::Builder::new().spawn(work).ok();
        Telemetry { stop: Some(stop), thread }
    }

    /// Reads until stopped, and once more then.
    fn read_loop(self, outbox: &Outbox, stopped: &Receiver<()>) {
        let PreparedTelemetry { mut reader, every } = self;
        let log = outbox.begin_log(OwnThread::Telemetry);
        let mut spread = match reader.extent {
            Extent::Full => None,
            Extent::Gentle => Some(Spread::over(every.duration())),
        };
        let mut due = Clock::Monotonic.now();
        let mut is_stopped = false;
        while !is_stopped {
            outbox.releases.wait();
            let mut pace = Pace::begin(&log, stopped, &outbox.releases, spread);
            reader.read(outbox, false, &mut pace);
            (is_stopped, spread) = pace.end();
            due += every.0;
            let wake = outbox.releases.free_from(due);
            let left = (wake - Clock::Monotonic.now()).max(0) as u64;
            is_stopped |=
                stopped.recv_timeout(Duration::from_nanos(left)) != Err(RecvTimeoutError::Timeout);
            outbox.releases.note_wake(wake);
            // Late readings are not caught up, only counted.
            let missed = missed_readings(due, Clock::Monotonic.now(), every);
            reader.register.skip(missed as u64);
            due += missed * every.0;
        }
        reader.read(outbox, true, &mut Pace::begin(&log, stopped, &outbox.releases, None));
        reader.report_unsent(outbox);
    }
}

/// The reading thread; dropping this ends it.
pub struct Telemetry {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // If it has panicked, what it read before is sent.
            let _ = thread.join();
        }
    }
}

/// Number of readings that were due from `due` until now.
fn missed_readings(due: i64, now: i64, every: Nanos) -> i64 {
    (now - due).max(0) / every.0.max(1)
}

/// All sources.
struct Reader {
    extent: Extent,
    sources: Sources,
    threads: Threads,
    events: Events,
    register: Register,
    /// Whether a reading was taken.
    has_begun: bool,
    /// New series whose announcement waits for room in the stream.
    series: Vec<Series>,
    /// Readings since the last one that found room.
    unsent: u64,
}

impl Reader {
    fn open(root: &Root, extent: Extent, supervisors: Vec<u32>) -> Reader {
        let mut register = Register::default();
        // Open this first: the reading below may cause lines in the kernel log.
        let events = Events::open(root);
        let mut sources = Sources::open(root, extent);
        if extent == Extent::Gentle {
            // The next time is at the end of the run.
            sources.read_long(&mut register);
        }
        Reader {
            extent,
            sources,
            threads: Threads::find(root, supervisors),
            events,
            register,
            has_begun: false,
            series: Vec::new(),
            unsent: 0,
        }
    }

    fn read(&mut self, outbox: &Outbox, end: bool, pace: &mut Pace<'_>) {
        let begun = Nanos(Clock::Monotonic.now());
        let is_full = self.extent == Extent::Full;
        let has_time = self.sources.fit_between_releases && outbox.releases.are_known();
        let each_time = is_full || has_time;
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        self.sources.read_short(&mut self.register, pace);
        let is_due = each_time || is_first || end;
        if is_due {
            self.sources.read_medium(each_time, &mut self.register, pace);
        }
        if is_full || end {
            self.sources.read_long(&mut self.register);
        }
        if is_due {
            self.threads.read(end, &mut self.register, pace);
        }
        pace.rest();
        self.register.set_instant(Nanos(Clock::Monotonic.now()));
        self.events.read(&mut self.register);
        pace.rest();
        self.register.put(OWN_COST, "", thread_cpu_time());
        let at = match self.extent {
            Extent::Full => begun,
            // Nothing is read later than this time.
            Extent::Gentle => Nanos(Clock::Monotonic.now()),
        };
        let (series, reading) = self.register.reading(at);
        self.series.extend(series);
        while let Some(next) = self.series.pop() {
            pace.rest();
            if !outbox.offer(&Message::Series(next.clone())) {
                self.series.push(next);
                break;
            }
        }
        pace.rest();
        // A reading is useless if its series were not announced.
        let is_sent = self.series.is_empty() && outbox.offer(&Message::Reading(reading));
        match is_sent {
            true => self.unsent = 0,
            false => {
                self.unsent += 1;
                self.register.lost();
            }
        }
    }

    /// Reports how many of the last readings found no room in the stream, as no later one shows
    /// that.
    fn report_unsent(&self, outbox: &Outbox) {
        if self.unsent > 0 {
            let lost = ConditionFinding::TelemetryLost { readings: self.unsent };
            outbox.send(&Message::Finding(Finding::new(lost)));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use latlab_sys::release_times::ReleaseTimes;
    use latlab_sys::work_log::{Stretch, WorkLogs};
    use std::time::Instant;

    /// Reads without rests.
    pub fn read_without_rest<T>(read: impl FnOnce(&mut Pace<'_>) -> T) -> T {
        let (log, (_stop, stopped)) = (WorkLogs::default().begin(()), channel());
        read(&mut Pace::begin(&log, &stopped, &ReleaseTimes::default(), None))
    }

    fn work_for(length: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < length {}
    }

    /// Invariant (conditions): Where every CPU is measured, telemetry holds none of them for long.
    #[test]
    fn a_spread_reading_rests_between_its_parts_until_the_word_to_stop() {
        // On a crowded machine this thread wakes too late, and the reading does not rest.
        // One stretch per rest, including the rest that was stopped, and the remainder.
        let undisturbed = |_| stretches_of_a_spread_reading().filter(|all| all.len() == 5);
        let stretches = (0..200).find_map(undisturbed);
        let stretches = stretches.expect("a moment in which the machine is not crowded");
        let rests = stretches.windows(2).map(|pair| pair[1].begin - pair[0].end);
        assert!(rests.take(3).all(|rest| rest >= 2_900_000), "{stretches:?}");
    }

    /// A reading of three parts with a rest after each, and of three after the stop; `None` if the
    /// machine was too crowded to rest.
    fn stretches_of_a_spread_reading() -> Option<Vec<Stretch>> {
        let (logs, (stop, stopped)) = (WorkLogs::default(), channel());
        let log = logs.begin(());
        let (releases, spread) = (ReleaseTimes::default(), Spread::over(Duration::from_secs(1)));
        let mut pace = Pace::begin(&log, &stopped, &releases, Some(spread));
        for _ in 0..3 {
            work_for(Duration::from_micros(60));
            pace.rest();
            pace.rest();
        }
        drop(stop);
        for _ in 0..3 {
            work_for(Duration::from_micros(60));
            pace.rest();
        }
        let was_crowded = releases.is_crowded();
        let (is_stopped, spread) = pace.end();
        assert!(was_crowded || is_stopped && spread.is_some());
        (!was_crowded).then(|| logs.take().remove(0).stretches)
    }

    #[test]
    fn a_reading_that_comes_late_is_not_missed_and_those_before_it_are() {
        let missed = |now| missed_readings(100, now, Nanos(10));
        assert_eq!([90, 100, 109, 110, 135].map(missed), [0, 0, 0, 1, 3]);
    }
}
