//! What the tracer tells of one CPU, read as a timer of the loop.

use crate::monitor::MonitoredThread;
use crate::outbox::Outbox;
use crate::placement::{PlacedThread, schedule_kernel_thread};
use crate::timerlat::activations::{Activation, ActivationSequence};
use crate::timerlat::fields::Fields;
use crate::timerlat::user::UserThread;
use crate::timerlat::{PASS, RunningTracer};
use latlab_measure::timer::{Timer, Wake};
use latlab_model::Nanos;
use latlab_model::frame::{Message, Refusal};
use latlab_model::plan::Policy;
use latlab_sys::Errno;
use latlab_sys::tracefs::{Pipe, Tracefs};
use latlab_trace::{LegCounts, PartialLegs};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Looks for the activation after a late one.
const LOOKS_AHEAD: u32 = 5;
/// Distance of two frames of legs.
const FRAMES: Duration = Duration::from_secs(1);

/// Who sleeps until the releases.
pub enum Sleeper {
    /// A thread of the kernel, with its number there, and what it is read again by.
    Kernel(Option<u32>, Option<Arc<MonitoredThread>>),
    /// A thread of ours, on this CPU, which is to be started.
    ToStart(Tracefs, u32),
    /// It runs.
    User(UserThread),
}

/// The thread that is measured on one CPU, read as a timer of the loop.
pub struct KernelTimer {
    // First, since it has to be gone when the tracer ends.
    sleeper: Sleeper,
    pipe: Pipe,
    fields: Arc<Fields>,
    series: ActivationSequence,
    ready: VecDeque<Activation>,
    /// The release of the activation that was told last.
    last: i64,
    legs: LegCounts,
    outbox: Option<Outbox>,
    frame_due: Instant,
    counted_from: i64,
    _tracer: Arc<RunningTracer>,
}

impl KernelTimer {
    /// Of this thread of the run, whose events come by this pipe.
    pub fn new(
        thread: u32,
        period: i64,
        sleeper: Sleeper,
        pipe: Pipe,
        fields: Arc<Fields>,
        tracer: Arc<RunningTracer>,
    ) -> KernelTimer {
        KernelTimer {
            series: ActivationSequence::new(period, !matches!(sleeper, Sleeper::Kernel(..))),
            sleeper,
            pipe,
            fields,
            ready: VecDeque::new(),
            last: 0,
            legs: LegCounts::new(thread),
            outbox: None,
            frame_due: Instant::now() + FRAMES,
            counted_from: i64::MAX,
            _tracer: tracer,
        }
    }

    /// Takes the measured thread to its place; ours is started there.
    pub fn set_up(&mut self, thread: u32, policy: Policy) -> Result<PlacedThread, Refusal> {
        match &mut self.sleeper {
            Sleeper::Kernel(id, monitored) => {
                let placed = schedule_kernel_thread(thread, *id, policy)?;
                *monitored = Some(Arc::clone(&placed.thread));
                Ok(placed)
            }
            Sleeper::ToStart(tracefs, cpu) => {
                let (user, placed) = UserThread::start(tracefs, thread, *cpu, policy)?;
                self.sleeper = Sleeper::User(user);
                Ok(placed)
            }
            Sleeper::User(_) => unreachable!("a thread is set up once"),
        }
    }

    /// Tells the legs to the stream.
    pub fn with_legs(mut self, outbox: &Outbox) -> KernelTimer {
        self.outbox = Some(outbox.clone());
        self
    }

    /// Counts legs from this release on.
    pub fn with_first_release(mut self, first: i64) -> KernelTimer {
        self.counted_from = first;
        self
    }

    /// Ends a thread of ours; the CPU time it took.
    pub fn end(mut self) -> i64 {
        match &mut self.sleeper {
            Sleeper::User(user) => user.end(),
            Sleeper::Kernel(_, monitored) => {
                // It goes with the tracer.
                monitored.iter().for_each(|thread| thread.record_end());
                0
            }
            Sleeper::ToStart(..) => 0,
        }
    }

    /// Takes what the kernel has written since the last time.
    fn read(&mut self) {
        let KernelTimer { pipe, fields, series, ready, .. } = self;
        while let Some(page) = pipe.next_page() {
            for event in fields.layout.events(page) {
                ready.extend(fields.decode(&event).and_then(|sample| series.push(sample)));
            }
        }
        self.legs.events_lost(std::mem::take(&mut self.series.lost));
    }

    fn send(&mut self) {
        self.frame_due = Instant::now() + FRAMES;
        if let Some(outbox) = &self.outbox {
            self.legs.flush(|frame| outbox.offer(&Message::Legs(frame.clone())));
        }
    }
}

impl Timer for KernelTimer {
    /// Fails as if a signal had come while there is nothing, so that the loop looks around.
    fn wait(&mut self, release: i64) -> Result<Wake, Errno> {
        if self.ready.is_empty() {
            std::thread::sleep(PASS);
            self.read();
        }
        if Instant::now() >= self.frame_due {
            self.send();
        }
        // What was measured before the loop began is nobody's.
        while self.ready.front().is_some_and(|one| one.release < release - self.series.period() / 2)
        {
            self.ready.pop_front();
        }
        let Some(Activation { release, irq, thread, latency }) = self.ready.pop_front() else {
            let gone = matches!(&self.sleeper, Sleeper::User(user) if user.has_ended());
            return Err(if gone { Errno::SRCH } else { Errno::INTR });
        };
        self.last = release;
        if release >= self.counted_from {
            let (irq_ns, thread_ns) = (irq.map(Nanos), thread.map(Nanos));
            let legs = PartialLegs { release_ns: Nanos(release), irq_ns, thread_ns };
            self.legs.traced(Nanos(latency), Some(legs));
        }
        Ok(Wake { due: release, at: release + latency })
    }

    /// As the kernel skipped: its next activation says it, which is waited for a little.
    fn passed(&mut self, latency: i64, period: i64) -> i64 {
        for _ in 0..LOOKS_AHEAD {
            if let Some(next) = self.ready.front() {
                return (next.release - self.last) / self.series.period() - 1;
            }
            std::thread::sleep(PASS);
            self.read();
        }
        latency / period
    }
}

impl Drop for KernelTimer {
    fn drop(&mut self) {
        self.send();
    }
}
