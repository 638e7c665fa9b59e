//! Reading clocks and sleeping on them.

use crate::Errno;
use rustix::time::Timespec;

/// Nanoseconds per second.
pub(crate) const SECOND: i64 = 1_000_000_000;

/// A kernel clock, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
pub enum Clock {
    /// CLOCK_MONOTONIC.
    Monotonic = libc::CLOCK_MONOTONIC,
    /// CLOCK_BOOTTIME.
    Boottime = libc::CLOCK_BOOTTIME,
    /// CLOCK_REALTIME.
    Realtime = libc::CLOCK_REALTIME,
    /// CLOCK_TAI.
    Tai = libc::CLOCK_TAI,
}

impl Clock {
    pub(crate) fn number(self) -> libc::clockid_t {
        self as libc::clockid_t
    }

    /// The resolution that the kernel reports for this clock, in nanoseconds.
    #[allow(clippy::useless_conversion, reason = "a C long has 32 bits elsewhere")]
    pub fn resolution(self) -> i64 {
        let mut step = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call writes to `step`, which outlives it.
        unsafe { libc::clock_getres(self.number(), &raw mut step) };
        i64::from(step.tv_nsec)
    }

    /// Nanoseconds on this clock.
    #[inline]
    pub fn now(self) -> i64 {
        read(self.number())
    }
}

/// Sets CLOCK_REALTIME.
pub fn set_realtime(time: i64) -> Result<(), Errno> {
    let time = timespec(time);
    rustix::time::clock_settime(rustix::time::ClockId::Realtime, time)
}

/// CPU time of all threads of another process, in nanoseconds; `None` if there is no such process.
pub fn cpu_time_of_process(pid: u32) -> Option<i64> {
    // The kernel's encoding of such a clock: all threads, by the scheduler's accounting.
    cpu_time(pid, 2)
}

/// CPU time of another thread of this process, in nanoseconds; `None` if the thread does not exist.
pub fn cpu_time_of_thread(id: u32) -> Option<i64> {
    // As above, for one thread.
    cpu_time(id, 4 | 2)
}

fn cpu_time(id: u32, kind: libc::clockid_t) -> Option<i64> {
    let clock = (!(id as libc::clockid_t) << 3) | kind;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the kernel to write to; an unknown clock only makes it fail.
    let got = unsafe { libc::clock_gettime(clock, &mut time) };
    #[allow(clippy::unnecessary_cast, reason = "the fields are 32 bits wide on some targets")]
    (got == 0).then(|| time.tv_sec as i64 * 1_000_000_000 + time.tv_nsec as i64)
}

/// CPU time of the calling thread in nanoseconds.
pub fn thread_cpu_time() -> i64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of all threads of this process in nanoseconds.
pub fn process_cpu_time() -> i64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

// libc's reader uses the vDSO with every C library we build for, and unlike rustix's it works under
// valgrind, which counts the loop's instructions.
#[inline]
#[cfg(target_pointer_width = "64")]
fn read(clock: libc::clockid_t) -> i64 {
    let mut time = std::mem::MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: `time` outlives the call, and the call writes all of it, since the clock exists.
    let time = unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    };
    time.tv_sec * SECOND + time.tv_nsec
}

// On 32-bit machines libc's timespec ends in 2038; rustix asks the kernel for 64-bit times.
#[inline]
#[cfg(target_pointer_width = "32")]
fn read(clock: libc::clockid_t) -> i64 {
    let time = rustix::time::clock_gettime(clock_id(clock));
    time.tv_sec * SECOND + time.tv_nsec
}

/// The clock of this number, as rustix names it.
#[inline]
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn clock_id(clock: libc::clockid_t) -> rustix::time::ClockId {
    use rustix::time::ClockId;
    match clock {
        libc::CLOCK_MONOTONIC => ClockId::Monotonic,
        libc::CLOCK_BOOTTIME => ClockId::Boottime,
        libc::CLOCK_REALTIME => ClockId::Realtime,
        libc::CLOCK_TAI => ClockId::Tai,
        libc::CLOCK_PROCESS_CPUTIME_ID => ClockId::ProcessCPUTime,
        _ => ClockId::ThreadCPUTime,
    }
}

#[inline]
pub(crate) fn timespec(time: i64) -> Timespec {
    // Clock times are not negative, and unsigned division takes fewer instructions.
    let (time, second) = (time as u64, SECOND as u64);
    Timespec { tv_sec: (time / second) as i64, tv_nsec: (time % second) as i64 }
}

/// Sleeps until a time of a clock; `EINTR` if a signal came first.
#[inline]
pub fn sleep_until(clock: Clock, time: i64) -> Result<(), Errno> {
    sleep(clock, libc::TIMER_ABSTIME, time)
}

/// A reusable time to sleep until, for increasing times of one clock.
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    /// Start of its second.
    second: i64,
    time: Timespec,
}

impl Default for Alarm {
    fn default() -> Alarm {
        Alarm { second: 0, time: timespec(0) }
    }
}

impl Alarm {
    /// Sleeps until this time; `EINTR` if a signal came first.
    #[inline]
    pub fn sleep_until(&mut self, clock: Clock, time: i64) -> Result<(), Errno> {
        self.set(time);
        sleep_to(clock, libc::TIMER_ABSTIME, &self.time)
    }

    /// Divides only when a new second begins: a division takes more instructions than the rest.
    #[inline]
    fn set(&mut self, time: i64) {
        let within = time - self.second;
        if (within as u64) < SECOND as u64 {
            self.time.tv_nsec = within as _;
        } else {
            self.begin_second(time);
        }
    }

    #[cold]
    #[inline(never)]
    fn begin_second(&mut self, time: i64) {
        self.time = timespec(time);
        self.second = self.time.tv_sec * SECOND;
    }
}

/// Sleeps for a length of time; `EINTR` if a signal came first.
#[inline]
pub fn sleep_for(clock: Clock, length: i64) -> Result<(), Errno> {
    sleep(clock, 0, length)
}

/// The bare system call: the C library's function is a cancellation point and its `syscall`
/// shuffles all registers, either of which costs more than the rest of the measuring loop.
#[inline]
fn sleep(clock: Clock, flags: libc::c_int, time: i64) -> Result<(), Errno> {
    sleep_to(clock, flags, &timespec(time))
}

#[inline]
fn sleep_to(clock: Clock, flags: libc::c_int, time: &Timespec) -> Result<(), Errno> {
    match clock_nanosleep(clock, flags, time) {
        0 => Ok(()),
        error => Err(errno_of(error)),
    }
}

#[cold]
fn errno_of(result: isize) -> Errno {
    Errno::from_raw_os_error(-result as i32)
}

#[inline]
#[cfg(target_arch = "x86_64")]
fn clock_nanosleep(clock: Clock, flags: libc::c_int, time: &Timespec) -> isize {
    let result;
    // SAFETY: the kernel reads `time` and writes nothing, since the other pointer is null; rcx and
    // r11 are what the instruction itself clobbers.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") libc::SYS_clock_nanosleep as isize => result,
            in("rdi") clock as isize,
            in("rsi") flags as isize,
            in("rdx") time,
            in("r10") 0,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack, readonly),
        );
    }
    result
}

#[inline]
#[cfg(target_arch = "aarch64")]
fn clock_nanosleep(clock: Clock, flags: libc::c_int, time: &Timespec) -> isize {
    let result;
    // SAFETY: the kernel reads `time` and writes nothing, since the other pointer is null.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") libc::SYS_clock_nanosleep,
            inlateout("x0") clock as isize => result,
            in("x1") flags as isize,
            in("x2") time,
            in("x3") 0,
            options(nostack, readonly),
        );
    }
    result
}

// Elsewhere rustix's call: on 32-bit machines it takes 64-bit times, and falls back to the older
// call on older kernels.
#[inline]
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn clock_nanosleep(clock: Clock, flags: libc::c_int, time: &Timespec) -> isize {
    use rustix::thread::{NanosleepRelativeResult, clock_nanosleep_absolute};
    let clock = clock_id(clock.number());
    let slept = match flags {
        libc::TIMER_ABSTIME => clock_nanosleep_absolute(clock, time),
        _ => match rustix::thread::clock_nanosleep_relative(clock, time) {
            NanosleepRelativeResult::Ok => Ok(()),
            NanosleepRelativeResult::Interrupted(_) => Err(Errno::INTR),
            NanosleepRelativeResult::Err(error) => Err(error),
        },
    };
    slept.map_or_else(|error| -(error.raw_os_error() as isize), |()| 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_is_set_to_the_time_whatever_it_was_set_to_before() {
        let mut alarm = Alarm::default();
        for time in [1, SECOND - 1, SECOND, SECOND + 7, 9 * SECOND, 9 * SECOND - 1, 3, i64::MAX] {
            alarm.set(time);
            assert_eq!((alarm.time.tv_sec, alarm.time.tv_nsec), (time / SECOND, time % SECOND));
        }
    }
}
