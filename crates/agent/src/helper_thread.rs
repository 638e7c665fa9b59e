//! A helper thread for a measuring one: it takes its place, reports that, and works until told to
//! end.

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

/// Stack size of a measuring or waking thread; only touched pages become resident.
pub const STACK_BYTES: usize = 128 << 10;
/// The part of the stack that such a thread may use.
pub const TOUCHED_STACK_BYTES: usize = 24 << 10;
/// How long a thread that is to end may wait for its CPU.
pub const STARVED: Duration = Duration::from_secs(1);

/// The thread; it returns the result of its work.
pub struct HelperThread<T> {
    thread: Arc<MonitoredThread>,
    handle: JoinHandle<Option<T>>,
}

impl<T: Send + 'static> HelperThread<T> {
    /// Starts a thread with this name. `set_up` takes it to its place and returns its work.
    ///
    /// `what` names it in a refusal.
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
            // Fails only if the starting thread has died, which ends this one as well.
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

    pub fn has_ended(&self) -> bool {
        self.handle.is_finished()
    }

    /// Interrupts its sleep until it sees that it is to end. If another thread keeps it off its
    /// CPU, moves it to the caller's CPU.
    pub fn end(self) -> Option<T> {
        let begun = Instant::now();
        while !self.has_ended() {
            sched::wake(self.thread.id);
            thread::sleep(Duration::from_millis(1));
            if begun.elapsed() > STARVED {
                // Record the settings it worked with before they change.
                self.thread.record_end();
                let id = self.thread.id as u32;
                let _ = sched::set_affinity_of(id, sched::affinity().unwrap_or_default());
                let _ = sched::set_scheduling_of(id, Scheduling::Other);
            }
        }
        self.handle.join().ok().flatten()
    }
}
