//! The events of a program as steps of each of its threads.

use super::calls::Call;
use super::events::Seat;
use crate::kernel_events::Left;
use latlab_model::Nanos;

/// Identifies a wait: the call, and what distinguishes it from other uses of the same call.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct WaitKey {
    pub call: Call,
    /// A file descriptor, an address, or a clock with its flags.
    pub what: u64,
    /// Differs if a file descriptor was closed and opened again.
    pub generation: u32,
}

/// Flag of `clock_nanosleep` for an absolute time.
const TIMER_ABSTIME: u64 = 1;
/// The operation of `futex` without its flags.
const FUTEX_OPERATION: u64 = 0x7f;
const FUTEX_WAIT: u64 = 0;
/// FUTEX_WAIT, WAIT_BITSET, LOCK_PI, WAIT_REQUEUE_PI, LOCK_PI2.
const FUTEX_WAITS: [u64; 5] = [0, 9, 6, 11, 13];
/// Those with priority inheritance.
const FUTEX_PI: [u64; 2] = [6, 13];

impl WaitKey {
    /// For a call with these arguments; `None` for one that does not wait.
    pub fn of(call: Call, arguments: &[u64; 6], generation: u32) -> Option<WaitKey> {
        if !call.waits() {
            return None;
        }
        let [first, second, ..] = *arguments;
        let what = match call {
            Call::Nanosleep => 0,
            Call::ClockNanosleep => first << 1 | second & TIMER_ABSTIME,
            // A condition variable waits on two adjacent words in turn.
            Call::Futex => match FUTEX_WAITS.contains(&(second & FUTEX_OPERATION)) {
                true => first >> 3,
                false => return None,
            },
            Call::Ioctl => first << 32 | second & 0xffff_ffff,
            Call::RtSigtimedwait | Call::RtSigsuspend | Call::Pause | Call::SchedYield => 0,
            _ => first,
        };
        Some(WaitKey { call, what, generation })
    }

    /// The file descriptor that it waits for.
    pub fn descriptor(&self) -> Option<i64> {
        let number = if self.call == Call::Ioctl { self.what >> 32 } else { self.what };
        self.call.has_descriptor().then_some(number as i32 as i64)
    }

    /// For a sleep: the number of its clock, and whether it is absolute.
    pub fn sleep(&self) -> Option<(i64, bool)> {
        match self.call {
            Call::Nanosleep => Some((1, false)),
            Call::ClockNanosleep => {
                Some(((self.what >> 1) as i32 as i64, self.what & TIMER_ABSTIME != 0))
            }
            _ => None,
        }
    }

    /// Whether it sleeps until an absolute time.
    pub fn is_absolute(&self) -> bool {
        self.sleep().is_some_and(|(_, absolute)| absolute)
    }
}

/// How a thread waits for a futex.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lock {
    /// As the C libraries take a lock.
    Plain,
    /// A lock with priority inheritance.
    Inheriting,
    /// As they wait for a condition, a semaphore, or with a time limit.
    Condition,
}

impl Lock {
    /// For a call with these arguments; `None` if it waits for no futex.
    pub fn of(call: Call, arguments: &[u64; 6]) -> Option<Lock> {
        let operation = arguments[1] & FUTEX_OPERATION;
        match operation {
            _ if call != Call::Futex || !FUTEX_WAITS.contains(&operation) => None,
            FUTEX_WAIT => Some(Lock::Plain),
            _ if FUTEX_PI.contains(&operation) => Some(Lock::Inheriting),
            _ => Some(Lock::Condition),
        }
    }
}

/// What ended a sleep.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Waker {
    /// An interrupt, which may be a timer's.
    Interrupt,
    /// A thread, with its state at that moment if it is known.
    Thread(i32, Option<Seat>),
}

/// What happens to a thread.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum StepKind {
    /// It enters a call.
    Enter {
        call: Call,
        /// What it waits in, if it waits.
        key: Option<WaitKey>,
        /// The file descriptor that it works on.
        descriptor: Option<i64>,
        /// Whether it takes a lock, and how.
        lock: Option<Lock>,
    },
    /// It returns from a call.
    Exit { result: i64 },
    /// The timer that is to wake it is started.
    Sleeper {
        expires: i64,
        /// Whether it replenishes a runtime.
        is_deadline: bool,
    },
    /// It restarts its expired timer.
    Expired {
        /// When that was due.
        expiry: i64,
    },
    /// It leaves its CPU.
    Out {
        left: Left,
        /// The thread that replaces it.
        to: Seat,
    },
    /// It is woken.
    Woken(Waker),
    /// It wakes a thread.
    Wakes(i32),
    /// It gets a CPU.
    In {
        /// The thread that it replaces.
        from: Seat,
    },
    /// A page fault.
    Fault,
    /// The call that it is in, or its last page fault, is at this call site.
    Site(u32),
    /// Some of what happened is unknown.
    Lost,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    pub at: i64,
    pub cpu: u32,
    pub kind: StepKind,
}

impl Step {
    /// Whether only the thread itself can have done it, so that it must have been running.
    pub fn shows_running(&self) -> bool {
        use StepKind::*;
        matches!(
            self.kind,
            Enter { .. } | Exit { .. } | Sleeper { .. } | Expired { .. } | Wakes(_) | Fault
        )
    }
}

/// An expiry is taken to be on another clock if it is nearer there by more than this, in ns.
const OTHER_CLOCK: u64 = 1_000_000_000;

/// Offsets of other clocks from CLOCK_MONOTONIC.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ClockOffsets {
    /// Added to a time of CLOCK_REALTIME.
    pub realtime: Nanos,
    /// Added to a time of CLOCK_TAI.
    pub tai: Nanos,
    /// Added to a time of CLOCK_BOOTTIME.
    pub boottime: Nanos,
}

impl ClockOffsets {
    /// Converts an expiry to CLOCK_MONOTONIC. The event does not name its clock, but on one clock
    /// only the timer expires soon after it is started. Clocks that agree cannot be told apart;
    /// their offsets differ slightly anyway, as they are read one after the other.
    pub fn monotonic(&self, expires: i64, now: i64) -> i64 {
        let others = [self.realtime, self.tai, self.boottime];
        let on_others = others.map(|offset| expires.saturating_add(offset.0));
        let nearest = on_others.into_iter().min_by_key(|at| at.abs_diff(now)).unwrap_or(expires);
        match nearest.abs_diff(now).saturating_add(OTHER_CLOCK) < expires.abs_diff(now) {
            true => nearest,
            false => expires,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_words_of_a_condition_variable_are_one_wait() {
        let wait = |address| WaitKey::of(Call::Futex, &[address, 0x189, 0, 0, 0, 0], 0);
        assert_eq!(wait(0x5000_1008), wait(0x5000_100c));
        assert_ne!(wait(0x5000_1008), wait(0x5000_1010));
        assert_eq!(WaitKey::of(Call::Futex, &[0x5000, 0x81, 0, 0, 0, 0], 0), None, "it wakes");
    }

    #[test]
    fn sleeps_differ_by_clock_and_kind_only() {
        let sleep =
            |clock, flags, at| WaitKey::of(Call::ClockNanosleep, &[clock, flags, at, 0, 0, 0], 0);
        assert_eq!(sleep(1, 1, 0x7ffc_0000), sleep(1, 1, 0x7ffc_1000), "two depths of the stack");
        assert_ne!(sleep(1, 1, 0), sleep(1, 0, 0));
        assert_eq!(sleep(1, 1, 0).unwrap().sleep(), Some((1, true)));
    }

    #[test]
    fn an_expiry_is_on_the_clock_on_which_it_comes_soon() {
        let offsets = ClockOffsets {
            realtime: Nanos(-1_700_000_000_000_000_000),
            tai: Nanos(-1_700_000_037_000_000_000),
            boottime: Nanos(-5_000_000_000),
        };
        let now = 7_000_000_000;
        assert_eq!(offsets.monotonic(now + 1_000_000, now), now + 1_000_000);
        let read_late = ClockOffsets { boottime: Nanos(-30), ..ClockOffsets::default() };
        assert_eq!(read_late.monotonic(now + 1_000_000, now), now + 1_000_000);
        assert_eq!(offsets.monotonic(1_700_000_007_001_000_000, now), now + 1_000_000);
        assert_eq!(offsets.monotonic(1_700_000_044_001_000_000, now), now + 1_000_000);
    }
}
