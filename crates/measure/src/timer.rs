//! The ways a measuring thread can sleep until its release.

use latlab_sys::Errno;
use latlab_sys::clock::{self, Alarm, Clock};
use latlab_sys::timer::{PosixTimer, TimerFd};

/// When a wake-up was due, and when it came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wake {
    /// The release it belongs to.
    pub due: i64,
    /// The clock, read first thing after waking.
    pub at: i64,
}

/// Sleeps until a release; the tests use a scripted one.
pub trait Timer {
    /// Sleeps until `release`, if the timer has releases; fails with `EINTR` if a signal came
    /// first.
    fn wait(&mut self, release: i64) -> Result<Wake, Errno>;

    /// Number of further releases that have passed at a wake-up that was `latency` late.
    fn passed(&mut self, latency: i64, period: i64) -> i64;

    /// Number of releases between the expected one and the one that came, if another thread decides
    /// on them.
    #[inline]
    fn left_out(&self, _expected: i64, _came: i64, _period: i64) -> i64 {
        0
    }
}

/// For a loop whose caller has to end the timer afterwards.
impl<T: Timer> Timer for &mut T {
    fn wait(&mut self, release: i64) -> Result<Wake, Errno> {
        (**self).wait(release)
    }

    fn passed(&mut self, latency: i64, period: i64) -> i64 {
        (**self).passed(latency, period)
    }

    fn left_out(&self, expected: i64, came: i64, period: i64) -> i64 {
        (**self).left_out(expected, came, period)
    }
}

/// `clock_nanosleep` to an absolute time.
pub struct Nanosleep {
    clock: Clock,
    alarm: Alarm,
}

impl Nanosleep {
    pub fn new(clock: Clock) -> Nanosleep {
        Nanosleep { clock, alarm: Alarm::default() }
    }
}

impl Timer for Nanosleep {
    #[inline]
    fn wait(&mut self, release: i64) -> Result<Wake, Errno> {
        self.alarm.sleep_until(self.clock, release)?;
        Ok(Wake { due: release, at: self.clock.now() })
    }

    fn passed(&mut self, latency: i64, period: i64) -> i64 {
        latency / period
    }
}

/// `clock_nanosleep` for a length of time: each wake-up is due one period after the call.
pub struct Relative {
    /// The clock to sleep on.
    pub clock: Clock,
    /// How long to sleep.
    pub period: i64,
}

impl Timer for Relative {
    #[inline]
    fn wait(&mut self, _release: i64) -> Result<Wake, Errno> {
        let due = self.clock.now() + self.period;
        clock::sleep_for(self.clock, self.period)?;
        Ok(Wake { due, at: self.clock.now() })
    }

    fn passed(&mut self, _latency: i64, _period: i64) -> i64 {
        0
    }
}

/// A periodic kernel timer that reports how often it has expired.
pub trait Expirations {
    /// Sleeps until it expires; returns the number of expirations since the last call.
    fn expired(&mut self) -> Result<u64, Errno>;
}

impl Expirations for TimerFd {
    #[inline]
    fn expired(&mut self) -> Result<u64, Errno> {
        self.wait()
    }
}

impl Expirations for PosixTimer {
    #[inline]
    fn expired(&mut self) -> Result<u64, Errno> {
        self.wait()
    }
}

/// A periodic kernel timer; overruns are those that the kernel counted, not computed ones.
pub struct Periodic<E> {
    timer: E,
    clock: Clock,
    /// Whether overruns are served one by one.
    catch_up: bool,
    /// Expirations that the kernel has reported and no cycle has used yet.
    pending: u64,
}

impl<E: Expirations> Periodic<E> {
    /// Sleeps on this timer, which expires at the releases of this clock.
    pub fn new(timer: E, clock: Clock, catch_up: bool) -> Periodic<E> {
        Periodic { timer, clock, catch_up, pending: 0 }
    }
}

impl<E: Expirations> Timer for Periodic<E> {
    #[inline]
    fn wait(&mut self, release: i64) -> Result<Wake, Errno> {
        if self.pending == 0 {
            self.pending = self.timer.expired()?;
        }
        self.pending -= 1;
        Ok(Wake { due: release, at: self.clock.now() })
    }

    fn passed(&mut self, _latency: i64, _period: i64) -> i64 {
        match self.catch_up {
            true => self.pending as i64,
            false => std::mem::take(&mut self.pending) as i64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Script(Vec<u64>);

    impl Expirations for Script {
        fn expired(&mut self) -> Result<u64, Errno> {
            Ok(self.0.remove(0))
        }
    }

    #[test]
    fn a_periodic_timer_gives_back_what_the_kernel_counted() {
        let mut skipping = Periodic::new(Script(vec![1, 4]), Clock::Monotonic, false);
        skipping.wait(0).unwrap();
        assert_eq!(skipping.passed(0, 1), 0);
        skipping.wait(1).unwrap();
        assert_eq!(skipping.passed(0, 1), 3);

        let mut serving = Periodic::new(Script(vec![3]), Clock::Monotonic, true);
        let passed: Vec<i64> = (0..3)
            .map(|release| {
                serving.wait(release).unwrap();
                serving.passed(0, 1)
            })
            .collect();
        assert_eq!(passed, [2, 1, 0], "three cycles from one sleep");
    }
}
