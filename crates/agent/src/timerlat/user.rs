//! A user-space thread in place of the kernel's: each read sleeps until the next release, and first
//! reports that the thread was back in user space.

use crate::helper_thread::HelperThread;
use crate::placement::{PlacedThread, Placement};
use crate::refusals::machine_refuses;
use latlab_model::frame::Refusal;
use latlab_model::plan::Policy;
use latlab_sys::clock::thread_cpu_time;
use latlab_sys::tracefs::Tracefs;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The kernel's file for a CPU; one thread at a time may open it.
pub fn file(cpu: u32) -> String {
    format!("osnoise/per_cpu/cpu{cpu}/timerlat_fd")
}

/// The thread, while it lives.
pub struct UserThread {
    end: Arc<AtomicBool>,
    /// Returns its CPU time.
    thread: Option<HelperThread<i64>>,
}

impl UserThread {
    /// Starts it on this CPU, where it is measured from its first read on.
    pub fn start(
        tracefs: &Tracefs,
        thread: u32,
        cpu: u32,
        policy: Policy,
    ) -> Result<(UserThread, PlacedThread), Refusal> {
        let end = Arc::new(AtomicBool::new(false));
        let (ended, tracefs) = (Arc::clone(&end), tracefs.clone());
        let set_up = move || {
            let place = Placement { cpu: Some(cpu), ..Placement::new(thread, policy, &[]) };
            let (placed, name) = (place.apply()?, file(cpu));
            let mut file = tracefs.open(&name).map_err(|error| {
                machine_refuses(format!(
                    "--instrument timerlat: cannot open {} ({error}): another program, such as \
                     rtla, may use it",
                    tracefs.path_of(&name)
                ))
            })?;
            // It holds no resources; a signal ends a read without an error.
            let read = move || {
                while !ended.load(Ordering::Relaxed) && file.read(&mut [0]).is_ok() {}
                thread_cpu_time()
            };
            Ok((placed, read))
        };
        let (what, name) =
            (format!("user thread of thread {thread}"), format!("latlab/{thread} user"));
        let (thread, placed) = HelperThread::start(&what, name, set_up)?;
        Ok((UserThread { end, thread: Some(thread) }, placed))
    }

    /// Whether it ended without being asked, as when its CPU goes offline.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(HelperThread::has_ended)
    }

    /// Waits until it has closed its file, since the kernel kills a process that has it open when
    /// the tracer ends. Returns its CPU time the first time.
    pub fn end(&mut self) -> i64 {
        self.end.store(true, Ordering::Relaxed);
        self.thread.take().and_then(HelperThread::end).unwrap_or(0)
    }
}

impl Drop for UserThread {
    fn drop(&mut self) {
        self.end();
    }
}
