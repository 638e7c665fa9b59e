//! Matches events and latencies by release, never by order.

use crate::counts::{BreakdownCounts, PartialBreakdown};
use crate::windows::TraceWindows;
use latlab_model::Nanos;
use latlab_model::breakdown::Breakdown;
use latlab_model::run::ThreadSetup;
use latlab_model::samples::Sample;
use latlab_model::trace::{ThreadEvent, ThreadEventKind, TraceStretch};
use std::collections::VecDeque;

/// Most cycles and latencies of a thread that wait for their counterpart, far more than come
/// between two frames; the oldest are dropped first.
const WAITING: usize = 1 << 19;

pub struct Matcher {
    threads: Vec<ThreadMatcher>,
    windows: TraceWindows,
    events_lost: u64,
}

/// A cycle of which not everything is known yet.
struct ArmedTimer {
    release: Nanos,
    irq: Option<Nanos>,
}

struct ThreadMatcher {
    thread: u32,
    first: Nanos,
    period: Nanos,
    armed: Option<ArmedTimer>,
    /// Cycles whose latency has not come.
    cycles: VecDeque<PartialBreakdown>,
    /// Latencies whose events may not have come.
    latencies: VecDeque<Sample>,
    counts: BreakdownCounts,
}

impl Matcher {
    pub fn new(threads: &[ThreadSetup]) -> Matcher {
        Matcher {
            threads: threads.iter().map(ThreadMatcher::new).collect(),
            windows: TraceWindows::default(),
            events_lost: 0,
        }
    }

    /// Adds latencies of a thread, in the order of their releases.
    pub fn push_samples(&mut self, thread: u32, samples: &[Sample]) {
        if let Some(one) = self.threads.iter_mut().find(|one| one.thread == thread) {
            one.latencies.extend(samples);
            let surplus = one.latencies.len().saturating_sub(WAITING);
            one.latencies.drain(..surplus);
        }
    }

    /// Adds what was recorded next, and matches everything that was over when it ended.
    pub fn push_trace(&mut self, stretch: &TraceStretch) {
        stretch.windows.iter().for_each(|window| self.windows.push(*window));
        let lost = stretch.losses.iter().map(|loss| loss.count);
        self.events_lost = lost.fold(self.events_lost, u64::saturating_add);
        for one in &mut self.threads {
            let events = stretch.threads.iter().find(|(thread, _)| *thread == one.thread);
            let mut losses = stretch.losses.iter().map(|loss| loss.at_ns).peekable();
            for event in events.iter().flat_map(|(_, events)| events) {
                if losses.next_if(|at| *at <= event.at_ns).is_some() {
                    while losses.next_if(|at| *at <= event.at_ns).is_some() {}
                    one.reset();
                }
                one.push_event(*event);
            }
            if losses.next().is_some() {
                one.reset();
            }
            one.match_until(stretch.until_ns, &self.windows);
        }
    }

    /// Matches what is left when nothing more will come.
    pub fn finish(&mut self) {
        self.threads.iter_mut().for_each(|one| one.match_until(Nanos::MAX, &self.windows));
    }

    /// Offers the counts since the last call; what is not taken stays and is merged with later
    /// counts.
    pub fn flush(&mut self, mut taken: impl FnMut(&Breakdown) -> bool) {
        if let Some(first) = self.threads.first_mut() {
            // They belong to no thread, so report them with the first.
            first.counts.events_lost(std::mem::take(&mut self.events_lost));
        }
        self.threads.iter_mut().for_each(|one| one.counts.flush(&mut taken));
    }
}

impl ArmedTimer {
    fn breakdown(&self, switched_at: Option<Nanos>) -> PartialBreakdown {
        PartialBreakdown {
            release_ns: self.release,
            irq_ns: self.irq,
            thread_ns: switched_at.map(|at| at - self.release),
        }
    }
}

impl ThreadMatcher {
    fn new(setup: &ThreadSetup) -> ThreadMatcher {
        ThreadMatcher {
            thread: setup.thread,
            first: setup.first_release_ns,
            period: setup.period_ns.unwrap_or_default().max(Nanos(1)),
            armed: None,
            cycles: VecDeque::new(),
            latencies: VecDeque::new(),
            counts: BreakdownCounts::new(setup.thread),
        }
    }

    fn push_event(&mut self, event: ThreadEvent) {
        let at = event.at_ns;
        match event.kind {
            ThreadEventKind::Armed { release_ns } => {
                // The thread part of the previous cycle cannot come any more: the thread never left
                // its CPU, or the kernel does not report its return.
                let before = self.armed.take();
                before.into_iter().for_each(|before| self.record_breakdown(&before, None));
                let armed = ArmedTimer { release: release_ns, irq: None };
                self.armed = Some(armed).filter(|_| self.has_release(release_ns));
            }
            ThreadEventKind::Expired => {
                if let Some(armed) = self.armed.as_mut().filter(|armed| armed.irq.is_none()) {
                    armed.irq = Some(at - armed.release);
                }
            }
            ThreadEventKind::SwitchedIn => {
                // The first switch to it after the interrupt ends the cycle.
                if let Some(armed) = self.armed.take_if(|armed| armed.irq.is_some()) {
                    self.record_breakdown(&armed, Some(at));
                }
            }
        }
    }

    /// Drops cycles in progress, since not all that followed was seen.
    fn reset(&mut self) {
        if let Some(armed) = self.armed.take() {
            self.record_breakdown(&armed, None);
        }
    }

    /// Whether this can be a release of its loop.
    fn has_release(&self, release: Nanos) -> bool {
        release.0.wrapping_sub(self.first.0) % self.period.0 == 0
    }

    /// Keeps the known parts of a cycle until its latency comes.
    fn record_breakdown(&mut self, armed: &ArmedTimer, switched_at: Option<Nanos>) {
        if armed.irq.is_some() {
            self.cycles.push_back(armed.breakdown(switched_at));
        }
        if self.cycles.len() > WAITING {
            self.cycles.pop_front();
        }
    }

    /// Matches both sides for everything that was over by this time.
    fn match_until(&mut self, until: Nanos, windows: &TraceWindows) {
        let over = |sample: &Sample| sample.release_ns + sample.latency_ns < until;
        while let Some(sample) = pop_if(&mut self.latencies, over) {
            let release = sample.release_ns;
            while pop_if(&mut self.cycles, |cycle| cycle.release_ns < release).is_some() {}
            let breakdown = pop_if(&mut self.cycles, |cycle| cycle.release_ns == release);
            // The thread has read the clock, so a recorded switch would have been seen by now.
            let breakdown = breakdown.or_else(|| {
                let this = |armed: &mut ArmedTimer| armed.irq.is_some() && armed.release == release;
                self.armed.take_if(this).map(|armed| armed.breakdown(None))
            });
            // Its timer was started after the previous release.
            match windows.state(release - self.period, release + sample.latency_ns) {
                Some(true) => self.counts.traced(sample.latency_ns, breakdown),
                Some(false) => self.counts.untraced(sample.latency_ns),
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
