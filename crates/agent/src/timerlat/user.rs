//! A thread of ours in the place of the kernel's: each read sleeps until the next release, and says
//! on its way in that the thread was back in user space.

use crate::job::{STACK_BYTES, TOUCHED_STACK_BYTES};
use crate::placing::{Place, Placed};
use crate::refusals::machine_refuses;
use latlab_model::frame::Refusal;
use latlab_model::plan::Policy;
use latlab_sys::tracefs::Tracefs;
use latlab_sys::{memory, sched};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The kernel's file of a CPU, which one thread at a time may have.
pub fn file(cpu: u32) -> String {
    format!("osnoise/per_cpu/cpu{cpu}/timerlat_fd")
}

/// The thread, as long as it lives.
pub struct UserThread {
    id: i32,
    end: Arc<AtomicBool>,
    handle: Option<JoinHandle<()>>,
}

impl UserThread {
    /// Starts it on this CPU, where it is measured from its first read on.
    pub fn start(
        tracefs: &Tracefs,
        thread: u32,
        cpu: u32,
        policy: Policy,
    ) -> Result<(UserThread, Placed), Refusal> {
        let (ready, set_up) = sync_channel(1);
        let end = Arc::new(AtomicBool::new(false));
        let (ended, tracefs) = (Arc::clone(&end), tracefs.clone());
        let work = move || {
            memory::touch_stack::<TOUCHED_STACK_BYTES>();
            sched::set_name(&format!("latlab/{thread} user"));
            let place = Place { thread, whose: "", cpu: Some(cpu), usable: &[], policy };
            let opened = place.take().and_then(|placed| {
                let name = file(cpu);
                let opened = tracefs.open(&name).map_err(|error| {
                    machine_refuses(format!(
                        "--instrument timerlat: {} cannot be opened ({error}): another program may \
                         have it, such as rtla",
                        tracefs.path_of(&name)
                    ))
                });
                Ok((placed, opened?))
            });
            let (placed, file) = opened.map_or_else(
                |refusal| (Err(refusal), None),
                |(placed, file)| (Ok(placed), Some(file)),
            );
            // Nobody hears this only where the session has given up, which ends this thread too.
            let _ = ready.send(placed);
            let Some(mut file) = file else { return };
            // It holds nothing; a signal ends a read without an error.
            while !ended.load(Ordering::Relaxed) && file.read(&mut [0]).is_ok() {}
        };
        let spawned = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
        let handle = spawned.map_err(|error| {
            machine_refuses(format!("cannot start the user thread of thread {thread}: {error}"))
        })?;
        let died = |_| machine_refuses("a user thread died while it was set up".into());
        let placed = set_up.recv().map_err(died)??;
        Ok((UserThread { id: placed.thread_id, end, handle: Some(handle) }, placed))
    }

    /// Whether it has ended without being asked, as when its CPU goes away.
    pub fn has_ended(&self) -> bool {
        self.handle.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for UserThread {
    /// Waits until it has closed its file: the kernel kills a process that has it when the tracer ends.
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        while !self.has_ended() {
            sched::wake(self.id);
            thread::sleep(Duration::from_millis(1));
        }
        let _ = self.handle.take().map(JoinHandle::join);
    }
}
