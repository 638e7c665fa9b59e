//! Periodic kernel timers that count their expirations.

use crate::clock::{Clock, timespec};
use crate::{Errno, checked};
use rustix::fd::OwnedFd;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};

/// A periodic timer file descriptor.
pub struct TimerFd(OwnedFd);

impl TimerFd {
    /// Expires at `first` and then every `period`; the kernel has no such timer on CLOCK_TAI.
    pub fn start(clock: Clock, first: i64, period: i64) -> Result<TimerFd, Errno> {
        let clock = match clock {
            Clock::Monotonic => TimerfdClockId::Monotonic,
            Clock::Boottime => TimerfdClockId::Boottime,
            Clock::Realtime => TimerfdClockId::Realtime,
            Clock::Tai => return Err(Errno::INVAL),
        };
        let timer = rustix::time::timerfd_create(clock, TimerfdFlags::CLOEXEC)?;
        let times = Itimerspec { it_value: timespec(first), it_interval: timespec(period) };
        rustix::time::timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME, &times)?;
        Ok(TimerFd(timer))
    }

    /// Sleeps until the timer has expired; returns the number of expirations since the last call.
    #[inline]
    pub fn wait(&self) -> Result<u64, Errno> {
        let mut count = [0_u8; 8];
        rustix::io::read(&self.0, &mut count)?;
        Ok(u64::from_ne_bytes(count))
    }
}

/// A periodic POSIX timer whose signal the calling thread waits for.
pub struct PosixTimer {
    id: libc::c_int,
    signals: u64,
}

/// The kernel's signal information, read for the overrun count of a timer's signal.
#[repr(C)]
struct SignalInfo {
    signal: i32,
    error: i32,
    code: i32,
    #[cfg(target_pointer_width = "64")]
    padding: i32,
    timer: i32,
    overrun: i32,
    rest: [i32; 27],
}

// The kernel writes up to 128 bytes.
const _: () = assert!(size_of::<SignalInfo>() >= 128);

#[repr(C)]
struct KernelTimes {
    interval: [i64; 2],
    first: [i64; 2],
}

#[cfg(target_pointer_width = "64")]
const TIMER_SETTIME: libc::c_long = libc::SYS_timer_settime;
#[cfg(target_pointer_width = "32")]
const TIMER_SETTIME: libc::c_long = 409; // timer_settime64, the same number on all 32-bit machines

impl PosixTimer {
    /// Starts a timer for the calling thread: expires at `first` and then every `period`.
    ///
    /// The signal stays blocked in this thread for good, since only `wait` may take it.
    pub fn start(clock: Clock, first: i64, period: i64) -> Result<PosixTimer, Errno> {
        let signal = libc::SIGRTMIN();
        let signals = 1_u64 << (signal - 1);
        crate::wake::block(signal)?;
        // SAFETY: an all-zero sigevent is a valid value of that plain structure.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal;
        event.sigev_notify_thread_id = rustix::thread::gettid().as_raw_nonzero().get();
        let mut id: libc::c_int = 0;
        // SAFETY: event and id are valid for the call; the kernel writes one int to id.
        checked(unsafe { libc::syscall(libc::SYS_timer_create, clock.number(), &event, &mut id) })?;
        let timer = PosixTimer { id, signals };
        let pair = |time| {
            let time = timespec(time);
            [time.tv_sec, time.tv_nsec]
        };
        let times = KernelTimes { interval: pair(period), first: pair(first) };
        let old = std::ptr::null_mut::<KernelTimes>();
        // SAFETY: `times` has the kernel's layout of a 64-bit itimerspec; the old one may be null.
        checked(unsafe {
            libc::syscall(TIMER_SETTIME, timer.id, libc::TIMER_ABSTIME, &times, old)
        })?;
        Ok(timer)
    }

    /// Sleeps until the timer has expired; returns the number of expirations since the last call.
    #[inline]
    pub fn wait(&self) -> Result<u64, Errno> {
        let mut info = std::mem::MaybeUninit::<SignalInfo>::zeroed();
        let for_ever = std::ptr::null::<libc::timespec>();
        // SAFETY: the set is 8 bytes, the kernel writes at most 128 bytes of information.
        checked(unsafe {
            libc::syscall(
                libc::SYS_rt_sigtimedwait,
                &self.signals,
                info.as_mut_ptr(),
                for_ever,
                8_usize,
            )
        })?;
        // SAFETY: every bit pattern is a valid SignalInfo, and it was zeroed before.
        let info = unsafe { info.assume_init() };
        Ok(1 + info.overrun.max(0) as u64)
    }
}

impl Drop for PosixTimer {
    fn drop(&mut self) {
        // SAFETY: the id is that of a timer of this process which nothing else deletes.
        unsafe { libc::syscall(libc::SYS_timer_delete, self.id) };
    }
}
