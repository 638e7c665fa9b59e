//! What it means for the waiting thread that something had the CPU: the wake-up itself, disabled
//! interrupts, a CPU time limit, the hypervisor, printing, page faults, hot-plug.

use crate::blame::Subject;
use crate::kernel_events::{EventKind, Left, Moment};
use crate::points::{Own, Piece, WakeUp};
use crate::timeline::Stretch;
use latlab_model::Nanos;
use latlab_model::explanation::{
    BlamePart, Cause, CauseEvidence, CauseKind, UnexplainedReason, WakePhase,
};
use latlab_model::flight::StolenTime;

/// A shorter stretch without an event says nothing about the machine below the kernel.
const SILENCE: i64 = 300_000;
/// The kernel counts stolen time in steps of this.
const STOLEN_STEP: i64 = 10_000_000;
/// This many page faults in a part may be its cause …
const MANY_FAULTS: i64 = 10;
/// … if there is one per this many nanoseconds.
const EACH_FAULT: i64 = 50_000;
/// Longest time of one line on a slow console.
const EACH_LINE: i64 = 20_000_000;
/// How long before the part a printed line may still be on its way to the console, and a hot-plug
/// step may have begun.
const BEFORE: i64 = 2_000_000;

/// The context of a part.
pub struct PartContext<'a> {
    /// The wake-up, if the events show it.
    pub wake_up: Option<&'a WakeUp>,
    /// Whose wake-up it is.
    pub subject: Subject,
    /// The events of the part's CPU.
    pub moments: &'a [Moment],
    /// Whether any recorded CPU shows a hot-plug step.
    pub hotplug: bool,
    /// Time that the hypervisor took.
    pub stolen: Option<&'a StolenTime>,
}

impl PartContext<'_> {
    /// Interprets a part within its piece of the wake-up; `stretch` is what it was cut from.
    pub fn interpret(&self, part: &mut BlamePart, piece: &Piece, stretch: Option<&Stretch>) {
        if let Own::Sleeps(left) = piece.own {
            let name = match left {
                Left::Stopped => "stopped by a signal",
                Left::Traced => "stopped by a tracer",
                Left::Uninterruptible => "asleep for a disk, a lock or memory",
                _ if part.phase == WakePhase::TimerLate => "frozen, or asleep for something else",
                Left::Ready | Left::Asleep => "asleep",
            };
            set_cause(part, CauseKind::OwnSleep, name);
            part.evidence = None;
            return;
        }
        if self.is_path(part) {
            let kind = match part.phase {
                WakePhase::Work => CauseKind::Execution,
                _ => CauseKind::WakeUp,
            };
            set_cause(part, kind, "");
            part.evidence = None;
        } else if part.phase == WakePhase::TimerLate
            && part.cause.kind == CauseKind::Thread
            && piece.own == Own::Expected
            && self.wake_up.is_some_and(|wake_up| wake_up.waker.is_none())
        {
            part.cause.kind = CauseKind::InterruptsOff;
        } else if stretch.is_some_and(|stretch| self.was_passed_over(piece, stretch)) {
            part.evidence = Some(match part.cause.kind {
                CauseKind::IdleExit => CauseEvidence::CpuIdle,
                _ => CauseEvidence::RanInstead { thread: part.cause.name.clone() },
            });
            set_cause(part, CauseKind::Throttled, "");
        }
        self.look_below(part);
    }

    /// Whether a part belongs to the path of the wake-up itself.
    fn is_path(&self, part: &BlamePart) -> bool {
        let id = part.thread.as_ref().map(|thread| thread.id);
        let is_waker = part.phase == WakePhase::TimerLate
            && id.is_some()
            && self.wake_up.is_some_and(|wake_up| wake_up.waker == id);
        let own_interrupt = matches!(part.phase, WakePhase::Handler | WakePhase::Waiting)
            && part.cause.kind == CauseKind::Interrupt
            && self.wake_up.is_some_and(|wake_up| wake_up.interrupts.contains(&part.cause.name));
        (id.is_some() && id == self.subject.thread_id)
            || is_waker
            || own_interrupt
            || (part.phase == WakePhase::Return && part.cause.kind == CauseKind::IdleExit)
    }

    /// Whether the scheduler chose a thread of lower priority, or idle, although the measured one
    /// was ready.
    fn was_passed_over(&self, piece: &Piece, stretch: &Stretch) -> bool {
        let own = self.wake_up.and_then(|wake_up| wake_up.priority);
        // A thread that another CPU has woken becomes ready on its CPU a little later.
        let is_ready = piece.phase != WakePhase::Waiting
            || self.wake_up.is_some_and(|wake_up| wake_up.woken_on == piece.on);
        let is_lower = match (own, stretch.priority) {
            _ if stretch.cause.kind == CauseKind::IdleExit => is_ready,
            // SCHED_OTHER threads take turns.
            (Some(own @ ..100), Some(other)) => other > own,
            _ => false,
        };
        let runs = matches!(stretch.cause.kind, CauseKind::Thread | CauseKind::IdleExit);
        // If the CPU went idle before, it does so again after each interrupt.
        let goes_idle = |moment: &Moment| {
            matches!(moment.kind, EventKind::Idle(Some(_)))
                && (piece.from..piece.to).contains(&moment.at)
        };
        let since = stretch.chosen.is_some_and(|chosen| chosen >= piece.from)
            || (stretch.cause.kind == CauseKind::IdleExit && self.moments.iter().any(goes_idle));
        runs && is_lower && since && piece.own == Own::Ready
    }

    /// Attributes a silence to what may lie below the kernel.
    fn look_below(&self, part: &mut BlamePart) {
        if let Some(stolen) = self.stolen.filter(|stolen| explains(stolen, part)) {
            let (silence_ns, rose_ns) = (part.length(), stolen.rose_ns);
            part.evidence = Some(CauseEvidence::Stolen { silence_ns, rose_ns });
            set_cause(part, CauseKind::Hypervisor, "");
        } else if self.subject.in_guest
            && part.phase == WakePhase::TimerLate
            && part.cause.kind == CauseKind::IdleExit
            && part.length().0 >= SILENCE
        {
            // An idle CPU has interrupts enabled, and in a guest it has yielded to the host.
            part.evidence = Some(CauseEvidence::NotWoken { silence_ns: part.length() });
            set_cause(part, CauseKind::Hypervisor, "");
        } else if part.cause.kind == CauseKind::WakeUp && part.length().0 >= SILENCE {
            let reason = match part.phase {
                WakePhase::Handler => UnexplainedReason::SilentInterrupt,
                _ => UnexplainedReason::SilentThread,
            };
            part.evidence = Some(CauseEvidence::Silence { reason });
            set_cause(part, CauseKind::Unknown, "");
        }
    }

    /// Changes the cause if printed lines, page faults or hot-plug explain the part better.
    pub fn look_at_evidence(&self, part: &mut BlamePart) {
        if part.cause.kind == CauseKind::Execution {
            let within = part.from_ns.0..=part.to_ns.0;
            let faults = self.moments.iter().filter(|moment| {
                moment.kind == EventKind::PageFault
                    && Some(moment.thread) == self.subject.thread_id
                    && within.contains(&moment.at)
            });
            let faults = faults.count() as u64;
            part.evidence = (faults > 0).then_some(CauseEvidence::PageFaults { faults });
            return;
        }
        let Some((kind, evidence)) = self.evidence(part) else {
            if self.subject.in_guest && part.cause.kind == CauseKind::InterruptsOff {
                part.cause.kind = CauseKind::HypervisorOrInterruptsOff;
            }
            return;
        };
        if part.cause.kind == CauseKind::Softirq {
            part.cause.name = format!("softirq {}", part.cause.name);
        }
        part.cause.kind = kind;
        part.evidence = Some(evidence);
    }

    fn evidence(&self, part: &BlamePart) -> Option<(CauseKind, CauseEvidence)> {
        let is_thread = matches!(part.cause.kind, CauseKind::Thread | CauseKind::InterruptsOff);
        let interrupts = matches!(
            part.cause.kind,
            CauseKind::Softirq | CauseKind::Interrupt | CauseKind::OtherTimers
        );
        if !is_thread && !interrupts {
            return None;
        }
        let id = part.thread.as_ref().map(|thread| thread.id);
        let times = |before: i64, is: &dyn Fn(&EventKind) -> bool| -> Vec<i64> {
            let within = part.from_ns.0.saturating_sub(before)..=part.to_ns.0;
            let all = self.moments.iter().filter(|moment| within.contains(&moment.at));
            let own = all.filter(|moment| interrupts || Some(moment.thread) == id);
            own.filter(|moment| is(&moment.kind)).map(|moment| moment.at).collect()
        };
        let count = |before: i64, is: &dyn Fn(&EventKind) -> bool| times(before, is).len() as i64;
        let length = part.length().0;
        let name = part.cause.name.as_str();
        let printed =
            times(if interrupts { 0 } else { BEFORE }, &|kind| *kind == EventKind::Printk);
        let lines = if took_so_long(part, &printed) { printed.len() as i64 } else { 0 };
        let faults = if is_thread { count(0, &|kind| *kind == EventKind::PageFault) } else { 0 };
        let steps = is_thread
            && (count(BEFORE, &is_step) > 0
                || id.is_some_and(|id| self.is_in_step(id, part.from_ns.0)));
        let is_stopper = ["migration/", "cpuhp/"].iter().any(|one| name.starts_with(one));
        if lines > 0 && length <= lines.saturating_mul(EACH_LINE) {
            let lines = lines as u64;
            return Some((CauseKind::Printk, CauseEvidence::LinesPrinted { lines }));
        }
        if is_thread && name.starts_with("pr/") {
            return Some((CauseKind::Printk, CauseEvidence::ConsoleThread));
        }
        if faults >= MANY_FAULTS && length <= faults.saturating_mul(EACH_FAULT) {
            let faults = faults as u64;
            return Some((CauseKind::PageFaults, CauseEvidence::PageFaults { faults }));
        }
        if steps || (is_stopper && self.hotplug) {
            return Some((CauseKind::Hotplug, CauseEvidence::CpuChange));
        }
        if is_thread && name.starts_with("migration/") {
            return Some((part.cause.kind, CauseEvidence::AllCpusStopped));
        }
        None
    }

    /// Whether a thread was within a hot-plug step at this time.
    fn is_in_step(&self, thread: i32, time: i64) -> bool {
        let until = self.moments.partition_point(|moment| moment.at <= time);
        let own = self.moments[..until].iter().rev().filter(|moment| moment.thread == thread);
        own.map(|moment| &moment.kind).find(|kind| is_step(kind))
            == Some(&EventKind::Hotplug { begins: true })
    }
}

fn is_step(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Hotplug { .. })
}

/// Whether printing may have taken the part: each line reaches the console before the thread prints
/// the next, so the last one takes about as long as the others.
fn took_so_long(part: &BlamePart, lines: &[i64]) -> bool {
    let each = lines.windows(2).map(|two| two[1] - two[0]).max();
    let (Some(each), Some(last)) = (each, lines.last()) else { return true };
    let within = last - part.from_ns.0;
    part.to_ns.0 - last <= within.max(each.saturating_mul(4))
}

/// Whether a hot-plug step occurred around this time.
pub fn is_hotplug(moments: &[Moment], from: i64, to: i64) -> bool {
    let within = from.saturating_sub(BEFORE)..=to;
    moments.iter().any(|moment| is_step(&moment.kind) && within.contains(&moment.at))
}

/// Whether stolen time explains a silence.
fn explains(stolen: &StolenTime, silence: &BlamePart) -> bool {
    let (length, rose) = (silence.length().0, stolen.rose_ns.0);
    let much = rose.saturating_mul(2) > (stolen.to_ns - stolen.from_ns).0;
    let long = length >= SILENCE && (length >= STOLEN_STEP / 10 || much);
    long && rose >= STOLEN_STEP && rose.saturating_add(STOLEN_STEP) >= length
}

/// Sets the cause of a part.
fn set_cause(part: &mut BlamePart, kind: CauseKind, name: &str) {
    part.cause = Cause { kind, name: name.to_string() };
    part.thread = None;
}

/// A part of unknown cause.
pub fn unknown(phase: WakePhase, from: i64, to: i64) -> BlamePart {
    BlamePart {
        from_ns: Nanos(from),
        to_ns: Nanos(to),
        phase,
        cause: Cause { kind: CauseKind::Unknown, name: String::new() },
        thread: None,
        evidence: None,
        detail: None,
    }
}
