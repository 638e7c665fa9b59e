//! One spike and the events around it to legs: matched by the expiry of the thread's timer, never by
//! order. The legs lie one behind the other from the release to the reading of the clock, so that
//! they add up to the latency; unknown time is a leg as well.

use crate::moment::{EventReader, Level, Moment, What};
use crate::timeline::{Stretch, Tasks, name_tasks, stretches};
use latlab_model::Nanos;
use latlab_model::explanation::{BlameLeg, Holder, HolderKind, Phase, SpikeBlame};
use latlab_model::flight::{RecordedSpike, StolenTime};
use std::collections::BTreeMap;

/// A shorter stretch without an event says nothing of the machine below the kernel.
const SILENCE: i64 = 300_000;
/// The kernel counts stolen time in steps of this.
const STOLEN_STEP: i64 = 10_000_000;
/// So many page faults in a leg are its cause.
const MANY_FAULTS: usize = 10;
/// What a thread has printed so long before may still be on its way to the console.
const PRINTING: i64 = 2_000_000;

/// The pages of one CPU around a spike.
pub struct CpuTrace<'a> {
    /// The CPU.
    pub cpu: u32,
    /// Its pages in their order.
    pub pages: Vec<&'a [u8]>,
}

/// The events of one CPU.
struct CpuEvents {
    cpu: u32,
    moments: Vec<Moment>,
    has_hole: bool,
}

/// What the pages of a spike came to.
pub struct Blamed {
    /// The spike with its legs.
    pub spike: SpikeBlame,
    /// Whether its begin was overwritten before it could be copied.
    pub begins_late: bool,
}

/// Finds out who held the thread of this number in the kernel off.
pub fn blame(
    spike: &RecordedSpike,
    thread_id: Option<i32>,
    traces: &[CpuTrace],
    reader: &EventReader,
) -> Blamed {
    let read = |trace: &CpuTrace| {
        let (moments, has_hole) = reader.moments(&trace.pages);
        CpuEvents { cpu: trace.cpu, moments, has_hole }
    };
    let cpus: Vec<CpuEvents> = traces.iter().map(read).collect();
    let mut tasks = Tasks::new();
    cpus.iter().for_each(|one| name_tasks(&one.moments, &mut tasks));
    let (release, woken) = (spike.release_ns.0, (spike.release_ns + spike.latency_ns).0);
    let points = thread_id.and_then(|id| WakeUpPoints::find(&cpus, id, release, woken));
    let home = points.as_ref().map_or(0, |points| points.home);
    let gap = gap(&cpus, points.as_ref(), home, release);
    let mut legs = Vec::new();
    if let Some(points) = &points {
        let lines = |at: usize| stretches(&cpus[at].moments, &tasks, reader, points.timer);
        let (waker, own) = (lines(points.waker), lines(points.home));
        let parts = [
            (Phase::TimerLate, release, points.interrupt, &waker),
            (Phase::Handler, points.interrupt, points.waking, &waker),
            (Phase::Waiting, points.waking, points.switch, &own),
            (Phase::Return, points.switch, woken, &own),
        ];
        for (phase, from, to, line) in parts {
            legs.extend(cut(line, phase, from, to));
        }
    } else if let Some(own) = cpus.first() {
        let line = stretches(&own.moments, &tasks, reader, None);
        legs.extend(cut(&line, Phase::Waiting, release, woken));
    }
    for leg in &mut legs {
        settle(leg, thread_id, spike.stolen.as_ref());
        if let Some(own) = cpus.get(home) {
            evidence(leg, &own.moments);
        }
    }
    let legs = joined(legs, release);
    let own = cpus.get(home);
    let begins_late = own.is_some_and(|own| own.begins_after(release));
    Blamed { spike: told(spike, own.map(|one| one.cpu), legs, gap), begins_late }
}

impl CpuEvents {
    fn begins_after(&self, time: i64) -> bool {
        self.moments.first().is_some_and(|first| first.at > time)
    }
}

/// The points of a wake-up that its phases lie between.
struct WakeUpPoints {
    /// Which of the CPUs woke it.
    waker: usize,
    /// Which of them it ran on.
    home: usize,
    /// The address of the thread's timer.
    timer: Option<u64>,
    interrupt: i64,
    waking: i64,
    switch: i64,
    /// Whether the switch was told; where it was not, it is part of the return.
    switch_told: bool,
}

impl WakeUpPoints {
    fn find(cpus: &[CpuEvents], id: i32, release: i64, woken: i64) -> Option<WakeUpPoints> {
        // The last waking before it ran, of the timer that expires at the release if that is known.
        let expiry = cpus.iter().enumerate().find_map(|(at, one)| {
            let (expired, timer) = expiry(&one.moments, id, release, woken)?;
            Some((at, expired, timer))
        });
        let waking_on = |at: usize, from: i64| {
            let is_it = |moment: &&Moment| {
                (from..=woken).contains(&moment.at)
                    && matches!(&moment.what, What::Waking(task) if task.id == id)
            };
            cpus[at].moments.iter().find(is_it).map(|moment| moment.at)
        };
        let (waker, waking) = match expiry {
            Some((at, expired, _)) => (at, waking_on(at, expired)?),
            None => (0..cpus.len()).find_map(|at| Some((at, waking_on(at, release)?)))?,
        };
        let switch = (0..cpus.len()).find_map(|at| {
            let is_it = |moment: &&Moment| {
                (waking..=woken).contains(&moment.at)
                    && matches!(&moment.what, What::Switch { to, .. } if to.id == id)
            };
            cpus[at].moments.iter().find(is_it).map(|moment| (at, moment.at))
        });
        let interrupt = interrupt_around(&cpus[waker].moments, waking, release);
        let (home, switch_at) = switch.unwrap_or((0, woken));
        Some(WakeUpPoints {
            waker,
            home,
            timer: expiry.map(|(_, _, timer)| timer),
            interrupt,
            waking,
            switch: switch_at,
            switch_told: switch.is_some(),
        })
    }
}

/// When the thread's timer expired, and its address: that which it started for this release, or else one that wakes it.
fn expiry(moments: &[Moment], id: i32, release: i64, woken: i64) -> Option<(i64, u64)> {
    let started = moments.iter().rev().find_map(|moment| match moment.what {
        What::TimerStart { timer, expires } if expires == release => Some(timer),
        _ => None,
    });
    let mut expired = None;
    for moment in moments.iter().filter(|moment| (release..=woken).contains(&moment.at)) {
        match &moment.what {
            What::TimerExpire { timer, .. } if started.is_none_or(|known| known == *timer) => {
                expired = Some((moment.at, *timer));
            }
            What::Waking(task) if task.id == id && expired.is_some() => return expired,
            What::TimerExit if started.is_none() => expired = None,
            _ => {}
        }
    }
    None
}

/// When the interrupt began in which a thread was woken; the waking itself where it was none.
fn interrupt_around(moments: &[Moment], waking: i64, release: i64) -> i64 {
    let mut begun = Vec::new();
    for moment in moments.iter().take_while(|moment| moment.at <= waking) {
        match &moment.what {
            What::Enter(one) if matches!(one.level, Level::Interrupt | Level::Handler) => {
                begun.push((one.level, moment.at));
            }
            What::Exit(level) => {
                let last = begun.iter().rposition(|(known, _)| known == level);
                begun.truncate(last.unwrap_or(begun.len()));
            }
            What::Switch { .. } => begun.clear(),
            // Where interrupts are not told, the expiry of the first timer is the begin.
            What::TimerExpire { .. } if begun.is_empty() => {
                begun.push((Level::Tasklet, moment.at));
            }
            What::TimerExit => begun.retain(|(level, _)| *level != Level::Tasklet),
            _ => {}
        }
    }
    begun.first().map_or(waking, |(_, at)| *at).max(release)
}

/// Why not all is known.
fn gap(
    cpus: &[CpuEvents],
    points: Option<&WakeUpPoints>,
    home: usize,
    release: i64,
) -> Option<String> {
    let Some(own) = cpus.get(home).filter(|one| !one.moments.is_empty()) else {
        return Some("no event of its CPU is recorded".to_string());
    };
    if own.begins_after(release) {
        return Some("the events of its release were overwritten".to_string());
    }
    if own.has_hole {
        return Some("events were lost".to_string());
    }
    match points {
        None => Some("the events do not tell when the thread was woken".to_string()),
        Some(points) if !points.switch_told => {
            Some("the kernel did not tell the switch to the thread".to_string())
        }
        Some(_) => None,
    }
}

/// The legs of a phase, with what no stretch covers as unknown.
fn cut(line: &[Stretch], phase: Phase, from: i64, to: i64) -> Vec<BlameLeg> {
    let mut legs = Vec::new();
    let leg = |from: i64, to: i64, stretch: Option<&Stretch>| BlameLeg {
        from_ns: Nanos(from),
        to_ns: Nanos(to),
        phase,
        holder: stretch.map_or_else(
            || Holder { kind: HolderKind::Unknown, name: String::new() },
            |stretch| stretch.holder.clone(),
        ),
        thread: stretch.and_then(|stretch| stretch.thread.clone()),
        detail: stretch.and_then(|stretch| stretch.detail.clone()),
    };
    let mut at = from;
    for stretch in line.iter().filter(|one| one.from < to && one.to > from) {
        let (begin, end) = (stretch.from.max(at), stretch.to.min(to));
        if begin > at {
            legs.push(leg(at, begin, None));
        }
        if end > begin {
            legs.push(leg(begin, end, Some(stretch)));
            at = end;
        }
    }
    if at < to {
        // After the last event the CPU is as it left it.
        let last = line.last().filter(|last| last.to <= at && phase == Phase::Return);
        legs.push(leg(at, to, last));
    }
    legs
}

/// What a holder means in its phase.
fn settle(leg: &mut BlameLeg, thread_id: Option<i32>, stolen: Option<&StolenTime>) {
    let kind = leg.holder.kind;
    let is_own = thread_id.is_some() && leg.thread.as_ref().map(|thread| thread.id) == thread_id;
    let own_interrupt = leg.phase == Phase::Handler || leg.phase == Phase::Waiting;
    let is_path = is_own
        || (leg.phase == Phase::Handler && kind == HolderKind::Interrupt)
        || (own_interrupt && kind == HolderKind::Interrupt && leg.holder.name == "local timer")
        || (leg.phase == Phase::Return && kind == HolderKind::IdleExit);
    if is_path {
        leg.holder = Holder { kind: HolderKind::WakeUp, name: String::new() };
        leg.thread = None;
    } else if leg.phase == Phase::TimerLate && kind == HolderKind::Thread {
        leg.holder.kind = HolderKind::InterruptsOff;
    }
    if stolen.is_some_and(|stolen| explains(stolen, leg)) {
        let rose = stolen.map_or(Nanos::ZERO, |stolen| stolen.rose_ns);
        leg.detail = Some(format!("no event for {}, while steal rose by {rose}", leg.length()));
        leg.holder = Holder { kind: HolderKind::Hypervisor, name: String::new() };
        leg.thread = None;
    }
}

/// Whether stolen time is what a silence was.
fn explains(stolen: &StolenTime, silence: &BlameLeg) -> bool {
    let (length, rose) = (silence.length().0, stolen.rose_ns.0);
    let much = rose * 2 > (stolen.to_ns - stolen.from_ns).0;
    let long = length >= SILENCE && (length * 10 >= STOLEN_STEP || much);
    long && rose >= STOLEN_STEP && rose + STOLEN_STEP >= length
}

/// Lines that a thread printed, its page faults, and a CPU that goes or comes, make another cause of it.
fn evidence(leg: &mut BlameLeg, moments: &[Moment]) {
    if !matches!(leg.holder.kind, HolderKind::Thread | HolderKind::InterruptsOff) {
        return;
    }
    let Some(id) = leg.thread.as_ref().map(|thread| thread.id) else { return };
    let count = |before: i64, is: &dyn Fn(&What) -> bool| {
        let within = |moment: &&Moment| {
            (leg.from_ns.0 - before..=leg.to_ns.0).contains(&moment.at) && is(&moment.what)
        };
        let all = moments.iter().filter(within);
        all.filter(|moment| moment.thread == id || matches!(moment.what, What::Hotplug)).count()
    };
    let lines = count(PRINTING, &|what| *what == What::Printk);
    let faults = count(0, &|what| *what == What::PageFault);
    let hotplug = count(PRINTING, &|what| *what == What::Hotplug);
    let is_stopper = ["migration/", "cpuhp/"].iter().any(|one| leg.holder.name.starts_with(one));
    let found = match (lines, faults, hotplug) {
        (1.., _, _) => Some((HolderKind::Printk, format!("{lines} lines printed"))),
        (_, MANY_FAULTS.., _) => Some((HolderKind::PageFaults, format!("{faults} page faults"))),
        (_, _, 1..) if is_stopper => {
            Some((HolderKind::Hotplug, "a CPU was taken away or brought back".to_string()))
        }
        _ => None,
    };
    if let Some((kind, detail)) = found {
        leg.holder.kind = kind;
        leg.detail = Some(detail);
    }
}

/// Legs of the same holder that follow each other as one, counted from the release.
fn joined(legs: Vec<BlameLeg>, release: i64) -> Vec<BlameLeg> {
    let mut all: Vec<BlameLeg> = Vec::new();
    for leg in legs {
        let leg = BlameLeg {
            from_ns: leg.from_ns - Nanos(release),
            to_ns: leg.to_ns - Nanos(release),
            ..leg
        };
        match all.last_mut() {
            Some(last) if last.holder == leg.holder && last.phase == leg.phase => {
                last.to_ns = leg.to_ns;
                last.detail = last.detail.take().or(leg.detail);
                last.thread = last.thread.take().or(leg.thread);
            }
            _ => all.push(leg),
        }
    }
    all
}

/// The spike with its cause, which is who took most of it.
fn told(
    spike: &RecordedSpike,
    cpu: Option<u32>,
    legs: Vec<BlameLeg>,
    gap: Option<String>,
) -> SpikeBlame {
    let mut totals: BTreeMap<&Holder, i64> = BTreeMap::new();
    for leg in &legs {
        *totals.entry(&leg.holder).or_default() += leg.length().0;
    }
    let largest = totals.into_iter().max_by_key(|(_, total)| *total);
    let cause = largest.filter(|(holder, _)| holder.kind != HolderKind::Unknown);
    let cause = cause.map(|(holder, total)| (holder.clone(), Nanos(total)));
    let (cause, cause_ns) = cause.unzip();
    let mut blame = SpikeBlame {
        spike: spike.spike,
        thread: spike.thread,
        cpu,
        release_ns: spike.release_ns,
        latency_ns: spike.latency_ns,
        legs,
        cause,
        cause_ns: cause_ns.unwrap_or_default(),
        sentence: String::new(),
        stolen: spike.stolen,
        gap,
    };
    blame.sentence = crate::sentence::sentence(&blame);
    blame
}
