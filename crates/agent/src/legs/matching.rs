//! Events and latencies to legs: matched by the release, never by order. Pure.

use super::events::Event;
use super::ledger::{Ledger, PartialLegs};
use super::windows::Windows;
use latlab_model::Nanos;
use latlab_model::legs::Legs;
use latlab_model::run::ThreadSetup;
use latlab_model::samples::Sample;
use std::collections::{HashMap, VecDeque};

/// Legs and latencies that may wait for the other side; far more than ever comes in a second.
const WAITING: usize = 1 << 20;

/// All threads.
pub struct Matcher {
    lines: Vec<Line>,
    by_id: HashMap<i32, usize>,
    /// The thread that waits for a timer, by the timer's address.
    by_timer: HashMap<i64, usize>,
    /// What the timers of our threads call, once one was seen.
    pub function: Option<i64>,
    events_lost: u64,
}

/// A cycle of which not everything is known yet.
struct Open {
    timer: i64,
    release: i64,
    irq: Option<i64>,
}

/// One thread.
struct Line {
    thread: u32,
    first: i64,
    period: i64,
    open: Option<Open>,
    /// Cycles whose latency has not come.
    cycles: VecDeque<PartialLegs>,
    /// Latencies whose events may not have come.
    latencies: VecDeque<Sample>,
    ledger: Ledger,
}

impl Matcher {
    /// Nothing has come of these threads yet.
    pub fn new(threads: &[ThreadSetup]) -> Matcher {
        let by_id = threads.iter().enumerate().filter_map(|(at, one)| Some((one.thread_id?, at)));
        Matcher {
            by_id: by_id.collect(),
            lines: threads.iter().map(Line::new).collect(),
            by_timer: HashMap::new(),
            function: None,
            events_lost: 0,
        }
    }

    /// Takes the next event.
    pub fn see(&mut self, at: i64, event: Event) {
        match event {
            Event::Armed { thread_id, timer, function, release } => {
                let line = self.by_id.get(&thread_id).copied();
                let Some(line) = line.filter(|&line| self.lines[line].has_release(release)) else {
                    return;
                };
                self.function = Some(function);
                if let Some(before) = self.lines[line].arm(Open { timer, release, irq: None }) {
                    self.by_timer.remove(&before);
                }
                self.by_timer.insert(timer, line);
            }
            Event::Expired { timer } => {
                let line = self.by_timer.remove(&timer);
                if let Some(open) = line.and_then(|line| self.lines[line].open.as_mut()) {
                    open.irq = Some(at - open.release);
                }
            }
            Event::Switched { thread_id } => {
                if let Some(&line) = self.by_id.get(&thread_id) {
                    self.lines[line].switched(at);
                }
            }
            Event::Lost(count) => {
                self.events_lost += count;
                self.forget();
            }
        }
    }

    /// What was begun cannot be trusted, since not all that followed was seen.
    fn forget(&mut self) {
        self.by_timer.clear();
        self.lines.iter_mut().for_each(|line| line.open = None);
    }

    /// Takes latencies of a thread, in the order of their releases.
    pub fn latencies(&mut self, thread: u32, latencies: Vec<Sample>) {
        if let Some(line) = self.lines.iter_mut().find(|line| line.thread == thread) {
            line.latencies.extend(latencies);
        }
    }

    /// Brings both sides together for all that was over by this time.
    pub fn resolve(&mut self, until: i64, windows: &Windows) {
        self.lines.iter_mut().for_each(|line| line.resolve(until, windows));
    }

    /// Offers what was counted; what is not taken stays, and is joined with what comes.
    pub fn send(&mut self, mut taken: impl FnMut(&Legs) -> bool) {
        if let Some(first) = self.lines.first_mut() {
            // No thread's, and so told with the first.
            first.ledger.events_lost(std::mem::take(&mut self.events_lost));
        }
        self.lines.iter_mut().for_each(|line| line.ledger.send(&mut taken));
    }
}

impl Open {
    fn legs(&self, switched: Option<i64>) -> PartialLegs {
        PartialLegs {
            release_ns: Nanos(self.release),
            irq_ns: self.irq.map(Nanos),
            thread_ns: switched.map(|at| Nanos(at - self.release)),
        }
    }
}

impl Line {
    fn new(setup: &ThreadSetup) -> Line {
        Line {
            thread: setup.thread,
            first: setup.first_release_ns.0,
            period: setup.period_ns.0.max(1),
            open: None,
            cycles: VecDeque::new(),
            latencies: VecDeque::new(),
            ledger: Ledger::new(setup.thread),
        }
    }

    /// Whether this can be a release of its loop; the kernel starts timers of its own on a thread.
    fn has_release(&self, release: i64) -> bool {
        release.wrapping_sub(self.first) % self.period == 0
    }

    /// Begins a cycle, and gives the timer of the one before, whose thread leg cannot come any more:
    /// the thread never left its CPU, or the kernel does not tell that it came back.
    fn arm(&mut self, open: Open) -> Option<i64> {
        let before = self.open.replace(open)?;
        let timer = before.timer;
        self.keep(before, None);
        Some(timer)
    }

    /// The first time after the interrupt that the thread is put on its CPU ends the cycle.
    fn switched(&mut self, at: i64) {
        if let Some(open) = self.open.take_if(|open| open.irq.is_some()) {
            self.keep(open, Some(at));
        }
    }

    /// Keeps what is known of a cycle until its latency comes.
    fn keep(&mut self, open: Open, switched: Option<i64>) {
        if open.irq.is_some() && self.cycles.len() < WAITING {
            self.cycles.push_back(open.legs(switched));
        }
    }

    fn resolve(&mut self, until: i64, windows: &Windows) {
        let over = |sample: &Sample| (sample.release_ns + sample.latency_ns).0 < until;
        while let Some(sample) = pop_if(&mut self.latencies, over) {
            let release = sample.release_ns;
            while pop_if(&mut self.cycles, |cycle| cycle.release_ns < release).is_some() {}
            let legs = pop_if(&mut self.cycles, |cycle| cycle.release_ns == release);
            // The thread has read the clock: had its switch been told, it were seen by now.
            let legs = legs.or_else(|| {
                let this = |open: &mut Open| open.irq.is_some() && open.release == release.0;
                self.open.take_if(this).map(|open| open.legs(None))
            });
            // Its timer was started after the release before it.
            match windows.state(release.0 - self.period, (release + sample.latency_ns).0) {
                Some(true) => self.ledger.traced(sample.latency_ns, legs),
                Some(false) => self.ledger.untraced(sample.latency_ns),
                None => {}
            }
        }
    }
}

fn pop_if<T>(queue: &mut VecDeque<T>, wanted: impl Fn(&T) -> bool) -> Option<T> {
    match queue.front().is_some_and(wanted) {
        true => queue.pop_front(),
        false => None,
    }
}

#[cfg(test)]
mod tests {
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
        matcher
            .see(release - PERIOD, Event::Armed { thread_id, timer: 1, function: 2, release: 3 });
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
}
