//! The only home of `unsafe` and of kernel files.
//!
//! Every reader of kernel files takes a [`files::Root`], so that a test can plant a machine; every
//! setting is read back after it was made, and undone by dropping its guard.

pub mod boot;
pub mod cgroup;
pub mod child;
pub mod clock;
pub mod counter;
pub mod cpu_claim;
pub mod disk;
pub mod dma_latency;
pub mod ethernet;
mod file_lock;
pub mod files;
pub mod folder;
pub mod gpio;
pub mod klog;
pub mod lease;
pub mod mark;
pub mod memory;
pub mod process;
pub mod record;
pub mod release_times;
pub mod sched;
pub mod scratch;
pub mod signal;
pub mod spool;
pub mod terminal;
pub mod timer;
pub mod trace;
pub mod tracefs;
pub mod tune_claim;
pub mod undo;
pub mod usbtmc;
pub mod user_stack;
pub mod wake;
pub mod work_log;
pub mod write_watch;

/// The kernel's error numbers, as every call here reports them.
pub use rustix::io::Errno;

/// Converts the result of a raw system call.
fn checked(result: libc::c_long) -> Result<libc::c_long, Errno> {
    match result {
        -1 => Err(std::io::Error::last_os_error()
            .raw_os_error()
            .map_or(Errno::INVAL, Errno::from_raw_os_error)),
        value => Ok(value),
    }
}
