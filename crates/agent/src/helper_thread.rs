//! A thread of ours beside a measuring one: it takes its place, says so, and works until it is
//! told to end.

use crate::monitor::MonitoredThread;
use crate::placement::PlacedThread;
use crate::refusals::machine_refuses;
use latlab_model::frame::Refusal;
use latlab_sys::memory;
use latlab_sys::sched::{self, Scheduling};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Stack of a thread of ours that measures or wakes; of it only what is touched becomes resident.
pub const STACK_BYTES: usize = 128 << 10;
/// What such a thread and what it calls may use of it.
pub const TOUCHED_STACK_BYTES: usize = 24 << 10;
/// How long a thread that is to end may wait for its CPU.
pub const STARVED: Duration = Duration::from_secs(1);

/// The thread, which ends with what its work came to.
pub struct HelperThread<T> {
    thread: Arc<MonitoredThread>,
    handle: JoinHandle<Option<T>>,
}

impl<T: Send + 'static> HelperThread<T> {
    /// Starts it under this name; `set_up` takes it to its place and gives what it is to do there.
    ///
    /// `what` is how a refusal speaks of it.
    pub fn start<W: FnOnce() -> T>(
        what: &str,
        name: String,
        set_up: impl FnOnce() -> Result<(PlacedThread, W), Refusal> + Send + 'static,
    ) -> Result<(HelperThread<T>, PlacedThread), Refusal> {
        let (ready, told) = sync_channel(1);
        let run = move || {
            memory::touch_stack::<TOUCHED_STACK_BYTES>();
            sched::set_name(&name);
            let (placed, work) = match set_up() {
                Ok((placed, work)) => {
                    let thread = Arc::clone(&placed.thread);
                    (Ok(placed), Some((work, thread)))
                }
                Err(refusal) => (Err(refusal), None),
            };
            // Nobody hears this only where whoever started it has died, which ends it as well.
            let _ = ready.send(placed);
            let (work, thread) = work?;
            let result = work();
            thread.record_end();
            Some(result)
        };
        let started = thread::Builder::new().stack_size(STACK_BYTES).spawn(run);
        let cannot = |error| machine_refuses(format!("cannot start the {what}: {error}"));
        let handle = started.map_err(cannot)?;
        let died = |_| machine_refuses(format!("the {what} ended during its set-up"));
        let placed = told.recv().map_err(died)??;
        Ok((HelperThread { thread: Arc::clone(&placed.thread), handle }, placed))
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.handle.is_finished()
    }

    /// Gets it out of its sleep, as often as it takes, until it has seen that it is to end. Where another
    /// thread keeps its CPU from it, it gets the one of the caller.
    pub fn end(self) -> Option<T> {
        let begun = Instant::now();
        while !self.has_ended() {
            sched::wake(self.thread.id);
            thread::sleep(Duration::from_millis(1));
            if begun.elapsed() > STARVED {
                // What it was until now is what it worked with.
                self.thread.record_end();
                let id = self.thread.id as u32;
                let _ = sched::set_affinity_of(id, sched::affinity().unwrap_or_default());
                let _ = sched::set_scheduling_of(id, Scheduling::Other);
            }
        }
        self.handle.join().ok().flatten()
    }
}
