//! Memory locking, limits and what a thread has used.

use crate::Errno;
use crate::files::Root;
use rustix::mm::MlockAllFlags;
use rustix::process::{Resource, Rlimit};

/// Locks all memory of this process, present and future, each page when it is first touched.
///
/// Without `ONFAULT` every page of the program and of every stack would be made resident.
pub fn lock_all() -> Result<(), Errno> {
    rustix::mm::mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT)
}

/// Bytes of this process that the kernel counts as locked.
pub fn locked_bytes(root: &Root) -> Option<u64> {
    status_kilobytes(root, "VmLck:")
}

/// Largest resident memory of this process so far.
pub fn peak_resident_bytes(root: &Root) -> Option<u64> {
    status_kilobytes(root, "VmHWM:")
}

fn status_kilobytes(root: &Root, field: &str) -> Option<u64> {
    let status = root.read("proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Limits how long a real-time thread may run without sleeping: first SIGXCPU, then SIGKILL.
pub fn limit_realtime_run(signal_after_us: u64, kill_after_us: u64) -> Result<(), Errno> {
    let limit = Rlimit { current: Some(signal_after_us), maximum: Some(kill_after_us) };
    rustix::process::setrlimit(Resource::Rttime, limit)
}

/// The limit of [`limit_realtime_run`] before SIGXCPU, in microseconds; none for no limit.
pub fn realtime_run_limit() -> Option<u64> {
    rustix::process::getrlimit(Resource::Rttime).current
}

/// What the calling thread has used since it started.
#[derive(Clone, Copy, Default, Debug)]
pub struct ThreadUsage {
    /// Page faults, with and without reading from disk.
    pub page_faults: u64,
    /// Times it slept.
    pub voluntary_switches: u64,
    /// Times it was put off its CPU.
    pub involuntary_switches: u64,
}

/// What the calling thread has used.
pub fn thread_usage() -> ThreadUsage {
    let usage = usage_of(libc::RUSAGE_THREAD);
    ThreadUsage {
        page_faults: (usage.ru_minflt + usage.ru_majflt) as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    }
}

/// CPU time of all children that have been waited for, in nanoseconds.
pub fn children_cpu_time() -> i64 {
    let usage = usage_of(libc::RUSAGE_CHILDREN);
    #[allow(clippy::unnecessary_cast, reason = "the fields are 32 bits wide on some targets")]
    let nanos =
        |time: libc::timeval| (time.tv_sec as i64) * 1_000_000_000 + (time.tv_usec as i64) * 1_000;
    nanos(usage.ru_utime) + nanos(usage.ru_stime)
}

fn usage_of(who: libc::c_int) -> libc::rusage {
    // SAFETY: an all-zero rusage is a valid value of that plain structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: `usage` is valid for the kernel to write to.
    unsafe { libc::getrusage(who, &mut usage) };
    usage
}

/// Touches this much of the calling thread's stack, so that using it later faults no page in.
#[inline(never)]
pub fn touch_stack<const BYTES: usize>() {
    let mut area = [0_u8; BYTES];
    for byte in area.iter_mut().step_by(1024) {
        *byte = 1;
    }
    std::hint::black_box(&area);
}
