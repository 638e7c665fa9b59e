//! The cycles of one thread whose activation is known.

use super::calls::Call;
use super::events::Seat;
use super::pieces::{ORDINARY, Piece, Pieces, State, is_passed_over};
use super::steps::{Lock, Step, StepKind, WaitKey, Waker};
use crate::kernel_events::Left;
use latlab_model::Nanos;
use latlab_model::attach::{Cycle, FaultKind, ReleasedBy};

/// Results of a call that was interrupted by a signal and may be restarted.
const INTERRUPTED: std::ops::RangeInclusive<i64> = -516..=-512;
const EINTR: i64 = -4;
/// The kernel continues it by `restart_syscall`.
const RESTART_BLOCK: i64 = -516;
const EAGAIN: i64 = -11;
const ETIMEDOUT: i64 = -110;
/// Another thread had its CPU for longer than a switch takes, in ns.
const LONG: i64 = 20_000;

/// The object of a fault.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum FaultObject {
    Descriptor(i64),
    /// The thread that ended the wait.
    Thread(Seat),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CycleFault {
    pub kind: FaultKind,
    pub call: Option<Call>,
    pub object: Option<FaultObject>,
    /// Duration of the call.
    pub length: Nanos,
    /// Whether the thread slept in it.
    pub slept: bool,
    /// The number of its call site.
    pub site: Option<u32>,
}

/// A cycle with everything else known of it.
#[derive(Clone, PartialEq, Debug)]
pub struct FollowedCycle {
    /// Its overruns are not known yet.
    pub cycle: Cycle,
    /// Whether some of what preceded it is unknown.
    pub after_loss: bool,
    pub faults: Vec<CycleFault>,
    /// What ended the wait for its release.
    pub waker: Option<Waker>,
    /// What the thread did from before its release to the end.
    pub pieces: Pieces,
    /// Its kernel priority.
    pub priority: i32,
    /// The CPU on which it began.
    pub cpu: u32,
}

/// The state of a thread.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Running,
    /// Woken, with the thread that had its CPU before.
    Woken(Option<Seat>),
    /// Runnable, with the thread that took its CPU.
    Preempted(Seat),
    Asleep(Left),
    Unknown,
}

/// The wait for a release.
#[derive(Clone, Copy, Debug)]
struct OpenRelease {
    entered: i64,
    /// The timer that is to wake it.
    expires: Option<i64>,
    /// A timer of the thread that was due.
    expired: Option<i64>,
    slept: bool,
    woken: Option<(i64, Option<Waker>)>,
}

/// Any other call within a cycle.
#[derive(Clone, Copy, Debug)]
struct OpenCall {
    call: Call,
    descriptor: Option<i64>,
    lock: Option<Lock>,
    entered: i64,
    slept: bool,
    waker: Option<Waker>,
    site: Option<u32>,
    /// Whether a precise timer ends it.
    has_timer: bool,
}

#[derive(Debug)]
struct OpenCycle {
    wait: OpenRelease,
    /// Whether its wait has timed out.
    timed_out: bool,
    start: i64,
    execution: i64,
    preempted: i64,
    blocked: i64,
    /// A timer of the thread that was due before it started.
    expired: Option<i64>,
    faults: Vec<CycleFault>,
    cpu: u32,
}

/// Follows one thread.
#[derive(Debug)]
pub struct Follower {
    key: WaitKey,
    priority: i32,
    place: Place,
    since: i64,
    pieces: Pieces,
    wait: Option<OpenRelease>,
    /// A wait that a signal has interrupted and the kernel will continue.
    cut_short: Option<OpenRelease>,
    /// Whether a signal has interrupted its wait, so that the next one continues it.
    interrupted: bool,
    call: Option<OpenCall>,
    cycle: Option<OpenCycle>,
    /// Faults of the next cycle, before it has started.
    before_start: Vec<CycleFault>,
    after_loss: bool,
    /// How often it ran without a recorded switch to it.
    pub untold_switches: u64,
    /// Cycles in progress when something was lost.
    pub cut: u64,
}

impl Follower {
    /// A follower that has not seen the thread yet.
    pub fn new(key: WaitKey, priority: i32) -> Follower {
        Follower {
            key,
            priority,
            place: Place::Unknown,
            since: 0,
            pieces: Pieces::default(),
            wait: None,
            cut_short: None,
            interrupted: false,
            call: None,
            cycle: None,
            before_start: Vec::new(),
            after_loss: false,
            untold_switches: 0,
            cut: 0,
        }
    }

    pub fn set_priority(&mut self, priority: i32) {
        self.priority = priority;
    }

    /// Takes the next step; returns the cycle that it ends.
    pub fn push(&mut self, step: &Step) -> Option<FollowedCycle> {
        let Step { at, cpu, kind } = *step;
        if step.shows_running() && self.place != Place::Running {
            if self.place != Place::Unknown {
                self.untold_switches += 1;
            }
            self.wake(at, None);
            self.go_to(Place::Running, at);
        }
        match kind {
            StepKind::Enter { key: Some(key), .. } if key == self.key => {
                let ended = self.end_cycle(at);
                if !std::mem::take(&mut self.interrupted) {
                    self.pieces = Pieces::begin(at);
                }
                self.wait = Some(OpenRelease {
                    entered: at,
                    expires: None,
                    expired: None,
                    slept: false,
                    woken: None,
                });
                self.call = None;
                return ended;
            }
            StepKind::Enter { call: Call::RestartSyscall, .. } if self.cut_short.is_some() => {
                self.wait = self.cut_short.take();
            }
            StepKind::Enter { call, descriptor, lock, .. } => {
                self.wait = None;
                self.call = Some(OpenCall {
                    call,
                    descriptor,
                    lock,
                    entered: at,
                    slept: false,
                    waker: None,
                    site: None,
                    has_timer: false,
                });
            }
            StepKind::Exit { result } => match self.wait.take() {
                Some(wait) => self.begin_cycle(wait, result, at, cpu),
                None => self.end_call(result, at),
            },
            StepKind::Sleeper { expires, is_deadline } => match (&mut self.wait, &mut self.call) {
                (Some(wait), _) => {
                    wait.expires = Some(expires);
                    wait.slept |= is_deadline;
                }
                (None, Some(call)) => call.has_timer = true,
                (None, None) => {}
            },
            StepKind::Expired { expiry } => self.note_expiry(expiry),
            StepKind::Out { left: Left::Ready, to } => self.go_to(Place::Preempted(to), at),
            StepKind::Out { left, .. } => self.go_to(Place::Asleep(left), at),
            StepKind::Woken(by) => {
                self.wake(at, Some(by));
            }
            StepKind::In { from } => {
                self.wake(at, None);
                if let Place::Woken(by @ None) = &mut self.place {
                    *by = Some(from);
                }
                self.go_to(Place::Running, at);
            }
            StepKind::Wakes(_) => {}
            StepKind::Fault => self.note_fault(CycleFault {
                kind: FaultKind::PageFault,
                call: None,
                object: None,
                length: Nanos::ZERO,
                slept: false,
                site: None,
            }),
            StepKind::Site(site) => self.note_site(site),
            StepKind::Lost => self.lose(),
        }
        None
    }

    /// Drops everything in progress after a loss.
    fn lose(&mut self) {
        self.cut += u64::from(self.cycle.is_some() || self.wait.is_some());
        (self.cycle, self.wait, self.call) = (None, None, None);
        self.before_start.clear();
        (self.place, self.interrupted) = (Place::Unknown, false);
        self.after_loss = true;
    }

    /// Counts the time in the state that it leaves.
    fn go_to(&mut self, place: Place, at: i64) {
        let time = at - self.since;
        self.note_rival(time);
        if let Some(cycle) = &mut self.cycle {
            match self.place {
                Place::Running => cycle.execution += time,
                Place::Woken(_) | Place::Preempted(_) => cycle.preempted += time,
                Place::Asleep(_) => cycle.blocked += time,
                Place::Unknown => {}
            }
        }
        let state = match self.place {
            Place::Running => State::Runs,
            Place::Woken(by) => State::Woken(by),
            Place::Preempted(by) => State::Preempted(by),
            Place::Asleep(left) => {
                let call = self.call.map(|call| (call.call, call.lock));
                State::Sleeps { left, call, waker: None }
            }
            Place::Unknown => State::Unknown,
        };
        self.pieces.push(Piece { from: self.since, to: at, state });
        (self.place, self.since) = (place, at);
    }

    /// Notes a fault if another thread, or nothing, had the CPU for this time while it was ready.
    fn note_rival(&mut self, time: i64) {
        let (by, is_preempted) = match self.place {
            Place::Preempted(by) => (by, true),
            Place::Woken(Some(by)) => (by, false),
            _ => return,
        };
        let kind = match is_passed_over(self.priority, by) {
            true if is_preempted && self.wait.is_none() => FaultKind::Throttled,
            false if time >= LONG => FaultKind::SharedCpu,
            _ => return,
        };
        // Who ran in place of a throttled one says nothing.
        let object = (kind == FaultKind::SharedCpu).then_some(FaultObject::Thread(by));
        self.note_fault(CycleFault {
            kind,
            call: None,
            object,
            length: Nanos(time),
            slept: false,
            site: None,
        });
    }

    /// Marks it as woken and runnable.
    fn wake(&mut self, at: i64, by: Option<Waker>) {
        let Place::Asleep(_) = self.place else { return };
        self.go_to(Place::Woken(None), at);
        self.pieces.woken_by(by);
        if let Some(wait) = &mut self.wait {
            wait.slept = true;
            wait.woken = Some((at, by));
        }
        if let Some(call) = &mut self.call {
            call.slept = true;
            call.waker = by;
        }
    }

    /// The first expiry that was due and not served is the release.
    fn note_expiry(&mut self, expiry: i64) {
        let place = match (&mut self.wait, &mut self.cycle) {
            (Some(wait), _) => &mut wait.expired,
            (None, Some(cycle)) if expiry <= cycle.start => &mut cycle.expired,
            _ => return,
        };
        *place = Some(place.map_or(expiry, |known| known.min(expiry)));
    }

    fn begin_cycle(&mut self, wait: OpenRelease, result: i64, at: i64, cpu: u32) {
        let is_cut_short = INTERRUPTED.contains(&result) || result == EINTR;
        if is_cut_short && !self.key.call.is_signal_wait() {
            self.cut_short = (result == RESTART_BLOCK).then_some(wait);
            self.interrupted = true;
            return;
        }
        // The work after it counts from where it is running again.
        self.go_to(Place::Running, at);
        self.pieces.start(at);
        self.interrupted = false;
        self.note_release(&wait, result, at);
        self.cycle = Some(OpenCycle {
            wait,
            timed_out: has_timed_out(self.key.call, result),
            start: at,
            execution: 0,
            preempted: 0,
            blocked: 0,
            expired: None,
            faults: std::mem::take(&mut self.before_start),
            cpu,
        });
    }

    /// Notes the faults of how it was released.
    fn note_release(&mut self, wait: &OpenRelease, result: i64, at: i64) {
        let call = self.key.call;
        let mut note = |kind, object, length| {
            self.before_start.push(CycleFault {
                kind,
                call: Some(call),
                object,
                length: Nanos(length),
                slept: true,
                site: None,
            });
        };
        if is_tick_timeout(call, result, wait.slept, wait.expires.is_some()) {
            let file = self.key.descriptor().map(FaultObject::Descriptor);
            note(FaultKind::TickTimeout, file, at - wait.entered);
        }
        if let Some((woken, Some(Waker::Thread(_, Some(by))))) = wait.woken
            && self.priority < ORDINARY
            && by.priority > self.priority
        {
            note(FaultKind::LowWaker, Some(FaultObject::Thread(by)), at - woken);
        }
    }

    fn end_cycle(&mut self, at: i64) -> Option<FollowedCycle> {
        self.go_to(Place::Running, at);
        let ended = self.cycle.take()?;
        let (release, released_by) = release(&self.key, &ended);
        Some(FollowedCycle {
            cycle: Cycle {
                release_ns: Nanos(release),
                released_by,
                wake_up_ns: Nanos(ended.start - release),
                execution_ns: Nanos(ended.execution),
                preempted_ns: Nanos(ended.preempted),
                blocked_ns: Nanos(ended.blocked),
                overruns: 0,
            },
            after_loss: std::mem::take(&mut self.after_loss),
            faults: ended.faults,
            waker: ended.wait.woken.and_then(|(_, by)| by),
            pieces: std::mem::take(&mut self.pieces),
            priority: self.priority,
            cpu: ended.cpu,
        })
    }

    fn note_fault(&mut self, fault: CycleFault) {
        match &mut self.cycle {
            Some(cycle) => cycle.faults.push(fault),
            None if self.wait.is_some() => self.before_start.push(fault),
            None => {}
        }
    }

    fn note_site(&mut self, site: u32) {
        if let Some(call) = &mut self.call {
            call.site = Some(site);
            return;
        }
        let last = self.cycle.as_mut().and_then(|cycle| cycle.faults.last_mut());
        if let Some(fault) = last.filter(|fault| fault.kind == FaultKind::PageFault) {
            fault.site.get_or_insert(site);
        }
    }

    /// Ends a call within the cycle; some do not belong there.
    fn end_call(&mut self, result: i64, at: i64) {
        let Some(open) = self.call.take() else { return };
        let OpenCall { call, descriptor, lock, entered, slept, waker, site, has_timer } = open;
        let file = descriptor.map(FaultObject::Descriptor);
        let (kind, object) = match call {
            Call::ClockNanosleep | Call::Nanosleep => (FaultKind::Sleep, None),
            Call::Mmap | Call::Munmap | Call::Brk | Call::Mremap => (FaultKind::Heap, None),
            Call::Fsync | Call::Fdatasync => (FaultKind::Sync, file),
            Call::Open | Call::Openat => (FaultKind::Open, None),
            Call::SchedYield if self.priority >= 0 => (FaultKind::Yield, None),
            call if is_tick_timeout(call, result, slept, has_timer) => {
                (FaultKind::TickTimeout, file)
            }
            call if call.writes() => (FaultKind::Write, file),
            Call::Futex if slept && lock != Some(Lock::Inheriting) => match waker {
                Some(Waker::Thread(_, Some(seat))) if seat.priority > self.priority => {
                    (FaultKind::Inversion, Some(FaultObject::Thread(seat)))
                }
                Some(Waker::Thread(_, Some(seat))) => {
                    (FaultKind::Lock, Some(FaultObject::Thread(seat)))
                }
                _ => (FaultKind::Lock, None),
            },
            _ => return,
        };
        let length = Nanos(at - entered);
        self.note_fault(CycleFault { kind, call: Some(call), object, length, slept, site });
    }
}

/// Whether a call reached a time limit that the kernel counts in ticks: no precise timer ended it.
fn is_tick_timeout(call: Call, result: i64, slept: bool, has_timer: bool) -> bool {
    slept && !has_timer && result == EAGAIN && call.may_time_out_by_ticks()
}

/// Whether a call returned because of its time-out.
fn has_timed_out(call: Call, result: i64) -> bool {
    match call {
        Call::RtSigtimedwait | Call::Semtimedop => result == EAGAIN,
        call if call.is_poll() => result == 0,
        _ => result == ETIMEDOUT,
    }
}

/// When the work of a cycle was due, and how that is known.
fn release(key: &WaitKey, cycle: &OpenCycle) -> (i64, ReleasedBy) {
    let wait = &cycle.wait;
    let timer = |at| (at, ReleasedBy::Timer);
    let woken = wait.woken.map(|(at, _)| at);
    let by_thread = matches!(wait.woken, Some((_, Some(Waker::Thread(..)))));
    let is_timer = key.call.is_sleep() || key.call == Call::SchedYield || cycle.timed_out;
    if let Some(expires) = wait.expires.filter(|_| is_timer) {
        return timer(expires);
    }
    if let Some(expiry) = wait.expired.filter(|at| *at <= cycle.start) {
        return timer(expiry);
    }
    // Data found by a poll is read within the cycle.
    let read = cycle.expired.filter(|_| key.call.is_told_later() && !by_thread);
    if let Some(expiry) = read.filter(|at| woken.is_none_or(|woken| *at <= woken)) {
        return timer(expiry);
    }
    match woken {
        Some(woken) => (woken, ReleasedBy::Event),
        None => (wait.entered, ReleasedBy::Waiting),
    }
}
