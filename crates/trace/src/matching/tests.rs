use super::*;
use latlab_model::breakdown::{BreakdownTally, Part};
use latlab_model::trace::{TraceLoss, TraceWindow};

const PERIOD: i64 = 1_000_000;

fn setup(thread: u32) -> ThreadSetup {
    ThreadSetup {
        thread,
        thread_id: None,
        cpu: None,
        core_type: None,
        capacity: None,
        policy: String::new(),
        period_ns: Some(Nanos(PERIOD)),
        first_release_ns: Nanos::ZERO,
    }
}

fn window(on: bool) -> TraceWindow {
    TraceWindow { from_ns: Nanos(i64::MIN), to_ns: Nanos::MAX, on }
}

fn sample(release: i64, latency: i64) -> Sample {
    Sample::new(Nanos(release), Nanos(latency))
}

fn event(at: i64, kind: ThreadEventKind) -> ThreadEvent {
    ThreadEvent { at_ns: Nanos(at), cpu: 0, kind }
}

fn armed(at: i64, release: i64) -> ThreadEvent {
    event(at, ThreadEventKind::Armed { release_ns: Nanos(release) })
}

/// One cycle as the kernel reports it.
fn cycle(release: i64, irq: i64, thread: i64) -> [ThreadEvent; 3] {
    [
        armed(release - PERIOD / 2, release),
        event(release + irq, ThreadEventKind::Expired),
        event(release + thread, ThreadEventKind::SwitchedIn),
    ]
}

/// A stretch up to this time, during which the trace was on.
fn recorded(until: i64, threads: Vec<(u32, Vec<ThreadEvent>)>) -> TraceStretch {
    TraceStretch {
        until_ns: Nanos(until),
        windows: vec![window(true)],
        losses: Vec::new(),
        threads,
    }
}

fn flushed(matcher: &mut Matcher) -> Vec<Breakdown> {
    let mut frames = Vec::new();
    matcher.flush(|frame| {
        frames.push(frame.clone());
        true
    });
    frames
}

fn breakdown_of(frame: &Breakdown, part: Part) -> (u64, i64, i64) {
    let counts = frame.counts.iter().find(|(known, _)| *known == part);
    counts.map_or((0, 0, 0), |(_, all)| (all.count, all.min_ns.0, all.max_ns.0))
}

/// Invariant (instruments): breakdown: matched by release; not believed after a loss; contradictions are counted.
#[test]
fn each_latency_finds_its_legs_by_its_release_whatever_is_missing() {
    let mut matcher = Matcher::new(&[setup(0), setup(1)]);
    let first = (1..=10).flat_map(|k| cycle(k * PERIOD, 2_000 + k, 5_000)).collect::<Vec<_>>();
    let second = (1..=10).flat_map(|k| cycle(k * PERIOD, 1_000, 3_000)).collect::<Vec<_>>();
    // Thread 0 reports no latency for its first cycle, but one for a cycle that the trace lacks.
    let mut latencies: Vec<_> = (2..=10).map(|k| sample(k * PERIOD, 6_000)).collect();
    latencies.insert(3, sample(4 * PERIOD + 500, 6_000));
    // The sides come in parts, and each may be ahead of the other.
    matcher.push_samples(0, &latencies[..2]);
    matcher.push_trace(&recorded(7 * PERIOD, vec![(0, first[..20].to_vec()), (1, second)]));
    matcher.push_samples(0, &latencies[2..]);
    let all: Vec<_> = (1..=10).map(|k| sample(k * PERIOD, 4_000)).collect();
    matcher.push_samples(1, &all);
    matcher.push_samples(7, &all);
    matcher.push_trace(&recorded(8 * PERIOD, vec![(0, first[20..].to_vec())]));
    matcher.finish();
    let frames = flushed(&mut matcher);
    assert_eq!(
        frames[0].tally,
        BreakdownTally { traced: 10, known: 9, ..BreakdownTally::default() }
    );
    assert_eq!(breakdown_of(&frames[0], Part::Irq), (9, 2_002, 2_010));
    assert_eq!(breakdown_of(&frames[0], Part::Traced), (10, 6_000, 6_000));
    assert_eq!(breakdown_of(&frames[1], Part::Thread), (10, 3_000, 3_000));
    assert_eq!(frames[0].largest.len(), 9);
    assert!(flushed(&mut matcher).is_empty(), "nothing is sent twice");
}

/// Invariant (instruments): breakdown: matched by release; not believed after a loss; contradictions are counted.
#[test]
fn what_was_begun_before_a_loss_is_not_believed() {
    let mut matcher = Matcher::new(&[setup(0), setup(1)]);
    // A cycle whose timer was started before the loss, and one that is whole after it.
    let around = |at: i64| [cycle(PERIOD, at, at + 9), cycle(3 * PERIOD, 10, 20)].concat();
    let loss = TraceLoss { at_ns: Nanos(PERIOD), cpu: 3, count: 9 };
    let stretch = TraceStretch {
        losses: vec![loss],
        ..recorded(9 * PERIOD, vec![(0, around(50)), (1, around(-50))])
    };
    matcher.push_trace(&stretch);
    for thread in [0, 1] {
        matcher.push_samples(thread, &[sample(PERIOD, 100), sample(3 * PERIOD, 100)]);
    }
    matcher.finish();
    let frames = flushed(&mut matcher);
    let expected = BreakdownTally { traced: 2, known: 1, ..BreakdownTally::default() };
    assert_eq!(frames[0].tally, BreakdownTally { events_lost: 9, ..expected });
    // The other thread's part from before the loss contradicts its latency anyway.
    assert_eq!(
        (breakdown_of(&frames[0], Part::Irq), breakdown_of(&frames[1], Part::Irq)),
        ((1, 10, 10), (1, 10, 10))
    );
}

/// Invariant (instruments): breakdown: matched by release; not believed after a loss; contradictions are counted.
#[test]
fn parts_that_contradict_their_latency_are_counted_and_left_out() {
    let mut matcher = Matcher::new(&[setup(0)]);
    let cycles = [(1, -5, 10), (2, 10, 70), (3, 10, 60)];
    let events = cycles.iter().flat_map(|&(k, irq, thread)| cycle(k * PERIOD, irq, thread));
    matcher.push_trace(&recorded(9 * PERIOD, vec![(0, events.collect())]));
    matcher.push_samples(0, &[1, 2, 3].map(|k| sample(k * PERIOD, 60)));
    matcher.finish();
    let frames = flushed(&mut matcher);
    let expected = BreakdownTally { traced: 3, known: 1, unsound: 2, events_lost: 0 };
    assert_eq!((frames[0].tally, breakdown_of(&frames[0], Part::Thread)), (expected, (1, 60, 60)));
}

#[test]
fn cycles_without_a_trace_are_counted_by_themselves_and_those_across_a_switch_nowhere() {
    let mut matcher = Matcher::new(&[setup(0)]);
    let off = |from, to| TraceWindow { from_ns: Nanos(from), to_ns: Nanos(to), on: false };
    let stretch =
        |from, to| TraceStretch { windows: vec![off(from, to)], ..recorded(to, Vec::new()) };
    matcher.push_samples(0, &[1, 2, 3, 4, 5].map(|k| sample(k * PERIOD, 60)));
    matcher.push_trace(&stretch(0, 6 * PERIOD));
    matcher.flush(|_| false);
    matcher.push_samples(0, &[sample(6 * PERIOD, 90), sample(8 * PERIOD, 70)]);
    // A stretch is missing from here on: the trace state at the eighth release is unknown.
    matcher.push_trace(&stretch(6 * PERIOD, 7 * PERIOD));
    matcher.push_trace(&stretch(8 * PERIOD, 9 * PERIOD));
    let frames = flushed(&mut matcher);
    assert_eq!(breakdown_of(&frames[0], Part::Untraced), (6, 60, 90), "what was not taken stays");
    assert_eq!(frames[0].tally, BreakdownTally::default());
}

/// Invariant (instruments): breakdown: matched by release; not believed after a loss; contradictions are counted.
#[test]
fn a_cycle_without_a_switch_has_its_irq_leg_alone() {
    let mut matcher = Matcher::new(&[setup(0)]);
    let no_switch = |release: i64, irq: Option<i64>| {
        let irq = irq.map(|irq| event(release + irq, ThreadEventKind::Expired));
        std::iter::once(armed(release - 9, release)).chain(irq)
    };
    let mut events: Vec<_> = no_switch(PERIOD, Some(9)).collect();
    events.extend(cycle(2 * PERIOD, 20, 30));
    // A switch says nothing about a timer that was not seen to expire.
    events.extend(no_switch(3 * PERIOD, None));
    events.push(event(3 * PERIOD + 5, ThreadEventKind::SwitchedIn));
    // The last one: nothing comes after it.
    events.extend(no_switch(4 * PERIOD, Some(7)));
    matcher.push_samples(0, &[1, 2, 3, 4].map(|k| sample(k * PERIOD, 50)));
    matcher.push_trace(&recorded(9 * PERIOD, vec![(0, events)]));
    let frame = &flushed(&mut matcher)[0];
    assert_eq!(frame.tally, BreakdownTally { traced: 4, known: 1, ..BreakdownTally::default() });
    assert_eq!(
        (breakdown_of(frame, Part::Irq), breakdown_of(frame, Part::Thread)),
        ((3, 7, 20), (1, 30, 30))
    );
    assert_eq!(frame.largest.len(), 1, "large latencies are listed with both parts");
}

#[test]
fn a_timer_that_is_not_the_loops_tells_nothing_of_a_cycle() {
    let mut matcher = Matcher::new(&[setup(0)]);
    let mut events = cycle(PERIOD, 20, 30).to_vec();
    events.extend([armed(PERIOD + 40, PERIOD + 77), event(PERIOD + 80, ThreadEventKind::Expired)]);
    events.push(event(PERIOD + 90, ThreadEventKind::SwitchedIn));
    events.extend(cycle(2 * PERIOD, 21, 31));
    matcher.push_samples(0, &[1, 2].map(|k| sample(k * PERIOD, 50)));
    matcher.push_trace(&recorded(9 * PERIOD, vec![(0, events)]));
    let frame = &flushed(&mut matcher)[0];
    assert_eq!((frame.tally.known, breakdown_of(frame, Part::Irq)), (2, (2, 20, 21)));
}

#[test]
fn it_makes_no_difference_where_the_stretches_end() {
    // A loss comes after the interrupt of the first cycle, before its switch.
    let losses = vec![TraceLoss { at_ns: Nanos(PERIOD + 90), cpu: 0, count: 1 }];
    let first = cycle(PERIOD, 20, 30)[..2].to_vec();
    let events = [first.clone(), cycle(2 * PERIOD, 21, 31).to_vec()].concat();
    let samples = [1, 2].map(|k| sample(k * PERIOD, 50));
    let mut whole = Matcher::new(&[setup(0)]);
    whole.push_trace(&TraceStretch {
        losses: losses.clone(),
        ..recorded(9 * PERIOD, vec![(0, events.clone())])
    });
    whole.push_samples(0, &samples);
    whole.finish();
    let mut parts = Matcher::new(&[setup(0)]);
    parts.push_samples(0, &samples);
    parts.push_trace(&recorded(PERIOD + 80, vec![(0, first)]));
    let rest = recorded(9 * PERIOD, vec![(0, events[2..].to_vec())]);
    parts.push_trace(&TraceStretch { losses, ..rest });
    let whole = flushed(&mut whole);
    assert_eq!(whole, flushed(&mut parts));
    assert_eq!((whole[0].tally.known, breakdown_of(&whole[0], Part::Irq)), (1, (2, 20, 21)));
}
