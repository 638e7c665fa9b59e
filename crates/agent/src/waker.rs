//! The thread that wakes a measuring thread (instrument `handoff`).

use crate::helper_thread::HelperThread;
use crate::monitor::SettingList;
use crate::placement::Placement;
use crate::refusals::machine_refuses;
use crate::thread_job::{ThreadJob, clock_of};
use latlab_measure::handoff::{Handoff, handoff};
use latlab_model::frame::Refusal;
use latlab_model::plan::WakeBy;
use latlab_sys::wake::{Channel, WakeMethod};
use latlab_sys::{clock, sched};
use std::sync::mpsc::{SyncSender, sync_channel};

/// A measuring thread's handle of the thread that wakes it.
pub struct HandoffThread {
    /// The measured sleep.
    pub timer: Handoff,
    pub waker: WakerThread,
}

/// The waking thread, set up and waiting for the first release and the period.
pub struct WakerThread {
    start: SyncSender<(i64, i64)>,
    /// Returns its CPU time.
    thread: HelperThread<i64>,
}

/// Starts the thread that wakes the calling one; returns its settings too.
pub fn spawn(job: &ThreadJob, by: WakeBy) -> Result<(HandoffThread, SettingList), Refusal> {
    let cannot = |error| machine_refuses(format!("--wake {by}: {error}"));
    let channel = Channel::open(wake_method(by)).map_err(cannot)?;
    let (timer, waker) = handoff(channel, clock_of(&job.measurement));
    let (thread, cpu, usable) = (job.thread, job.waker_cpu, job.usable.clone());
    let (policy, measured) = (job.measurement.policy_of(thread), sched::thread_id());
    let (start, started) = sync_channel(1);
    let set_up = move || {
        let usual = Placement::new(thread, policy, &usable);
        let place = Placement { whose: "waker's ", cpu, ..usual };
        let wake = move || {
            if let Ok((first, period)) = started.recv() {
                waker.run(first, period, measured);
            }
            clock::thread_cpu_time()
        };
        Ok((place.apply()?, wake))
    };
    let (what, name) =
        (format!("thread that wakes thread {thread}"), format!("latlab/{thread} wakes"));
    let (thread, placed) = HelperThread::start(&what, name, set_up)?;
    Ok((HandoffThread { timer, waker: WakerThread { start, thread } }, placed.settings))
}

impl WakerThread {
    /// Lets it begin.
    pub fn begin(&self, first: i64, period: i64) {
        // Fails only if the thread has died; then no wake-up comes, and an interrupt ends the wait.
        let _ = self.start.send((first, period));
    }

    /// Waits for its end, which follows that of the measured thread; returns its CPU time.
    pub fn end(self) -> i64 {
        drop(self.start);
        self.thread.end().unwrap_or(0)
    }
}

fn wake_method(by: WakeBy) -> WakeMethod {
    match by {
        WakeBy::Futex => WakeMethod::Futex,
        WakeBy::Pipe => WakeMethod::Pipe,
        WakeBy::Signal => WakeMethod::Signal,
        WakeBy::Eventfd => WakeMethod::Eventfd,
        WakeBy::Mq => WakeMethod::Mq,
        WakeBy::Sysv => WakeMethod::Sysv,
    }
}
