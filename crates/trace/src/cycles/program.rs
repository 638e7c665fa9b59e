//! All threads of a program: turns each event into steps of its threads.

use super::activation::{Activation, AskedActivation, Learning};
use super::calls::Call;
use super::events::{ProgramEvent, ProgramEventKind, Seat, TimerUse};
use super::follower::{FollowedCycle, Follower};
use super::rhythm::{Passed, Rhythm};
use super::steps::{ClockOffsets, Lock, Step, StepKind, WaitKey, Waker};
use latlab_model::attach::RhythmChange;
use std::collections::HashMap;

/// An undecided thread is tried again after this time.
const NEXT_TRY_NS: i64 = 250_000_000;
/// A thread has lost its activation if it waits elsewhere for this long.
const LOST_AFTER_NS: i64 = 2_000_000_000;
/// Kernel priority assumed for an unknown thread.
const ORDINARY: i32 = 120;
/// Most threads that are followed, as many as a run has; further ones count as non-periodic.
const MOST_FOLLOWED: u32 = 4096;
/// Most threads and timers that are remembered of a program that runs for days.
const MOST_REMEMBERED: usize = 1 << 16;
/// Kernel threads that do what other kernels do in the interrupt itself.
const INTERRUPT_THREADS: [&str; 2] = ["ktimers/", "ksoftirqd/"];

/// A thread whose activation was found.
#[derive(Clone, PartialEq, Debug)]
pub struct FoundThread {
    /// Its number among those that were found.
    pub thread: u32,
    /// Its kernel number.
    pub thread_id: i32,
    /// Its name, if it was seen on a CPU.
    pub name: Option<String>,
    /// Its kernel priority.
    pub priority: i32,
    /// Where it waits for its releases.
    pub activation: Activation,
    /// How they follow each other.
    pub rhythm: Rhythm,
}

/// A result of the events.
#[derive(Clone, PartialEq, Debug)]
pub enum Followed {
    /// A thread was found; its first cycles follow.
    Thread(FoundThread),
    /// A thread has ended a cycle.
    Cycle {
        thread: u32,
        cycle: Box<FollowedCycle>,
        /// Preceding cycles that were not followed.
        unseen: u64,
    },
    /// A thread has ended, or has executed another program.
    End { thread: u32 },
}

/// State of a followed thread, apart from its cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FollowedState {
    pub thread: u32,
    /// How often it ran without a recorded switch to it.
    pub untold_switches: u64,
    /// Whether it has been waiting elsewhere for long.
    pub activation_lost: bool,
    /// When its releases took another period.
    pub rhythm_change: Option<RhythmChange>,
}

struct Following {
    thread: u32,
    follower: Follower,
    rhythm: Rhythm,
    last_end: i64,
    last_seen: i64,
    /// Releases that passed since the last loss while the thread seemed to wait for a later one.
    doubtful: u64,
}

impl Following {
    fn state(&self) -> FollowedState {
        let pause = self.rhythm.period.map_or(0, |period| period.saturating_mul(50));
        FollowedState {
            thread: self.thread,
            untold_switches: self.follower.untold_switches,
            activation_lost: self.last_seen - self.last_end > LOST_AFTER_NS.max(pause),
            rhythm_change: self.rhythm.change,
        }
    }

    /// Takes a step; returns the cycle that it ends, with its overruns.
    fn push(&mut self, step: &Step) -> Option<Followed> {
        if let StepKind::Exit { .. } = step.kind {
            self.last_seen = step.at;
        }
        let mut cycle = self.follower.push(step)?;
        self.last_end = step.at;
        let Passed { busy, waiting } = self.rhythm.passed(&cycle.cycle, cycle.after_loss);
        // Releases during a loss of events may have been served. A thread that changes its CPU misses cycles before the
        // loss on the other one is known.
        let unseen = match cycle.after_loss {
            true => {
                let during = u64::from(busy + waiting).max(std::mem::take(&mut self.follower.cut));
                during + std::mem::take(&mut self.doubtful)
            }
            false => {
                self.doubtful += u64::from(waiting);
                0
            }
        };
        cycle.cycle.overruns = if cycle.after_loss { 0 } else { busy };
        Some(Followed::Cycle { thread: self.thread, cycle: Box::new(cycle), unseen })
    }
}

enum Phase {
    Learning { learning: Learning, next_try: i64 },
    Following(Box<Following>),
}

struct TrackedThread {
    phase: Phase,
    /// How often each file descriptor was closed.
    generations: HashMap<u64, u32>,
    priority: i32,
}

impl TrackedThread {
    fn new(priority: i32) -> TrackedThread {
        let phase = Phase::Learning { learning: Learning::default(), next_try: i64::MIN };
        TrackedThread { phase, generations: HashMap::new(), priority }
    }
}

/// Follows all threads of a program.
#[derive(Default)]
pub struct ProgramTracker {
    threads: HashMap<i32, TrackedThread>,
    asked: Vec<AskedActivation>,
    /// When the program's timers are due next.
    timers: HashMap<u64, i64>,
    /// Threads as they were last seen on a CPU.
    seats: HashMap<i32, Seat>,
    offsets: ClockOffsets,
    found: u32,
    out: Vec<Followed>,
}

impl ProgramTracker {
    /// Prefers these activations.
    pub fn new(asked: Vec<AskedActivation>) -> ProgramTracker {
        ProgramTracker { asked, ..ProgramTracker::default() }
    }

    /// Sets the current offsets between the clocks.
    pub fn set_offsets(&mut self, offsets: ClockOffsets) {
        self.offsets = offsets;
    }

    /// Adds an existing thread with its kernel priority.
    pub fn add_thread(&mut self, id: i32, priority: i32) {
        self.threads.entry(id).or_insert_with(|| TrackedThread::new(priority));
    }

    /// The name that a thread had when it was last on a CPU.
    pub fn name(&self, id: i32) -> Option<String> {
        self.seats.get(&id).map(Seat::name)
    }

    /// The kernel priority of a thread when it was last seen.
    pub fn priority(&self, id: i32) -> Option<i32> {
        self.threads.get(&id).map(|thread| thread.priority)
    }

    /// The results since the last call.
    pub fn take(&mut self) -> Vec<Followed> {
        std::mem::take(&mut self.out)
    }

    /// Threads without a known activation, with the largest number of waits in one call.
    pub fn without_activation(&self) -> Vec<(i32, u64)> {
        let threads = self.threads.iter().filter_map(|(id, thread)| match &thread.phase {
            Phase::Learning { learning, .. } => Some((*id, learning.most_waits())),
            Phase::Following(_) => None,
        });
        threads.filter(|(_, waits)| *waits > 0).collect()
    }

    pub fn states(&self) -> Vec<FollowedState> {
        let following = self.threads.values().filter_map(|thread| match &thread.phase {
            Phase::Following(following) => Some(following.state()),
            Phase::Learning { .. } => None,
        });
        following.collect()
    }

    /// Takes the next event of all CPUs, by time.
    pub fn push(&mut self, event: &ProgramEvent) {
        let ProgramEvent { at, cpu, thread, in_interrupt, kind } = *event;
        let own = |kind| (thread, Step { at, cpu, kind });
        match kind {
            ProgramEventKind::Enter { call, arguments } => {
                self.add_thread(thread, ORDINARY);
                let kind = self.entered(thread, call, &arguments);
                self.step(own(kind));
            }
            ProgramEventKind::Exit { result, .. } => self.step(own(StepKind::Exit { result })),
            ProgramEventKind::TimerStart { timer, used_for, expires } => {
                let expires = self.offsets.monotonic(expires, at);
                if let Some(kind) = self.timer_started(event, timer, used_for, expires) {
                    self.step(own(kind));
                }
            }
            ProgramEventKind::Switch { from, left, to } => {
                if self.seats.len() > MOST_REMEMBERED {
                    self.seats.clear();
                }
                for seat in [from, to].into_iter().filter(|seat| seat.id != 0) {
                    self.seats.insert(seat.id, seat);
                }
                self.take_priority(from);
                self.step((from.id, Step { at, cpu, kind: StepKind::Out { left, to } }));
                self.take_priority(to);
                self.step((to.id, Step { at, cpu, kind: StepKind::In { from } }));
            }
            ProgramEventKind::Waking { woken } => {
                let by = self.waker(thread, in_interrupt);
                self.step((woken, Step { at, cpu, kind: StepKind::Woken(by) }));
                if !in_interrupt {
                    self.step(own(StepKind::Wakes(woken)));
                }
            }
            ProgramEventKind::Fork { child } => {
                let priority = self.priority(thread).unwrap_or(ORDINARY);
                self.add_thread(child, priority);
            }
            ProgramEventKind::Exec { before } => {
                let priority = self.priority(before).unwrap_or(ORDINARY);
                self.end(before);
                self.end(thread);
                self.add_thread(thread, priority);
            }
            ProgramEventKind::End => self.end(thread),
            ProgramEventKind::PageFault => self.step(own(StepKind::Fault)),
            ProgramEventKind::Lost(_) => {
                let ids: Vec<i32> = self.threads.keys().copied().collect();
                ids.into_iter().for_each(|id| {
                    self.step((id, Step { at, cpu, kind: StepKind::Lost }));
                });
            }
        }
    }

    /// Takes the call site of what the thread did last. It does so soon after the event of that, and
    /// before its next one.
    pub fn push_site(&mut self, at: i64, thread: i32, site: u32) {
        self.step((thread, Step { at, cpu: 0, kind: StepKind::Site(site) }));
    }

    fn waker(&self, thread: i32, in_interrupt: bool) -> Waker {
        let seat = self.seats.get(&thread).copied();
        let name = seat.map(|seat| seat.name()).unwrap_or_default();
        let is_interrupt = INTERRUPT_THREADS.iter().any(|prefix| name.starts_with(prefix));
        match in_interrupt || thread == 0 || is_interrupt {
            true => Waker::Interrupt,
            false => Waker::Thread(thread, seat),
        }
    }

    /// What a started timer means to the thread that starts it.
    fn timer_started(
        &mut self,
        event: &ProgramEvent,
        timer: u64,
        used_for: TimerUse,
        expires: i64,
    ) -> Option<StepKind> {
        let is_deadline = || self.threads.get(&event.thread).is_some_and(|one| one.priority < 0);
        match used_for {
            TimerUse::Sleep => {
                (!event.in_interrupt).then_some(StepKind::Sleeper { expires, is_deadline: false })
            }
            // The kernel's fair server has such a timer too, and starts it on any thread.
            TimerUse::Deadline => {
                is_deadline().then_some(StepKind::Sleeper { expires, is_deadline: true })
            }
            TimerUse::Own => {
                if self.timers.len() > MOST_REMEMBERED {
                    self.timers.clear();
                }
                let due = self.timers.insert(timer, expires);
                let expiry = due.filter(|due| *due <= event.at && !event.in_interrupt)?;
                Some(StepKind::Expired { expiry })
            }
        }
    }

    fn entered(&mut self, id: i32, call: Call, arguments: &[u64; 6]) -> StepKind {
        let generations = self.threads.get_mut(&id).map(|thread| &mut thread.generations);
        let mut generation = 0;
        if let Some(generations) = generations {
            match call {
                Call::Close => *generations.entry(arguments[0]).or_default() += 1,
                Call::Dup2 | Call::Dup3 => *generations.entry(arguments[1]).or_default() += 1,
                Call::CloseRange => generations.values_mut().for_each(|one| *one += 1),
                _ if call.has_descriptor() => {
                    generation = generations.get(&arguments[0]).copied().unwrap_or(0);
                }
                _ => {}
            }
        }
        StepKind::Enter {
            call,
            key: WaitKey::of(call, arguments, generation),
            descriptor: call.has_descriptor().then_some(arguments[0] as i32 as i64),
            lock: Lock::of(call, arguments),
        }
    }

    fn take_priority(&mut self, seat: Seat) {
        if let Some(thread) = self.threads.get_mut(&seat.id) {
            thread.priority = seat.priority;
            if let Phase::Following(following) = &mut thread.phase {
                following.follower.set_priority(seat.priority);
            }
        }
    }

    fn step(&mut self, (id, step): (i32, Step)) {
        let Some(thread) = self.threads.get_mut(&id) else { return };
        match &mut thread.phase {
            Phase::Following(following) => self.out.extend(following.push(&step)),
            Phase::Learning { learning, next_try } => {
                learning.push(step);
                let is_call = matches!(step.kind, StepKind::Exit { .. });
                if is_call && step.at >= *next_try && learning.is_due(step.at) {
                    *next_try = step.at + NEXT_TRY_NS;
                    self.try_to_follow(id);
                }
            }
        }
    }

    /// Replays the kept steps if the activation can be determined now.
    fn try_to_follow(&mut self, id: i32) {
        if self.found == MOST_FOLLOWED {
            return;
        }
        let Some(thread) = self.threads.get_mut(&id) else { return };
        let Phase::Learning { learning, .. } = &mut thread.phase else { return };
        let Some(activation) = learning.decide(&self.asked) else { return };
        let steps = std::mem::take(&mut learning.steps);
        let mut trial = Follower::new(activation.key, thread.priority);
        let first: Vec<_> = steps.iter().filter_map(|step| trial.push(step)).collect();
        let rhythm =
            Rhythm::learn(activation.key.call, first.iter().map(|followed| &followed.cycle));
        let number = self.found;
        self.found += 1;
        let name = self.seats.get(&id).map(Seat::name);
        let priority = thread.priority;
        let found =
            FoundThread { thread: number, thread_id: id, name, priority, activation, rhythm };
        let follower = Follower::new(found.activation.key, thread.priority);
        let last = steps.last().map_or(0, |step| step.at);
        let mut following = Box::new(Following {
            thread: number,
            follower,
            rhythm,
            last_end: last,
            last_seen: last,
            doubtful: 0,
        });
        self.out.push(Followed::Thread(found));
        self.out.extend(steps.iter().filter_map(|step| following.push(step)));
        thread.phase = Phase::Following(following);
    }

    /// Handles the end of a thread: reports what can be determined.
    fn end(&mut self, id: i32) {
        self.try_to_follow(id);
        let ended = self.threads.remove(&id);
        if let Some(TrackedThread { phase: Phase::Following(following), .. }) = ended {
            self.out.push(Followed::End { thread: following.thread });
        }
    }

    /// Handles the end of the run: reports what can be determined for each thread.
    pub fn finish(&mut self) {
        let mut ids: Vec<i32> = self.threads.keys().copied().collect();
        ids.sort_unstable();
        ids.into_iter().for_each(|id| self.try_to_follow(id));
    }
}
