//! The points of a wake-up among the events of its CPUs: when the timer's interrupt began, when the
//! thread was woken, and when and where it ran and waited afterwards. Matched by the expiry of the
//! thread's timer, never by order.

use crate::kernel_events::{EventKind, Left, Level, Moment};
use latlab_model::explanation::WakePhase;
use std::ops::{Range, RangeInclusive};

/// The clocks of release and trace may differ by this much while one is adjusted.
const TOLERANCE: i64 = 1_000;

/// The events of one CPU.
#[derive(Debug)]
pub struct CpuEvents {
    pub cpu: u32,
    pub moments: Vec<Moment>,
    /// Whether nothing is missing after the last of them.
    pub is_whole: bool,
}

/// A piece of a wake-up, on one CPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The phase of the wake-up that it lies in.
    pub phase: WakePhase,
    pub from: i64,
    pub to: i64,
    /// Index of the CPU.
    pub on: usize,
    /// What the thread did.
    pub own: Own,
}

/// What the measured thread does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Own {
    /// Sleeps until its release.
    Expected,
    /// Runnable.
    Ready,
    Runs,
    /// Has left the CPU by itself.
    Sleeps(Left),
}

/// The points of a wake-up that delimit its phases.
pub struct WakeUp {
    /// Index of the CPU that it ran on first.
    pub home: usize,
    /// Index of the CPU that woke it.
    pub woken_on: usize,
    /// The address of the thread's timer.
    pub timer: Option<u64>,
    /// Names of the interrupts in which it was woken.
    pub interrupts: Vec<String>,
    /// The thread that woke it, if no interrupt did.
    pub waker: Option<i32>,
    /// Its kernel priority.
    pub priority: Option<i32>,
    /// Whether the switch was recorded; if not, it is part of the waiting.
    pub switch_told: bool,
    /// Consecutive pieces from the release to the reading of the clock.
    pub pieces: Vec<Piece>,
}

/// An event of the measured thread on one of the CPUs.
#[derive(Clone, Copy)]
struct WakeStep {
    at: i64,
    on: usize,
    kind: WakeStepKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WakeStepKind {
    Woken { priority: Option<i32> },
    Comes,
    Leaves(Left),
}

impl WakeUp {
    /// The wake-up of this thread, which returned by `start`, and what it did until `end`; `None` if
    /// the events do not show it.
    pub fn find(cpus: &[CpuEvents], id: i32, release: i64, start: i64, end: i64) -> Option<WakeUp> {
        let early = release.saturating_sub(TOLERANCE);
        let steps = steps(cpus, id);
        let expiry = cpus.iter().enumerate().find_map(|(at, one)| {
            let (expired, timer) = expiry(&one.moments, id, release, early..=start)?;
            Some((at, expired, timer))
        });
        let from = expiry.map_or(early, |(_, expired, _)| expired);
        let waking = steps.iter().find(|step| {
            (from..=start).contains(&step.at)
                && matches!(step.kind, WakeStepKind::Woken { .. })
                && expiry.is_none_or(|(on, _, _)| on == step.on)
        })?;
        let WakeStepKind::Woken { priority } = waking.kind else { return None };
        let (begun, interrupts, by) = interrupts_around(&cpus[waking.on].moments, id, waking.at);
        let waker = by.filter(|_| begun.is_none());
        let between = |time: i64| time.clamp(release, start);
        let waking_at = between(waking.at);
        let interrupt = begun.map_or(waking_at, between).min(waking_at);
        let after: Vec<WakeStep> =
            steps.iter().filter(|step| (waking.at..=end).contains(&step.at)).copied().collect();
        let switch = after.iter().find(|step| step.kind == WakeStepKind::Comes);
        let home = switch.map_or(0, |step| step.on);
        let switch_at = switch.map_or(start, |step| between(step.at));
        let piece = |phase, from, to, on, own| Piece { phase, from, to, on, own };
        let asked_late = asked_late(cpus, id, release);
        let mut pieces = before_interrupt(&steps, waking.on, release..interrupt, asked_late);
        pieces.extend([
            piece(WakePhase::Handler, interrupt, waking_at, waking.on, Own::Expected),
            piece(WakePhase::Waiting, waking_at, switch_at, home, Own::Ready),
        ]);
        pieces.extend(match switch {
            Some(switch) => from_start(returning(&after, *switch, switch_at, end), start),
            None => work(cpus, id, start, end),
        });
        let switch_told = switch.is_some();
        let timer = expiry.map(|(_, _, timer)| timer);
        let woken_on = waking.on;
        Some(WakeUp { home, woken_on, timer, interrupts, waker, priority, switch_told, pieces })
    }
}

/// What a thread did that did not sleep before its cycle started, from the start to the end.
pub fn work(cpus: &[CpuEvents], id: i32, start: i64, end: i64) -> Vec<Piece> {
    let steps = steps(cpus, id);
    let before =
        steps.iter().rev().find(|step| step.at <= start && step.kind == WakeStepKind::Comes);
    let next = || steps.iter().find(|step| step.at > start);
    let on = before.or_else(next).map_or(0, |step| step.on);
    let switch = WakeStep { at: start, on, kind: WakeStepKind::Comes };
    let after = steps.iter().filter(|step| (start + 1..=end).contains(&step.at)).copied();
    let after: Vec<WakeStep> = std::iter::once(switch).chain(after).collect();
    from_start(returning(&after, switch, start, end), start)
}

/// Splits the pieces at the start of a cycle; those after it are work.
fn from_start(pieces: Vec<Piece>, start: i64) -> Vec<Piece> {
    let split = |piece: Piece| {
        let at = start.clamp(piece.from, piece.to);
        let work = Piece { phase: WakePhase::Work, from: at, ..piece.clone() };
        [Piece { to: at, ..piece }, work]
    };
    pieces.into_iter().flat_map(split).filter(|piece| piece.from < piece.to).collect()
}

/// The events of a thread, on all CPUs, by time.
fn steps(cpus: &[CpuEvents], id: i32) -> Vec<WakeStep> {
    let mut all = Vec::new();
    for (on, one) in cpus.iter().enumerate() {
        for moment in &one.moments {
            let step = |kind| WakeStep { at: moment.at, on, kind };
            match &moment.kind {
                EventKind::Waking(task) if task.id == id => {
                    all.push(step(WakeStepKind::Woken { priority: task.priority }));
                }
                EventKind::Switch { from, left, .. } if from.id == id => {
                    all.push(step(WakeStepKind::Leaves(*left)));
                }
                EventKind::Switch { to, .. } if to.id == id => all.push(step(WakeStepKind::Comes)),
                _ => {}
            }
        }
    }
    all.sort_by_key(|step| step.at);
    all
}

/// When the thread started its timer, if that was only after its release.
fn asked_late(cpus: &[CpuEvents], id: i32, release: i64) -> Option<i64> {
    let late = cpus.iter().flat_map(|one| &one.moments).filter(|moment| {
        let asks =
            matches!(moment.kind, EventKind::TimerStart { expires, .. } if expires == release);
        asks && moment.thread == id && moment.at > release
    });
    late.map(|moment| moment.at).min()
}

/// From the release until the interrupt: a thread that was stopped, frozen or preempted before it
/// started its timer sleeps or waits beyond its release, and starts the timer only when it
/// continues.
fn before_interrupt(
    steps: &[WakeStep],
    on: usize,
    Range { start: release, end: interrupt }: Range<i64>,
    asked_late: Option<i64>,
) -> Vec<Piece> {
    let piece = |from, to, own| Piece { phase: WakePhase::TimerLate, from, to, on, own };
    let is_late = |at: i64| asked_late.is_some_and(|asked| at < asked);
    let own = match steps.first().map(|step| (step.kind, is_late(step.at))) {
        Some((WakeStepKind::Woken { .. }, true)) => Own::Sleeps(Left::Asleep),
        Some((WakeStepKind::Comes, true)) => Own::Ready,
        _ => Own::Expected,
    };
    let (mut pieces, mut at, mut own) = (Vec::new(), release, own);
    for step in steps.iter().take_while(|step| step.at < interrupt) {
        let next = match step.kind {
            WakeStepKind::Leaves(left @ (Left::Stopped | Left::Traced)) => Own::Sleeps(left),
            WakeStepKind::Leaves(Left::Ready) | WakeStepKind::Woken { .. } if is_late(step.at) => {
                Own::Ready
            }
            WakeStepKind::Leaves(left) if is_late(step.at) => Own::Sleeps(left),
            WakeStepKind::Leaves(_) | WakeStepKind::Woken { .. } | WakeStepKind::Comes => {
                Own::Expected
            }
        };
        if next != own {
            let end = step.at.clamp(at, interrupt);
            pieces.push(piece(at, end, own));
            (at, own) = (end, next);
        }
    }
    pieces.push(piece(at, interrupt, own));
    pieces
}

/// From the first switch to the thread until it reads the clock: it may lose the CPU meanwhile.
fn returning(steps: &[WakeStep], switch: WakeStep, from: i64, woken: i64) -> Vec<Piece> {
    let piece = |from, to, on, own| Piece { phase: WakePhase::Return, from, to, on, own };
    let (mut pieces, mut at, mut on) = (Vec::new(), from, switch.on);
    let mut rest = steps.iter().filter(|step| step.at >= switch.at).skip_while(|step| {
        !(step.kind == WakeStepKind::Comes && step.at == switch.at && step.on == switch.on)
    });
    rest.next();
    while let Some(leave) = rest.find(|step| matches!(step.kind, WakeStepKind::Leaves(_))) {
        let WakeStepKind::Leaves(left) = leave.kind else { break };
        let end = leave.at.clamp(at, woken);
        pieces.push(piece(at, end, on, Own::Runs));
        at = end;
        let mut own = if left == Left::Ready { Own::Ready } else { Own::Sleeps(left) };
        let mut back = None;
        for step in rest.by_ref() {
            match step.kind {
                WakeStepKind::Woken { .. } if own != Own::Ready => {
                    let end = step.at.clamp(at, woken);
                    pieces.push(piece(at, end, on, own));
                    (at, own) = (end, Own::Ready);
                }
                WakeStepKind::Comes => {
                    back = Some(step);
                    break;
                }
                _ => {}
            }
        }
        let end = back.map_or(woken, |step| step.at.clamp(at, woken));
        on = back.map_or(on, |step| step.on);
        pieces.push(piece(at, end, on, own));
        at = end;
    }
    pieces.push(piece(at, woken, on, Own::Runs));
    pieces
}

/// When the thread's timer expired, and its address: the one that it started for this release, or
/// else one that wakes it.
fn expiry(
    moments: &[Moment],
    id: i32,
    release: i64,
    within: RangeInclusive<i64>,
) -> Option<(i64, u64)> {
    let started = |by_itself: bool| {
        moments.iter().rev().find_map(|moment| match moment.kind {
            EventKind::TimerStart { timer, expires }
                if expires == release && (!by_itself || moment.thread == id) =>
            {
                Some(timer)
            }
            _ => None,
        })
    };
    // Threads of the same period may have started theirs for the same time.
    let started = started(true).or_else(|| started(false));
    let mut expired = None;
    for moment in moments.iter().filter(|moment| within.contains(&moment.at)) {
        match &moment.kind {
            EventKind::TimerExpire { timer, .. } if started.is_none_or(|known| known == *timer) => {
                expired = Some((moment.at, *timer));
            }
            EventKind::Waking(task) if task.id == id && expired.is_some() => return expired,
            EventKind::TimerExit if started.is_none() => expired = None,
            _ => {}
        }
    }
    None
}

/// When the interrupt began in which a thread was woken, with its names, and the thread that was on
/// the CPU; no time if it was not an interrupt.
fn interrupts_around(
    moments: &[Moment],
    id: i32,
    waking: i64,
) -> (Option<i64>, Vec<String>, Option<i32>) {
    let mut begun: Vec<(Level, i64, &str)> = Vec::new();
    let mut by = None;
    for moment in moments {
        match &moment.kind {
            EventKind::Waking(task) if task.id == id && moment.at == waking => {
                by = Some(moment.thread);
                break;
            }
            EventKind::Enter(one) if matches!(one.level, Level::Interrupt | Level::Handler) => {
                begun.push((one.level, moment.at, &one.name));
            }
            EventKind::Exit(level) => {
                let last = begun.iter().rposition(|(known, _, _)| known == level);
                begun.truncate(last.unwrap_or(begun.len()));
            }
            EventKind::Switch { .. } | EventKind::Lost => begun.clear(),
            // If interrupts are not recorded, the expiry of the first timer is the beginning.
            EventKind::TimerExpire { .. } if begun.is_empty() => {
                begun.push((Level::Tasklet, moment.at, ""));
            }
            EventKind::TimerExit => begun.retain(|(level, _, _)| *level != Level::Tasklet),
            _ => {}
        }
    }
    let names = begun.iter().map(|(_, _, name)| name.to_string());
    (begun.first().map(|(_, at, _)| *at), names.filter(|name| !name.is_empty()).collect(), by)
}
