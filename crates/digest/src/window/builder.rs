//! From the samples of a window to its figures.

use super::counts::SampleCounts;
use crate::edges::figures;
use crate::wall::WallClock;
use crate::window::{LargeLatency, Window, WindowThread};
use latlab_model::run::{Severity, Summary, ThreadRun};
use latlab_model::samples::Sample;
use latlab_model::{Histogram, Nanos, Run};
use latlab_stats::summary;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

/// Latencies that a window lists individually.
const LARGEST: usize = 10;

/// Consecutive samples of one thread.
#[derive(Clone, PartialEq, Debug)]
pub struct SampleBlock {
    pub thread: u32,
    /// The last sample before the window, if the window starts in this block: overruns after it may
    /// lie within.
    pub before: Option<Sample>,
    /// The samples within the window.
    pub samples: Vec<Sample>,
    /// Release of the thread's next sample; `None` after its last.
    pub next: Option<Nanos>,
}

/// Takes the samples of a window of a run, by time for each thread.
pub struct WindowBuilder<'a> {
    run: &'a Run,
    within: Range<Nanos>,
    threads: BTreeMap<u32, SampleCounts>,
    largest: Largest,
    /// All responses of a responder, in picoseconds.
    responses: Option<Vec<i64>>,
}

impl<'a> WindowBuilder<'a> {
    /// A window of this run, on CLOCK_MONOTONIC.
    pub fn new(run: &'a Run, within: Range<Nanos>) -> WindowBuilder<'a> {
        let setups = run.threads.iter().map(|thread| &thread.setup);
        let counts = |setup| SampleCounts::new(&run.asked, setup, within.clone());
        let threads = setups.map(|setup| (setup.thread, counts(setup))).collect();
        let responses = run.asked.method.is_response().then(Vec::new);
        WindowBuilder { run, within, threads, largest: Largest::default(), responses }
    }

    pub fn push(&mut self, block: &SampleBlock) {
        let Some(counts) = self.threads.get_mut(&block.thread) else { return };
        count(block, counts);
        block.samples.iter().for_each(|sample| self.largest.push(block.thread, *sample));
        let responses = block.samples.iter().map(|sample| sample.latency_ps());
        self.responses.iter_mut().for_each(|all| all.extend(responses.clone()));
    }

    pub fn finish(mut self, wall: &WallClock) -> Window {
        let largest = std::mem::take(&mut self.largest).sorted().into_iter();
        let largest = largest.map(|(thread, sample)| LargeLatency {
            time: wall.utc(sample.release_ns, 6),
            thread,
            cpu: self.cpu(thread),
            release_ns: sample.release_ns,
            latency_ns: sample.latency_ns,
            latency_ps: sample.rest_ps.map(|_| sample.latency_ps()),
        });
        let largest = largest.collect();
        let (run, Range { start, end }) = (self.run.id.clone(), self.within.clone());
        let responses = self.responses.take().map(figures);
        let (threads, total) = self.summaries();
        Window {
            run,
            from_ns: start,
            to_ns: end,
            from: wall.utc(start, 6),
            to: wall.utc(end, 6),
            threads,
            total,
            responses,
            largest,
        }
    }

    fn summaries(mut self) -> (Vec<WindowThread>, Summary) {
        let (mut all, mut of_max) = (Histogram::default(), Vec::new());
        let mut threads = Vec::new();
        for ThreadRun { setup, summary: of_run, .. } in &self.run.threads {
            let Some(counts) = self.threads.remove(&setup.thread) else { continue };
            let (counts, max_at) = counts.finish();
            all.add(&counts).expect("samples are counted in latlab's own bins");
            of_max.extend(max_at.map(|at| (counts.max_ns, at)));
            let summary = summary(&self.run.asked, &counts, max_at);
            let summary = Summary { max_is_at_least: of_run.max_is_at_least, ..summary };
            let summary = known(summary, !lost_samples(self.run, Some(setup.thread)));
            threads.push(WindowThread { thread: setup.thread, cpu: setup.cpu, summary });
        }
        let max_at = of_max.iter().filter(|(max, _)| *max == all.max_ns).map(|(_, at)| *at).min();
        // What the run lacks may have been at any time.
        let max_is_at_least = self.run.total.max_is_at_least;
        let total = Summary { max_is_at_least, ..summary(&self.run.asked, &all, max_at) };
        (threads, known(total, !lost_samples(self.run, None)))
    }

    fn cpu(&self, thread: u32) -> Option<u32> {
        self.run.threads.iter().find(|one| one.setup.thread == thread)?.setup.cpu
    }
}

fn count(block: &SampleBlock, counts: &mut SampleCounts) {
    let SampleBlock { before, samples, next, .. } = block;
    let follows = |index: usize| samples.get(index).map(|sample| sample.release_ns).or(*next);
    if let Some(before) = before {
        counts.count_behind(*before, follows(0));
    }
    for (index, sample) in samples.iter().enumerate() {
        counts.count(*sample, follows(index + 1));
    }
}

/// A gap between samples shows overruns only if no sample was lost.
fn known(summary: Summary, known: bool) -> Summary {
    match known {
        true => summary,
        false => Summary { overruns: None, misses: None, releases: summary.cycles, ..summary },
    }
}

/// Whether samples of this thread were lost, or of any.
fn lost_samples(run: &Run, thread: Option<u32>) -> bool {
    run.findings.iter().any(|finding| {
        let of_thread = finding.thread.is_none() || thread.is_none() || finding.thread == thread;
        let lost = match finding.code() {
            "samples-lost" | "journal-damaged" => finding.invalidates(),
            // The last moment of a stream that broke off is not a gap.
            "samples-missing" => finding.severity() == Severity::Error,
            _ => false,
        };
        lost && of_thread
    })
}

/// Sort key of latency, release and thread: largest latency first, and among equal ones the
/// earliest.
type Ranked = Reverse<(Nanos, Option<i16>, Reverse<Nanos>, Reverse<u32>)>;

/// The largest latencies so far.
#[derive(Default)]
struct Largest(BinaryHeap<Ranked>);

impl Largest {
    fn push(&mut self, thread: u32, sample: Sample) {
        let Sample { release_ns, latency_ns, rest_ps } = sample;
        let this = Reverse((latency_ns, rest_ps, Reverse(release_ns), Reverse(thread)));
        if self.0.len() < LARGEST {
            self.0.push(this);
        } else if let Some(mut least) = self.0.peek_mut()
            && this < *least
        {
            *least = this;
        }
    }

    fn sorted(self) -> Vec<(u32, Sample)> {
        let sorted = self.0.into_sorted_vec().into_iter();
        sorted
            .map(|Reverse((latency_ns, rest_ps, Reverse(release_ns), Reverse(thread)))| {
                (thread, Sample { release_ns, latency_ns, rest_ps })
            })
            .collect()
    }
}
