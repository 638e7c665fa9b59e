//! The thread that wakes a measuring thread (instrument `handoff`).

use crate::job::{Job, STACK_BYTES, TOUCHED_STACK_BYTES, clock_of};
use crate::placing::Place;
use crate::refusals::machine_refuses;

use latlab_measure::handoff::{Handoff, handoff};
use latlab_model::frame::Refusal;
use latlab_model::plan::WakeBy;
use latlab_model::run::Setting;
use latlab_sys::wake::{Channel, Way};
use latlab_sys::{clock, memory, sched};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What a measuring thread holds of the thread that wakes it.
pub struct Woken {
    /// Its sleep.
    pub timer: Handoff,
    /// The other thread.
    pub waker: WakerThread,
}

/// The waking thread, set up and waiting for the first release and the period.
pub struct WakerThread {
    id: i32,
    start: SyncSender<(i64, i64)>,
    /// Ends with the CPU time that it took.
    handle: JoinHandle<i64>,
}

/// Starts the thread that wakes the calling one, and says how it is set up.
pub fn spawn(job: &Job, by: WakeBy) -> Result<(Woken, Vec<Setting>), Refusal> {
    let cannot = |error| machine_refuses(format!("--wake {by}: {error}"));
    let channel = Channel::open(way(by)).map_err(cannot)?;
    let (timer, waker) = handoff(channel, clock_of(&job.plan));
    let (thread, cpu, usable) = (job.thread, job.waker_cpu, job.usable.clone());
    let (policy, measured) = (job.plan.policy_of(thread), sched::thread_id());
    let (ready, set_up) = sync_channel(1);
    let (start, started) = sync_channel(1);
    let work = move || {
        memory::touch_stack::<TOUCHED_STACK_BYTES>();
        sched::set_name(&format!("latlab/{thread} wakes"));
        let place = Place { thread, whose: "waker's ", cpu, usable: &usable, policy };
        // Nobody hears this only where the measured thread has died, which its end tells.
        let _ = ready.send(place.take());
        if let Ok((first, period)) = started.recv() {
            waker.run(first, period, measured);
        }
        clock::thread_cpu_time()
    };
    let spawned = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    let handle = spawned.map_err(|error| {
        machine_refuses(format!("cannot start the thread that wakes thread {thread}: {error}"))
    })?;
    let died = |_| machine_refuses("a waking thread died while it was set up".into());
    let placed = set_up.recv().map_err(died)??;
    let waker = WakerThread { id: placed.thread_id, start, handle };
    Ok((Woken { timer, waker }, placed.settings))
}

impl WakerThread {
    /// Lets it begin.
    pub fn begin(&self, first: i64, period: i64) {
        // Fails only when the thread has died; then nobody is woken, and an interrupt ends that.
        let _ = self.start.send((first, period));
    }

    /// Waits for its end, which begins with that of the measured thread; the CPU time it took.
    pub fn end(self) -> i64 {
        drop(self.start);
        while !self.handle.is_finished() {
            sched::wake(self.id);
            thread::sleep(Duration::from_millis(1));
        }
        self.handle.join().unwrap_or(0)
    }
}

fn way(by: WakeBy) -> Way {
    match by {
        WakeBy::Futex => Way::Futex,
        WakeBy::Pipe => Way::Pipe,
        WakeBy::Signal => Way::Signal,
        WakeBy::Eventfd => Way::Eventfd,
        WakeBy::Mq => Way::Mq,
        WakeBy::Sysv => Way::Sysv,
    }
}
