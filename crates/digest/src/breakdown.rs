//! The breakdown of a run: from its frames to figures, rows, and the large latencies.

use crate::rows::{BreakdownRow, SpikeRow};
use latlab_model::Histogram;
use latlab_model::breakdown::{
    Breakdown, BreakdownCost, BreakdownTally, CycleBreakdown, LargeBreakdown, Part, PartFigures,
    RunBreakdown, ThreadBreakdown,
};
use latlab_model::finding::{Finding, LossFinding};
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
pub struct BreakdownDigest {
    threads: BTreeMap<u32, ThreadLegFrames>,
}

#[derive(Default)]
struct ThreadLegFrames {
    counts: BTreeMap<Part, Histogram>,
    tally: BreakdownTally,
    largest: BTreeMap<Nanos, CycleBreakdown>,
}

impl BreakdownDigest {
    /// Adds a frame, or says why it was left out.
    pub fn push(&mut self, breakdown: Breakdown) -> Option<Finding> {
        if breakdown.counts.iter().any(|(_, counts)| !is_sound(counts)) {
            let finding = Finding::new(LossFinding::BreakdownUnsound { count: None, traced: None });
            return Some(finding.of_thread(breakdown.thread));
        }
        let taken = self.threads.entry(breakdown.thread).or_default();
        taken.tally.add(&breakdown.tally);
        for (part, counts) in breakdown.counts {
            taken.counts.entry(part).or_default().add(&counts).expect(OWN_BINS);
        }
        taken.largest.extend(
            breakdown.largest.into_iter().map(|breakdown| (breakdown.release_ns, breakdown)),
        );
        None
    }

    /// Adds the breakdown to the large latencies, if known.
    pub fn attach_to(&self, spikes: &mut [SpikeRow]) {
        for row in spikes {
            let taken = self.threads.get(&row.thread);
            row.breakdown =
                taken.and_then(|taken| taken.largest.get(&row.spike.release_ns)).copied();
        }
    }

    /// The rows of `breakdown.parquet`.
    pub fn rows(&self) -> impl Iterator<Item = BreakdownRow> + '_ {
        self.threads.iter().flat_map(|(&thread, taken)| {
            let rows = taken
                .counts
                .iter()
                .flat_map(|(&part, counts)| counts.rows().into_iter().map(move |bin| (part, bin)));
            rows.map(move |(part, bin)| BreakdownRow { thread, part, bin })
        })
    }

    /// The result; `None` if no breakdown was requested.
    pub fn run(&self, plan: &Plan, spikes: &[SpikeRow]) -> Option<RunBreakdown> {
        if !plan.method.has_breakdown() && self.threads.is_empty() {
            return None;
        }
        let mut tally = BreakdownTally::default();
        self.threads.values().for_each(|taken| tally.add(&taken.tally));
        let threads = self.threads.iter().map(|(&thread, taken)| ThreadBreakdown {
            thread,
            tally: taken.tally,
            irq: taken.counts.get(&Part::Irq).and_then(figures),
            thread_part: taken.counts.get(&Part::Thread).and_then(figures),
            wake_up: taken.counts.get(&Part::WakeUp).and_then(figures),
            answer: taken.counts.get(&Part::Answer).and_then(figures),
        });
        Some(RunBreakdown {
            threads: threads.collect(),
            tally,
            largest: largest(spikes),
            cost: self.cost(),
        })
    }

    fn cost(&self) -> Option<BreakdownCost> {
        let all = |part: Part| {
            let mut all = Histogram::default();
            let counts = self.threads.values().filter_map(|taken| taken.counts.get(&part));
            counts.for_each(|counts| all.add(counts).expect(OWN_BINS));
            figures(&all).filter(|figures| figures.count >= ENOUGH_FOR_COST)
        };
        Some(BreakdownCost { traced: all(Part::Traced)?, untraced: all(Part::Untraced)? })
    }
}

/// Findings about the breakdown of a run.
pub fn findings(breakdown: &RunBreakdown, method: &Method) -> Vec<Finding> {
    let BreakdownTally { traced, unsound, events_lost, .. } = breakdown.tally;
    // What the kernel's own tracer measured exists nowhere else; what `--breakdown` lost is only
    // breakdown.
    let with_latencies = matches!(method, Method::Timerlat(_));
    let lost = LossFinding::TraceLost { events: Some(events_lost), with_latencies, damage: None };
    let contradicting =
        LossFinding::BreakdownUnsound { count: Some(unsound), traced: Some(traced) };
    let lost = (events_lost > 0).then_some(lost);
    let contradicting = (unsound > 0).then_some(contradicting);
    let found = lost.into_iter().chain(contradicting).map(Finding::new);
    found.chain(breakdown.threads.iter().filter_map(breakdown_missing)).collect()
}

/// A thread for which the figures of a part cover less than half of its cycles.
fn breakdown_missing(thread: &ThreadBreakdown) -> Option<Finding> {
    let (traced, (irq, thread_part)) = (thread.tally.traced, thread.known());
    let missing = LossFinding::BreakdownMissing { traced, irq, thread_part };
    (irq.min(thread_part) < traced / 2).then(|| Finding::new(missing).of_thread(thread.thread))
}

/// Count, quantiles and extremes of a histogram; `None` if empty.
pub(crate) fn figures(counts: &Histogram) -> Option<PartFigures> {
    let quantiles = quantiles(counts)?;
    Some(PartFigures {
        count: counts.count,
        min_ns: counts.min_ns,
        p50_ns: quantiles.p50_ns?,
        p99_ns: quantiles.p99_ns?,
        max_ns: counts.max_ns,
    })
}

fn largest(spikes: &[SpikeRow]) -> Vec<LargeBreakdown> {
    let known = spikes.iter().filter_map(|row| {
        row.breakdown.map(|breakdown| LargeBreakdown {
            thread: row.thread,
            latency_ns: row.spike.latency_ns,
            breakdown,
        })
    });
    let mut largest: Vec<LargeBreakdown> = known.collect();
    largest.sort_by_key(|one| (std::cmp::Reverse(one.latency_ns), one.breakdown.release_ns));
    largest.truncate(LARGEST);
    largest
}

/// Whether the counts can be trusted; an agent counts the parts in latlab's own bins.
fn is_sound(counts: &Histogram) -> bool {
    counts.layout.is_standard() && counts.check().is_ok()
}
