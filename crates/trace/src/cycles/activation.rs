//! Decides which of a thread's waiting calls ends its cycle.

use super::calls::Call;
use super::steps::{Step, StepKind, WaitKey, Waker};
use crate::kernel_events::Left;
use std::collections::{BTreeMap, BTreeSet};

/// Waits of one kind that make it a candidate.
pub const ENOUGH_WAITS: u64 = 10;
/// How long a thread is watched before the decision.
pub const LEARNING_NS: i64 = 1_000_000_000;
/// Steps kept until then.
const MOST_STEPS: usize = 1 << 15;
/// If at least this share of a call's waits end with a reply to what the thread itself sent, it is
/// a request.
const REPLIES: f64 = 0.9;
/// The thread's own timer is its rhythm if it accounts for this share of its sleeping time …
const OWN_SHARE: f64 = 0.1;
/// … or if at most this share of the waits sleep, since a thread that is always late never sleeps.
const HARDLY_EVER: f64 = 0.1;
/// Two waits are ambiguous if the second takes more than this share of the time of both.
const AMBIGUOUS_SHARE: f64 = 0.25;
/// Difference that separates alternating lengths of sleep from varying ones.
const PHASES_DIFFER: f64 = 0.25;
const LENGTHS_AGREE: f64 = 0.1;

/// An activation given by the user: `read:7`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AskedActivation {
    pub call: Call,
    pub descriptor: Option<i64>,
}

impl AskedActivation {
    fn fits(&self, key: &WaitKey) -> bool {
        self.call == key.call && self.descriptor.is_none_or(|asked| key.descriptor() == Some(asked))
    }
}

/// The decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Activation {
    /// The wait that ends a cycle.
    pub key: WaitKey,
    /// Another wait that may end it as well; the same one if it is called for two phases of a
    /// cycle.
    pub ambiguous_with: Option<WaitKey>,
}

/// How a thread waits in one call.
#[derive(Clone, Default, Debug)]
struct Waits {
    count: u64,
    slept: u64,
    slept_ns: i64,
    replies: u64,
    /// Those that a timer of the thread ends, or would have ended.
    timed: u64,
    /// Requested length of each sleep.
    lengths: Vec<i64>,
}

#[derive(Debug)]
struct OpenWait {
    key: WaitKey,
    slept_ns: i64,
    slept: bool,
    replied: bool,
    timed: bool,
    length: Option<i64>,
}

/// A thread whose activation is not known yet.
#[derive(Default, Debug)]
pub struct Learning {
    /// All steps, to be replayed once it is known.
    pub steps: Vec<Step>,
    /// Whether steps were dropped for lack of room.
    pub has_dropped: bool,
    waits: BTreeMap<WaitKey, Waits>,
    open: Option<OpenWait>,
    /// The last wait that has ended.
    before: Option<WaitKey>,
    asleep_since: Option<i64>,
    /// Threads that it has woken since its last sleep.
    woke: BTreeSet<i32>,
}

impl Learning {
    pub fn push(&mut self, step: Step) {
        if self.steps.len() == MOST_STEPS {
            self.steps.clear();
            self.has_dropped = true;
        }
        self.steps.push(step);
        if step.shows_running() && self.asleep_since.is_some() {
            self.wake(step.at, None);
        }
        match step.kind {
            StepKind::Enter { key, .. } => {
                self.open = key.map(|key| OpenWait {
                    key,
                    slept_ns: 0,
                    slept: false,
                    replied: false,
                    timed: key.is_absolute(),
                    length: None,
                });
            }
            StepKind::Exit { .. } => self.close(),
            StepKind::Sleeper { expires, is_deadline } => {
                if let Some(open) = &mut self.open {
                    open.length = Some(expires - step.at);
                    // The kernel does not see the thread as asleep, only as out of runtime.
                    open.slept |= is_deadline;
                    open.timed |= is_deadline;
                }
            }
            StepKind::Expired { .. } => self.expire(),
            StepKind::Out { left, .. } => {
                self.asleep_since = (left != Left::Ready).then_some(step.at);
            }
            StepKind::Woken(by) => self.wake(step.at, Some(by)),
            StepKind::Wakes(thread) => drop(self.woke.insert(thread)),
            StepKind::In { .. } => self.wake(step.at, None),
            StepKind::Fault | StepKind::Site(_) => {}
            StepKind::Lost => (self.open, self.asleep_since) = (None, None),
        }
    }

    fn wake(&mut self, at: i64, by: Option<Waker>) {
        let Some(since) = self.asleep_since.take() else { return };
        if let Some(open) = &mut self.open {
            open.slept = true;
            open.slept_ns += at - since;
            let by = by.and_then(|by| match by {
                Waker::Thread(thread, _) => Some(thread),
                Waker::Interrupt => None,
            });
            open.replied |= by.is_some_and(|by| self.woke.contains(&by));
        }
        self.woke.clear();
    }

    /// A timer of the thread was due. Data found by a poll is fetched only after it.
    fn expire(&mut self) {
        let has_slept = self.open.as_ref().is_some_and(|open| open.slept);
        match self.before.filter(|before| before.call.is_told_later() && !has_slept) {
            Some(before) => self.waits.entry(before).or_default().timed += 1,
            None => self.open.iter_mut().for_each(|open| open.timed = true),
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        self.before = Some(open.key);
        let waits = self.waits.entry(open.key).or_default();
        waits.count += 1;
        waits.slept += u64::from(open.slept);
        waits.slept_ns += open.slept_ns;
        waits.replies += u64::from(open.replied);
        waits.timed += u64::from(open.timed);
        if waits.lengths.len() < 64 {
            waits.lengths.extend(open.length);
        }
    }

    /// Whether to decide now: the thread was watched long enough, or the room is used up.
    pub fn is_due(&self, at: i64) -> bool {
        let since = self.steps.first().map_or(at, |step| step.at);
        self.has_dropped || at - since >= LEARNING_NS || self.steps.len() > MOST_STEPS / 2
    }

    /// Largest number of waits in one call.
    pub fn most_waits(&self) -> u64 {
        self.waits.values().map(|waits| waits.count).max().unwrap_or(0)
    }

    /// The activation, once it can be determined.
    pub fn decide(&self, asked: &[AskedActivation]) -> Option<Activation> {
        let is_asked = |key: &WaitKey| asked.iter().any(|asked| asked.fits(key));
        let by_word = self.waits.iter().filter(|(key, _)| is_asked(key));
        if let Some((key, _)) = by_word.max_by_key(|(_, waits)| waits.count) {
            return Some(Activation { key: *key, ambiguous_with: None });
        }
        let total: i64 = self.waits.values().map(|waits| waits.slept_ns).sum();
        let mut candidates: Vec<(Rank, WaitKey, &Waits)> = self
            .waits
            .iter()
            .filter(|(_, waits)| waits.slept.max(waits.timed) >= ENOUGH_WAITS)
            // A thread that yields continues by itself, except with SCHED_DEADLINE.
            .filter(|(key, waits)| key.call != Call::SchedYield || waits.timed >= ENOUGH_WAITS)
            .map(|(key, waits)| (rank(key, waits, total), *key, waits))
            .collect();
        candidates.sort_by_key(|(rank, key, _)| (std::cmp::Reverse(*rank), *key));
        let (rank, key, waits) = candidates.first()?;
        let runner_up = candidates.get(1).filter(|(other, _, _)| {
            let both = rank.slept_ns + other.slept_ns;
            (other.is_no_reply, other.is_own_timer) == (rank.is_no_reply, rank.is_own_timer)
                && other.slept_ns as f64 > AMBIGUOUS_SHARE * both as f64
        });
        let two_phases = key.call.is_sleep() && !key.is_absolute() && alternates(&waits.lengths);
        let ambiguous_with = runner_up.map(|(_, other, _)| *other).or(two_phases.then_some(*key));
        Some(Activation { key: *key, ambiguous_with })
    }
}

/// Sort key; the most important field first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Rank {
    is_no_reply: bool,
    is_own_timer: bool,
    slept_ns: i64,
}

fn rank(key: &WaitKey, waits: &Waits, total: i64) -> Rank {
    let of_slept = |count: u64| count as f64 / waits.slept.max(1) as f64;
    let is_timed = waits.timed as f64 > 0.5 * waits.count as f64;
    let share = waits.slept_ns as f64 / total.max(1) as f64;
    let hardly_sleeps = (waits.slept as f64) < HARDLY_EVER * waits.count as f64;
    Rank {
        is_no_reply: waits.slept == 0 || of_slept(waits.replies) < REPLIES,
        is_own_timer: is_timed
            && (key.call == Call::SchedYield || share > OWN_SHARE || hardly_sleeps),
        slept_ns: waits.slept_ns,
    }
}

/// Whether two lengths alternate: one cycle has two sleeps.
fn alternates(lengths: &[i64]) -> bool {
    let every_second = |from: usize| {
        let mut half: Vec<i64> = lengths.iter().skip(from).step_by(2).copied().collect();
        half.sort_unstable();
        let middle = *half.get(half.len() / 2)? as f64;
        let (low, high) = (half[half.len() / 4] as f64, half[half.len() * 3 / 4] as f64);
        (high - low <= LENGTHS_AGREE * middle).then_some(middle)
    };
    let halves = || Some((every_second(0)?, every_second(1)?));
    lengths.len() >= ENOUGH_WAITS as usize
        && halves().is_some_and(|(one, other)| (one - other).abs() > PHASES_DIFFER * one.max(other))
}
