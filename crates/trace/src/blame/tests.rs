//! Spikes from events: one scripted case per culprit, and properties of arbitrary events.

use super::*;
use crate::CauseTable;
use crate::kernel_events::{Interruption, Left, Level, Task};
use latlab_model::flight::StolenTime;
use proptest::prelude::*;

const OWN: i32 = 100;
const TIMER: u64 = 0xabc0;
const RELEASE: i64 = 1_000_000;

fn subject() -> Subject {
    Subject { thread_id: Some(OWN), in_guest: false }
}

fn task(id: i32, name: &str, priority: i32) -> Task {
    Task { id, name: name.to_string(), priority: Some(priority) }
}

fn own() -> Task {
    task(OWN, "latlab", 4)
}

fn idle() -> Task {
    task(0, "swapper/0", 120)
}

fn switch(from: Task, left: Left, to: Task) -> EventKind {
    EventKind::Switch { from, left, to }
}

fn enter(level: Level, name: &str) -> EventKind {
    EventKind::Enter(Interruption { level, name: name.to_string(), function: None })
}

/// Events at microseconds after the release, each with the thread on the CPU.
fn events(cpu: u32, all: Vec<(i64, i32, EventKind)>) -> CpuEvents {
    let moment = |(at, thread, kind)| Moment { at: RELEASE + at * 1_000, thread, kind };
    CpuEvents { cpu, moments: all.into_iter().map(moment).collect(), is_whole: true }
}

/// The thread goes to sleep until its release, and `who` runs after it.
fn sleeps(who: &Task) -> Vec<(i64, i32, EventKind)> {
    vec![
        (-900, OWN, EventKind::TimerStart { timer: TIMER, expires: RELEASE }),
        (-899, OWN, switch(own(), Left::Asleep, who.clone())),
    ]
}

/// The timer's interrupt, at this time, while `who` is on the CPU.
fn fires(at: i64, who: &Task) -> Vec<(i64, i32, EventKind)> {
    vec![
        (at, who.id, enter(Level::Interrupt, "local timer")),
        (at + 1, who.id, EventKind::TimerExpire { timer: TIMER, function: 0x77 }),
        (at + 2, who.id, EventKind::Waking(own())),
        (at + 3, who.id, EventKind::TimerExit),
        (at + 4, who.id, EventKind::Exit(Level::Interrupt)),
    ]
}

/// It gets its CPU.
fn comes(at: i64, from: &Task) -> Vec<(i64, i32, EventKind)> {
    vec![(at, from.id, switch(from.clone(), Left::Ready, own()))]
}

fn recorded(latency_us: i64) -> RecordedSpike {
    RecordedSpike {
        spike: 1,
        thread: 0,
        release_ns: Nanos(RELEASE),
        latency_ns: Nanos(latency_us * 1_000),
        pages: Vec::new(),
        stolen: None,
        cycle: None,
    }
}

/// What an attached program did in the cycle of a spike, in microseconds from its release.
fn cycle_of(parts: &[(i64, i64, WakePhase, CauseKind, &str)]) -> LongCycle {
    let start = parts.iter().find(|part| part.2 == WakePhase::Work).unwrap().0;
    let part =
        |&(from, to, phase, kind, name): &(i64, i64, WakePhase, CauseKind, &str)| BlamePart {
            cause: Cause { kind, name: name.to_string() },
            ..unknown(phase, from * 1_000, to * 1_000)
        };
    LongCycle {
        thread: 0,
        thread_id: OWN,
        cpu: 2,
        release_ns: Nanos(RELEASE),
        wake_up_ns: Nanos(start * 1_000),
        response_ns: Nanos(parts.last().unwrap().1 * 1_000),
        parts: parts.iter().map(part).collect(),
    }
}

fn name_of(address: u64) -> String {
    format!("function_{address:x}")
}

/// Threads with larger numbers have ended before they are looked up.
fn lives(id: i32) -> bool {
    id < 500
}

fn blamed(latency_us: i64, cpus: &[CpuEvents]) -> SpikeBlame {
    blame_events(&recorded(latency_us), subject(), cpus, &name_of, &lives).spike
}

/// The spike on one CPU from these parts; returns its cause in short.
fn cause_of(latency_us: i64, parts: Vec<Vec<(i64, i32, EventKind)>>) -> (CauseKind, String, i64) {
    let blame = blamed(latency_us, &[events(0, parts.concat())]);
    adds_up(&blame).unwrap();
    let cause = blame.cause.as_ref().unwrap_or_else(|| panic!("{blame:?}")).clone();
    (cause.kind, cause.name, blame.cause_ns.0 / 1_000)
}

fn is(kind: CauseKind, name: &str, us: i64) -> (CauseKind, String, i64) {
    (kind, name.to_string(), us)
}

/// The parts follow one another from 0 to the latency.
fn adds_up(blame: &SpikeBlame) -> Result<(), TestCaseError> {
    let mut at = Nanos::ZERO;
    for part in &blame.parts {
        prop_assert_eq!(part.from_ns, at);
        prop_assert!(part.to_ns > part.from_ns, "{:?}", part);
        at = part.to_ns;
    }
    prop_assert_eq!(at, blame.latency_ns);
    let sum: i64 = blame.parts.iter().map(|part| part.length().0).sum();
    prop_assert_eq!(sum, blame.latency_ns.0);
    prop_assert!(blame.cause_ns <= blame.latency_ns);
    Ok(())
}

#[test]
fn a_thread_that_does_not_give_way_is_the_cause() {
    let busy = task(7, "compiler", 120);
    let found = cause_of(550, vec![sleeps(&busy), fires(10, &busy), comes(540, &busy)]);
    assert_eq!(found, is(CauseKind::Thread, "compiler", 526));
}

#[test]
fn a_late_interrupt_blames_the_thread_below_it_and_idle_where_there_is_none() {
    let busy = task(7, "compiler", 120);
    let found = cause_of(2_020, vec![sleeps(&busy), fires(2_000, &busy), comes(2_010, &busy)]);
    assert_eq!(found, is(CauseKind::InterruptsOff, "compiler", 2_000));
    let found = cause_of(90, vec![sleeps(&idle()), fires(80, &idle()), comes(86, &idle())]);
    assert_eq!(found, is(CauseKind::IdleExit, "", 82));
}

#[test]
fn the_timer_interrupt_is_the_wake_up_on_every_architecture() {
    let arm = vec![
        (5, 0, enter(Level::Handler, "11 arch_timer")),
        (6, 0, EventKind::TimerExpire { timer: TIMER, function: 0x77 }),
        (7, 0, EventKind::Waking(own())),
        (8, 0, EventKind::TimerExit),
        (30, 0, EventKind::Exit(Level::Handler)),
    ];
    let found = cause_of(40, vec![sleeps(&idle()), arm, comes(32, &idle())]);
    assert_eq!(found, is(CauseKind::WakeUp, "", 33), "{found:?}");
}

#[test]
fn another_interrupt_in_the_waiting_is_named() {
    let device = vec![
        (12, 7, enter(Level::Handler, "39 dwc_otg")),
        (212, 7, EventKind::Exit(Level::Handler)),
    ];
    let busy = task(7, "compiler", 120);
    let found = cause_of(230, vec![sleeps(&busy), fires(5, &busy), device, comes(215, &busy)]);
    assert_eq!(found, is(CauseKind::Interrupt, "39 dwc_otg", 200));
}

#[test]
fn a_softirq_and_the_thread_of_another_timer_are_told_apart() {
    let busy = task(7, "compiler", 120);
    let softirq =
        vec![(12, 7, enter(Level::Softirq, "NET_RX")), (400, 7, EventKind::Exit(Level::Softirq))];
    let found = cause_of(420, vec![sleeps(&busy), fires(5, &busy), softirq, comes(410, &busy)]);
    assert_eq!(found, is(CauseKind::Softirq, "NET_RX", 388));
    let other = vec![
        (5, 7, enter(Level::Interrupt, "local timer")),
        (6, 7, EventKind::TimerExpire { timer: 0x999, function: 0x55 }),
        (300, 7, EventKind::TimerExit),
        (301, 7, EventKind::TimerExpire { timer: TIMER, function: 0x77 }),
        (302, 7, EventKind::Waking(own())),
        (303, 7, EventKind::TimerExit),
        (304, 7, EventKind::Exit(Level::Interrupt)),
    ];
    let found = cause_of(320, vec![sleeps(&busy), other, comes(310, &busy)]);
    assert_eq!(found, is(CauseKind::OtherTimers, "function_55", 295));
}

#[test]
fn what_lies_between_other_timers_is_theirs_and_they_are_of_who_started_them() {
    let starter = task(60, "server", 97);
    let timer = |one: u64| 0x900 + one;
    let started = (0..3)
        .map(|one| (-950, 60, EventKind::TimerStart { timer: timer(one), expires: RELEASE }))
        .chain([(-940, 60, switch(starter.clone(), Left::Asleep, own()))]);
    // Each is set in 40 us with 60 us after it; the last one is set again in the interrupt.
    let expire = |one: u64| {
        let at = 6 + one as i64 * 100;
        vec![
            (at, 7, EventKind::TimerExpire { timer: timer(one), function: 0x55 }),
            (at + 40, 7, EventKind::TimerExit),
            (at + 41, 7, EventKind::TimerStart { timer: timer(one), expires: RELEASE + 1 }),
        ]
    };
    let busy = task(7, "compiler", 120);
    let interrupt = [
        vec![(5, 7, enter(Level::Interrupt, "local timer"))],
        (0..3).flat_map(expire).collect(),
        vec![
            (306, 7, EventKind::TimerExpire { timer: TIMER, function: 0x77 }),
            (307, 7, EventKind::Waking(own())),
            (308, 7, EventKind::TimerExit),
            (309, 7, EventKind::Exit(Level::Interrupt)),
        ],
    ];
    let parts = [started.collect(), sleeps(&busy), interrupt.concat(), comes(315, &busy)];
    let blame = blamed(320, &[events(0, parts.concat())]);
    adds_up(&blame).unwrap();
    let cause = blame.cause.clone().unwrap();
    assert_eq!((cause.kind, blame.cause_ns), (CauseKind::OtherTimers, Nanos(300_000)));
    let part = blame.parts.iter().find(|part| part.cause == cause).unwrap();
    assert_eq!(part.thread.as_ref().map(|thread| thread.id), Some(60));
    let timer_of = |thread: &str| Some(CauseEvidence::TimerOf { thread: thread.to_string() });
    assert_eq!((cause.name.as_str(), &part.evidence), ("function_55", &timer_of("server")));
    // If no thread was seen to start it, it belongs to the thread it wakes.
    let woken = vec![
        (5, 7, enter(Level::Interrupt, "local timer")),
        (6, 7, EventKind::TimerExpire { timer: 0x999, function: 0x55 }),
        (280, 7, EventKind::Waking(task(61, "reader", 120))),
        (300, 7, EventKind::TimerExit),
    ];
    let rest = interrupt[2].clone();
    let blame = blamed(320, &[events(0, [sleeps(&busy), woken, rest, comes(315, &busy)].concat())]);
    assert_eq!(blame.longest.unwrap().evidence, timer_of("reader"));
}

/// A thread of this number and name runs for this long.
fn runs(at: i64, who: &Task, to: &Task) -> Vec<(i64, i32, EventKind)> {
    vec![(at, who.id, switch(who.clone(), Left::Asleep, to.clone()))]
}

#[test]
fn what_soon_ends_is_told_as_what_its_parent_starts() {
    let make = task(60, "make", 4);
    let fork = |at, parent, id, name: &str| (at, parent, EventKind::Fork(task(id, name, 4)));
    let (shell, first, second) = (task(501, "sh", 4), task(502, "cc1", 4), task(503, "as", 4));
    // Make starts a shell, which starts two programs; all three have ended when they are looked up.
    let parts = |make_works: i64| {
        [
            sleeps(&make),
            fires(5, &make),
            vec![fork(make_works, 60, 501, "make")],
            runs(make_works, &make, &shell),
            vec![fork(make_works + 50, 501, 502, "sh"), fork(make_works + 60, 501, 503, "sh")],
            runs(make_works + 100, &shell, &first),
            runs(make_works + 400, &first, &second),
            comes(make_works + 600, &second),
        ]
        .concat()
    };
    let blame = blamed(720, &[events(0, parts(100))]);
    adds_up(&blame).unwrap();
    let cause = blame.cause.clone().unwrap();
    assert_eq!((cause.kind, cause.name.as_str()), (CauseKind::Starts, "make"));
    assert_eq!(blame.cause_ns, Nanos(691_000), "of make itself as well, which starts them");
    let started: Vec<&str> = blame.started.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(started, ["cc1", "as", "sh"]);
    let thread = blame.longest.as_ref().unwrap().thread.as_ref().unwrap();
    assert_eq!((thread.started_by.as_ref().unwrap().id, thread.kernel_priority), (60, Some(4)));
    // The parts keep their names.
    let named = |name: &str| blame.parts.iter().any(|part| part.cause.name == name);
    assert!(named("cc1") && named("as"));
    // A thread that works itself while it starts others is the cause itself.
    let blame = blamed(4_620, &[events(0, parts(4_000))]);
    let cause = blame.cause.unwrap();
    assert_eq!((cause.kind, cause.name.as_str()), (CauseKind::Thread, "make"));
    // So is a program that lives on.
    let hog = task(70, "hog", 4);
    let parts = [
        sleeps(&make),
        fires(5, &make),
        vec![fork(20, 60, 70, "make")],
        runs(30, &make, &hog),
        comes(900, &hog),
    ];
    assert_eq!(cause_of(910, parts.to_vec()), is(CauseKind::Thread, "hog", 870));
}

#[test]
fn a_ready_thread_beside_which_one_of_lower_priority_is_chosen_is_throttled() {
    let hog = task(7, "hog", 4);
    let low = task(8, "shell", 120);
    let chosen = vec![(20, 7, switch(hog.clone(), Left::Ready, low.clone()))];
    let parts = vec![sleeps(&hog), fires(5, &hog), chosen, comes(50_000, &low)];
    assert_eq!(cause_of(50_010, parts), is(CauseKind::Throttled, "", 49_980));
    // No thread was chosen if another merely does not yield.
    let parts = vec![sleeps(&low), fires(5, &low), comes(5_000, &low)];
    assert_eq!(cause_of(5_010, parts).0, CauseKind::Thread);
    // The CPU was idle although the thread was ready: its group is throttled.
    let chosen = vec![(20, 7, switch(hog.clone(), Left::Asleep, idle()))];
    let parts = vec![sleeps(&hog), fires(5, &hog), chosen, comes(900, &idle())];
    assert_eq!(cause_of(910, parts), is(CauseKind::Throttled, "", 880));
}

#[test]
fn a_thread_that_leaves_its_cpu_on_the_way_back_is_followed() {
    let other = task(7, "hog", 0);
    let preempted = vec![(20, OWN, switch(own(), Left::Ready, other.clone()))];
    let parts =
        vec![sleeps(&idle()), fires(5, &idle()), comes(15, &idle()), preempted, comes(800, &other)];
    assert_eq!(cause_of(810, parts), is(CauseKind::Thread, "hog", 780));
    let asleep = |left| {
        let gone = vec![(20, OWN, switch(own(), left, idle())), (700, 0, EventKind::Waking(own()))];
        let parts =
            vec![sleeps(&idle()), fires(5, &idle()), comes(15, &idle()), gone, comes(710, &idle())];
        cause_of(720, parts)
    };
    let of = |left| asleep(left).1;
    assert_eq!(asleep(Left::Traced), is(CauseKind::OwnSleep, "stopped by a tracer", 680));
    assert_eq!(of(Left::Stopped), "stopped by a signal");
    assert_eq!(of(Left::Uninterruptible), "asleep for a disk, a lock or memory");
}

#[test]
fn a_stopped_thread_that_a_signal_wakes_after_its_release_was_stopped() {
    let stopped = vec![
        (-900, OWN, switch(own(), Left::Asleep, idle())),
        (-500, 0, EventKind::Waking(own())),
        (-490, 0, switch(idle(), Left::Ready, own())),
        (-480, OWN, switch(own(), Left::Stopped, idle())),
        (90_000, 9, EventKind::Waking(own())),
    ];
    let found = cause_of(90_020, vec![stopped, comes(90_010, &task(9, "kill", 120))]);
    assert_eq!(found, is(CauseKind::OwnSleep, "stopped by a signal", 90_000));
}

#[test]
fn a_stopped_thread_that_asks_for_its_timer_after_its_release_was_stopped() {
    let stopped = vec![
        (-480, OWN, switch(own(), Left::Traced, idle())),
        (5_000, 9, EventKind::Waking(own())),
        (5_010, 9, switch(task(9, "tracer", 120), Left::Ready, own())),
        (5_012, OWN, EventKind::TimerStart { timer: TIMER, expires: RELEASE }),
        (5_013, OWN, switch(own(), Left::Asleep, idle())),
    ];
    let found = cause_of(5_030, vec![stopped, fires(5_015, &idle()), comes(5_020, &idle())]);
    assert_eq!(found, is(CauseKind::OwnSleep, "stopped by a tracer", 5_000));
}

#[test]
fn a_thread_that_asks_for_its_timer_after_its_release_was_frozen_or_preempted() {
    let asks = |at| {
        vec![
            (at, OWN, EventKind::TimerStart { timer: TIMER, expires: RELEASE }),
            (at + 1, OWN, switch(own(), Left::Asleep, idle())),
        ]
    };
    let ends = [asks(5_012), fires(5_015, &idle()), comes(5_020, &idle())].concat();
    let frozen = [
        (-900, OWN, EventKind::TimerStart { timer: TIMER, expires: RELEASE }),
        (-899, OWN, switch(own(), Left::Asleep, idle())),
        (-490, 0, switch(idle(), Left::Ready, own())),
        (-480, OWN, switch(own(), Left::Asleep, idle())),
        (5_000, 9, EventKind::Waking(own())),
        (5_010, 9, switch(task(9, "thaw", 120), Left::Ready, own())),
    ];
    for known in [0, 4] {
        let found = cause_of(5_030, vec![frozen[known..].to_vec(), ends.clone()]);
        let asleep = "frozen, or asleep for something else";
        assert_eq!(found, is(CauseKind::OwnSleep, asleep, 5_000), "from {known}");
    }
    let hog = task(7, "hog", 4);
    let preempted = vec![
        (-10, OWN, switch(own(), Left::Ready, hog.clone())),
        (5_010, 7, switch(hog, Left::Asleep, own())),
    ];
    let found = cause_of(5_030, vec![preempted, ends]);
    assert_eq!(found, is(CauseKind::Thread, "hog", 5_010));
}

#[test]
fn an_interrupt_within_a_timer_and_one_that_cannot_be_masked_are_named() {
    let inside = vec![
        (10, 0, enter(Level::Interrupt, "local timer")),
        (11, 0, EventKind::TimerExpire { timer: 0x99, function: 0x11 }),
        (20, 0, enter(Level::Handler, "77 device")),
        (400, 0, EventKind::Exit(Level::Handler)),
        (420, 0, EventKind::TimerExit),
        (421, 0, EventKind::Exit(Level::Interrupt)),
        (900, 0, EventKind::Nmi { length: 50_000, function: 0x22 }),
    ];
    let parts = [sleeps(&idle()), fires(2, &idle()), inside, comes(910, &idle())].concat();
    let blame = blamed(920, &[events(0, parts)]);
    adds_up(&blame).unwrap();
    let took = |kind, name: &str| -> i64 {
        let of =
            blame.parts.iter().filter(|part| part.cause.kind == kind && part.cause.name == name);
        of.map(|part| part.length().0 / 1_000).sum()
    };
    assert_eq!(took(CauseKind::Interrupt, "77 device"), 380);
    assert_eq!(took(CauseKind::OtherTimers, "function_11"), 9 + 20);
    assert_eq!(took(CauseKind::Nmi, "function_22"), 50);
}

#[test]
fn a_thread_that_migrates_is_followed_to_its_cpu() {
    let hog = task(7, "hog", 0);
    let first = [sleeps(&idle()), fires(5, &idle()), comes(15, &idle())].concat();
    let first = [first, vec![(20, OWN, switch(own(), Left::Ready, hog.clone()))]].concat();
    let second = vec![
        (-10, 8, switch(idle(), Left::Ready, task(8, "other", 0))),
        (300, 8, switch(task(8, "other", 0), Left::Asleep, own())),
        (400, OWN, EventKind::Other),
    ];
    let blame = blamed(310, &[events(0, first), events(1, second)]);
    adds_up(&blame).unwrap();
    assert_eq!(blame.cause.unwrap().name, "other", "it waited where it was put");
}

#[test]
fn the_waker_is_another_cpu_where_the_timer_is_there() {
    let busy = task(7, "far", 120);
    let far =
        [vec![(-999, 0, switch(idle(), Left::Ready, busy.clone()))], fires(400, &busy)].concat();
    let near = [sleeps(&idle()), comes(410, &idle()), vec![(500, OWN, EventKind::Other)]].concat();
    let blame = blamed(420, &[events(0, near), events(3, far)]);
    adds_up(&blame).unwrap();
    assert_eq!((blame.cause.unwrap().name, blame.cpu), ("far".to_string(), Some(0)));
}

#[test]
fn two_threads_with_the_same_release_keep_their_timers() {
    let busy = task(7, "compiler", 120);
    let neighbour = task(101, "latlab", 4);
    let theirs = vec![
        (-800, 101, EventKind::TimerStart { timer: 0x999, expires: RELEASE }),
        (2, 7, enter(Level::Interrupt, "local timer")),
        (3, 7, EventKind::TimerExpire { timer: 0x999, function: 0x77 }),
        (4, 7, EventKind::Waking(neighbour)),
        (5, 7, EventKind::TimerExit),
    ];
    let ours = vec![
        (6, 7, EventKind::TimerExpire { timer: TIMER, function: 0x77 }),
        (7, 7, EventKind::Waking(own())),
        (8, 7, EventKind::TimerExit),
        (9, 7, EventKind::Exit(Level::Interrupt)),
    ];
    let blame = blamed(30, &[events(0, [sleeps(&busy), theirs, ours, comes(20, &busy)].concat())]);
    adds_up(&blame).unwrap();
    let handler = blame.parts.iter().find(|part| part.phase == WakePhase::Handler).unwrap();
    assert_eq!(handler.from_ns, Nanos(2_000), "the interrupt began before both");
    assert!(blame.parts.iter().any(|part| part.cause.kind == CauseKind::OtherTimers));
}

#[test]
fn stolen_time_is_named_where_it_accounts_for_the_silence_and_only_there() {
    let busy = task(7, "compiler", 120);
    let parts = [sleeps(&busy), fires(9_000, &busy), comes(9_010, &busy)].concat();
    let of = |rose_ms: i64, window_ms: i64| {
        let stolen = StolenTime {
            from_ns: Nanos(0),
            to_ns: Nanos(window_ms * 1_000_000),
            rose_ns: Nanos(rose_ms * 1_000_000),
        };
        let spike = RecordedSpike { stolen: Some(stolen), ..recorded(9_020) };
        let blame =
            blame_events(&spike, subject(), &[events(0, parts.clone())], &name_of, &lives).spike;
        adds_up(&blame).unwrap();
        blame.cause.unwrap().kind
    };
    assert_eq!(of(10, 100), CauseKind::Hypervisor);
    assert_eq!(of(0, 100), CauseKind::InterruptsOff);
}

#[test]
fn in_a_guest_a_gap_is_not_blamed_on_the_program_below_it() {
    let spike = |name: &str, stolen| {
        let program = task(7, name, 120);
        let parts = [sleeps(&program), fires(900, &program), comes(910, &program)].concat();
        let subject = Subject { in_guest: true, ..subject() };
        let spike = RecordedSpike { stolen, ..recorded(920) };
        blame_events(&spike, subject, &[events(0, parts)], &name_of, &lives).spike
    };
    let blame = spike("man", None);
    adds_up(&blame).unwrap();
    assert_eq!(blame.cause.as_ref().unwrap().kind, CauseKind::HypervisorOrInterruptsOff);
    assert_eq!(
        (blame.cause.as_ref().unwrap().name.as_str(), blame.cause_ns),
        ("man", Nanos(900_000))
    );
    let causes = |spikes: &[SpikeBlame]| -> Vec<(String, u64)> {
        let mut table = CauseTable::default();
        spikes.iter().for_each(|spike| table.push(spike));
        let all = table.causes(Nanos::ZERO).into_iter();
        all.map(|one| (one.cause.name.clone(), one.count)).collect()
    };
    let (man, sh, cc1) = (spike("man", None), spike("sh", None), spike("cc1", None));
    let mixed = [man.clone(), sh.clone(), cc1];
    assert_eq!(causes(&mixed), [(String::new(), 3)]);
    let same = [man.clone(), man.clone(), man.clone(), sh];
    assert_eq!(causes(&same)[0], ("man".to_string(), 3));
    assert_eq!(causes(&[man]), [("man".to_string(), 1)]);
}

#[test]
fn a_wake_up_explains_only_what_a_wake_up_takes() {
    let of = |switch, latency: i64| {
        let parts = [
            sleeps(&idle()),
            fires(5, &idle()),
            comes(switch, &idle()),
            vec![(latency, OWN, EventKind::Other)],
        ];
        blamed(latency, &[events(0, parts.concat())])
    };
    assert_eq!(of(15, 60).cause.unwrap().kind, CauseKind::WakeUp);
    let long = of(15, 290);
    assert_eq!((long.cause.clone(), long.reason), (None, Some(UnexplainedReason::CauseUnknown)));
}

#[test]
fn a_silence_of_the_wake_up_itself_is_not_called_a_wake_up() {
    let parts = [
        sleeps(&idle()),
        fires(5, &idle()),
        comes(15, &idle()),
        vec![(9_000, OWN, EventKind::Other)],
    ];
    let blame = blamed(9_000, &[events(0, parts.concat())]);
    adds_up(&blame).unwrap();
    assert_eq!(blame.cause, None);
    assert_eq!(blame.reason, Some(UnexplainedReason::SilentThread));
}

#[test]
fn many_lines_and_faults_are_causes_and_few_are_not() {
    let busy = task(7, "busy", 4);
    let of = |kind: &EventKind, count: i64| {
        let within = (0..count).map(|at| (20 + at * 6_000, 7, kind.clone())).collect();
        cause_of(50_000, vec![sleeps(&busy), fires(5, &busy), within, comes(49_990, &busy)]).0
    };
    assert_eq!(of(&EventKind::Printk, 8), CauseKind::Printk);
    assert_eq!(of(&EventKind::Printk, 1), CauseKind::Thread, "one line takes no 50 ms");
    assert_eq!(of(&EventKind::PageFault, 8), CauseKind::Thread, "eight faults take no 50 ms");
    let within = (0..60).map(|at| (20 + at, 7, EventKind::PageFault)).collect();
    let storm = cause_of(100, vec![sleeps(&busy), fires(5, &busy), within, comes(90, &busy)]);
    assert_eq!(storm.0, CauseKind::PageFaults);
    // Like a loaded module that keeps interrupts off after the kernel has logged it.
    let told = vec![(-99, 7, EventKind::Printk), (-60, 7, EventKind::Printk)];
    let parts = vec![sleeps(&busy), told, fires(2_000, &busy), comes(2_010, &busy)];
    assert_eq!(cause_of(2_020, parts), is(CauseKind::InterruptsOff, "busy", 2_000));
}

#[test]
fn a_softirq_and_an_interrupt_are_told_with_what_they_call() {
    let busy = task(7, "compiler", 120);
    let softirq = vec![
        (12, 7, enter(Level::Softirq, "TIMER")),
        (13, 7, EventKind::Calls(Some(0x11))),
        (20, 7, EventKind::Calls(None)),
        (21, 7, EventKind::Calls(Some(0x22))),
        // An interrupt comes in between, and the function continues.
        (200, 7, enter(Level::Interrupt, "call function")),
        (201, 7, EventKind::Calls(Some(0x33))),
        (202, 7, EventKind::Calls(None)),
        (203, 7, EventKind::Exit(Level::Interrupt)),
        (400, 7, EventKind::Calls(None)),
        (401, 7, EventKind::Exit(Level::Softirq)),
    ];
    let parts = [sleeps(&busy), fires(5, &busy), softirq, comes(410, &busy)].concat();
    let blame = blamed(420, &[events(0, parts)]);
    adds_up(&blame).unwrap();
    let called = |function: &str, thread: Option<&str>| {
        let (function, thread) = (Some(function.to_string()), thread.map(str::to_string));
        Some(CauseEvidence::Called { function, thread })
    };
    assert_eq!(
        (blame.cause.as_ref().unwrap().name.as_str(), blame.cause_ns),
        ("TIMER", Nanos(386_000))
    );
    let longest = blame.longest.as_ref().unwrap();
    assert_eq!(longest.evidence, called("function_22", Some("compiler")));
    let call = blame.parts.iter().find(|part| part.cause.name == "call function").unwrap();
    assert_eq!(call.evidence, called("function_33", None));
}

#[test]
fn an_idle_cpu_of_a_guest_that_is_not_woken_is_held_by_the_hypervisor() {
    let parts = [sleeps(&idle()), fires(9_000, &idle()), comes(9_010, &idle())].concat();
    let of = |in_guest| {
        let subject = Subject { in_guest, ..subject() };
        let cpus = [events(0, parts.clone())];
        blame_events(&recorded(9_020), subject, &cpus, &name_of, &lives).spike.cause.unwrap().kind
    };
    assert_eq!((of(true), of(false)), (CauseKind::Hypervisor, CauseKind::IdleExit));
}

#[test]
fn a_cpu_that_goes_idle_beside_a_ready_thread_keeps_it_off_by_a_limit() {
    // It was idle before, like the CPU of a group that has used up its time.
    let again = vec![(30, 0, EventKind::Idle(Some(1))), (4_000, 0, EventKind::Idle(None))];
    let found =
        cause_of(5_010, vec![sleeps(&idle()), fires(5, &idle()), again, comes(5_000, &idle())]);
    assert_eq!(found, is(CauseKind::Throttled, "", 4_991));
    let found = cause_of(90, vec![sleeps(&idle()), fires(5, &idle()), comes(80, &idle())]);
    assert_eq!(found.0, CauseKind::IdleExit);
}

#[test]
fn who_takes_a_cpu_away_is_named_for_it() {
    let shell = task(7, "shell", 120);
    let (begins, ends) =
        (EventKind::Hotplug { begins: true }, EventKind::Hotplug { begins: false });
    let steps = vec![(20, 7, begins.clone()), (2_000, 7, ends)];
    let found =
        cause_of(2_100, vec![sleeps(&shell), fires(5, &shell), steps, comes(2_090, &shell)]);
    assert_eq!(found, is(CauseKind::Hotplug, "shell", 2_081));
    // A step continues after the tick that interrupts it, until it has ended.
    let of_long_steps = |ends: Option<i64>| {
        let step = |at, begins| (at, 7, EventKind::Hotplug { begins });
        let steps = [vec![step(20, true)], ends.map(|at| step(at, false)).into_iter().collect()];
        let tick = |at| {
            vec![
                (at, 7, enter(Level::Interrupt, "local timer")),
                (at + 5, 7, EventKind::Exit(Level::Interrupt)),
            ]
        };
        let parts = [
            sleeps(&shell),
            fires(5, &shell),
            steps.concat(),
            tick(3_000),
            tick(6_000),
            comes(9_990, &shell),
        ];
        let blame = blamed(10_000, &[events(0, parts.concat())]);
        let parts = blame.parts.iter().filter(|part| part.cause.kind == CauseKind::Hotplug);
        parts.map(|part| part.length().0 / 1_000).sum::<i64>()
    };
    assert_eq!((of_long_steps(None), of_long_steps(Some(100))), (9_971, 2_991));
    let migration = task(15, "migration/0", -1);
    let first = [sleeps(&migration), fires(5, &migration), comes(2_090, &migration)].concat();
    let second = vec![(-500, 9, begins), (-400, 9, EventKind::Other)];
    let blame = blamed(2_100, &[events(0, first), events(1, second)]);
    assert_eq!(blame.cause.unwrap().kind, CauseKind::Hotplug, "another CPU has told of it");
}

#[test]
fn the_idle_state_and_the_frequency_before_the_release_are_told() {
    let before = vec![
        (-800, 0, EventKind::Frequency { cpu: 0, khz: 800_000 }),
        (-700, 0, EventKind::Frequency { cpu: 1, khz: 2_400_000 }),
        (-600, 0, EventKind::Idle(Some(2))),
    ];
    let late = vec![
        (2, 0, EventKind::Frequency { cpu: 0, khz: 1_200_000 }),
        (3, 0, EventKind::Idle(None)),
    ];
    let parts = [sleeps(&idle()), before, late, fires(5, &idle()), comes(15, &idle())].concat();
    let told = blamed(20, &[events(0, parts)]).before;
    assert_eq!(told, CpuBefore { idle_state: Some(2), khz: Some(800_000) });
    let busy = task(7, "compiler", 120);
    let told =
        blamed(20, &[events(0, [sleeps(&busy), fires(5, &busy), comes(15, &busy)].concat())]);
    assert_eq!(told.before, CpuBefore::default());
}

#[test]
fn after_lost_events_nothing_is_said_of_what_ran_before() {
    let busy = task(7, "compiler", 120);
    let hole = vec![(300, 9, EventKind::Lost), (300, 9, EventKind::Other)];
    let other = task(9, "later", 120);
    let parts = [sleeps(&busy), fires(5, &busy), hole, comes(540, &other)].concat();
    let blame = blamed(550, &[events(0, parts)]);
    adds_up(&blame).unwrap();
    let unknown = blame.parts.iter().find(|part| part.cause.kind == CauseKind::Unknown).unwrap();
    assert_eq!((unknown.from_ns, unknown.to_ns), (Nanos(9_000), Nanos(300_000)));
    assert_eq!(blame.reason, Some(UnexplainedReason::EventsLost));
    // A hole that ends before the release does not matter; one across the release does.
    let of = |from: i64, to: i64| {
        let all =
            vec![(from, 7, EventKind::Other), (to, 7, EventKind::Lost), (to, 7, EventKind::Other)];
        let at = to.max(0);
        let all = [all, fires(at + 5, &busy), comes(at + 20, &busy)].concat();
        let blamed =
            blame_events(&recorded(at + 30), subject(), &[events(0, all)], &name_of, &lives);
        (blamed.begins_late, blamed.spike.reason)
    };
    assert_eq!(of(-500, -400), (false, None));
    assert!(of(-500, 40).0);
}

#[test]
fn without_events_nothing_is_known_and_all_of_it_is_a_part() {
    for cpus in [vec![], vec![events(0, vec![])], vec![events(0, sleeps(&idle()))]] {
        let blame = blamed(100, &cpus);
        adds_up(&blame).unwrap();
        assert_eq!((blame.cause.clone(), blame.reason.is_some()), (None, true), "{blame:?}");
    }
}

/// Any event that a CPU may report, or that damage may produce.
fn any_what() -> impl Strategy<Value = EventKind> {
    let who = || {
        prop_oneof![Just(own()), Just(idle()), Just(task(7, "busy", 120)), Just(task(8, "hog", 0))]
    };
    let left = prop_oneof![
        Just(Left::Ready),
        Just(Left::Asleep),
        Just(Left::Stopped),
        Just(Left::Traced),
        Just(Left::Uninterruptible)
    ];
    let level = || {
        prop_oneof![
            Just(Level::Softirq),
            Just(Level::Tasklet),
            Just(Level::Interrupt),
            Just(Level::Handler)
        ]
    };
    let timer = || prop_oneof![Just(TIMER), Just(0x999_u64)];
    prop_oneof![
        4 => (who(), left, who()).prop_map(|(from, left, to)| EventKind::Switch { from, left, to }),
        3 => who().prop_map(EventKind::Waking),
        2 => (timer(), prop_oneof![Just(RELEASE), any::<i64>()])
            .prop_map(|(timer, expires)| EventKind::TimerStart { timer, expires }),
        1 => who().prop_map(EventKind::Fork),
        2 => timer().prop_map(|timer| EventKind::TimerExpire { timer, function: timer }),
        1 => Just(EventKind::TimerExit),
        2 => level().prop_map(|level| enter(level, "some")),
        2 => level().prop_map(EventKind::Exit),
        1 => any::<i64>().prop_map(|length| EventKind::Nmi { length, function: 1 }),
        1 => Just(EventKind::Lost),
        1 => Just(EventKind::PageFault),
        1 => Just(EventKind::Printk),
        1 => any::<bool>().prop_map(|begins| EventKind::Hotplug { begins }),
        1 => any::<u64>().prop_map(EventKind::Work),
        1 => Just(EventKind::WorkEnd),
        1 => proptest::option::of(any::<i64>()).prop_map(EventKind::Idle),
        1 => Just(EventKind::Other),
    ]
}

fn any_cpu() -> impl Strategy<Value = CpuEvents> {
    let moment =
        (RELEASE - 3_000..RELEASE + 3_000, prop_oneof![Just(0), Just(OWN), Just(7)], any_what());
    let sorted = any::<bool>();
    (proptest::collection::vec(moment, 0..40), 0_u32..3, any::<bool>(), sorted).prop_map(
        |(all, cpu, is_whole, sorted)| {
            let of = |(at, thread, kind)| Moment { at, thread, kind };
            let mut moments: Vec<Moment> = all.into_iter().map(of).collect();
            if sorted {
                moments.sort_by_key(|moment| moment.at);
            }
            CpuEvents { cpu, moments, is_whole }
        },
    )
}

proptest! {
    /// Invariant (instruments): explain: the parts of a spike add up to its latency in any order and with any loss of events.
    #[test]
    fn the_parts_add_up_whatever_the_events_are(
        cpus in proptest::collection::vec(any_cpu(), 0..3),
        latency in 0_i64..4_000,
        knows in any::<bool>(),
        in_guest in any::<bool>(),
        rose in proptest::option::of(any::<i64>()),
        start in proptest::option::of(1_i64..4_000),
    ) {
        let (from_ns, to_ns) = (Nanos(0), Nanos(9_000_000));
        let stolen = rose.map(|rose| StolenTime { from_ns, to_ns, rose_ns: Nanos(rose) });
        let of_program = |start: i64| LongCycle {
            wake_up_ns: Nanos(start),
            parts: vec![
                unknown(WakePhase::TimerLate, 0, start),
                BlamePart {
                    cause: Cause { kind: CauseKind::Lock, name: "logger".to_string() },
                    ..unknown(WakePhase::Work, start, latency)
                },
            ],
            ..cycle_of(&[(0, 1, WakePhase::Work, CauseKind::Execution, "")])
        };
        let cycle = start.filter(|start| *start < latency).map(of_program);
        let spike = RecordedSpike { latency_ns: Nanos(latency), stolen, cycle, ..recorded(0) };
        let blamed = blame_events(&spike, Subject { thread_id: knows.then_some(OWN), in_guest }, &cpus, &name_of, &lives);
        adds_up(&blamed.spike)?;
    }
}

#[test]
fn a_cycle_is_told_to_its_end_with_what_its_program_waited_for() {
    let (busy, hog) = (task(7, "compiler", 120), task(9, "hog", 3));
    let device = vec![
        (60, OWN, enter(Level::Handler, "39 dwc_otg")),
        (80, OWN, EventKind::Exit(Level::Handler)),
    ];
    let work = vec![
        (100, OWN, switch(own(), Left::Ready, hog.clone())),
        (400, hog.id, switch(hog, Left::Asleep, own())),
        (450, OWN, switch(own(), Left::Asleep, busy.clone())),
        (890, busy.id, EventKind::Waking(own())),
        (900, busy.id, switch(busy.clone(), Left::Ready, own())),
    ];
    let all = [sleeps(&busy), fires(5, &busy), comes(20, &busy), device, work].concat();
    let parts = [
        (0, 7, WakePhase::TimerLate, CauseKind::WakeUp, ""),
        (7, 20, WakePhase::Waiting, CauseKind::Thread, "compiler"),
        (20, 30, WakePhase::Return, CauseKind::WakeUp, ""),
        (30, 100, WakePhase::Work, CauseKind::Execution, ""),
        (100, 400, WakePhase::Work, CauseKind::Thread, "hog"),
        (400, 450, WakePhase::Work, CauseKind::Execution, ""),
        (450, 890, WakePhase::Work, CauseKind::Lock, "compiler"),
        (890, 900, WakePhase::Work, CauseKind::Thread, "compiler"),
        (900, 950, WakePhase::Work, CauseKind::Execution, ""),
    ];
    let spike = RecordedSpike { cycle: Some(cycle_of(&parts)), ..recorded(950) };
    // Its thread is described later than its spike is recorded.
    for subject in [subject(), Subject::default()] {
        let blame =
            blame_events(&spike, subject, &[events(0, all.clone())], &name_of, &lives).spike;
        adds_up(&blame).unwrap();
        let work: Vec<(CauseKind, &str, i64)> = blame
            .parts
            .iter()
            .filter(|part| part.phase == WakePhase::Work)
            .map(|part| (part.cause.kind, part.cause.name.as_str(), part.length().0 / 1_000))
            .collect();
        let expected = [
            (CauseKind::Execution, "", 30),
            (CauseKind::Interrupt, "39 dwc_otg", 20),
            (CauseKind::Execution, "", 20),
            (CauseKind::Thread, "hog", 300),
            (CauseKind::Execution, "", 50),
            (CauseKind::Lock, "compiler", 440),
            (CauseKind::Thread, "compiler", 10),
            (CauseKind::Execution, "", 50),
        ];
        assert_eq!(work, expected);
        assert_eq!(blame.cause.map(|cause| cause.kind), Some(CauseKind::Lock));
    }
    // Without any event of its CPU, what the program did is still known.
    let alone = blame_events(&spike, subject(), &[events(0, Vec::new())], &name_of, &lives).spike;
    adds_up(&alone).unwrap();
    assert_eq!(alone.cause.map(|cause| cause.kind), Some(CauseKind::Lock));
}
