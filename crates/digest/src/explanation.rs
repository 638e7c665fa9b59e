//! Flight recorder data: turns its pages into rows and its spikes into causes.

use crate::breakdown::figures;
use crate::rows::PageRow;
use latlab_model::breakdown::PartFigures;
use latlab_model::explanation::{RecorderCost, RunExplanation, SpikeBlame};
use latlab_model::finding::{Finding, LossFinding};
use latlab_model::flight::{
    EventCapture, KnownThread, PageRange, RecordedSpike, RecorderReport, RecorderWindow,
    SpikeTally, TraceFormats, TracePages,
};
use latlab_model::frame::Interval;
use latlab_model::run::ThreadSetup;
use latlab_model::{Histogram, Nanos};
use latlab_trace::{CauseTable, CpuTrace, EventReader, Subject, blame, complete_names};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet, VecDeque};

/// Pages of a CPU that a spike may still need: twice what the agent keeps, since it may report a
/// spike late and send older pages then.
const REMEMBERED: usize = 2048;
/// The largest spikes, which are reported with their breakdown.
const LARGEST: usize = 20;
/// Approximate number of parts kept for each in the document; the pages have them all.
const BREAKDOWN_OF_THE_LARGEST: usize = 100;
/// With fewer cycles of either kind their medians differ by chance.
const ENOUGH_FOR_COST: u64 = 100;

/// Takes the frames of the recorder in order.
#[derive(Default)]
pub struct ExplanationDigest {
    recording: EventCapture,
    /// Threads that existed when the agent listed them.
    living: HashSet<i32>,
    reader: Option<EventReader>,
    pages: KeptPages,
    blames: Vec<SpikeBlame>,
    /// The largest latencies so far, the smallest of them on top.
    largest: BinaryHeap<Reverse<Nanos>>,
    overwritten: u64,
    tally: SpikeTally,
    cost: CostDigest,
    findings: Vec<Finding>,
}

/// Pages of each CPU, by number.
#[derive(Default)]
struct KeptPages(BTreeMap<u32, BTreeMap<u32, Vec<u8>>>);

impl KeptPages {
    fn insert(&mut self, cpu: u32, number: u32, page: Vec<u8>) {
        self.0.entry(cpu).or_default().insert(number, page);
    }

    /// Drops the oldest page of a CPU that has more than a spike may still need.
    fn drop_oldest(&mut self, cpu: u32) {
        if let Some(pages) = self.0.get_mut(&cpu).filter(|pages| pages.len() > REMEMBERED) {
            pages.pop_first();
        }
    }

    fn range(&self, &range: &PageRange) -> CpuTrace<'_> {
        let all = self.0.get(&range.cpu).into_iter();
        let inside = all.flat_map(|pages| pages.range(range.first..range.end.max(range.first)));
        CpuTrace { range, pages: inside.map(|(number, page)| (*number, page.as_slice())).collect() }
    }
}

impl ExplanationDigest {
    /// Sets the layout of the pages.
    pub fn push_formats(&mut self, formats: TraceFormats) {
        match EventReader::new(&formats) {
            Ok(reader) => self.reader = Some(reader),
            Err(reason) => {
                self.findings.push(Finding::new(LossFinding::RecordingUnreadable { reason }));
            }
        }
        self.recording.formats = formats;
    }

    /// Adds pages; returns their rows.
    pub fn push_pages(&mut self, pages: TracePages) -> Vec<PageRow> {
        let TracePages { cpu, first, pages } = pages;
        let rows = (first..).zip(pages).map(|(number, page)| {
            self.pages.insert(cpu, number, page.clone());
            self.pages.drop_oldest(cpu);
            PageRow { cpu, number, page }
        });
        rows.collect()
    }

    /// Adds a spike, whose pages have come before it.
    pub fn push_spike(&mut self, spike: RecordedSpike, threads: &[ThreadSetup], in_guest: bool) {
        if let Some(reader) = &self.reader {
            let traces: Vec<CpuTrace> =
                spike.pages.iter().map(|range| self.pages.range(range)).collect();
            let subject = Subject { thread_id: thread_id(threads, spike.thread), in_guest };
            let lives = |id| self.living.contains(&id);
            let mut blame = blame(&spike, subject, &traces, reader, &lives);
            self.overwritten += u64::from(blame.begins_late);
            if !self.is_among_largest(spike.latency_ns) {
                // Only its cause will be reported, and there may be hundreds of thousands.
                blame.spike.parts = Vec::new();
            }
            self.blames.push(blame.spike);
        }
        self.recording.spikes.push(spike);
    }

    fn is_among_largest(&mut self, latency: Nanos) -> bool {
        let is_full = self.largest.len() == LARGEST;
        let is_large =
            !is_full || self.largest.peek().is_some_and(|Reverse(least)| latency > *least);
        if is_large {
            self.largest.push(Reverse(latency));
            is_full.then(|| self.largest.pop());
        }
        is_large
    }

    /// Adds the processes of threads that ran.
    pub fn push_threads(&mut self, threads: Vec<KnownThread>) {
        self.living.extend(threads.iter().map(|thread| thread.id));
        self.recording.formats.threads.extend(threads);
    }

    /// Adds the outcome of the spikes.
    pub fn push_report(&mut self, report: RecorderReport) {
        self.tally.add(&report.spikes);
        report.windows.into_iter().for_each(|window| self.cost.push_window(window));
        self.recording.formats.functions.extend(report.functions);
    }

    /// Adds an interval of a thread.
    pub fn push_interval(&mut self, interval: &Interval) {
        self.cost.waiting.push_back(interval.clone());
    }

    /// The result.
    pub fn finish(
        mut self,
        threads: &[ThreadSetup],
    ) -> (RunExplanation, EventCapture, Vec<Finding>) {
        // A killed run has no outcome for its last spikes.
        let tally = &mut self.tally;
        tally.stored = tally.stored.max(self.recording.spikes.len() as u64);
        let known = tally.stored + tally.while_off + tally.rate_limited + tally.stream_full;
        tally.seen = tally.seen.max(known);
        let names = &self.recording.formats;
        let mut table = CauseTable::default();
        for blame in &mut self.blames {
            complete_names(blame, names);
            table.push(blame);
        }
        let first = threads.iter().map(|thread| thread.first_release_ns).min().unwrap_or_default();
        let explained = table.explained();
        self.blames.sort_by_key(|one| (Reverse(one.latency_ns), one.spike));
        self.blames.truncate(LARGEST);
        for blame in &mut self.blames {
            blame.parts = blame.condensed(BREAKDOWN_OF_THE_LARGEST);
        }
        let explanation = RunExplanation {
            spikes: self.tally,
            explained,
            causes: table.causes(first),
            unexplained: table.unexplained(),
            largest: self.blames,
            cost: self.cost.finish(threads),
        };
        let SpikeTally { seen, rate_limited, stream_full, .. } = self.tally;
        let missed = LossFinding::SpikesNotRecorded { seen, rate_limited, stream_full };
        let mut findings = self.findings;
        findings.extend((rate_limited + stream_full > 0).then(|| Finding::new(missed)));
        let ring_kib = self.recording.formats.ring_kib;
        let overwritten = LossFinding::EventsOverwritten { spikes: self.overwritten, ring_kib };
        findings.extend((self.overwritten > 0).then(|| Finding::new(overwritten)));
        (explanation, self.recording, findings)
    }
}

fn thread_id(threads: &[ThreadSetup], thread: u32) -> Option<i32> {
    threads.iter().find(|setup| setup.thread == thread)?.thread_id
}

/// Explains the stored spikes with these numbers again, from their pages; all pages are passed,
/// each once.
pub fn explain_spikes<E>(
    recording: &EventCapture,
    wanted: &[u32],
    threads: &[ThreadSetup],
    in_guest: bool,
    pages: impl Iterator<Item = Result<PageRow, E>>,
) -> Result<Result<Vec<SpikeBlame>, String>, E> {
    let reader = match EventReader::new(&recording.formats) {
        Ok(reader) => reader,
        Err(reason) => return Ok(Err(reason)),
    };
    let wanted: BTreeSet<u32> = wanted.iter().copied().collect();
    let spikes = recording.spikes.iter().filter(|spike| wanted.contains(&spike.spike));
    let spikes: Vec<&RecordedSpike> = spikes.collect();
    let ranges = spikes.iter().flat_map(|spike| &spike.pages);
    let needed: HashSet<(u32, u32)> = ranges
        .flat_map(|range| (range.first..range.end).map(|number| (range.cpu, number)))
        .collect();
    let mut kept = KeptPages::default();
    for row in pages {
        let PageRow { cpu, number, page } = row?;
        if needed.contains(&(cpu, number)) {
            kept.insert(cpu, number, page);
        }
    }
    let living: HashSet<i32> = recording.formats.threads.iter().map(|one| one.id).collect();
    let blames = spikes.into_iter().map(|spike| {
        let traces: Vec<CpuTrace> = spike.pages.iter().map(|range| kept.range(range)).collect();
        let subject = Subject { thread_id: thread_id(threads, spike.thread), in_guest };
        let mut found = blame(spike, subject, &traces, &reader, &|id| living.contains(&id)).spike;
        complete_names(&mut found, &recording.formats);
        found
    });
    Ok(Ok(blames.collect()))
}

/// The same cycles with the recorder on and off, from intervals entirely within either time.
#[derive(Default)]
struct CostDigest {
    waiting: VecDeque<Interval>,
    on: CostSide,
    off: CostSide,
}

#[derive(Default)]
struct CostSide {
    latencies: Histogram,
    cpu: i64,
    length: i64,
}

impl CostDigest {
    fn push_window(&mut self, window: RecorderWindow) {
        let side = if window.on { &mut self.on } else { &mut self.off };
        side.cpu += window.cpu_ns.0;
        side.length += (window.to_ns - window.from_ns).0;
        self.waiting.retain(|interval| {
            let inside = window.from_ns <= interval.start_ns && interval.end_ns <= window.to_ns;
            // Different bins are from another version and useless here.
            let added = inside && side.latencies.add(&interval.counts).is_ok();
            !added && interval.end_ns > window.to_ns
        });
    }

    fn finish(&self, threads: &[ThreadSetup]) -> Option<RecorderCost> {
        let rate: f64 =
            threads.iter().filter_map(|thread| Some(1.0 / thread.period_ns?.0.max(1) as f64)).sum();
        let each = |side: &CostSide| {
            let cycles = side.length as f64 * rate;
            let is_known = cycles >= 1.0 && side.cpu > 0;
            is_known.then(|| Nanos((side.cpu as f64 / cycles) as i64))
        };
        Some(RecorderCost {
            on: cost_figures(&self.on.latencies)?,
            off: cost_figures(&self.off.latencies)?,
            on_cpu_ns: each(&self.on),
            off_cpu_ns: each(&self.off),
        })
    }
}

/// Their figures; `None` with too few cycles to estimate the cost.
fn cost_figures(counts: &Histogram) -> Option<PartFigures> {
    figures(counts).filter(|figures| figures.count >= ENOUGH_FOR_COST)
}
