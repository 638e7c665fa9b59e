//! What a thread did from its release to the end of its cycle, piece by piece.

use super::calls::Call;
use super::events::Seat;
use super::steps::{Lock, Waker};
use crate::blame::joined_from;
use crate::kernel_events::Left;
use crate::part_context::unknown;
use latlab_model::explanation::{
    BlamePart, Cause, CauseEvidence, CauseKind, TracedThread, WakePhase,
};

/// What is in more pieces of a cycle than this is not known.
const MOST: usize = 4096;
/// No timer's interrupt takes longer by itself.
const LONGEST_WAKE_UP: i64 = 100_000;
/// Kernel priorities below this are real-time.
pub const ORDINARY: i32 = 100;

/// Whether a thread of this priority was ready, and the scheduler chose this one although it is less
/// urgent.
pub fn is_passed_over(priority: i32, by: Seat) -> bool {
    by.id == 0 || (priority < ORDINARY && by.priority > priority)
}

/// What a thread did for a while.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum State {
    Runs,
    /// It was woken, and waits for a CPU; with the thread that had that before.
    Woken(Option<Seat>),
    /// It could go on, and another thread has its CPU.
    Preempted(Seat),
    Sleeps {
        left: Left,
        /// The call in which it sleeps; `None` for a page, or while it waits for its release.
        call: Option<(Call, Option<Lock>)>,
        waker: Option<Waker>,
    },
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Piece {
    pub from: i64,
    pub to: i64,
    pub state: State,
}

/// Consecutive pieces, from the wait for a release to the end of its cycle.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Pieces {
    /// When it came to wait.
    entered: i64,
    /// When the cycle started.
    start: i64,
    all: Vec<Piece>,
}

impl Pieces {
    /// From the moment in which the thread comes to wait.
    pub fn begin(at: i64) -> Pieces {
        Pieces { entered: at, start: i64::MAX, all: Vec::new() }
    }

    /// The wait has ended.
    pub fn start(&mut self, at: i64) {
        self.start = at;
    }

    pub fn push(&mut self, piece: Piece) {
        if piece.from >= piece.to {
            return;
        }
        let is_full = self.all.len() == MOST;
        match self.all.last_mut().filter(|_| is_full) {
            Some(last) => (last.to, last.state) = (piece.to, State::Unknown),
            None => self.all.push(piece),
        }
    }

    /// The sleep that has just ended was ended by this.
    pub fn woken_by(&mut self, by: Option<Waker>) {
        if let Some(Piece { state: State::Sleeps { waker, .. }, .. }) = self.all.last_mut() {
            *waker = by;
        }
    }

    /// What kept the cycle of a thread of this priority, from this release to its end: parts without
    /// a gap. Names of threads come from `name_of`.
    pub fn parts(
        &self,
        release: i64,
        end: i64,
        priority: i32,
        name_of: &dyn Fn(i32, Option<Seat>) -> String,
    ) -> Vec<BlamePart> {
        let mut parts = Vec::new();
        let mut at = release;
        // The release came while the thread was still busy with the one before.
        if self.entered > at {
            parts.push(part(
                WakePhase::TimerLate,
                at,
                self.entered.min(end),
                CauseKind::PreviousCycle,
            ));
            at = self.entered.min(end);
        }
        for piece in &self.all {
            let (from, to) = (piece.from.max(at), piece.to.min(end));
            if from >= to {
                continue;
            }
            if from > at {
                parts.push(unknown(self.phase(at, WakePhase::TimerLate), at, from));
            }
            parts.push(self.part(from, to, piece.state, priority, name_of));
            at = to;
        }
        if at < end {
            parts.push(unknown(self.phase(at, WakePhase::Return), at, end));
        }
        joined_from(release, parts)
    }

    /// The phase of a piece; before the start it depends on what the thread did.
    fn phase(&self, at: i64, before_start: WakePhase) -> WakePhase {
        if at >= self.start { WakePhase::Work } else { before_start }
    }

    fn part(
        &self,
        from: i64,
        to: i64,
        state: State,
        priority: i32,
        name_of: &dyn Fn(i32, Option<Seat>) -> String,
    ) -> BlamePart {
        let traced = |id, priority| TracedThread {
            id,
            kernel_priority: priority,
            known: None,
            started_by: None,
        };
        let is_work = from >= self.start;
        match state {
            State::Runs if is_work => part(WakePhase::Work, from, to, CauseKind::Execution),
            State::Runs => part(WakePhase::Return, from, to, CauseKind::WakeUp),
            State::Unknown => unknown(self.phase(from, WakePhase::TimerLate), from, to),
            State::Woken(None) => unknown(self.phase(from, WakePhase::Waiting), from, to),
            State::Woken(Some(by)) | State::Preempted(by) => {
                let part = unknown(self.phase(from, WakePhase::Waiting), from, to);
                let name = name_of(by.id, Some(by));
                // It was ready, and the scheduler chose less urgent work.
                let is_passed_over =
                    matches!(state, State::Preempted(_)) && is_passed_over(priority, by);
                let (kind, evidence) = match (by.id, is_passed_over) {
                    (0, true) => (CauseKind::Throttled, Some(CauseEvidence::CpuIdle)),
                    (0, false) => (CauseKind::IdleExit, None),
                    (_, true) => (
                        CauseKind::Throttled,
                        Some(CauseEvidence::RanInstead { thread: name.clone() }),
                    ),
                    (_, false) => (CauseKind::Thread, None),
                };
                let is_thread = kind == CauseKind::Thread;
                let name = if is_thread { name } else { String::new() };
                let thread = is_thread.then(|| traced(by.id, Some(by.priority)));
                BlamePart { cause: Cause { kind, name }, thread, evidence, ..part }
            }
            State::Sleeps { left: left @ (Left::Stopped | Left::Traced), waker, .. } => {
                let by = if left == Left::Traced { "tracer" } else { "signal" };
                BlamePart {
                    cause: Cause { kind: CauseKind::OwnSleep, name: format!("stopped by a {by}") },
                    evidence: woken_by(waker, name_of),
                    ..unknown(self.phase(from, WakePhase::TimerLate), from, to)
                }
            }
            State::Sleeps { .. } if !is_work => {
                // Only the events of its CPU would show why its timer came late.
                let kind = match to - from {
                    ..=LONGEST_WAKE_UP => CauseKind::WakeUp,
                    _ => CauseKind::Unknown,
                };
                part(WakePhase::TimerLate, from, to, kind)
            }
            State::Sleeps { call: None, .. } => {
                part(WakePhase::Work, from, to, CauseKind::PageFaults)
            }
            State::Sleeps { call: Some((call, lock)), waker, .. } => {
                let part = unknown(WakePhase::Work, from, to);
                match (lock, waker) {
                    (Some(Lock::Plain | Lock::Inheriting), Some(Waker::Thread(id, seat))) => {
                        BlamePart {
                            cause: Cause { kind: CauseKind::Lock, name: name_of(id, seat) },
                            thread: Some(traced(id, seat.map(|seat| seat.priority))),
                            evidence: Some(CauseEvidence::InCall { call: call.words() }),
                            ..part
                        }
                    }
                    _ => BlamePart {
                        cause: Cause { kind: CauseKind::Call, name: call.words() },
                        evidence: woken_by(waker, name_of),
                        ..part
                    },
                }
            }
        }
    }
}

fn part(phase: WakePhase, from: i64, to: i64, kind: CauseKind) -> BlamePart {
    BlamePart { cause: Cause { kind, name: String::new() }, ..unknown(phase, from, to) }
}

fn woken_by(
    waker: Option<Waker>,
    name_of: &dyn Fn(i32, Option<Seat>) -> String,
) -> Option<CauseEvidence> {
    match waker? {
        Waker::Thread(id, seat) => Some(CauseEvidence::WokenBy { thread: name_of(id, seat) }),
        Waker::Interrupt => None,
    }
}
