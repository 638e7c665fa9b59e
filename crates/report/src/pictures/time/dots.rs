//! Every sample of a window as a dot; dots that would cover each other are merged.

use latlab_model::samples::Sample;
use latlab_model::{Nanos, Run};
use latlab_stats::Span;
use std::collections::BTreeMap;
use std::ops::Range;

/// Dot positions across the whole width.
const ACROSS: f64 = 1200.0;
/// Dot positions for each factor of ten in latency.
const UP_A_DECADE: f64 = 90.0;

/// Samples by thread and dot position.
#[derive(Clone, Debug)]
pub struct Dots {
    whole: Range<Nanos>,
    periods: BTreeMap<u32, Nanos>,
    /// Whether a release without a sample is an overrun; otherwise its sample may have been lost.
    complete: bool,
    threads: BTreeMap<u32, Thread>,
}

#[derive(Clone, Default, Debug)]
struct Thread {
    dots: BTreeMap<(u32, i32), Dot>,
    last: Option<Nanos>,
    overruns: Vec<Span>,
}

/// Samples so close that they are drawn as one dot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Dot {
    pub sample: Sample,
    pub count: u64,
}

impl Dots {
    pub fn new(whole: &Range<Nanos>, run: &Run) -> Dots {
        let setups = run.threads.iter().map(|one| &one.setup);
        Dots {
            whole: whole.clone(),
            periods: setups.filter_map(|setup| Some((setup.thread, setup.period_ns?))).collect(),
            complete: run.has_releases() && run.losses.samples == 0,
            threads: BTreeMap::new(),
        }
    }

    /// Adds a sample; returns the span of the overruns before it.
    pub fn push(&mut self, thread: u32, sample: Sample) -> Option<Span> {
        let length = (self.whole.end - self.whole.start).0 as f64;
        let across = (sample.release_ns - self.whole.start).0 as f64 / length * ACROSS;
        let latency = sample.latency_ns.0.max(1) as f64;
        let place = (across as u32, (latency.log10() * UP_A_DECADE) as i32);
        let known = self.threads.entry(thread).or_default();
        let last = known.last.replace(sample.release_ns);
        let period = self.periods.get(&thread).filter(|_| self.complete);
        let gap = last.zip(period).and_then(|(last, period)| overruns(last, sample, *period));
        known.overruns.extend(gap);
        let dot = known.dots.entry(place).or_insert(Dot { sample, count: 0 });
        dot.count += 1;
        if sample.latency_ns > dot.sample.latency_ns {
            dot.sample = sample;
        }
        gap
    }

    /// Time between the releases of a thread.
    pub fn period(&self, thread: u32) -> Nanos {
        self.periods.get(&thread).copied().unwrap_or(Nanos(1))
    }

    /// The dots of a thread, or of all.
    pub fn of_thread(&self, thread: Option<u32>) -> impl Iterator<Item = &Dot> {
        self.threads_of(thread).flat_map(|known| known.dots.values())
    }

    /// The overruns of a thread, or of all; empty if a missing sample need not be an overrun.
    pub fn overruns(&self, thread: Option<u32>) -> Vec<Span> {
        self.threads_of(thread).flat_map(|known| known.overruns.iter().copied()).collect()
    }

    fn threads_of(&self, thread: Option<u32>) -> impl Iterator<Item = &Thread> {
        let wanted = move |number: &u32| thread.is_none_or(|thread| thread == *number);
        self.threads.iter().filter(move |(number, _)| wanted(number)).map(|(_, known)| known)
    }

    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }
}

/// The overruns between two consecutive samples.
fn overruns(last: Nanos, next: Sample, period: Nanos) -> Option<Span> {
    let period = period.0.max(1);
    let overruns = ((next.release_ns - last).0 + period / 2) / period - 1;
    let (from, to) = (last + Nanos(period), next.release_ns);
    (overruns > 0).then(|| Span { from, to, overruns: overruns as u64, ..Span::default() })
}
