//! The breakdown of a run: from its frames to figures, rows, and the large latencies.

use crate::rows::{LegRow, SpikeRow};
use latlab_model::Histogram;
use latlab_model::finding::{Finding, LossFinding};
use latlab_model::legs::{
    CycleLegs, LargeLegs, Leg, LegCost, LegFigures, LegTally, Legs, RunLegs, ThreadLegs,
};
use latlab_model::plan::Method;
use latlab_model::{Nanos, Plan};
use latlab_stats::quantiles;
use std::collections::BTreeMap;

/// With fewer cycles of either kind their medians differ by chance.
const ENOUGH_FOR_COST: u64 = 100;
const OWN_BINS: &str = "what has other bins was left out";
/// Large latencies that are listed with their breakdown.
const LARGEST: usize = 5;

/// State gathered from the frames so far.
#[derive(Default)]
pub struct LegDigest {
    threads: BTreeMap<u32, ThreadLegFrames>,
}

#[derive(Default)]
struct ThreadLegFrames {
    counts: BTreeMap<Leg, Histogram>,
    tally: LegTally,
    largest: BTreeMap<Nanos, CycleLegs>,
}

impl LegDigest {
    /// Adds a frame, or says why it was left out.
    pub fn push(&mut self, legs: Legs) -> Option<Finding> {
        if legs.counts.iter().any(|(_, counts)| !is_sound(counts)) {
            let finding = Finding::new(LossFinding::LegsUnsound { count: None, traced: None });
            return Some(finding.of_thread(legs.thread));
        }
        let taken = self.threads.entry(legs.thread).or_default();
        taken.tally.add(&legs.tally);
        for (leg, counts) in legs.counts {
            taken.counts.entry(leg).or_default().add(&counts).expect(OWN_BINS);
        }
        taken.largest.extend(legs.largest.into_iter().map(|legs| (legs.release_ns, legs)));
        None
    }

    /// Adds the breakdown to the large latencies, if known.
    pub fn attach_to(&self, spikes: &mut [SpikeRow]) {
        for row in spikes {
            let taken = self.threads.get(&row.thread);
            row.legs = taken.and_then(|taken| taken.largest.get(&row.spike.release_ns)).copied();
        }
    }

    /// The rows of `legs.parquet`.
    pub fn rows(&self) -> impl Iterator<Item = LegRow> + '_ {
        self.threads.iter().flat_map(|(&thread, taken)| {
            let rows = taken
                .counts
                .iter()
                .flat_map(|(&leg, counts)| counts.rows().into_iter().map(move |bin| (leg, bin)));
            rows.map(move |(leg, bin)| LegRow { thread, leg, bin })
        })
    }

    /// The result; `None` if no breakdown was requested.
    pub fn run(&self, plan: &Plan, spikes: &[SpikeRow]) -> Option<RunLegs> {
        if !plan.method.has_legs() && self.threads.is_empty() {
            return None;
        }
        let mut tally = LegTally::default();
        self.threads.values().for_each(|taken| tally.add(&taken.tally));
        let threads = self.threads.iter().map(|(&thread, taken)| ThreadLegs {
            thread,
            tally: taken.tally,
            irq: taken.counts.get(&Leg::Irq).and_then(figures),
            thread_leg: taken.counts.get(&Leg::Thread).and_then(figures),
            wake_up: taken.counts.get(&Leg::WakeUp).and_then(figures),
            answer: taken.counts.get(&Leg::Answer).and_then(figures),
        });
        Some(RunLegs {
            threads: threads.collect(),
            tally,
            largest: largest(spikes),
            cost: self.cost(),
        })
    }

    fn cost(&self) -> Option<LegCost> {
        let all = |leg: Leg| {
            let mut all = Histogram::default();
            let counts = self.threads.values().filter_map(|taken| taken.counts.get(&leg));
            counts.for_each(|counts| all.add(counts).expect(OWN_BINS));
            figures(&all).filter(|figures| figures.count >= ENOUGH_FOR_COST)
        };
        Some(LegCost { traced: all(Leg::Traced)?, untraced: all(Leg::Untraced)? })
    }
}

/// Findings about the breakdown of a run.
pub fn findings(legs: &RunLegs, method: &Method) -> Vec<Finding> {
    let LegTally { traced, unsound, events_lost, .. } = legs.tally;
    // What the kernel's own tracer measured exists nowhere else; what `--legs` lost is only
    // breakdown.
    let with_latencies = matches!(method, Method::Timerlat(_));
    let lost = LossFinding::TraceLost { events: Some(events_lost), with_latencies, damage: None };
    let contradicting = LossFinding::LegsUnsound { count: Some(unsound), traced: Some(traced) };
    let lost = (events_lost > 0).then_some(lost);
    let contradicting = (unsound > 0).then_some(contradicting);
    let found = lost.into_iter().chain(contradicting).map(Finding::new);
    found.chain(legs.threads.iter().filter_map(legs_missing)).collect()
}

/// A thread for which the figures of a part cover less than half of its cycles.
fn legs_missing(thread: &ThreadLegs) -> Option<Finding> {
    let (traced, (irq, thread_leg)) = (thread.tally.traced, thread.known());
    let missing = LossFinding::LegsMissing { traced, irq, thread_leg };
    (irq.min(thread_leg) < traced / 2).then(|| Finding::new(missing).of_thread(thread.thread))
}

/// Count, quantiles and extremes of a histogram; `None` if empty.
pub(crate) fn figures(counts: &Histogram) -> Option<LegFigures> {
    let quantiles = quantiles(counts)?;
    Some(LegFigures {
        count: counts.count,
        min_ns: counts.min_ns,
        p50_ns: quantiles.p50_ns?,
        p99_ns: quantiles.p99_ns?,
        max_ns: counts.max_ns,
    })
}

fn largest(spikes: &[SpikeRow]) -> Vec<LargeLegs> {
    let known = spikes.iter().filter_map(|row| {
        row.legs.map(|legs| LargeLegs {
            thread: row.thread,
            latency_ns: row.spike.latency_ns,
            legs,
        })
    });
    let mut largest: Vec<LargeLegs> = known.collect();
    largest.sort_by_key(|one| (std::cmp::Reverse(one.latency_ns), one.legs.release_ns));
    largest.truncate(LARGEST);
    largest
}

/// Whether the counts can be trusted; an agent counts the parts in latlab's own bins.
fn is_sound(counts: &Histogram) -> bool {
    counts.layout.is_standard() && counts.check().is_ok()
}
