//! The telemetry of a run: readings of the machine each second, from other CPUs than the measured ones.
//!
//! `sources.rs` keeps kernel files open and parses them, `threads.rs` finds the threads that use the
//! CPUs without reading every thread each second, `events.rs` reads the kernel's log and the firmware.
//! A register sends only what changed. Each sixtieth reading holds everything, and each has a number,
//! so that a lost one is counted and no value is invented.

mod events;
mod register;
mod sources;
mod threads;

use crate::outbox::Outbox;
use events::Events;
use latlab_model::Nanos;
use latlab_model::finding::{ConditionFinding, Finding};
use latlab_model::frame::Message;
use latlab_model::telemetry::{Series, metric};
use latlab_sys::clock::{Clock, thread_cpu_time};
use latlab_sys::files::Root;
use register::{Metric, Register};
use sources::Sources;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use threads::Threads;

const OWN_COST: Metric = Metric::counter(metric::OWN_COST, "ns");

/// The thread that reads; dropping this ends it.
pub struct Telemetry {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Telemetry {
    /// Starts to read at this distance; where no thread can be had, nothing is read.
    pub fn start(root: &Root, every: Nanos, outbox: &Outbox) -> Telemetry {
        let (stop, stopped) = channel();
        let (root, outbox) = (root.clone(), outbox.clone());
        let work = move || read_loop(&root, every, &outbox, &stopped);
        let thread = std::thread::Builder::new().spawn(work).ok();
        Telemetry { stop: Some(stop), thread }
    }
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

/// Reads until it is stopped, and a last time then.
fn read_loop(root: &Root, every: Nanos, outbox: &Outbox, stopped: &Receiver<()>) {
    let mut reader = Reader::open(root);
    let mut due = Clock::Monotonic.now();
    let mut is_last = false;
    loop {
        reader.read(outbox, is_last);
        if is_last {
            reader.report_unsent(outbox);
            return;
        }
        due += every.0;
        let left = (due - Clock::Monotonic.now()).max(0) as u64;
        is_last =
            stopped.recv_timeout(Duration::from_nanos(left)) != Err(RecvTimeoutError::Timeout);
        // What could not be read in time is not read in a hurry, but counted.
        let missed = missed_readings(due, Clock::Monotonic.now(), every);
        reader.register.skip(missed as u64);
        due += missed * every.0;
    }
}

/// How many readings were due from the one that is late until the one that is due now.
fn missed_readings(due: i64, now: i64, every: Nanos) -> i64 {
    (now - due).max(0) / every.0.max(1)
}

/// Everything that is read.
struct Reader {
    sources: Sources,
    threads: Threads,
    events: Events,
    register: Register,
    /// Series whose announcement waits for room in the stream.
    series: Vec<Series>,
    /// Readings since the last one that found room.
    unsent: u64,
}

impl Reader {
    fn open(root: &Root) -> Reader {
        Reader {
            sources: Sources::open(root),
            threads: Threads::find(root),
            events: Events::open(root),
            register: Register::default(),
            series: Vec::new(),
            unsent: 0,
        }
    }

    fn read(&mut self, outbox: &Outbox, end: bool) {
        let at = Nanos(Clock::Monotonic.now());
        self.sources.read(&mut self.register);
        self.threads.read(at, end, &mut self.register);
        self.events.read(&mut self.register);
        self.register.put(OWN_COST, "", thread_cpu_time());
        let (series, reading) = self.register.reading(at);
        self.series.extend(series);
        while let Some(next) = self.series.pop() {
            if !outbox.offer(&Message::Series(next.clone())) {
                self.series.push(next);
                break;
            }
        }
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
mod tests {
    use super::*;

    #[test]
    fn a_reading_that_comes_late_is_not_missed_and_those_before_it_are() {
        let missed = |now| missed_readings(100, now, Nanos(10));
        assert_eq!([90, 100, 109, 110, 135].map(missed), [0, 0, 0, 1, 3]);
    }
}
