//! The legs of each latency, from the kernel's tracepoints, beside the loop that measures it.
//!
//! A thread away from the measured CPUs reads a trace of our own and matches what it says with
//! the latencies of the loop by their releases. For a quarter of the time the trace is switched
//! off, so that the same run says what it costs.

mod events;
mod ledger;
mod matching;
mod windows;

pub use events::page_layout;
pub use ledger::{Ledger, PartialLegs};

use crate::outbox::Outbox;
use crate::refusals::machine_refuses;
use events::Recording;
use latlab_model::frame::{Message, Refusal};
use latlab_model::run::ThreadSetup;
use latlab_model::samples::Sample;
use latlab_model::{CpuSet, Plan};
use latlab_sys::clock::Clock;
use latlab_sys::files::Root;
use latlab_sys::undo::Changes;
use matching::Matcher;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use windows::{Pattern, Windows};

/// Distance of two readings of the trace.
const PASS: i64 = 100_000_000;
/// Distance of two frames of a thread.
const FRAMES: i64 = 1_000_000_000;
/// What is younger than this may not stand in the ring buffer of its CPU yet.
const SETTLED: i64 = 2_000_000;

/// Some latencies of a thread, by its number, with their releases.
pub type Batch = (u32, Vec<Sample>);

/// A trace that is set up, and records nothing yet.
pub struct Prepared(Recording);

/// Sets up the trace; a refusal says what is missing.
pub fn prepare(root: &Root, changes: &mut Changes) -> Result<Prepared, Refusal> {
    let recording = Recording::prepare(root, changes);
    recording.map(Prepared).map_err(|text| machine_refuses(format!("--legs: {text}")))
}

/// The thread that reads; it ends by [`Legs::finish`].
pub struct Legs {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Legs {
    /// Records these threads, whose latencies come through the channel.
    pub fn start(
        Prepared(mut recording): Prepared,
        plan: &Plan,
        threads: &[ThreadSetup],
        online: &CpuSet,
        latencies: Receiver<Batch>,
        outbox: &Outbox,
    ) -> Result<Legs, Refusal> {
        let refuse = |text| machine_refuses(format!("--legs: {text}"));
        recording.aim(threads, online).map_err(refuse)?;
        let first = threads.iter().map(|thread| thread.first_release_ns.0).min().unwrap_or(0);
        let reader = Reader {
            matcher: Matcher::new(threads),
            windows: Windows::default(),
            pattern: Pattern::new(first, plan),
            recording,
            latencies,
            outbox: outbox.clone(),
        };
        let (stop, stopped) = channel();
        let started = std::thread::Builder::new().spawn(move || reader.read_on(&stopped));
        let thread = started.map_err(|error| refuse(format!("cannot start a thread: {error}")))?;
        Ok(Legs { stop, thread })
    }

    /// Reads what is left and sends all of it.
    pub fn finish(self) {
        drop(self.stop);
        // What it has read is sent, even if it has died since.
        let _ = self.thread.join();
    }
}

struct Reader {
    recording: Recording,
    matcher: Matcher,
    windows: Windows,
    pattern: Pattern,
    latencies: Receiver<Batch>,
    outbox: Outbox,
}

impl Reader {
    fn read_on(mut self, stopped: &Receiver<()>) {
        let mut frames_due = Clock::Monotonic.now() + FRAMES;
        loop {
            let now = Clock::Monotonic.now();
            self.switch(now);
            self.pass(now - SETTLED);
            if now >= frames_due {
                frames_due = now + FRAMES;
                let outbox = &self.outbox;
                self.matcher.send(|frame| outbox.offer(&Message::Legs(frame.clone())));
            }
            let pause = PASS.min(self.pattern.next_change(now) - now).max(1);
            match stopped.recv_timeout(Duration::from_nanos(pause as u64)) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        // The loops have ended: what they left is all there is.
        self.windows.end(Clock::Monotonic.now());
        self.recording.switch(false);
        std::thread::sleep(Duration::from_nanos(SETTLED as u64));
        self.pass(i64::MAX);
        let outbox = self.outbox;
        self.matcher.send(|frame| {
            outbox.send(&Message::Legs(frame.clone()));
            true
        });
    }

    /// Switches the trace as the pattern has it, and keeps when that was.
    fn switch(&mut self, now: i64) {
        let on = self.pattern.is_on(now);
        if self.windows.is_on() == Some(on) {
            return;
        }
        self.windows.end(Clock::Monotonic.now());
        self.recording.switch(on);
        self.windows.begin(on, Clock::Monotonic.now());
    }

    /// Takes what both sides have said up to this time.
    fn pass(&mut self, until: i64) {
        self.recording.read(until, |at, event| self.matcher.see(at, event));
        if let Some(function) = self.matcher.function {
            self.recording.only_timers_that_call(function);
        }
        for (thread, latencies) in self.latencies.try_iter() {
            self.matcher.latencies(thread, latencies);
        }
        self.matcher.resolve(until, &self.windows);
    }
}
