//! A walked window as the parts of its latency.

use super::context::Contexts;
use super::paths::PathId;
use super::records::{Task, Window};
use super::result::{Activity, GuestThread, OffStretch, ReplayPart, ReplayedLatency, TimedPart};
use super::tree::tree;
use super::walk::{OffSpan, Stretch, Walked};
use latlab_model::Nanos;
use std::collections::HashMap;

/// The function that wakes a thread sleeping until a time.
const WAKES: &str = "hrtimer_wakeup";
/// The function that picks the next thread and switches to it.
const SCHEDULES: &str = "__schedule";

/// Converts counts to times from the release, anchored at the reading of the clock at the end.
#[derive(Clone, Copy)]
pub(super) struct Scale {
    end: i64,
    latency: i64,
}

impl Scale {
    /// The time of a count.
    pub(super) fn time(self, count: u64) -> Nanos {
        Nanos(self.latency - (self.end - count as i64))
    }
}

/// The counts at which the parts of a wake-up begin, in order.
struct Milestones([u64; 8]);

const PARTS: [ReplayPart; 8] = [
    ReplayPart::Due,
    ReplayPart::Interrupt,
    ReplayPart::Waking,
    ReplayPart::InterruptEnd,
    ReplayPart::Waiting,
    ReplayPart::Switching,
    ReplayPart::Returning,
    ReplayPart::Reading,
];

/// One wake-up: its parts, what ran, and a sentence.
pub(super) fn tell(
    window: &Window,
    walked: &Walked,
    contexts: &Contexts<'_>,
    task: &dyn Fn(u32) -> Option<Task>,
) -> ReplayedLatency {
    let latency = window.clock - window.release;
    let thread = |number: Option<u32>| number.and_then(task).map(guest_thread);
    let measured = thread(Some(window.task));
    let unknown = GuestThread { pid: 0, tgid: 0, name: "the measured thread".to_string() };
    let mut told = ReplayedLatency {
        release_ns: Nanos(window.release),
        latency_ns: Nanos(latency),
        measured: measured.unwrap_or(unknown),
        sentence: String::new(),
        own_thread: None,
        own_ns: Nanos::ZERO,
        parts: Vec::new(),
        interrupts_off: None,
        tree: Vec::new(),
        gap: None,
    };
    let read = walked.reads.iter().rev().find(|(_, task)| *task == window.task);
    let Some(end) = read.map(|(count, _)| *count) else {
        told.gap = Some("its reading of the clock was not recorded".to_string());
        told.sentence = not_reconstructed(&told);
        return told;
    };
    let scale = Scale { end: end as i64, latency };
    let first = walked.stretches.first().map_or(end, |stretch| stretch.from);
    // Before that the time is unknown; up to it the CPU slept.
    let woken = walked.sleeps.iter().rev().find(|count| **count <= end).copied();
    let release = (end as i64 - latency).max(0) as u64;
    let begin = release.max(woken.unwrap_or(first)).max(first).min(end);
    let stretches = clip(&walked.stretches, begin, end);
    if scale.time(begin) > Nanos::ZERO {
        let slept = woken == Some(begin);
        told.parts.push(TimedPart {
            from_ns: Nanos::ZERO,
            to_ns: scale.time(begin),
            part: ReplayPart::Due,
            thread: None,
            activity: if slept { Activity::Sleep } else { Activity::Unrecorded },
            function: None,
            function_ns: Nanos::ZERO,
            interrupts_off_ns: Nanos::ZERO,
            preemption_off_ns: Nanos::ZERO,
        });
        if !slept {
            told.gap = Some(format!("its first {} were not recorded", scale.time(begin)));
        }
    }
    let milestones = milestones(window.task, &stretches, walked, contexts, (begin, end));
    let groups = groups(&stretches, &milestones, contexts);
    told.parts.extend(groups.iter().map(|group| {
        let (from, to) = (group[0].from, group[group.len() - 1].to);
        let context = contexts.of(longest(group).path);
        let (function, took) = contexts.main_function(context, group);
        let off = |spans: &[OffSpan]| Nanos(spans.iter().map(|span| overlap(span, from, to)).sum());
        TimedPart {
            from_ns: scale.time(from),
            to_ns: scale.time(to),
            part: milestones.part(from),
            thread: thread(longest(group).task),
            activity: contexts.activity(context, group),
            function,
            function_ns: Nanos(took as i64),
            interrupts_off_ns: off(&walked.interrupts_off),
            preemption_off_ns: off(&walked.preemption_off),
        }
    }));
    told.interrupts_off = blocking(walked, begin, milestones.0[1]).map(|span| OffStretch {
        from_ns: scale.time(span.from),
        to_ns: scale.time(span.to),
        thread: thread(span.task),
        by: contexts.function(span.path),
    });
    told.tree = tree(&stretches, scale, contexts, &|number| match thread(number) {
        Some(thread) => format!("{} ({})", thread.name, thread.pid),
        None => "an unknown thread".to_string(),
    });
    contexts.judge(&mut told);
    told
}

pub(super) fn guest_thread(task: Task) -> GuestThread {
    GuestThread { pid: task.pid, tgid: task.tgid, name: task.name }
}

/// For a wake-up of which too little is known.
fn not_reconstructed(told: &ReplayedLatency) -> String {
    let why = told.gap.as_deref().unwrap_or("nothing of it was recorded");
    format!("{}: not reconstructed: {why}.", told.latency_ns)
}

/// The part of these stretches between two counts.
fn clip(stretches: &[Stretch], begin: u64, end: u64) -> Vec<Stretch> {
    let inside = stretches.iter().filter(|one| one.to > begin && one.from < end);
    inside.map(|one| Stretch { from: one.from.max(begin), to: one.to.min(end), ..*one }).collect()
}

fn overlap(span: &OffSpan, from: u64, to: u64) -> i64 {
    (span.to.min(to) as i64 - span.from.max(from) as i64).max(0)
}

fn longest(group: &[Stretch]) -> &Stretch {
    let mut by_path: HashMap<PathId, u64> = HashMap::new();
    for one in group {
        *by_path.entry(one.path).or_default() += one.to - one.from;
    }
    let length = |one: &&Stretch| (by_path[&one.path], std::cmp::Reverse(one.from));
    group.iter().max_by_key(length).unwrap_or(&group[0])
}

/// The stretch with interrupts disabled that delayed the timer's interrupt.
fn blocking(walked: &Walked, begin: u64, interrupt: u64) -> Option<OffSpan> {
    let spans = walked.interrupts_off.iter().copied();
    let before = spans.filter(|span| span.from < interrupt && overlap(span, begin, interrupt) > 0);
    before.max_by_key(|span| overlap(span, begin, interrupt))
}

fn milestones(
    measured: u32,
    stretches: &[Stretch],
    walked: &Walked,
    contexts: &Contexts<'_>,
    (begin, end): (u64, u64),
) -> Milestones {
    let switch = walked
        .switches
        .iter()
        .rev()
        .find(|(at, task)| *task == measured && *at >= begin && *at <= end);
    let switch = switch.map_or(begin, |(at, _)| *at);
    let is_user = |one: &Stretch| one.task == Some(measured) && contexts.is_user(one.path);
    let user = stretches.iter().find(|one| one.from >= switch && is_user(one));
    let user = user.map_or(end, |one| one.from);
    let before = |one: &&Stretch| one.to <= switch;
    // The outgoing thread's call.
    let schedules = stretches.iter().rev().skip_while(|one| !before(one));
    let schedules = schedules.take_while(|one| contexts.is_in(one.path, SCHEDULES)).last();
    let scheduling = schedules.map_or(switch, |one| one.from);
    let waking =
        stretches.iter().position(|one| one.from < scheduling && contexts.is_in(one.path, WAKES));
    let Some(waking) = waking else {
        // It was not woken here: it never slept, or another CPU woke it.
        return Milestones([begin, begin, begin, begin, begin, scheduling, switch, user]);
    };
    let woken = stretches[waking..].iter().take_while(|one| contexts.is_in(one.path, WAKES)).last();
    let (wakes_from, wakes_to) = (stretches[waking].from, woken.map_or(end, |one| one.to));
    let interrupt = contexts.interrupt(stretches[waking].path);
    let in_it = |one: &&Stretch| interrupt.is_some_and(|path| contexts.is_below(one.path, path));
    let came = stretches[..=waking].iter().rev().take_while(in_it).last();
    let left = stretches[waking..].iter().take_while(in_it);
    let left = left.take_while(|one| !contexts.is_in(one.path, SCHEDULES)).last();
    let came = came.map_or(wakes_from, |one| one.from);
    let left = left.map_or(wakes_to, |one| one.to).clamp(wakes_to, scheduling.max(wakes_to));
    Milestones([begin, came, wakes_from, wakes_to, left, scheduling.max(left), switch, user])
}

impl Milestones {
    fn part(&self, at: u64) -> ReplayPart {
        let after = self.0.iter().rposition(|from| *from <= at);
        PARTS[after.unwrap_or(0)]
    }

    /// Where a stretch is to be cut.
    fn cuts(&self, one: &Stretch) -> Vec<u64> {
        let mut cuts: Vec<u64> =
            self.0.iter().copied().filter(|at| *at > one.from && *at < one.to).collect();
        cuts.push(one.to);
        cuts.dedup();
        cuts
    }
}

/// Groups adjacent stretches of the same part and activity.
fn groups(
    stretches: &[Stretch],
    milestones: &Milestones,
    contexts: &Contexts<'_>,
) -> Vec<Vec<Stretch>> {
    let mut groups: Vec<Vec<Stretch>> = Vec::new();
    for one in stretches {
        let mut from = one.from;
        for to in milestones.cuts(one) {
            let piece = Stretch { from, to, ..*one };
            from = to;
            let goes_on = groups.last().and_then(|group| group.last()).is_some_and(|last| {
                let part = milestones.part(piece.from);
                part == milestones.part(last.from)
                    && (is_whole(part)
                        || (last.task == piece.task
                            && contexts.of(last.path) == contexts.of(piece.path)))
            });
            match groups.last_mut() {
                Some(group) if goes_on => group.push(piece),
                _ => groups.push(vec![piece]),
            }
        }
    }
    groups
}

/// Parts that stay in one piece, whatever comes in between.
fn is_whole(part: ReplayPart) -> bool {
    !matches!(
        part,
        ReplayPart::Due | ReplayPart::Waiting | ReplayPart::Returning | ReplayPart::Reading
    )
}
