//! The telemetry of a run: readings of the machine each second, from other CPUs than the measured ones.
//!
//! `sources.rs` keeps kernel files open and parses them, `threads.rs` finds the threads that use the
//! CPUs without reading every thread each second, `events.rs` reads the kernel's log and the firmware.
//! A register sends only what changed. Each sixtieth reading holds everything, and each has a number,
//! so that a lost one is counted and no value is invented.
//!
//! Where every CPU is measured, a reading is gentle: `pace.rs` puts its parts between the releases, or
//! pauses between them where those are not known. Files that hold the CPU for long are read once
//! before the first release and once after the last; where the releases are not known, also those
//! that hold it for more than some microseconds, and the threads.

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
use latlab_model::own_work::OwnThread;
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
    /// What does not hold a CPU for long, in small parts.
    Gentle,
}

/// Readings that have been prepared; the first is taken.
pub struct PreparedTelemetry {
    reader: Reader,
    every: Nanos,
}

impl PreparedTelemetry {
    /// Opens what is to be read, and reads it a first time; of the process groups that the supervisors have
    /// started only real-time threads are.
    pub fn new(
        root: &Root,
        every: Nanos,
        extent: Extent,
        supervisors: Vec<u32>,
    ) -> PreparedTelemetry {
        PreparedTelemetry { reader: Reader::open(root, extent, supervisors), every }
    }

    /// Starts to read, above all ordinary threads where that is wanted; where no thread can be had,
    /// nothing is read.
    pub fn start(self, outbox: &Outbox, raises_priority: bool) -> Telemetry {
        let (stop, stopped) = channel();
        let outbox = outbox.clone();
        let work = move || {
            if raises_priority {
                // Beside hundreds of tasks an ordinary thread would wait for a second at each file.
                let _ = sched::set_scheduling(Scheduling::Fifo(1));
            }
            self.read_loop(&outbox, &stopped);
        };
        let thread = std::thread::Builder::new().spawn(work).ok();
        Telemetry { stop: Some(stop), thread }
    }

    /// Reads until it is stopped, and a last time then.
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
            // What could not be read in time is not read in a hurry, but counted.
            let missed = missed_readings(due, Clock::Monotonic.now(), every);
            reader.register.skip(missed as u64);
            due += missed * every.0;
        }
        reader.read(outbox, true, &mut Pace::begin(&log, stopped, &outbox.releases, None));
        reader.report_unsent(outbox);
    }
}

/// The thread that reads; dropping this ends it.
pub struct Telemetry {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Telemetry {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // What it has read is sent, even if it has died since.
            let _ = thread.join();
        }
    }
}

/// How many readings were due from the one that is late until the one that is due now.
fn missed_readings(due: i64, now: i64, every: Nanos) -> i64 {
    (now - due).max(0) / every.0.max(1)
}

/// Everything that is read.
struct Reader {
    extent: Extent,
    sources: Sources,
    threads: Threads,
    events: Events,
    register: Register,
    /// Whether a reading was taken.
    has_begun: bool,
    /// Series whose announcement waits for room in the stream.
    series: Vec<Series>,
    /// Readings since the last one that found room.
    unsent: u64,
}

impl Reader {
    fn open(root: &Root, extent: Extent, supervisors: Vec<u32>) -> Reader {
        let mut register = Register::default();
        // First, since what is read here may be what the kernel's log has to say something about.
        let events = Events::open(root);
        let mut sources = Sources::open(root, extent);
        if extent == Extent::Gentle {
            // Until the end it is not read again.
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
            // Nothing of it is later than it says.
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
        // A reading of series that nobody knows says nothing.
        let is_sent = self.series.is_empty() && outbox.offer(&Message::Reading(reading));
        match is_sent {
            true => self.unsent = 0,
            false => {
                self.unsent += 1;
                self.register.lost();
            }
        }
    }

    /// Says how many of the last readings found no room in the stream, which no later one shows.
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

    /// Reads without a rest.
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
        // On a crowded machine this thread wakes too late, and a reading does not rest.
        let stretches = (0..200).find_map(|_| stretches_of_a_spread_reading());
        let stretches = stretches.expect("a moment in which the machine is not crowded");
        // One for each rest, that of the word to stop included, and what was left.
        assert_eq!(stretches.len(), 5, "{stretches:?}");
        let rests = stretches.windows(2).map(|pair| pair[1].begin - pair[0].end);
        assert!(rests.take(3).all(|rest| rest >= 2_900_000), "{stretches:?}");
    }

    /// A reading of three parts with a rest behind each, and of three after the word to stop; none where
    /// the machine was too crowded to rest.
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
