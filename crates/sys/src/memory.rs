//! Memory locking, limits, and resource usage of threads.

use crate::Errno;
use crate::files::Root;
use crate::process::has_capability;
use rustix::mm::{Advice, MlockAllFlags};
use rustix::process::{Pid, Resource, Rlimit};
use std::ops::Range;
use std::sync::atomic::AtomicU8;

/// Which memory of a process to lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryLock {
    /// Present mappings.
    Present,
    /// Present and future mappings.
    All,
}

/// Locks memory of this process, each page when it is first touched.
///
/// Without `ONFAULT` every page of the program and of every stack would become resident.
pub fn lock(what: MemoryLock) -> Result<(), Errno> {
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::ONFAULT;
    rustix::mm::mlockall(match what {
        MemoryLock::Present => flags,
        MemoryLock::All => flags | MlockAllFlags::FUTURE,
    })
}

/// Releases the pages of this program's code, most of which only served the start; the kernel maps
/// those that are used again.
///
/// A kernel maps large pieces of the file at once, much more than what runs. Not for a measuring
/// process, as rarely used code of the loop would be faulted in just when something is late.
pub fn release_code(root: &Root) {
    let maps = root.read("proc/self/maps").unwrap_or_default();
    let here = release_code as *const () as usize;
    let code = maps.lines().filter_map(code_range).find(|range| range.contains(&here));
    if let Some(Range { start, end }) = code {
        let from = std::ptr::without_provenance_mut::<u8>(start);
        // SAFETY: nothing has written to these read-only pages, so they come back from the file
        // unchanged.
        let _ = unsafe { rustix::mm::madvise(from.cast(), end - start, Advice::LinuxDontNeed) };
    }
}

/// An executable, read-only mapping: `7f10-7f20 r-xp 00000000 fe:00 99 /bin/latlab`.
fn code_range(line: &str) -> Option<Range<usize>> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    let range = number(start)?..number(end)?;
    rest.starts_with("r-xp ").then_some(range)
}

/// Whether this process may lock unlimited memory. Otherwise, with future mappings locked, an
/// allocation beyond the limit fails, which ends the process.
pub fn may_lock_all() -> bool {
    const IPC_LOCK: u32 = 14;
    lock_limit().is_none() || has_capability(IPC_LOCK)
}

/// Bytes that an unprivileged process may lock; `None` for no limit.
pub fn lock_limit() -> Option<u64> {
    rustix::process::getrlimit(Resource::Memlock).current
}

/// Whether the memory of this process is locked, judged by a page that it always has.
///
/// A system call, as reading `/proc/self/status` costs far more.
pub fn is_locked() -> bool {
    static OURS: AtomicU8 = AtomicU8::new(0);
    is_page_locked(OURS.as_ptr())
}

fn is_page_locked(byte: *const u8) -> bool {
    let size = page_size();
    let page = byte.map_addr(|address| address & !(size - 1)).cast_mut();
    // SAFETY: nothing is written or dropped; the kernel only checks how the page is mapped.
    let synced = unsafe { libc::msync(page.cast(), size, libc::MS_INVALIDATE) };
    synced == -1 && Errno::from_io_error(&std::io::Error::last_os_error()) == Some(Errno::BUSY)
}

pub(crate) fn page_size() -> usize {
    // SAFETY: sysconf touches no memory of ours; every kernel has a page size.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

/// Bytes of this process that the kernel counts as locked.
pub fn locked_bytes(root: &Root) -> Option<u64> {
    status_kilobytes(root, "VmLck:")
}

/// Peak resident memory of this process.
pub fn peak_resident_bytes(root: &Root) -> Option<u64> {
    status_kilobytes(root, "VmHWM:")
}

fn status_kilobytes(root: &Root, field: &str) -> Option<u64> {
    let status = root.read("proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Upper bound of the main thread's stack use, with room to spare.
const LEAST_STACK: u64 = 1 << 20;

/// Ensures that the main thread's stack may grow as far as needed; the error is the limit in bytes
/// that prevents it.
pub fn require_stack() -> Result<(), u64> {
    let Rlimit { current, maximum } = rustix::process::getrlimit(Resource::Stack);
    match current {
        Some(current) if current < LEAST_STACK => {
            let raised = Rlimit { current: Some(LEAST_STACK), maximum };
            rustix::process::setrlimit(Resource::Stack, raised).map_err(|_| current)
        }
        _ => Ok(()),
    }
}

/// Limits how long a real-time thread may run without sleeping: first SIGXCPU, then SIGKILL.
pub fn limit_realtime_run(signal_after_us: u64, kill_after_us: u64) -> Result<(), Errno> {
    let limit = Rlimit { current: Some(signal_after_us), maximum: Some(kill_after_us) };
    rustix::process::setrlimit(Resource::Rttime, limit)
}

/// Lifts the limit of [`limit_realtime_run`] from another process, which has inherited it.
pub fn lift_realtime_limit(process: u32) {
    let limit = Rlimit { current: None, maximum: None };
    // Fails only if the process has ended.
    let _ = rustix::process::prlimit(Pid::from_raw(process as i32), Resource::Rttime, limit);
}

/// The limit of [`limit_realtime_run`] before SIGXCPU, in microseconds; `None` for no limit.
pub fn realtime_run_limit() -> Option<u64> {
    rustix::process::getrlimit(Resource::Rttime).current
}

/// Limit of open files of this process; `None` for no limit.
pub fn open_file_limit() -> Option<u64> {
    rustix::process::getrlimit(Resource::Nofile).current
}

/// Resource usage of the calling thread since it started.
#[derive(Clone, Copy, Default, Debug)]
pub struct ThreadUsage {
    /// Page faults, with and without reading from disk.
    pub page_faults: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
}

/// Resource usage of the calling thread.
pub fn thread_usage() -> ThreadUsage {
    let usage = usage_of(libc::RUSAGE_THREAD);
    ThreadUsage {
        page_faults: (usage.ru_minflt + usage.ru_majflt) as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        involuntary_switches: usage.ru_nivcsw as u64,
    }
}

/// CPU time of all children that were waited for, in nanoseconds.
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

/// Touches this much of the calling thread's stack, so that later use causes no page fault.
#[inline(never)]
pub fn touch_stack<const BYTES: usize>() {
    let mut area = [0_u8; BYTES];
    for byte in area.iter_mut().step_by(1024) {
        *byte = 1;
    }
    std::hint::black_box(&area);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_was_given_back_runs_again() {
        let resident = || status_kilobytes(&Root::default(), "RssFile:").unwrap();
        let before = resident();
        release_code(&Root::default());
        assert!(resident() < before, "{} of {before} bytes", resident());
        assert_eq!(
            code_range("7f10-7f20 r-xp 00000000 fe:00 99 /bin/latlab"),
            Some(0x7f10..0x7f20)
        );
        assert_eq!(code_range("7f10-7f20 rw-p 00000000 fe:00 99 /bin/latlab"), None);
    }

    #[test]
    fn a_page_is_locked_until_it_is_unlocked() {
        let size = page_size();
        let memory = vec![0_u8; 3 * size];
        let page = memory.as_ptr().map_addr(|at| at.next_multiple_of(size));
        assert!(!is_page_locked(page));
        // SAFETY: the page lies in `memory`, which lives until the end of the test.
        unsafe { rustix::mm::mlock(page.cast_mut().cast(), size) }.unwrap();
        assert!(is_page_locked(page.wrapping_add(size / 2)));
        // SAFETY: as above.
        unsafe { rustix::mm::munlock(page.cast_mut().cast(), size) }.unwrap();
        assert!(!is_page_locked(page));
    }
}
