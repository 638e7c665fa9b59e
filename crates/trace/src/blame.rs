//! Attributes one spike to causes, from the events around it. Its parts follow one another from the
//! release to the reading of the clock, so that they add up to the latency; unknown time is a part
//! as well.

use crate::kernel_events::{CpuTrace, EventKind, EventReader, Moment};
use crate::part_context::{PartContext, is_hotplug, unknown};
use crate::points::{CpuEvents, Own, Piece, WakeUp, work};
use crate::starts::{group_starts, started_threads};
use crate::timeline::{NameOf, Stretch, Tasks, TimerOwners, name_tasks, own_timers, stretches};
use latlab_model::Nanos;
use latlab_model::attach::LongCycle;
use latlab_model::explanation::{
    BlamePart, Cause, CauseEvidence, CauseKind, CpuBefore, SpikeBlame, UnexplainedReason, WakePhase,
};
use latlab_model::flight::RecordedSpike;
use std::collections::BTreeMap;

/// No wake-up takes longer by itself; if one does, its cause was not recorded.
const LONGEST_WAKE_UP: i64 = 100_000;

/// The result for the pages of a spike.
pub struct Blamed {
    /// The spike with its parts.
    pub spike: SpikeBlame,
    /// Whether its release was overwritten before it could be copied.
    pub begins_late: bool,
}

/// Whose spike it is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Subject {
    /// Kernel number of the measured thread.
    pub thread_id: Option<i32>,
    /// Whether its machine is virtual.
    pub in_guest: bool,
}

/// Finds the cause. `lives` says of the threads that ran whether they still existed soon after.
pub fn blame(
    spike: &RecordedSpike,
    subject: Subject,
    traces: &[CpuTrace],
    reader: &EventReader,
    lives: &dyn Fn(i32) -> bool,
) -> Blamed {
    let read = |trace: &CpuTrace| CpuEvents {
        cpu: trace.range.cpu,
        moments: reader.moments(trace),
        is_whole: trace
            .pages
            .last()
            .is_some_and(|(last, _)| last.saturating_add(1) >= trace.range.end),
    };
    let cpus: Vec<CpuEvents> = traces.iter().map(read).collect();
    blame_events(spike, subject, &cpus, &|address| reader.function(address), lives)
}

/// As [`blame()`], for events that were already read.
pub(crate) fn blame_events(
    spike: &RecordedSpike,
    subject: Subject,
    cpus: &[CpuEvents],
    name_of: NameOf,
    lives: &dyn Fn(i32) -> bool,
) -> Blamed {
    let (mut tasks, mut owners) = (Tasks::new(), TimerOwners::new());
    for one in cpus {
        name_tasks(&one.moments, &mut tasks);
        own_timers(&one.moments, &mut owners);
    }
    let (release, woken) = (spike.release_ns.0, (spike.release_ns + spike.latency_ns).0);
    let cycle = spike.cycle.as_ref();
    let start = cycle.map_or(woken, |cycle| (cycle.release_ns + cycle.wake_up_ns).0.min(woken));
    // The spike of a thread of a program may be recorded before the thread is described.
    let id = cycle.map(|cycle| cycle.thread_id).or(subject.thread_id);
    let subject = Subject { thread_id: id, ..subject };
    let wake_up = id.and_then(|id| WakeUp::find(cpus, id, release, start, woken));
    let home = wake_up.as_ref().map_or(0, |wake_up| wake_up.home);
    let pieces = match &wake_up {
        Some(wake_up) => wake_up.pieces.clone(),
        None => {
            let (phase, own) = (WakePhase::Waiting, Own::Expected);
            let before = Piece { phase, from: release, to: start, on: home, own };
            let after = id.map(|id| work(cpus, id, start, woken)).unwrap_or_default();
            std::iter::once(before).chain(after).collect()
        }
    };
    let hotplug = cpus.iter().any(|one| is_hotplug(&one.moments, release, woken));
    let timer = wake_up.as_ref().and_then(|wake_up| wake_up.timer);
    let line = |one: &CpuEvents| stretches(&one.moments, &tasks, &owners, name_of, timer);
    let lines: Vec<Vec<Stretch>> = cpus.iter().map(line).collect();
    let mut parts = Vec::new();
    for piece in pieces.iter().filter(|piece| piece.from < piece.to) {
        let Some(one) = cpus.get(piece.on) else {
            parts.push(unknown(piece.phase, piece.from, piece.to));
            continue;
        };
        let (wake_up, stolen) = (wake_up.as_ref(), spike.stolen.as_ref());
        let context = PartContext { wake_up, subject, moments: &one.moments, hotplug, stolen };
        let cut = cut(&lines[piece.on], one, piece).into_iter().map(|(mut part, stretch)| {
            context.interpret(&mut part, piece, stretch);
            part
        });
        // Lines and faults split the part that they occur in, so they are counted in the joined
        // one.
        let mut joined = joined(cut.collect());
        joined.iter_mut().for_each(|part| context.look_at_evidence(part));
        parts.extend(joined);
    }
    let mut parts = joined_from(release, parts);
    if let Some(cycle) = cycle {
        parts = completed(&parts, &cycle.parts);
    }
    group_starts(&mut parts, cpus, &tasks, lives);
    let own = cpus.get(home);
    let begins_late = own.is_some_and(|own| own.begins_after(release));
    let reason = gap_reason(own, wake_up.as_ref(), release, woken);
    // What the program did is known without the events of its CPU.
    let has_gap = parts.iter().any(|part| part.cause.kind == CauseKind::Unknown);
    let reason = reason.filter(|_| cycle.is_none() || has_gap);
    let before = own.map(|own| before(own, cpus, release)).unwrap_or_default();
    let spike = SpikeBlame { before, ..told(spike, own.map(|one| one.cpu), parts, reason) };
    Blamed { spike, begins_late }
}

/// The state of a CPU at this time.
fn before(own: &CpuEvents, cpus: &[CpuEvents], release: i64) -> CpuBefore {
    let ran = own.moments.iter().take_while(|moment| moment.at <= release);
    // An interrupt on an idle CPU does not change its state.
    let idle = ran.filter_map(|moment| match &moment.kind {
        EventKind::Idle(state) => Some(*state),
        EventKind::Switch { to, .. } if to.id != 0 => Some(None),
        EventKind::Lost => Some(None),
        _ => None,
    });
    // Any CPU may report the frequency of this one.
    let told = cpus.iter().flat_map(|one| &one.moments).filter(|moment| moment.at <= release);
    let khz = told.filter_map(|moment| match moment.kind {
        EventKind::Frequency { cpu, khz } if cpu == own.cpu => Some((moment.at, khz)),
        _ => None,
    });
    CpuBefore {
        idle_state: idle.last().flatten(),
        khz: khz.max_by_key(|(at, _)| *at).map(|(_, khz)| khz),
    }
}

impl CpuEvents {
    /// Whether the events at this time were overwritten.
    fn begins_after(&self, time: i64) -> bool {
        let behind = self.moments.partition_point(|moment| moment.at <= time);
        let next = self.moments.get(behind).map(|moment| &moment.kind);
        !self.moments.is_empty() && (behind == 0 || next == Some(&EventKind::Lost))
    }

    fn has_hole(&self, from: i64, to: i64) -> bool {
        let hole = |moment: &Moment| moment.kind == EventKind::Lost && moment.at > from;
        // Each hole ends with the event after it.
        let first = self.moments.iter().position(hole);
        let begin = first.and_then(|at| self.moments[..at].last()).map_or(i64::MAX, |one| one.at);
        begin < to
    }
}

/// Why not everything is known.
fn gap_reason(
    own: Option<&CpuEvents>,
    wake_up: Option<&WakeUp>,
    release: i64,
    woken: i64,
) -> Option<UnexplainedReason> {
    let Some(own) = own.filter(|one| !one.moments.is_empty()) else {
        return Some(UnexplainedReason::NoEvents);
    };
    if own.begins_after(release) {
        return Some(UnexplainedReason::ReleaseOverwritten);
    }
    if own.has_hole(release, woken) || !own.is_whole {
        return Some(UnexplainedReason::EventsLost);
    }
    match wake_up {
        None => Some(UnexplainedReason::WakeUpUnknown),
        Some(wake_up) if !wake_up.switch_told => Some(UnexplainedReason::SwitchUnknown),
        Some(_) => None,
    }
}

/// The parts of a piece; time that no stretch covers is unknown.
fn cut<'a>(
    line: &'a [Stretch],
    cpu: &CpuEvents,
    piece: &Piece,
) -> Vec<(BlamePart, Option<&'a Stretch>)> {
    let mut parts = Vec::new();
    let mut at = piece.from;
    // After the last event the CPU stays as it is, but only if nothing is missing there.
    let ends = |one: &&Stretch| one.to < i64::MAX || (cpu.is_whole && piece.own == Own::Runs);
    let within = line.iter().filter(|one| one.from < piece.to && one.to > piece.from);
    for stretch in within.filter(ends) {
        let (begin, end) = (stretch.from.max(at), stretch.to.min(piece.to));
        if begin >= end {
            continue;
        }
        if begin > at {
            parts.push((unknown(piece.phase, at, begin), None));
        }
        let part = BlamePart {
            cause: stretch.cause.clone(),
            thread: stretch.thread.clone(),
            evidence: stretch.evidence.clone(),
            ..unknown(piece.phase, begin, end)
        };
        parts.push((part, Some(stretch)));
        at = end;
    }
    if at < piece.to {
        parts.push((unknown(piece.phase, at, piece.to), None));
    }
    parts
}

/// The parts of a cycle: what its thread slept in is known from the program's own events, what had
/// its CPU from all events of that. Times are relative to the release.
fn completed(recorded: &[BlamePart], own: &[BlamePart]) -> Vec<BlamePart> {
    let mut parts = Vec::new();
    let end = recorded.last().map_or(Nanos::ZERO, |part| part.to_ns);
    for part in own {
        let of_program = matches!(
            part.cause.kind,
            CauseKind::PreviousCycle
                | CauseKind::Lock
                | CauseKind::Call
                | CauseKind::PageFaults
                | CauseKind::OwnSleep
        );
        let (from, to) = (part.from_ns, part.to_ns.min(end));
        if of_program && from < to {
            parts.push(BlamePart { to_ns: to, ..part.clone() });
            continue;
        }
        for one in recorded.iter().filter(|one| one.from_ns < to && one.to_ns > from) {
            let is_unclear = matches!(one.cause.kind, CauseKind::Unknown | CauseKind::OwnSleep);
            let better = if is_unclear { part } else { one };
            let (from_ns, to_ns) = (one.from_ns.max(from), one.to_ns.min(to));
            parts.push(BlamePart { from_ns, to_ns, ..better.clone() });
        }
    }
    joined(parts)
}

/// A cycle of an attached thread with its cause, from the events of its program alone.
pub fn tell_cycle(number: u32, thread: u32, cycle: &LongCycle) -> SpikeBlame {
    let spike = RecordedSpike {
        spike: number,
        thread,
        release_ns: cycle.release_ns,
        latency_ns: cycle.response_ns,
        pages: Vec::new(),
        stolen: None,
        cycle: None,
    };
    let has_gap = cycle.parts.iter().any(|part| part.cause.kind == CauseKind::Unknown);
    let reason = has_gap.then_some(UnexplainedReason::OnlyTheProgram);
    told(&spike, Some(cycle.cpu), cycle.parts.clone(), reason)
}

/// Parts joined, with times from the release.
pub(crate) fn joined_from(release: i64, parts: Vec<BlamePart>) -> Vec<BlamePart> {
    let mut parts = joined(parts);
    for part in &mut parts {
        (part.from_ns, part.to_ns) = (part.from_ns - Nanos(release), part.to_ns - Nanos(release));
    }
    parts
}

/// Joins adjacent parts with the same cause, keeping the evidence of the longest.
fn joined(parts: Vec<BlamePart>) -> Vec<BlamePart> {
    let mut all: Vec<BlamePart> = Vec::new();
    let mut longest = Nanos::ZERO;
    for part in parts {
        let length = part.length();
        match all.last_mut() {
            Some(last) if last.cause == part.cause && last.phase == part.phase => {
                last.to_ns = part.to_ns;
                last.thread = last.thread.take().or(part.thread);
                if part.evidence.is_some() && (last.evidence.is_none() || length > longest) {
                    (last.evidence, longest) = (part.evidence, length);
                }
            }
            _ => {
                longest = length;
                all.push(part);
            }
        }
    }
    all
}

/// The spike with its cause, which is the blocker that took most of it.
fn told(
    spike: &RecordedSpike,
    cpu: Option<u32>,
    parts: Vec<BlamePart>,
    reason: Option<UnexplainedReason>,
) -> SpikeBlame {
    let mut totals: BTreeMap<Cause, i64> = BTreeMap::new();
    for part in &parts {
        *totals.entry(part.cause()).or_default() += part.length().0;
    }
    let is_wake_up = |cause: &Cause| cause.kind == CauseKind::WakeUp;
    let is_own = |cause: &Cause| is_wake_up(cause) || cause.kind == CauseKind::Execution;
    // The unavoidable cost of a wake-up, and the thread's own work, are the cause only if nothing
    // else took as much.
    let large = |(cause, took): &(Cause, i64)| !is_own(cause) || took * 2 >= spike.latency_ns.0;
    let largest = totals.into_iter().filter(large).max_by_key(|(_, total)| *total);
    let cause = largest.filter(|(cause, took)| {
        cause.kind != CauseKind::Unknown && (!is_wake_up(cause) || *took <= LONGEST_WAKE_UP)
    });
    let cause = cause.map(|(cause, total)| (cause, Nanos(total)));
    let (cause, cause_ns) = cause.unzip();
    let own = parts.iter().filter(|part| Some(part.cause()) == cause);
    let longest = own.max_by_key(|part| part.length()).cloned();
    let thread = longest.as_ref().and_then(|part| part.thread.as_ref());
    let starter = thread.and_then(|thread| thread.started_by.as_ref());
    let started = starter.map(|one| started_threads(&parts, one.id)).unwrap_or_default();
    let unknown = parts.iter().filter(|part| part.cause.kind == CauseKind::Unknown);
    let silence =
        match unknown.max_by_key(|part| part.length()).and_then(|part| part.evidence.as_ref()) {
            Some(CauseEvidence::Silence { reason }) => Some(*reason),
            _ => None,
        };
    let no_cause = cause.is_none().then_some(UnexplainedReason::CauseUnknown);
    SpikeBlame {
        spike: spike.spike,
        thread: spike.thread,
        cpu,
        release_ns: spike.release_ns,
        latency_ns: spike.latency_ns,
        parts,
        cause,
        cause_ns: cause_ns.unwrap_or_default(),
        longest,
        started,
        reason: reason.or(silence).or(no_cause),
        sentence: None,
        stolen: spike.stolen,
        before: CpuBefore::default(),
        gap: None,
    }
}

#[cfg(test)]
mod kernels;
#[cfg(test)]
mod tests;
