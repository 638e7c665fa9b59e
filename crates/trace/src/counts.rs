//! The counted breakdown of one thread, until it is sent.

use latlab_model::breakdown::{Breakdown, BreakdownTally, CycleBreakdown, Part};
use latlab_model::frame::KEPT_SPIKES;
use latlab_model::{Histogram, Nanos};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The known parts of one cycle.
#[derive(Clone, Copy)]
pub struct PartialBreakdown {
    pub release_ns: Nanos,
    /// From the release until the interrupt.
    pub irq_ns: Option<Nanos>,
    /// From there until the thread was put on its CPU.
    pub thread_ns: Option<Nanos>,
}

/// The counts of one thread.
pub struct BreakdownCounts {
    /// Counted since the last offer.
    counts: BTreeMap<Part, Vec<Nanos>>,
    /// The largest latencies with known parts, the smallest of them on top.
    largest: BinaryHeap<Reverse<Nanos>>,
    /// What was not taken yet.
    frame: Breakdown,
}

impl BreakdownCounts {
    pub fn new(thread: u32) -> BreakdownCounts {
        let frame = Breakdown { thread, ..Breakdown::default() };
        BreakdownCounts { counts: BTreeMap::new(), largest: BinaryHeap::new(), frame }
    }

    /// Counts a cycle during which the trace was on, with the parts that are known.
    pub fn traced(&mut self, latency: Nanos, breakdown: Option<PartialBreakdown>) {
        self.frame.tally.traced += 1;
        self.push(Part::Traced, latency);
        let Some(PartialBreakdown { release_ns, irq_ns, thread_ns }) = breakdown else { return };
        let ends = [Some(Nanos::ZERO), irq_ns, thread_ns, Some(latency)];
        if !ends.into_iter().flatten().is_sorted() {
            self.frame.tally.unsound += 1;
            return;
        }
        for (part, known) in [(Part::Irq, irq_ns), (Part::Thread, thread_ns)] {
            known.into_iter().for_each(|value| self.push(part, value));
        }
        if let Some((irq_ns, thread_ns)) = irq_ns.zip(thread_ns) {
            self.frame.tally.known += 1;
            self.keep_if_large(latency, CycleBreakdown { release_ns, irq_ns, thread_ns });
        }
    }

    /// Counts a cycle during which the trace was off.
    pub fn untraced(&mut self, latency: Nanos) {
        self.push(Part::Untraced, latency);
    }

    /// Counts lost events.
    pub fn events_lost(&mut self, count: u64) {
        self.frame.tally.events_lost += count;
    }

    /// Offers the counts; what is not taken stays and is merged with later counts.
    pub fn flush(&mut self, taken: impl FnOnce(&Breakdown) -> bool) {
        for (part, values) in std::mem::take(&mut self.counts) {
            let more: Histogram = values.into_iter().collect();
            match self.frame.counts.iter_mut().find(|(known, _)| *known == part) {
                Some((_, counts)) => counts.add(&more).expect("both have latlab's own bins"),
                None => self.frame.counts.push((part, more)),
            }
        }
        let empty = self.frame.counts.is_empty() && self.frame.tally == BreakdownTally::default();
        if !empty && taken(&self.frame) {
            self.frame = Breakdown { thread: self.frame.thread, ..Breakdown::default() };
        }
    }

    fn push(&mut self, part: Part, value: Nanos) {
        self.counts.entry(part).or_default().push(value);
    }

    /// As many as the kept spikes, so that each of those finds its breakdown.
    fn keep_if_large(&mut self, latency: Nanos, breakdown: CycleBreakdown) {
        let full = self.largest.len() >= KEPT_SPIKES;
        let large = !full || self.largest.peek().is_some_and(|Reverse(least)| latency >= *least);
        if !large || self.frame.largest.len() >= 2 * KEPT_SPIKES {
            return;
        }
        self.largest.push(Reverse(latency));
        if full {
            self.largest.pop();
        }
        self.frame.largest.push(breakdown);
    }
}
