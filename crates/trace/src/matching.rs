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
mod tests;
