//! What it means for the waiting thread that something had the CPU: the wake-up itself, disabled
//! interrupts, a CPU time limit, the hypervisor, printing, page faults, hot-plug.

use crate::blame::Subject;
use crate::kernel_events::{EventKind, Left, Moment};
use crate::points::{Own, Piece, WakeUp};
use crate::timeline::Stretch;
use latlab_model::Nanos;
use latlab_model::explanation::{
    BlameLeg, Holder, HolderKind, LegEvidence, Phase, UnexplainedReason,
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
pub struct LegContext<'a> {
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

impl LegContext<'_> {
    /// Interprets a part within its piece of the wake-up; `stretch` is what it was cut from.
    pub fn interpret(&self, leg: &mut BlameLeg, piece: &Piece, stretch: Option<&Stretch>) {
        if let Own::Sleeps(left) = piece.own {
            let name = match left {
                Left::Stopped => "stopped by a signal",
                Left::Traced => "stopped by a tracer",
                Left::Uninterruptible => "asleep for a disk, a lock or memory",
                _ if leg.phase == Phase::TimerLate => "frozen, or asleep for something else",
                Left::Ready | Left::Asleep => "asleep",
            };
            set_holder(leg, HolderKind::OwnSleep, name);
            leg.evidence = None;
            return;
        }
        if self.is_path(leg) {
            let kind = match leg.phase {
                Phase::Work => HolderKind::Execution,
                _ => HolderKind::WakeUp,
            };
            set_holder(leg, kind, "");
            leg.evidence = None;
        } else if leg.phase == Phase::TimerLate
            && leg.holder.kind == HolderKind::Thread
            && piece.own == Own::Expected
            && self.wake_up.is_some_and(|wake_up| wake_up.waker.is_none())
        {
            leg.holder.kind = HolderKind::InterruptsOff;
        } else if stretch.is_some_and(|stretch| self.was_passed_over(piece, stretch)) {
            leg.evidence = Some(match leg.holder.kind {
                HolderKind::IdleExit => LegEvidence::CpuIdle,
                _ => LegEvidence::RanInstead { thread: leg.holder.name.clone() },
            });
            set_holder(leg, HolderKind::Throttled, "");
        }
        self.look_below(leg);
    }

    /// Whether a part belongs to the path of the wake-up itself.
    fn is_path(&self, leg: &BlameLeg) -> bool {
        let id = leg.thread.as_ref().map(|thread| thread.id);
        let is_waker = leg.phase == Phase::TimerLate
            && id.is_some()
            && self.wake_up.is_some_and(|wake_up| wake_up.waker == id);
        let own_interrupt = matches!(leg.phase, Phase::Handler | Phase::Waiting)
            && leg.holder.kind == HolderKind::Interrupt
            && self.wake_up.is_some_and(|wake_up| wake_up.interrupts.contains(&leg.holder.name));
        (id.is_some() && id == self.subject.thread_id)
            || is_waker
            || own_interrupt
            || (leg.phase == Phase::Return && leg.holder.kind == HolderKind::IdleExit)
    }

    /// Whether the scheduler chose a thread of lower priority, or idle, although the measured one
    /// was ready.
    fn was_passed_over(&self, piece: &Piece, stretch: &Stretch) -> bool {
        let own = self.wake_up.and_then(|wake_up| wake_up.priority);
        // A thread that another CPU has woken becomes ready on its CPU a little later.
        let is_ready = piece.phase != Phase::Waiting
            || self.wake_up.is_some_and(|wake_up| wake_up.woken_on == piece.on);
        let is_lower = match (own, stretch.priority) {
            _ if stretch.holder.kind == HolderKind::IdleExit => is_ready,
            // SCHED_OTHER threads take turns.
            (Some(own @ ..100), Some(other)) => other > own,
            _ => false,
        };
        let runs = matches!(stretch.holder.kind, HolderKind::Thread | HolderKind::IdleExit);
        // If the CPU went idle before, it does so again after each interrupt.
        let goes_idle = |moment: &Moment| {
            matches!(moment.kind, EventKind::Idle(Some(_)))
                && (piece.from..piece.to).contains(&moment.at)
        };
        let since = stretch.chosen.is_some_and(|chosen| chosen >= piece.from)
            || (stretch.holder.kind == HolderKind::IdleExit && self.moments.iter().any(goes_idle));
        runs && is_lower && since && piece.own == Own::Ready
    }

    /// Attributes a silence to what may lie below the kernel.
    fn look_below(&self, leg: &mut BlameLeg) {
        if let Some(stolen) = self.stolen.filter(|stolen| explains(stolen, leg)) {
            let (silence_ns, rose_ns) = (leg.length(), stolen.rose_ns);
            leg.evidence = Some(LegEvidence::Stolen { silence_ns, rose_ns });
            set_holder(leg, HolderKind::Hypervisor, "");
        } else if self.subject.in_guest
            && leg.phase == Phase::TimerLate
            && leg.holder.kind == HolderKind::IdleExit
            && leg.length().0 >= SILENCE
        {
            // An idle CPU has interrupts enabled, and in a guest it has yielded to the host.
            leg.evidence = Some(LegEvidence::NotWoken { silence_ns: leg.length() });
            set_holder(leg, HolderKind::Hypervisor, "");
        } else if leg.holder.kind == HolderKind::WakeUp && leg.length().0 >= SILENCE {
            let reason = match leg.phase {
                Phase::Handler => UnexplainedReason::SilentInterrupt,
                _ => UnexplainedReason::SilentThread,
            };
            leg.evidence = Some(LegEvidence::Silence { reason });
            set_holder(leg, HolderKind::Unknown, "");
        }
    }

    /// Changes the cause if printed lines, page faults or hot-plug explain the part better.
    pub fn look_at_evidence(&self, leg: &mut BlameLeg) {
        if leg.holder.kind == HolderKind::Execution {
            let within = leg.from_ns.0..=leg.to_ns.0;
            let faults = self.moments.iter().filter(|moment| {
                moment.kind == EventKind::PageFault
                    && Some(moment.thread) == self.subject.thread_id
                    && within.contains(&moment.at)
            });
            let faults = faults.count() as u64;
            leg.evidence = (faults > 0).then_some(LegEvidence::PageFaults { faults });
            return;
        }
        let Some((kind, evidence)) = self.evidence(leg) else {
            if self.subject.in_guest && leg.holder.kind == HolderKind::InterruptsOff {
                leg.holder.kind = HolderKind::HypervisorOrInterruptsOff;
            }
            return;
        };
        if leg.holder.kind == HolderKind::Softirq {
            leg.holder.name = format!("softirq {}", leg.holder.name);
        }
        leg.holder.kind = kind;
        leg.evidence = Some(evidence);
    }

    fn evidence(&self, leg: &BlameLeg) -> Option<(HolderKind, LegEvidence)> {
        let is_thread = matches!(leg.holder.kind, HolderKind::Thread | HolderKind::InterruptsOff);
        let interrupts = matches!(
            leg.holder.kind,
            HolderKind::Softirq | HolderKind::Interrupt | HolderKind::OtherTimers
        );
        if !is_thread && !interrupts {
            return None;
        }
        let id = leg.thread.as_ref().map(|thread| thread.id);
        let times = |before: i64, is: &dyn Fn(&EventKind) -> bool| -> Vec<i64> {
            let within = leg.from_ns.0.saturating_sub(before)..=leg.to_ns.0;
            let all = self.moments.iter().filter(|moment| within.contains(&moment.at));
            let own = all.filter(|moment| interrupts || Some(moment.thread) == id);
            own.filter(|moment| is(&moment.kind)).map(|moment| moment.at).collect()
        };
        let count = |before: i64, is: &dyn Fn(&EventKind) -> bool| times(before, is).len() as i64;
        let length = leg.length().0;
        let name = leg.holder.name.as_str();
        let printed =
            times(if interrupts { 0 } else { BEFORE }, &|kind| *kind == EventKind::Printk);
        let lines = if took_so_long(leg, &printed) { printed.len() as i64 } else { 0 };
        let faults = if is_thread { count(0, &|kind| *kind == EventKind::PageFault) } else { 0 };
        let steps = is_thread
            && (count(BEFORE, &is_step) > 0
                || id.is_some_and(|id| self.is_in_step(id, leg.from_ns.0)));
        let is_stopper = ["migration/", "cpuhp/"].iter().any(|one| name.starts_with(one));
        if lines > 0 && length <= lines.saturating_mul(EACH_LINE) {
            let lines = lines as u64;
            return Some((HolderKind::Printk, LegEvidence::LinesPrinted { lines }));
        }
        if is_thread && name.starts_with("pr/") {
            return Some((HolderKind::Printk, LegEvidence::ConsoleThread));
        }
        if faults >= MANY_FAULTS && length <= faults.saturating_mul(EACH_FAULT) {
            let faults = faults as u64;
            return Some((HolderKind::PageFaults, LegEvidence::PageFaults { faults }));
        }
        if steps || (is_stopper && self.hotplug) {
            return Some((HolderKind::Hotplug, LegEvidence::CpuChange));
        }
        if is_thread && name.starts_with("migration/") {
            return Some((leg.holder.kind, LegEvidence::AllCpusStopped));
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
fn took_so_long(leg: &BlameLeg, lines: &[i64]) -> bool {
    let each = lines.windows(2).map(|two| two[1] - two[0]).max();
    let (Some(each), Some(last)) = (each, lines.last()) else { return true };
    let within = last - leg.from_ns.0;
    leg.to_ns.0 - last <= within.max(each.saturating_mul(4))
}

/// Whether a hot-plug step occurred around this time.
pub fn is_hotplug(moments: &[Moment], from: i64, to: i64) -> bool {
    let within = from.saturating_sub(BEFORE)..=to;
    moments.iter().any(|moment| is_step(&moment.kind) && within.contains(&moment.at))
}

/// Whether stolen time explains a silence.
fn explains(stolen: &StolenTime, silence: &BlameLeg) -> bool {
    let (length, rose) = (silence.length().0, stolen.rose_ns.0);
    let much = rose.saturating_mul(2) > (stolen.to_ns - stolen.from_ns).0;
    let long = length >= SILENCE && (length >= STOLEN_STEP / 10 || much);
    long && rose >= STOLEN_STEP && rose.saturating_add(STOLEN_STEP) >= length
}

/// Sets the cause of a part.
fn set_holder(leg: &mut BlameLeg, kind: HolderKind, name: &str) {
    leg.holder = Holder { kind, name: name.to_string() };
    leg.thread = None;
}

/// A part of unknown cause.
pub fn unknown(phase: Phase, from: i64, to: i64) -> BlameLeg {
    BlameLeg {
        from_ns: Nanos(from),
        to_ns: Nanos(to),
        phase,
        holder: Holder { kind: HolderKind::Unknown, name: String::new() },
        thread: None,
        evidence: None,
        detail: None,
    }
}
