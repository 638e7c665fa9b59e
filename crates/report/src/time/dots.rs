//! Every sample of a window, as dots: those that would cover each other are one.

use latlab_model::Nanos;
use latlab_model::samples::Sample;
use std::collections::BTreeMap;
use std::ops::Range;

/// Places of a dot in the whole width.
const ACROSS: f64 = 1200.0;
/// Places of a dot in a height of ten times the latency.
const UP_A_DECADE: f64 = 90.0;

/// Samples by thread and by the place that they take.
#[derive(Clone, Debug)]
pub struct Dots {
    whole: Range<Nanos>,
    threads: BTreeMap<u32, BTreeMap<(u32, i32), Dot>>,
}

/// Samples that lie so close that they are one dot.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Dot {
    /// The largest of them.
    pub sample: Sample,
    /// How many they are.
    pub count: u64,
}

impl Dots {
    pub fn new(whole: &Range<Nanos>) -> Dots {
        Dots { whole: whole.clone(), threads: BTreeMap::new() }
    }

    pub fn take(&mut self, thread: u32, sample: Sample) {
        let length = (self.whole.end - self.whole.start).0 as f64;
        let across = (sample.release_ns - self.whole.start).0 as f64 / length * ACROSS;
        let latency = sample.latency_ns.0.max(1) as f64;
        let place = (across as u32, (latency.log10() * UP_A_DECADE) as i32);
        let dots = self.threads.entry(thread).or_default();
        let dot = dots.entry(place).or_insert(Dot { sample, count: 0 });
        dot.count += 1;
        if sample.latency_ns > dot.sample.latency_ns {
            dot.sample = sample;
        }
    }

    /// The dots of a thread; none where no sample of it was given.
    pub fn of(&self, thread: u32) -> Option<impl Iterator<Item = &Dot>> {
        self.threads.get(&thread).map(BTreeMap::values)
    }

    pub fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }
}
