//! The legs of a run: from their frames to figures, to rows, and to the large latencies.

use crate::rows::{LegRow, SpikeRow};
use latlab_model::Histogram;
use latlab_model::histogram::BINS;
use latlab_model::legs::{
    CycleLegs, LargeLegs, Leg, LegCost, LegFigures, LegTally, Legs, RunLegs, ThreadLegs,
};
use latlab_model::plan::Method;
use latlab_model::run::{Finding, Severity};
use latlab_model::{Nanos, Plan};
use latlab_stats::quantiles;
use std::collections::BTreeMap;

/// With fewer cycles of either kind their medians differ by chance alone.
const ENOUGH_FOR_COST: u64 = 100;
/// Large latencies that are listed with their legs.
const LARGEST: usize = 5;
/// More in one frame is no count.
const LARGEST_COUNT: u64 = 1 << 36;

/// What the frames have brought so far.
#[derive(Default)]
pub struct LegCounts {
    threads: BTreeMap<u32, Taken>,
}

#[derive(Default)]
struct Taken {
    counts: BTreeMap<Leg, Histogram>,
    tally: LegTally,
    largest: BTreeMap<Nanos, CycleLegs>,
}

impl LegCounts {
    /// Takes a frame; the error is why it was left out.
    pub fn take(&mut self, legs: Legs) -> Result<(), Finding> {
        if legs.counts.iter().any(|(_, counts)| !is_sound(counts)) {
            let text = "A frame of legs was left out, because its counts do not fit each other.";
            let finding = Finding::new("legs-unsound", Severity::Warning, text);
            return Err(finding.of_thread(legs.thread));
        }
        let taken = self.threads.entry(legs.thread).or_default();
        taken.tally.add(&legs.tally);
        for (leg, counts) in legs.counts {
            taken.counts.entry(leg).or_default().add(&counts);
        }
        taken.largest.extend(legs.largest.into_iter().map(|legs| (legs.release_ns, legs)));
        Ok(())
    }

    /// Gives the large latencies their legs, where they are known.
    pub fn explain(&self, spikes: &mut [SpikeRow]) {
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

    /// What it all came to; none where no legs were asked for.
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
            counts.for_each(|counts| all.add(counts));
            figures(&all).filter(|figures| figures.count >= ENOUGH_FOR_COST)
        };
        Some(LegCost { traced: all(Leg::Traced)?, untraced: all(Leg::Untraced)? })
    }
}

/// What the reader must know of the legs of a run.
pub fn findings(legs: &RunLegs, method: &Method) -> Vec<Finding> {
    let LegTally { traced, unsound, events_lost, .. } = legs.tally;
    let mut found = Vec::new();
    if events_lost > 0 {
        found.push(trace_lost(events_lost, method));
    }
    if unsound > 0 {
        let text = format!(
            "The legs of {unsound} of {traced} cycles contradict their latencies, and were left out."
        );
        found.push(Finding::new("legs-unsound", Severity::Warning, text));
    }
    found.extend(legs.threads.iter().filter_map(legs_missing));
    found
}

/// A thread of which the figures of a leg stand for less than half of its cycles.
fn legs_missing(thread: &ThreadLegs) -> Option<Finding> {
    let (traced, (irq, switch)) = (thread.tally.traced, thread.known());
    let text = format!(
        "Of {traced} cycles that were traced the IRQ leg is known in {irq} and the thread leg in \
         {switch}, so that their figures may not stand for all: the timer had expired before the \
         thread slept, or the trace does not tell that it came to its CPU. Some kernels (6.18 among \
         them) do not tell of switches from an idle CPU."
    );
    let finding = Finding::new("legs-missing", Severity::Warning, text).of_thread(thread.thread);
    (irq.min(switch) < traced / 2).then(|| {
        finding.remedy("Keep the measured CPUs busy with ordinary work, or take a longer period.")
    })
}

/// What the kernel's own tracer measured is nowhere else; what `--legs` lost is only legs.
fn trace_lost(events: u64, method: &Method) -> Finding {
    let text =
        format!("{events} events of the kernel's trace were lost, because it was not read in time");
    let finding = match method {
        Method::Timerlat(_) => {
            let text = format!("{text}: their latencies are counted nowhere.");
            Finding::new("trace-lost", Severity::Error, text).invalidates()
        }
        _ => {
            let text = format!(
                "{text}: the cycles around them have no legs. Their latencies are all counted."
            );
            Finding::new("trace-lost", Severity::Warning, text)
        }
    };
    finding.remedy("Leave a CPU to --helpers-on, or measure fewer threads or a longer period.")
}

fn figures(counts: &Histogram) -> Option<LegFigures> {
    let quantiles = quantiles(counts)?;
    Some(LegFigures {
        count: counts.count,
        min_ns: counts.min_ns,
        p50_ns: quantiles.p50_ns,
        p99_ns: quantiles.p99_ns,
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

/// Whether counts add up, so that sums of them can be trusted.
fn is_sound(counts: &Histogram) -> bool {
    let known = counts.bins.iter().all(|(bin, _)| usize::from(*bin) < BINS);
    let rising = counts.bins.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let bins = counts.bins.iter().map(|(_, count)| *count);
    let sum = bins.chain([counts.underflow]).try_fold(0_u64, u64::checked_add);
    known && rising && sum == Some(counts.count) && counts.count <= LARGEST_COUNT
}
