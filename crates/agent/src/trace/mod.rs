//! The kernel's tracepoints during a run, for the breakdown of its latencies.
//!
//! A thread off the measured CPUs reads a private trace instance and sends what concerns the
//! measuring threads, with the times in which it was on: for a quarter of the run it is off, so
//! that the same run tells its cost. What the stream does not take stays in the kernel's ring
//! buffer, which counts what it has to overwrite.

mod events;
mod pipes;
mod schedule;

pub use events::page_layout;
pub use pipes::MergedPipes;

use crate::outbox::Outbox;
use crate::refusals::machine_refuses;
use events::KernelTrace;
use latlab_model::frame::{Message, Refusal};
use latlab_model::run::ThreadSetup;
use latlab_model::self_interference::OwnThread;
use latlab_model::{CpuSet, Nanos, Plan};
use latlab_sys::clock::Clock;
use latlab_sys::files::Root;
use latlab_sys::undo::Changes;
use latlab_trace::{EventRecorder, TraceWindows};
use schedule::TraceSchedule;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two reads of the trace.
const PASS: i64 = 100_000_000;
/// A frame is sent after this long, as a kill loses what is unsent …
const OLDEST: i64 = 500_000_000;
/// … or when it has this many events.
const MOST: usize = 32_768;
/// Younger events may not have reached the ring buffer of their CPU yet.
const SETTLED: i64 = 2_000_000;

/// A trace that is set up but not recording.
pub struct PreparedTrace(KernelTrace);

/// The PID namespace in which the kernel's trace numbers processes: the initial one, which has this
/// inode on every kernel.
const KERNELS_PID_NAMESPACE: &str = "pid:[4026531836]";

/// Sets up the trace; a refusal says what is missing.
pub fn prepare(root: &Root, changes: &mut Changes) -> Result<PreparedTrace, Refusal> {
    expect_kernels_process_numbers(root).map_err(refusal)?;
    KernelTrace::prepare(root, changes).map(PreparedTrace).map_err(refusal)
}

/// Fails in another PID namespace, where threads have other numbers than in the kernel's trace.
pub fn expect_kernels_process_numbers(root: &Root) -> Result<(), String> {
    let namespace = std::fs::read_link(root.path("proc/self/ns/pid"));
    match namespace.is_ok_and(|namespace| namespace.as_os_str() != KERNELS_PID_NAMESPACE) {
        false => Ok(()),
        true => {
            Err("the kernel's trace has other process numbers than this process namespace: run \
                     latlab outside the container, or start the container with --pid=host"
                .to_string())
        }
    }
}

fn refusal(text: String) -> Refusal {
    machine_refuses(format!("--breakdown: {text}"))
}

/// The reading thread; [`TraceThread::finish`] ends it.
pub struct TraceThread {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl TraceThread {
    /// Starts recording these threads.
    pub fn start(
        PreparedTrace(mut kernel): PreparedTrace,
        plan: &Plan,
        threads: &[ThreadSetup],
        online: &CpuSet,
        outbox: &Outbox,
    ) -> Result<TraceThread, Refusal> {
        kernel.set_filters(threads, online).map_err(refusal)?;
        let first = threads.iter().map(|thread| thread.first_release_ns.0).min().unwrap_or(0);
        let reader = TraceReader {
            recorder: EventRecorder::new(threads),
            windows: TraceWindows::default(),
            schedule: TraceSchedule::new(first, plan),
            kernel,
            sent_to: Nanos(i64::MIN),
            waiting: VecDeque::new(),
            outbox: outbox.clone(),
        };
        let (stop, stopped) = channel();
        let started = std::thread::Builder::new().spawn(move || reader.read_loop(&stopped));
        let thread = started.map_err(|error| refusal(format!("cannot start a thread: {error}")))?;
        Ok(TraceThread { stop, thread })
    }

    /// Reads and sends what is left.
    pub fn finish(self) {
        drop(self.stop);
        // If it has panicked, what it read before is sent.
        let _ = self.thread.join();
    }
}

struct TraceReader {
    kernel: KernelTrace,
    recorder: EventRecorder,
    windows: TraceWindows,
    schedule: TraceSchedule,
    /// End of the last frame.
    sent_to: Nanos,
    /// Frames that the stream has refused so far; the trace is not read until they are taken.
    waiting: VecDeque<Message>,
    outbox: Outbox,
}

impl TraceReader {
    fn read_loop(mut self, stopped: &Receiver<()>) {
        let log = self.outbox.begin_log(OwnThread::Trace);
        let mut frame_due = Clock::Monotonic.now() + OLDEST;
        loop {
            self.outbox.releases.wait();
            let work = log.work();
            let now = Clock::Monotonic.now();
            self.switch(now);
            if self.send() {
                self.read(Nanos(now - SETTLED));
                if now >= frame_due {
                    frame_due = now + OLDEST;
                    self.seal(Nanos(now - SETTLED));
                    self.send();
                }
            }
            let pause = PASS.min(self.schedule.next_change(now) - now).max(1);
            drop(work);
            match stopped.recv_timeout(Duration::from_nanos(pause as u64)) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let _work = log.work();
        // The loops have ended, so nothing more will come.
        let end = Nanos(Clock::Monotonic.now());
        self.windows.end(end);
        self.kernel.switch(false);
        std::thread::sleep(Duration::from_nanos(SETTLED as u64));
        self.read(Nanos::MAX);
        self.seal(end);
        while !self.send() {
            std::thread::sleep(Duration::from_nanos(SETTLED as u64));
        }
    }

    /// Switches the trace by its schedule, and notes when.
    fn switch(&mut self, now: i64) {
        let on = self.schedule.is_on(now);
        if self.windows.is_on() == Some(on) {
            return;
        }
        self.windows.end(Nanos(Clock::Monotonic.now()));
        self.kernel.switch(on);
        self.windows.begin(on, Nanos(Clock::Monotonic.now()));
    }

    /// Reads the trace up to this time; full frames wait for the stream.
    fn read(&mut self, until: Nanos) {
        let TraceReader { kernel, recorder, windows, sent_to, waiting, .. } = self;
        kernel.read(until.0, |at, cpu, event| {
            // Everything before this event has been seen, and a frame must not end within an
            // instant.
            if recorder.count() >= MOST && Nanos(at) > *sent_to {
                waiting.push_back(frame(recorder, windows, sent_to, Nanos(at)));
            }
            recorder.push(at, cpu, event);
        });
        if let Some(function) = recorder.function() {
            kernel.filter_timer_function(function);
        }
    }

    /// Makes a frame of everything since the last one.
    fn seal(&mut self, until: Nanos) {
        let TraceReader { recorder, windows, sent_to, waiting, .. } = self;
        waiting.push_back(frame(recorder, windows, sent_to, until));
    }

    /// Sends what waits; returns whether the stream took all of it.
    fn send(&mut self) -> bool {
        while let Some(frame) = self.waiting.front() {
            if !self.outbox.offer(frame) {
                return false;
            }
            self.waiting.pop_front();
        }
        true
    }
}

/// What was recorded from the last frame up to this time.
fn frame(
    recorder: &mut EventRecorder,
    windows: &TraceWindows,
    sent_to: &mut Nanos,
    until: Nanos,
) -> Message {
    let from = std::mem::replace(sent_to, until);
    Message::Trace(recorder.take_stretch(until, windows.between(from, until)).pack())
}
