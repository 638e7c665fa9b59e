//! Reading clocks and sleeping on them.

use crate::{Errno, checked};
use rustix::time::Timespec;

/// Nanoseconds of a second.
pub(crate) const SECOND: i64 = 1_000_000_000;

/// A clock of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// CLOCK_MONOTONIC.
    Monotonic,
    /// CLOCK_BOOTTIME.
    Boottime,
    /// CLOCK_REALTIME.
    Realtime,
    /// CLOCK_TAI.
    Tai,
}

impl Clock {
    pub(crate) fn number(self) -> libc::clockid_t {
        match self {
            Clock::Monotonic => libc::CLOCK_MONOTONIC,
            Clock::Boottime => libc::CLOCK_BOOTTIME,
            Clock::Realtime => libc::CLOCK_REALTIME,
            Clock::Tai => libc::CLOCK_TAI,
        }
    }

    /// Nanoseconds on this clock.
    #[inline]
    pub fn now(self) -> i64 {
        read(self.number())
    }
}

/// CPU time of the calling thread in nanoseconds.
pub fn thread_cpu_time() -> i64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

// libc's reader goes through the vDSO on every C library we build for, and unlike rustix's own
// it works under valgrind, which is how the loop's instructions are counted.
#[inline]
#[cfg(target_pointer_width = "64")]
fn read(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec that outlives the call, and the clock exists.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * SECOND + time.tv_nsec
}

// On 32-bit machines libc's timespec ends in 2038; rustix asks the kernel for 64-bit times.
#[inline]
#[cfg(target_pointer_width = "32")]
fn read(clock: libc::clockid_t) -> i64 {
    let id = match clock {
        libc::CLOCK_MONOTONIC => rustix::time::ClockId::Monotonic,
        libc::CLOCK_BOOTTIME => rustix::time::ClockId::Boottime,
        libc::CLOCK_REALTIME => rustix::time::ClockId::Realtime,
        libc::CLOCK_TAI => rustix::time::ClockId::Tai,
        _ => rustix::time::ClockId::ThreadCPUTime,
    };
    let time = rustix::time::clock_gettime(id);
    time.tv_sec * SECOND + time.tv_nsec
}

pub(crate) fn timespec(time: i64) -> Timespec {
    Timespec { tv_sec: time / SECOND, tv_nsec: time % SECOND }
}

/// Sleeps until a time of a clock; `EINTR` when a signal came first.
#[inline]
pub fn sleep_until(clock: Clock, time: i64) -> Result<(), Errno> {
    sleep(clock, libc::TIMER_ABSTIME, time)
}

/// Sleeps for a length of time; `EINTR` when a signal came first.
#[inline]
pub fn sleep_for(clock: Clock, length: i64) -> Result<(), Errno> {
    sleep(clock, 0, length)
}

#[cfg(target_pointer_width = "64")]
const CLOCK_NANOSLEEP: libc::c_long = libc::SYS_clock_nanosleep;
#[cfg(target_pointer_width = "32")]
const CLOCK_NANOSLEEP: libc::c_long = 407; // clock_nanosleep_time64, the same number everywhere

/// The bare system call: the C library's function is a cancellation point, which costs more
/// instructions than the rest of the measuring loop; rustix's has no CLOCK_TAI.
#[inline]
fn sleep(clock: Clock, flags: libc::c_int, time: i64) -> Result<(), Errno> {
    let time = timespec(time);
    let rest = std::ptr::null_mut::<Timespec>();
    // SAFETY: `time` is a 64-bit timespec as this call expects; the rest may be null.
    checked(unsafe { libc::syscall(CLOCK_NANOSLEEP, clock.number(), flags, &time, rest) }).map(drop)
}
