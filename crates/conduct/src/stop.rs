//! Whether the user has asked to stop.

use latlab_sys::signal::{self, Signal};
use std::io;
use std::sync::atomic::{AtomicU8, Ordering};

/// A flag that stops what is in progress; what was measured until then is kept.
#[derive(Debug, Default)]
pub struct StopFlag(AtomicU8);

static STOP: StopFlag = StopFlag::new();

impl StopFlag {
    pub const fn new() -> StopFlag {
        StopFlag(AtomicU8::new(0))
    }

    /// The flag of this process, set by signals after [`StopFlag::on_signals`] was called.
    pub fn of_process() -> &'static StopFlag {
        &STOP
    }

    /// The flag that SIGINT and SIGTERM set from now on, and SIGHUP unless `keep_going`.
    pub fn on_signals(keep_going: bool) -> io::Result<&'static StopFlag> {
        let stop_on = |signal| signal::store_on(signal, &STOP.0, 1);
        stop_on(Signal::Interrupt)?;
        stop_on(Signal::Terminate)?;
        match keep_going || signal::is_ignored(Signal::HangUp) {
            true => signal::ignore(Signal::HangUp)?,
            false => stop_on(Signal::HangUp)?,
        }
        Ok(&STOP)
    }

    pub fn set(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}
