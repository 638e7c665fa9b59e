//! Presents the tracer's reports for one CPU as a timer of the loop.

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
use latlab_trace::{BreakdownCounts, PartialBreakdown};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often to look for the activation after a late one.
const LOOKS_AHEAD: u32 = 5;
/// Time between two frames with breakdowns.
const FRAMES: Duration = Duration::from_secs(1);

/// Which thread sleeps until the releases.
pub enum Sleeper {
    /// A kernel thread: its number, and the means to read its settings again.
    Kernel(Option<u32>, Option<Arc<MonitoredThread>>),
    /// A thread of ours, still to be started on this CPU.
    ToStart(Tracefs, u32),
    /// A running thread of ours.
    User(UserThread),
}

/// The measured thread of one CPU, as a timer of the loop.
pub struct KernelTimer {
    // First field, so that it is dropped before the tracer ends.
    sleeper: Sleeper,
    pipe: Pipe,
    fields: Arc<Fields>,
    series: ActivationSequence,
    ready: VecDeque<Activation>,
    /// Release of the last reported activation.
    last: i64,
    breakdown: BreakdownCounts,
    outbox: Option<Outbox>,
    frame_due: Instant,
    counted_from: i64,
    _tracer: Arc<RunningTracer>,
}

impl KernelTimer {
    /// For this thread of the run, whose events come through this pipe.
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
            breakdown: BreakdownCounts::new(thread),
            outbox: None,
            frame_due: Instant::now() + FRAMES,
            counted_from: i64::MAX,
            _tracer: tracer,
        }
    }

    /// Places the measured thread, starting it if it is ours.
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

    /// Sends breakdowns to the stream.
    pub fn with_breakdown(mut self, outbox: &Outbox) -> KernelTimer {
        self.outbox = Some(outbox.clone());
        self
    }

    /// Counts breakdowns from this release on.
    pub fn with_first_release(mut self, first: i64) -> KernelTimer {
        self.counted_from = first;
        self
    }

    /// Ends a thread of ours; returns its CPU time.
    pub fn end(mut self) -> i64 {
        match &mut self.sleeper {
            Sleeper::User(user) => user.end(),
            Sleeper::Kernel(_, monitored) => {
                // A kernel thread ends with the tracer.
                monitored.iter().for_each(|thread| thread.record_end());
                0
            }
            Sleeper::ToStart(..) => 0,
        }
    }

    /// Reads what the kernel has written since the last call.
    fn read(&mut self) {
        let KernelTimer { pipe, fields, series, ready, .. } = self;
        while let Some(page) = pipe.next_page() {
            for event in fields.layout.events(page) {
                ready.extend(fields.decode(&event).and_then(|sample| series.push(sample)));
            }
        }
        self.breakdown.events_lost(std::mem::take(&mut self.series.lost));
    }

    fn send(&mut self) {
        self.frame_due = Instant::now() + FRAMES;
        if let Some(outbox) = &self.outbox {
            self.breakdown.flush(|frame| outbox.offer(&Message::Breakdown(frame.clone())));
        }
    }
}

impl Timer for KernelTimer {
    /// While there is no event, fails with EINTR so that the loop checks its flags.
    fn wait(&mut self, release: i64) -> Result<Wake, Errno> {
        if self.ready.is_empty() {
            std::thread::sleep(PASS);
            self.read();
        }
        if Instant::now() >= self.frame_due {
            self.send();
        }
        // Drop activations from before the loop began.
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
            let breakdown = PartialBreakdown { release_ns: Nanos(release), irq_ns, thread_ns };
            self.breakdown.traced(Nanos(latency), Some(breakdown));
        }
        Ok(Wake { due: release, at: release + latency })
    }

    /// Overruns as the kernel counts them, known from its next activation, which is waited for
    /// briefly.
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
