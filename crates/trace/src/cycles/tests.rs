//! Scripted threads: each test is a way in which the cycles of a program can be misread.

use super::*;
use crate::kernel_events::Left;
use latlab_model::Nanos;
use latlab_model::attach::{Cycle, FaultKind, ReleasedBy, RhythmKind};
use latlab_model::explanation::{BlamePart, CauseEvidence, CauseKind, WakePhase};
use proptest::prelude::*;

const MS: i64 = 1_000_000;
const US: i64 = 1_000;
const LOOP: i32 = 50;
const OTHER: i32 = 60;
/// Kernel time from an expiry to the wake-up, and from there to the return of the call.
const WAKING: i64 = 4 * US;
const RETURN: i64 = 3 * US;
const ABSOLUTE: [u64; 6] = [1, 1, 0, 0, 0, 0];
const RELATIVE: [u64; 6] = [0, 0, 0, 0, 0, 0];

fn seat(id: i32, priority: i32, name: &str) -> Seat {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    Seat { id, priority, name: bytes }
}

fn looper() -> Seat {
    seat(LOOP, 19, "loop")
}

/// A program on one CPU, written as its events.
struct Script {
    tracker: ProgramTracker,
    at: i64,
    priority: i32,
}

impl Script {
    fn new() -> Script {
        let mut tracker = ProgramTracker::default();
        tracker.add_thread(LOOP, 19);
        Script { tracker, at: 1_000 * MS, priority: 19 }
    }

    fn event(&mut self, thread: i32, in_interrupt: bool, kind: ProgramEventKind) {
        self.tracker.push(&ProgramEvent { at: self.at, cpu: 0, thread, in_interrupt, kind });
    }

    fn own(&mut self, kind: ProgramEventKind) {
        self.event(LOOP, false, kind);
    }

    fn pass(&mut self, time: i64) -> &mut Script {
        self.at += time;
        self
    }

    fn enter(&mut self, call: Call, arguments: [u64; 6]) {
        self.own(ProgramEventKind::Enter { call, arguments });
    }

    fn exit(&mut self, call: Call, result: i64) {
        self.own(ProgramEventKind::Exit { call, result });
    }

    fn start(&mut self, timer: u64, used_for: TimerUse, expires: i64) {
        self.own(ProgramEventKind::TimerStart { timer, used_for, expires });
    }

    fn me(&self) -> Seat {
        Seat { priority: self.priority, ..looper() }
    }

    fn out(&mut self, left: Left) {
        let kind = ProgramEventKind::Switch { from: self.me(), left, to: seat(0, 120, "idle") };
        self.own(kind);
    }

    fn woken_by(&mut self, thread: i32, in_interrupt: bool) {
        self.event(thread, in_interrupt, ProgramEventKind::Waking { woken: LOOP });
    }

    fn come_in(&mut self) {
        let from = seat(0, 120, "idle");
        let kind = ProgramEventKind::Switch { from, left: Left::Ready, to: self.me() };
        self.event(0, false, kind);
    }

    /// A thread of this priority was on a CPU.
    fn show(&mut self, other: Seat) {
        let (from, left) = (seat(0, 120, "idle"), Left::Ready);
        self.event(0, false, ProgramEventKind::Switch { from, left, to: other });
    }

    /// Sleeps until a time, unless it has passed.
    fn sleep_until(&mut self, expires: i64) {
        self.enter(Call::ClockNanosleep, ABSOLUTE);
        self.start(1, TimerUse::Sleep, expires);
        if expires > self.at {
            self.sleep_to(expires);
        }
        self.exit(Call::ClockNanosleep, 0);
    }

    /// Asleep until an interrupt wakes it soon after this time; then on its CPU, still in the call.
    fn sleep_to(&mut self, expires: i64) {
        self.out(Left::Asleep);
        self.at = expires + WAKING;
        self.woken_by(0, true);
        self.pass(2 * US).come_in();
        self.pass(RETURN - 2 * US);
    }

    /// A request to another thread, which answers it.
    fn request(&mut self, time: i64) {
        self.own(ProgramEventKind::Waking { woken: OTHER });
        self.enter(Call::Read, [9, 0, 0, 0, 0, 0]);
        self.sleep_until_woken(time).pass(US).exit(Call::Read, 8);
    }

    /// Asleep until another thread wakes it after this time; then on its CPU, still in the call.
    fn sleep_until_woken(&mut self, time: i64) -> &mut Script {
        self.out(Left::Asleep);
        self.pass(time).woken_by(OTHER, false);
        self.pass(US).come_in();
        self
    }

    fn finish(mut self) -> Told {
        self.tracker.finish();
        let mut told = Told::default();
        for one in self.tracker.take() {
            match one {
                Followed::Thread(found) => told.threads.push(found),
                Followed::Cycle { cycle, unseen, .. } => {
                    told.unseen += unseen;
                    told.cycles.push(*cycle);
                }
                Followed::End { .. } => {}
            }
        }
        // The parts of every cycle add up.
        (0..told.cycles.len()).for_each(|at| drop(told.parts(at)));
        told
    }
}

#[derive(Default)]
struct Told {
    threads: Vec<FoundThread>,
    cycles: Vec<FollowedCycle>,
    unseen: u64,
}

impl Told {
    fn key(&self) -> WaitKey {
        self.threads[0].activation.key
    }

    fn cycle(&self, at: usize) -> Cycle {
        self.cycles[at].cycle
    }

    /// What kept a cycle, which must add up to its response without a gap.
    fn parts(&self, at: usize) -> Vec<BlamePart> {
        let FollowedCycle { cycle, pieces, priority, .. } = &self.cycles[at];
        let name = |id, seat: Option<Seat>| seat.map_or(format!("thread {id}"), |seat| seat.name());
        let parts = pieces.parts(cycle.release_ns.0, cycle.end_ns().0, *priority, &name);
        let mut end = Nanos::ZERO;
        for part in &parts {
            assert!(part.from_ns == end && part.to_ns > end, "{parts:#?}");
            end = part.to_ns;
        }
        assert_eq!(end, cycle.response_ns());
        parts
    }

    fn releases(&self) -> Vec<i64> {
        self.cycles.iter().map(|one| one.cycle.release_ns.0).collect()
    }

    fn overruns(&self) -> u32 {
        self.cycles.iter().map(|one| one.cycle.overruns).sum()
    }

    fn faults(&self, kind: FaultKind) -> usize {
        self.cycles.iter().flat_map(|one| &one.faults).filter(|one| one.kind == kind).count()
    }
}

#[test]
fn releases_of_an_absolute_sleep_are_what_was_asked() {
    let mut script = Script::new();
    let first = script.at + MS;
    for n in 0..20 {
        script.sleep_until(first + n * MS);
        script.pass(200 * US);
    }
    script.sleep_until(first + 20 * MS);
    let told = script.finish();
    assert_eq!(told.releases(), (0..20).map(|n| first + n * MS).collect::<Vec<_>>());
    assert_eq!(told.threads[0].rhythm.kind, RhythmKind::Exact);
    let cycle = told.cycle(7);
    assert_eq!(cycle.wake_up_ns, Nanos(WAKING + RETURN));
    assert_eq!(cycle.execution_ns, Nanos(200 * US));
    assert_eq!(cycle.response_ns(), Nanos(WAKING + RETURN + 200 * US));
}

#[test]
fn the_time_of_a_cycle_is_told_apart() {
    let mut script = Script::new();
    let first = script.at + MS;
    for n in 0..12 {
        script.sleep_until(first + n * MS);
        script.pass(10 * US).out(Left::Ready);
        script.pass(70 * US).come_in();
        script.pass(20 * US).request(300 * US);
        script.pass(5 * US);
    }
    script.sleep_until(first + 12 * MS);
    let told = script.finish();
    assert_eq!(told.key().call, Call::ClockNanosleep);
    let cycle = told.cycle(3);
    // Runnable again is not asleep: waiting for its CPU after the answer counts as preempted.
    assert_eq!(cycle.preempted_ns, Nanos(71 * US));
    assert_eq!(cycle.blocked_ns, Nanos(300 * US));
    assert_eq!(cycle.execution_ns, Nanos(36 * US));
    let parts = told.parts(3);
    let summary: Vec<(WakePhase, CauseKind, &str, i64)> = parts
        .iter()
        .map(|part| (part.phase, part.cause.kind, part.cause.name.as_str(), part.length().0 / US))
        .collect();
    let expected = [
        (WakePhase::TimerLate, CauseKind::WakeUp, "", 4),
        (WakePhase::Waiting, CauseKind::IdleExit, "", 2),
        (WakePhase::Return, CauseKind::WakeUp, "", 1),
        (WakePhase::Work, CauseKind::Execution, "", 10),
        // The idle thread had its CPU although it could run.
        (WakePhase::Work, CauseKind::Throttled, "", 70),
        (WakePhase::Work, CauseKind::Execution, "", 20),
        (WakePhase::Work, CauseKind::Call, "read", 300),
        (WakePhase::Work, CauseKind::IdleExit, "", 1),
        (WakePhase::Work, CauseKind::Execution, "", 6),
    ];
    assert_eq!(summary, expected);
    assert_eq!(parts[6].evidence, Some(CauseEvidence::WokenBy { thread: "thread 60".to_string() }));
}

#[test]
fn a_loop_that_is_always_late_never_sleeps_and_is_found() {
    let mut script = Script::new();
    let first = script.at - 50 * MS;
    for n in 0..40 {
        script.sleep_until(first + n * MS);
        script.pass(1_100 * US);
    }
    script.sleep_until(first + 40 * MS);
    let told = script.finish();
    assert_eq!(told.releases(), (0..40).map(|n| first + n * MS).collect::<Vec<_>>());
    let late = |at: usize| told.cycle(at).wake_up_ns;
    assert!(late(39) > late(0) && late(0) == Nanos(50 * MS));
}

#[test]
fn a_long_request_is_no_activation() {
    // It sleeps longer in its request than at its timer.
    let mut script = Script::new();
    script.show(seat(OTHER, 120, "helper"));
    script.start(7, TimerUse::Own, script.at + MS);
    for n in 1..30 {
        let due = 1_000 * MS + n * MS;
        script.enter(Call::Read, [5, 0, 0, 0, 0, 0]);
        script.sleep_to(due);
        script.start(7, TimerUse::Own, due + MS);
        script.exit(Call::Read, 8);
        script.pass(10 * US).request(600 * US);
    }
    let told = script.finish();
    assert_eq!(told.key().descriptor(), Some(5));
    assert_eq!(told.threads[0].activation.ambiguous_with, None);
}

/// A loop around the `read` of a timerfd, whose work takes these times.
fn timerfd_loop(work: impl Fn(i64) -> i64, cycles: i64) -> Told {
    let mut script = Script::new();
    let first = script.at + MS;
    script.start(7, TimerUse::Own, first);
    let mut due = first;
    for n in 0..cycles {
        script.enter(Call::Read, [5, 0, 0, 0, 0, 0]);
        if due > script.at {
            script.sleep_to(due);
        }
        // The kernel continues from the first expiry that is still to come.
        due += MS * ((script.at - due) / MS + 1);
        script.start(7, TimerUse::Own, due);
        script.exit(Call::Read, 8);
        script.pass(work(n));
    }
    script.enter(Call::Read, [5, 0, 0, 0, 0, 0]);
    script.finish()
}

#[test]
fn the_release_of_a_timerfd_is_the_expiry_before_the_one_that_its_read_starts() {
    let told = timerfd_loop(|n| if n % 4 == 3 { 1_200 * US } else { 100 * US }, 40);
    // Every fourth makes the next read return at once: it is due all the same.
    let expected: Vec<i64> = (0..40).map(|n| 1_001 * MS + n * MS).collect();
    assert_eq!(told.releases(), expected);
    assert!(told.cycles.iter().all(|one| one.cycle.released_by == ReleasedBy::Timer));
    assert_eq!(told.overruns(), 0);
}

#[test]
fn expiries_that_come_together_are_one_cycle_and_overruns() {
    let told = timerfd_loop(|n| if n == 20 { 3_500 * US } else { 100 * US }, 40);
    let (first, last) = (told.releases()[0], *told.releases().last().unwrap());
    let releases = (last - first) / MS + 1;
    assert_eq!(told.overruns(), 2);
    assert_eq!(told.cycles.len() as i64 + i64::from(told.overruns()), releases);
}

#[test]
fn a_file_descriptor_that_is_used_again_is_another_wait() {
    let mut script = Script::new();
    for _ in 0..2 {
        // The program's loader reads its libraries.
        script.enter(Call::Read, [3, 0, 0, 0, 0, 0]);
        script.pass(US).exit(Call::Read, 832);
        script.enter(Call::Close, [3, 0, 0, 0, 0, 0]);
        script.exit(Call::Close, 0);
    }
    for _ in 0..20 {
        script.enter(Call::Read, [3, 0, 0, 0, 0, 0]);
        script.sleep_until_woken(MS).pass(US).exit(Call::Read, 1);
        script.pass(50 * US);
    }
    script.enter(Call::Read, [3, 0, 0, 0, 0, 0]);
    assert_eq!(script.finish().cycles.len(), 20);
}

#[test]
fn a_condition_variable_waits_on_two_words_in_turn() {
    let mut script = Script::new();
    for n in 0..24 {
        let word = 0x5500_1008 + 4 * (n / 3 % 2);
        script.enter(Call::Futex, [word, 0x189, 0, 0, 0, 0]);
        script.sleep_until_woken(MS).pass(US).exit(Call::Futex, 0);
        script.pass(50 * US);
    }
    let told = script.finish();
    assert_eq!(told.cycles.len(), 23);
    assert_eq!(told.threads[0].activation.ambiguous_with, None);
    assert_eq!(told.cycle(5).released_by, ReleasedBy::Event);
    assert_eq!(told.cycle(5).wake_up_ns, Nanos(2 * US), "from the waking on");
}

#[test]
fn a_poll_is_released_by_the_timer_that_is_read_after_it() {
    let mut script = Script::new();
    let first = script.at + MS;
    script.start(7, TimerUse::Own, first);
    for n in 0..30 {
        let due = first + n * MS;
        script.enter(Call::EpollWait, [4, 0, 0, 0, 0, 0]);
        if due > script.at {
            script.sleep_to(due);
        }
        script.exit(Call::EpollWait, 1);
        script.enter(Call::Read, [5, 0, 0, 0, 0, 0]);
        script.start(7, TimerUse::Own, due + MS);
        script.exit(Call::Read, 8);
        script.pass(if n % 5 == 4 { 1_100 * US } else { 90 * US });
    }
    script.enter(Call::EpollWait, [4, 0, 0, 0, 0, 0]);
    let told = script.finish();
    assert_eq!(told.key().call, Call::EpollWait);
    assert_eq!(told.releases(), (0..30).map(|n| first + n * MS).collect::<Vec<_>>());
}

#[test]
fn a_signal_handler_is_released_by_its_timer() {
    let mut script = Script::new();
    let first = script.at + MS;
    script.start(7, TimerUse::Own, first);
    for n in 0..20 {
        let due = first + n * MS;
        script.enter(Call::Pause, [0; 6]);
        script.sleep_to(due);
        script.exit(Call::Pause, -514);
        // The kernel restarts the timer as it delivers the signal.
        script.start(7, TimerUse::Own, due + MS);
        script.pass(90 * US);
    }
    script.enter(Call::Pause, [0; 6]);
    let told = script.finish();
    assert_eq!(told.releases(), (0..20).map(|n| first + n * MS).collect::<Vec<_>>());
}

#[test]
fn a_poll_is_released_by_its_time_out_or_by_what_came() {
    let mut script = Script::new();
    for n in 0..30 {
        let times_out = n % 3 != 2;
        script.enter(Call::Ppoll, [0x7000, 1, 0, 0, 0, 0]);
        let due = script.at + MS;
        script.start(1, TimerUse::Sleep, due);
        match times_out {
            true => script.sleep_to(due),
            false => {
                script.sleep_until_woken(300 * US).pass(US);
            }
        }
        script.exit(Call::Ppoll, i64::from(!times_out));
        script.pass(50 * US);
    }
    let told = script.finish();
    let by: Vec<ReleasedBy> = told.cycles.iter().map(|one| one.cycle.released_by).collect();
    assert_eq!(by[..3], [ReleasedBy::Timer, ReleasedBy::Timer, ReleasedBy::Event]);
    assert_eq!(told.cycle(0).wake_up_ns, Nanos(WAKING + RETURN));
    assert_eq!(told.cycle(2).wake_up_ns, Nanos(2 * US));
}

#[test]
fn a_futex_with_a_time_out_is_released_by_what_woke_it() {
    let mut script = Script::new();
    for n in 0..30 {
        let times_out = n % 3 == 2;
        script.enter(Call::Futex, [0x5000, 0x189, 0, 0, 0, 0]);
        let due = script.at + 5 * MS;
        script.start(1, TimerUse::Sleep, due);
        match times_out {
            true => script.sleep_to(due),
            false => {
                script.sleep_until_woken(MS).pass(US);
            }
        }
        // Zero means success here, not a time-out as for a poll.
        script.exit(Call::Futex, if times_out { -110 } else { 0 });
        script.pass(50 * US);
    }
    let told = script.finish();
    let by: Vec<ReleasedBy> = told.cycles.iter().map(|one| one.cycle.released_by).collect();
    assert_eq!(by[..3], [ReleasedBy::Event, ReleasedBy::Event, ReleasedBy::Timer]);
    assert!(told.cycles.iter().all(|one| one.cycle.wake_up_ns > Nanos::ZERO));
}

#[test]
fn a_thread_with_sched_deadline_is_released_by_its_replenishment() {
    let mut script = Script::new();
    script.priority = -1;
    script.come_in();
    let first = script.at + MS;
    for n in 0..20 {
        script.enter(Call::SchedYield, [0; 6]);
        script.start(9, TimerUse::Deadline, first + n * MS);
        // To the kernel it has only run out of runtime, so no event wakes it.
        script.out(Left::Ready);
        script.at = first + n * MS + WAKING;
        script.come_in();
        script.pass(RETURN).exit(Call::SchedYield, 0);
        script.pass(100 * US);
    }
    script.enter(Call::SchedYield, [0; 6]);
    let told = script.finish();
    assert_eq!(told.releases(), (0..20).map(|n| first + n * MS).collect::<Vec<_>>());
    assert_eq!(told.faults(FaultKind::Yield), 0);
}

#[test]
fn the_timer_of_the_fair_server_is_none_of_the_thread() {
    let mut script = Script::new();
    for n in 0..30 {
        script.enter(Call::Read, [5, 0, 0, 0, 0, 0]);
        script.start(9, TimerUse::Deadline, script.at + 950 * MS);
        script.sleep_until_woken(MS + n * 10).pass(US).exit(Call::Read, 1);
        script.pass(50 * US);
    }
    let told = script.finish();
    assert!(told.cycles.iter().all(|one| one.cycle.released_by == ReleasedBy::Event));
    assert!(told.cycles.iter().all(|one| one.cycle.wake_up_ns == Nanos(2 * US)));
}

#[test]
fn work_that_is_there_already_has_no_known_release() {
    let mut script = Script::new();
    for n in 0..30 {
        script.enter(Call::Read, [5, 0, 0, 0, 0, 0]);
        if n % 6 != 5 {
            script.sleep_until_woken(MS);
        }
        script.pass(US).exit(Call::Read, 1);
        script.pass(50 * US);
    }
    let told = script.finish();
    let waiting = told.cycles.iter().filter(|one| one.cycle.released_by == ReleasedBy::Waiting);
    assert_eq!(waiting.count(), 4);
}

#[test]
fn two_waits_as_long_as_each_other_cannot_be_told_apart() {
    let mut script = Script::new();
    for _ in 0..30 {
        for file in [5, 6] {
            script.enter(Call::Read, [file, 0, 0, 0, 0, 0]);
            script.sleep_until_woken(MS).pass(US).exit(Call::Read, 1);
            script.pass(50 * US);
        }
    }
    let told = script.finish();
    let Activation { key, ambiguous_with } = told.threads[0].activation;
    let both = [key.descriptor(), ambiguous_with.and_then(|key| key.descriptor())];
    assert!(both.contains(&Some(5)) && both.contains(&Some(6)));
}

#[test]
fn one_of_two_waits_can_be_asked_for() {
    let asked = AskedActivation { call: Call::Read, descriptor: Some(6) };
    let mut script = Script::new();
    script.tracker = ProgramTracker::new(vec![asked]);
    for n in 0..20 {
        for file in [5, 6] {
            script.enter(Call::Read, [file, 0, 0, 0, 0, 0]);
            script.sleep_until_woken(MS * (7 - file as i64) + n);
            script.exit(Call::Read, 1);
        }
    }
    let told = script.finish();
    assert_eq!(told.key().descriptor(), Some(6));
    assert_eq!(told.threads[0].activation.ambiguous_with, None);
}

#[test]
fn two_sleeps_in_one_cycle_are_told_as_such() {
    let mut script = Script::new();
    for n in 0..40 {
        script.enter(Call::ClockNanosleep, RELATIVE);
        let due = script.at + if n % 2 == 0 { 2 * MS } else { MS };
        script.start(1, TimerUse::Sleep, due);
        script.sleep_to(due);
        script.exit(Call::ClockNanosleep, 0);
        script.pass(20 * US);
    }
    let told = script.finish();
    assert_eq!(told.threads[0].activation.ambiguous_with, Some(told.key()));
}

#[test]
fn a_signal_that_cuts_a_sleep_short_begins_no_cycle() {
    let mut script = Script::new();
    let first = script.at + MS;
    for n in 0..20 {
        script.enter(Call::ClockNanosleep, RELATIVE);
        let due = first + n * MS;
        script.start(1, TimerUse::Sleep, due);
        if n % 2 == 0 {
            script.sleep_until_woken(100 * US);
            script.exit(Call::ClockNanosleep, -516);
            script.pass(US).enter(Call::RestartSyscall, [0; 6]);
            script.start(1, TimerUse::Sleep, due);
            script.sleep_to(due);
            script.exit(Call::RestartSyscall, 0);
        } else {
            script.sleep_to(due);
            script.exit(Call::ClockNanosleep, 0);
        }
        script.pass(100 * US);
    }
    script.enter(Call::ClockNanosleep, RELATIVE);
    let told = script.finish();
    assert_eq!(told.releases(), (0..20).map(|n| first + n * MS).collect::<Vec<_>>());
}

#[test]
fn a_thread_that_is_stopped_while_it_waits_was_stopped() {
    let mut script = Script::new();
    let first = script.at + MS;
    for n in 0..20 {
        let due = first + n * MS;
        if n == 7 {
            script.enter(Call::ClockNanosleep, ABSOLUTE);
            script.start(1, TimerUse::Sleep, due);
            script.sleep_until_woken(100 * US).exit(Call::ClockNanosleep, -514);
            script.pass(US).out(Left::Stopped);
            script.at = due + 400 * US;
            script.woken_by(OTHER, false);
            script.pass(US).come_in();
            script.pass(US);
        }
        script.sleep_until(due);
        script.pass(100 * US);
    }
    script.sleep_until(first + 20 * MS);
    let told = script.finish();
    assert_eq!(told.cycle(7).release_ns, Nanos(first + 7 * MS));
    let stopped = &told.parts(7)[0];
    assert_eq!(stopped.cause.kind, CauseKind::OwnSleep);
    assert_eq!(
        (stopped.cause.name.as_str(), stopped.length()),
        ("stopped by a signal", Nanos(400 * US))
    );
}

#[test]
fn what_is_lost_is_neither_a_good_cycle_nor_an_overrun() {
    let mut script = Script::new();
    let first = script.at + MS;
    for n in 0..40 {
        if (20..25).contains(&n) {
            continue;
        }
        if n == 25 {
            script.own(ProgramEventKind::Lost(30));
        }
        script.sleep_until(first + n * MS);
        script.pass(100 * US);
    }
    script.sleep_until(first + 40 * MS);
    let told = script.finish();
    assert_eq!((told.overruns(), told.unseen), (0, 6));
    let known = told.cycles.len() as u64;
    assert_eq!(known + told.unseen, 40, "cycles followed and not followed are all that there were");
}

#[test]
fn a_thread_that_runs_without_having_been_switched_to_was_switched_to() {
    let mut script = Script::new();
    let first = script.at + MS;
    for n in 0..20 {
        script.enter(Call::ClockNanosleep, ABSOLUTE);
        script.start(1, TimerUse::Sleep, first + n * MS);
        script.out(Left::Asleep);
        script.at = first + n * MS + WAKING;
        script.woken_by(0, true);
        script.pass(RETURN).exit(Call::ClockNanosleep, 0);
        script.pass(100 * US);
    }
    script.enter(Call::ClockNanosleep, ABSOLUTE);
    let state = |script: &Script| script.tracker.states();
    script.tracker.finish();
    assert_eq!(state(&script)[0].untold_switches, 20);
    let told = script.finish();
    assert_eq!(told.cycle(4).execution_ns, Nanos(100 * US));
}

/// A loop whose work waits for a lock that another thread releases.
fn locking_loop(other: Seat, operation: u64) -> Told {
    let mut script = Script::new();
    script.come_in();
    script.show(other);
    let first = script.at + MS;
    for n in 0..20 {
        script.sleep_until(first + n * MS);
        script.enter(Call::Futex, [0x9000, operation, 0, 0, 0, 0]);
        script.out(Left::Asleep);
        script.pass(40 * US).woken_by(other.id, false);
        script.pass(US).come_in();
        script.exit(Call::Futex, 0);
        script.pass(10 * US);
    }
    script.sleep_until(first + 20 * MS);
    script.finish()
}

#[test]
fn a_lock_has_the_thread_that_held_it() {
    let lock = |operation| {
        let told = locking_loop(seat(OTHER, 120, "logger"), operation);
        let parts = told.parts(4);
        let lock = parts.into_iter().find(|part| part.cause.kind == CauseKind::Lock)?;
        let priority = lock.thread.and_then(|thread| thread.kernel_priority);
        Some((lock.cause.name, priority, lock.evidence))
    };
    let futex = Some(CauseEvidence::InCall { call: "futex".to_string() });
    let held = Some(("logger".to_string(), Some(120), futex));
    assert_eq!(lock(0x80), held);
    assert_eq!(lock(0x86), held, "also with priority inheritance");
    assert_eq!(lock(0x89), None, "a condition is held by none");
}

#[test]
fn a_lock_that_a_less_urgent_thread_holds_is_an_inversion() {
    let told = locking_loop(seat(OTHER, 120, "logger"), 0x80);
    assert_eq!((told.faults(FaultKind::Inversion), told.faults(FaultKind::Lock)), (20, 0));
    let fault = told.cycles[0].faults[0];
    assert!(matches!(fault.object, Some(FaultObject::Thread(by)) if by.name() == "logger"));
    assert_eq!(fault.length, Nanos(41 * US));
}

#[test]
fn a_lock_of_a_more_urgent_thread_or_with_inheritance_is_none() {
    let urgent = locking_loop(seat(OTHER, 9, "sensor"), 0x80);
    assert_eq!((urgent.faults(FaultKind::Inversion), urgent.faults(FaultKind::Lock)), (0, 20));
    let inheriting = locking_loop(seat(OTHER, 120, "logger"), 0x86);
    assert_eq!(inheriting.cycles.iter().map(|one| one.faults.len()).sum::<usize>(), 0);
}

#[test]
fn faults_count_in_cycles_only() {
    let mut script = Script::new();
    let first = script.at + 5 * MS;
    let fault = |script: &mut Script, call: Call, file: u64| {
        script.enter(call, [file, 0, 0, 0, 0, 0]);
        script.pass(5 * US).exit(call, 0);
    };
    for _ in 0..30 {
        fault(&mut script, Call::Mmap, 0);
        script.own(ProgramEventKind::PageFault);
    }
    for n in 0..20 {
        script.sleep_until(first + n * MS);
        if n % 4 == 0 {
            fault(&mut script, Call::Munmap, 0);
            script.own(ProgramEventKind::PageFault);
            fault(&mut script, Call::Write, 1);
            fault(&mut script, Call::SchedYield, 0);
        }
        script.pass(50 * US);
    }
    script.sleep_until(first + 20 * MS);
    let told = script.finish();
    for kind in [FaultKind::Heap, FaultKind::PageFault, FaultKind::Write, FaultKind::Yield] {
        assert_eq!(told.faults(kind), 5, "{kind}");
    }
}

#[test]
fn a_receive_that_ends_by_ticks_is_a_fault_and_one_that_finds_nothing_is_none() {
    let mut script = Script::new();
    let first = script.at + 10 * MS;
    for n in 0..20 {
        script.sleep_until(first + n * 10 * MS);
        let file = [5, 0, 0, 0, 0, 0];
        script.enter(Call::Recvfrom, file);
        script.pass(US).exit(Call::Recvfrom, -11);
        if n % 4 == 0 {
            script.enter(Call::Recvfrom, file);
            script.sleep_until_woken(4 * MS).exit(Call::Recvfrom, -11);
            // A precise timer ended this one.
            script.enter(Call::Recvfrom, file);
            script.start(9, TimerUse::Sleep, script.at + MS);
            script.sleep_until_woken(MS).exit(Call::Recvfrom, -11);
        }
        script.pass(US);
    }
    script.sleep_until(first + 200 * MS);
    assert_eq!(script.finish().faults(FaultKind::TickTimeout), 5);
}

#[test]
fn who_has_the_cpu_of_a_ready_thread_tells_throttling_from_sharing() {
    let run = |other: Seat, time: i64| {
        let mut script = Script::new();
        let first = script.at + MS;
        for n in 0..20 {
            script.sleep_until(first + n * MS);
            let (from, left) = (script.me(), Left::Ready);
            script.own(ProgramEventKind::Switch { from, left, to: other });
            script.pass(time);
            let kind = ProgramEventKind::Switch { from: other, left, to: script.me() };
            script.event(other.id, false, kind);
            script.pass(50 * US);
        }
        script.sleep_until(first + 20 * MS);
        let told = script.finish();
        (told.faults(FaultKind::Throttled), told.faults(FaultKind::SharedCpu))
    };
    assert_eq!(run(seat(0, 120, "idle"), 300 * US), (20, 0));
    assert_eq!(run(seat(OTHER, 120, "logger"), 300 * US), (20, 0));
    assert_eq!(run(seat(OTHER, 9, "hog"), 300 * US), (0, 20));
    assert_eq!(run(seat(OTHER, 9, "hog"), 5 * US), (0, 0), "no longer than a switch");
}

#[test]
fn a_release_by_a_less_urgent_thread_is_a_fault_of_a_real_time_thread() {
    let released = |other: Seat, priority: i32| {
        let mut script = Script { priority, ..Script::new() };
        script.show(other);
        for _ in 0..21 {
            script.enter(Call::Read, [3, 0, 0, 0, 0, 0]);
            script.sleep_until_woken(MS).exit(Call::Read, 1);
            script.pass(50 * US);
        }
        script.finish().faults(FaultKind::LowWaker)
    };
    assert_eq!(released(seat(OTHER, 49, "irq/40-can0"), 19), 20);
    assert_eq!(released(seat(OTHER, 9, "irq/40-can0"), 19), 0);
    assert_eq!(released(seat(OTHER, 139, "logger"), 120), 0);
}

#[test]
fn a_call_site_is_that_of_the_call_or_page_fault_before() {
    let mut script = Script::new();
    let first = script.at + MS;
    for n in 0..20 {
        script.sleep_until(first + n * MS);
        // Of another call, which is no fault.
        script.tracker.push_site(script.at, LOOP, 9);
        script.own(ProgramEventKind::PageFault);
        script.tracker.push_site(script.at + 1, LOOP, 3);
        script.enter(Call::Munmap, [0; 6]);
        script.pass(US);
        script.tracker.push_site(script.at, LOOP, 4);
        script.pass(US).exit(Call::Munmap, 0);
        script.own(ProgramEventKind::PageFault);
        script.pass(US);
    }
    script.sleep_until(first + 20 * MS);
    let told = script.finish();
    let sites: Vec<Option<u32>> = told.cycles[7].faults.iter().map(|one| one.site).collect();
    assert_eq!(sites, [Some(3), Some(4), None]);
}

#[test]
fn threads_that_come_and_go_are_followed_with_their_own_numbers() {
    let mut script = Script::new();
    let child = 51;
    script.own(ProgramEventKind::Fork { child });
    let first = script.at + MS;
    for n in 0..20 {
        script.sleep_until(first + n * MS);
        script.pass(100 * US);
        script.event(child, false, ProgramEventKind::Enter { call: Call::Read, arguments: [3; 6] });
        script.event(child, false, ProgramEventKind::Exit { call: Call::Read, result: 0 });
    }
    script.event(child, false, ProgramEventKind::End);
    script.own(ProgramEventKind::End);
    let told = script.finish();
    assert_eq!(told.threads.len(), 1);
    assert_eq!((told.threads[0].thread_id, told.cycles.len()), (LOOP, 19));
}

proptest! {
    /// Invariant (releases): The parts of each cycle of a program add up to its response to the nanosecond, and cycles and overruns are the releases.
    #[test]
    fn the_parts_of_a_cycle_are_all_of_its_time(
        work in prop::collection::vec((0i64..900, 0i64..900, 0i64..900, any::<bool>()), 12..60),
    ) {
        let mut script = Script::new();
        let first = script.at + MS;
        let mut due = first;
        let mut expected = Vec::new();
        for (runs, waits, sleeps, tells) in work {
            script.sleep_until(due);
            script.pass(runs * US).out(Left::Ready);
            script.pass(waits * US);
            if tells {
                script.come_in();
            }
            script.pass(US).request(sleeps * US + 1);
            expected.push((due, script.at));
            due += MS * ((script.at - due) / MS + 1);
        }
        script.sleep_until(due);
        let told = script.finish();
        let ends: Vec<(i64, i64)> = told
            .cycles
            .iter()
            .map(|one| (one.cycle.release_ns.0, one.cycle.end_ns().0))
            .collect();
        prop_assert_eq!(&ends, &expected);
        let period = told.threads[0].rhythm.period.unwrap();
        let releases = (expected[expected.len() - 1].0 - first) / period + 1;
        prop_assert_eq!(told.cycles.len() as i64 + i64::from(told.overruns()), releases);
    }
}
