use super::*;
use latlab_model::legs::{Leg, LegTally};

const PERIOD: i64 = 1_000_000;

fn setup(thread: u32, thread_id: i32) -> ThreadSetup {
    ThreadSetup {
        thread,
        thread_id: Some(thread_id),
        cpu: None,
        core_type: None,
        capacity: None,
        policy: String::new(),
        period_ns: Nanos(PERIOD),
        first_release_ns: Nanos::ZERO,
    }
}

fn always(on: bool) -> Windows {
    let mut windows = Windows::default();
    windows.begin(on, i64::MIN);
    windows
}

fn sample(release: i64, latency: i64) -> Sample {
    Sample { release_ns: Nanos(release), latency_ns: Nanos(latency) }
}

/// One cycle as the kernel tells it.
fn cycle(matcher: &mut Matcher, thread_id: i32, release: i64, irq: i64, thread: i64) {
    let timer = 7_000 + i64::from(thread_id);
    // What the kernel starts for itself on the thread is not the thread's.
    matcher.see(release - PERIOD, Event::Armed { thread_id, timer: 1, function: 2, release: 3 });
    matcher.see(release - PERIOD / 2, Event::Armed { thread_id, timer, function: 1, release });
    matcher.see(release + irq, Event::Expired { timer });
    matcher.see(release + thread, Event::Switched { thread_id });
}

fn sent(matcher: &mut Matcher) -> Vec<Legs> {
    let mut frames = Vec::new();
    matcher.send(|frame| {
        frames.push(frame.clone());
        true
    });
    frames
}

fn of(frame: &Legs, leg: Leg) -> (u64, i64, i64) {
    let counts = frame.counts.iter().find(|(known, _)| *known == leg);
    counts.map_or((0, 0, 0), |(_, all)| (all.count, all.min_ns.0, all.max_ns.0))
}

/// Invariant (instruments): legs: matched by release; not believed after a loss; contradictions are counted.
#[test]
fn each_latency_finds_its_legs_by_its_release_whatever_is_missing() {
    let mut matcher = Matcher::new(&[setup(0, 50), setup(1, 51)]);
    for number in 1..=10 {
        cycle(&mut matcher, 50, number * PERIOD, 2_000 + number, 5_000);
        cycle(&mut matcher, 51, number * PERIOD, 1_000, 3_000);
        cycle(&mut matcher, 99, number * PERIOD, 1, 2);
    }
    // Thread 0 says nothing of its first cycle, and of one that the trace does not have.
    let mut latencies: Vec<_> = (2..=10).map(|k| sample(k * PERIOD, 6_000)).collect();
    latencies.insert(3, sample(4 * PERIOD + 500, 6_000));
    matcher.latencies(0, latencies);
    matcher.latencies(1, (1..=10).map(|k| sample(k * PERIOD, 4_000)).collect());
    matcher.resolve(8 * PERIOD, &always(true));
    matcher.resolve(i64::MAX, &always(true));
    let frames = sent(&mut matcher);
    assert_eq!(frames[0].tally, LegTally { traced: 10, known: 9, ..LegTally::default() });
    assert_eq!(of(&frames[0], Leg::Irq), (9, 2_002, 2_010));
    assert_eq!(of(&frames[0], Leg::Traced), (10, 6_000, 6_000));
    assert_eq!(of(&frames[1], Leg::Thread), (10, 3_000, 3_000));
    assert_eq!(frames[0].largest.len(), 9);
    assert!(sent(&mut matcher).is_empty(), "nothing is told twice");
}

/// Invariant (instruments): legs: matched by release; not believed after a loss; contradictions are counted.
#[test]
fn what_was_begun_before_a_loss_is_not_believed() {
    let mut matcher = Matcher::new(&[setup(0, 50)]);
    matcher.see(1, Event::Armed { thread_id: 50, timer: 5, function: 1, release: PERIOD });
    matcher.see(2, Event::Lost(9));
    matcher.see(2 * PERIOD, Event::Expired { timer: 5 });
    matcher.see(2 * PERIOD + 9, Event::Switched { thread_id: 50 });
    matcher.latencies(0, vec![sample(PERIOD, 2 * PERIOD)]);
    matcher.resolve(i64::MAX, &always(true));
    let frames = sent(&mut matcher);
    let expected = LegTally { traced: 1, events_lost: 9, ..LegTally::default() };
    assert_eq!(frames[0].tally, expected);
}

/// Invariant (instruments): legs: matched by release; not believed after a loss; contradictions are counted.
#[test]
fn legs_that_contradict_their_latency_are_counted_and_left_out() {
    let mut matcher = Matcher::new(&[setup(0, 50)]);
    for (number, irq, thread) in [(1, -5, 10), (2, 10, 70), (3, 10, 60)] {
        cycle(&mut matcher, 50, number * PERIOD, irq, thread);
    }
    matcher.latencies(0, (1..=3).map(|k| sample(k * PERIOD, 60)).collect());
    matcher.resolve(i64::MAX, &always(true));
    let frames = sent(&mut matcher);
    let expected = LegTally { traced: 3, known: 1, unsound: 2, events_lost: 0 };
    assert_eq!((frames[0].tally, of(&frames[0], Leg::Thread)), (expected, (1, 60, 60)));
}

#[test]
fn cycles_without_a_trace_are_counted_by_themselves() {
    let mut matcher = Matcher::new(&[setup(0, 50)]);
    matcher.latencies(0, (1..=5).map(|k| sample(k * PERIOD, 60)).collect());
    matcher.resolve(i64::MAX, &always(false));
    let mut frames = Vec::new();
    matcher.send(|_| false);
    matcher.latencies(0, vec![sample(6 * PERIOD, 90)]);
    matcher.resolve(i64::MAX, &always(false));
    matcher.send(|frame| {
        frames.push(frame.clone());
        true
    });
    assert_eq!(of(&frames[0], Leg::Untraced), (6, 60, 90), "what was not taken stays");
    assert_eq!(frames[0].tally, LegTally::default());
}

/// Invariant (instruments): legs: matched by release; not believed after a loss; contradictions are counted.
#[test]
fn a_cycle_without_a_switch_has_its_irq_leg_alone() {
    let mut matcher = Matcher::new(&[setup(0, 50)]);
    let no_switch = |matcher: &mut Matcher, release: i64, irq: Option<i64>| {
        let armed = Event::Armed { thread_id: 50, timer: 5, function: 1, release };
        matcher.see(release - 9, armed);
        irq.into_iter().for_each(|irq| matcher.see(release + irq, Event::Expired { timer: 5 }));
    };
    no_switch(&mut matcher, PERIOD, Some(9));
    cycle(&mut matcher, 50, 2 * PERIOD, 20, 30);
    // Of one whose timer nobody saw expire a switch tells nothing.
    no_switch(&mut matcher, 3 * PERIOD, None);
    matcher.see(3 * PERIOD + 5, Event::Switched { thread_id: 50 });
    // The last one: nothing comes after it.
    no_switch(&mut matcher, 4 * PERIOD, Some(7));
    matcher.latencies(0, (1..=4).map(|k| sample(k * PERIOD, 50)).collect());
    matcher.resolve(i64::MAX, &always(true));
    let frame = &sent(&mut matcher)[0];
    assert_eq!(frame.tally, LegTally { traced: 4, known: 1, ..LegTally::default() });
    assert_eq!((of(frame, Leg::Irq), of(frame, Leg::Thread)), ((3, 7, 20), (1, 30, 30)));
    assert_eq!(frame.largest.len(), 1, "large latencies are listed with both legs");
}
