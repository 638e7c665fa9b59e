//! The hand-off: a thread is woken by another one, and its latency counts from just before that
//! thread's system call.

use crate::timer::{Timer, Wake};
use latlab_sys::clock::{self, Clock};
use latlab_sys::wake::Channel;
use latlab_sys::{Errno, sched};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering};

/// Shared by both threads.
struct Shared {
    channel: Channel,
    clock: Clock,
    /// The release for which the measured thread was last woken …
    release: AtomicI64,
    /// … and the clock just before the call that woke it.
    called: AtomicI64,
    /// Whether the measured thread has answered, and may be woken again.
    waits: AtomicBool,
    ends: AtomicBool,
    /// The error of the waking thread; 0 if there is none.
    failed: AtomicI32,
}

/// The measured thread's side: its timer.
pub struct Handoff(Arc<Shared>);

/// The waking thread's side.
pub struct Waker(Arc<Shared>);

/// Both sides of a channel that was opened by the measured thread.
pub fn handoff(channel: Channel, clock: Clock) -> (Handoff, Waker) {
    let shared = Arc::new(Shared {
        channel,
        clock,
        release: AtomicI64::new(0),
        called: AtomicI64::new(0),
        waits: AtomicBool::new(true),
        ends: AtomicBool::new(false),
        failed: AtomicI32::new(0),
    });
    (Handoff(Arc::clone(&shared)), Waker(shared))
}

impl Timer for Handoff {
    /// Sleeps until woken. The reported wake-up is the release plus the time since the call, since
    /// the waking thread's own lateness is not the measured latency.
    #[inline]
    fn wait(&mut self, _release: i64) -> Result<Wake, Errno> {
        let shared = &*self.0;
        if let Err(error) = shared.channel.wait() {
            return Err(shared.error().unwrap_or(error));
        }
        let at = shared.clock.now();
        // Both were stored before the wake-up, which orders them.
        let due = shared.release.load(Ordering::Relaxed);
        let latency = at - shared.called.load(Ordering::Relaxed);
        shared.waits.store(true, Ordering::Release);
        Ok(Wake { due, at: due + latency })
    }

    /// Always 0: releases that the waking thread leaves out show in the next one it serves.
    fn passed(&mut self, _latency: i64, _period: i64) -> i64 {
        0
    }

    #[inline]
    fn left_out(&self, expected: i64, came: i64, period: i64) -> i64 {
        (came - expected) / period
    }
}

impl Drop for Handoff {
    fn drop(&mut self) {
        self.0.ends.store(true, Ordering::Release);
    }
}

impl Shared {
    fn error(&self) -> Option<Errno> {
        match self.failed.load(Ordering::Acquire) {
            0 => None,
            error => Some(Errno::from_raw_os_error(error)),
        }
    }
}

impl Waker {
    /// Wakes the measured thread at each release until that thread ends.
    ///
    /// A release at which it has not yet answered, or that is past, is left out.
    pub fn run(&self, first: i64, period: i64, measured: i32) {
        let shared = &*self.0;
        let mut release = first;
        while !self.ends() {
            match clock::sleep_until(shared.clock, release) {
                Ok(()) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return self.fail(error, measured),
            }
            if shared.waits.swap(false, Ordering::Acquire) {
                shared.release.store(release, Ordering::Relaxed);
                shared.called.store(shared.clock.now(), Ordering::Relaxed);
                if let Err(error) = shared.channel.wake() {
                    return self.fail(error, measured);
                }
            }
            let late = shared.clock.now() - release;
            release += period * (1 + late.max(0) / period);
        }
    }

    /// Whether the measured thread has ended.
    pub fn ends(&self) -> bool {
        self.0.ends.load(Ordering::Acquire)
    }

    /// Interrupts a sleep of the measured thread that nothing else will end.
    fn fail(&self, error: Errno, measured: i32) {
        self.0.failed.store(error.raw_os_error(), Ordering::Release);
        while !self.ends() {
            sched::wake(measured);
            // Repeated, as it may be just about to sleep.
            let _ = clock::sleep_for(Clock::Monotonic, 1_000_000);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_sys::wake::WakeMethod;

    const MS: i64 = 1_000_000;

    /// Invariant (instruments): handoff: an unanswered release is left out and counted; a failing waker ends the run.
    #[test]
    fn a_release_without_an_answer_is_left_out_and_told_with_the_next() {
        latlab_sys::signal::accept_wake().unwrap();
        let clock = Clock::Monotonic;
        let channel = Channel::open(WakeMethod::Futex).unwrap();
        let (mut handoff, waker) = handoff(channel, clock);
        let me = sched::thread_id();
        let first = clock.now() + 5 * MS;
        std::thread::scope(|scope| {
            scope.spawn(move || waker.run(first, 2 * MS, me));
            let mut expected = first;
            let mut left_out = 0;
            for cycle in 0..20 {
                let wake = handoff.wait(expected).unwrap();
                assert!(wake.at >= wake.due, "no wake-up comes before the call");
                assert_eq!((wake.due - first) % (2 * MS), 0, "releases are on the grid");
                left_out += handoff.left_out(expected, wake.due, 2 * MS);
                expected = wake.due + 2 * MS;
                if cycle == 10 {
                    std::thread::sleep(std::time::Duration::from_millis(21));
                }
            }
            assert!(left_out >= 9, "{left_out}");
            assert_eq!((expected - first) / (2 * MS), 20 + left_out, "each is served or told");
            drop(handoff);
        });
    }

    /// Invariant (instruments): handoff: an unanswered release is left out and counted; a failing waker ends the run.
    #[test]
    fn a_waking_thread_that_fails_ends_the_measured_one() {
        latlab_sys::signal::accept_wake().unwrap();
        let clock = Clock::Monotonic;
        let (mut handoff, waker) = handoff(Channel::open(WakeMethod::Eventfd).unwrap(), clock);
        let me = sched::thread_id();
        std::thread::scope(|scope| {
            scope.spawn(move || waker.fail(Errno::BADF, me));
            while handoff.wait(0) != Err(Errno::BADF) {}
            drop(handoff);
        });
    }
}
