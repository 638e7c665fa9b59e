//! What was counted of one thread: from its frames to its part of the run.

use crate::findings::missed::often_missed;
use crate::findings::{Findings, noise};
use crate::rows::{BinRow, IntervalRow, SampleRow, SpikeRow};
use latlab_model::frame::{Interval, KEPT_SPIKES, Spike};
use latlab_model::histogram::BINS;
use latlab_model::plan::Recorded;
use latlab_model::run::{
    EndReason, Finding, Noise, Severity, Summary, ThreadEnd, ThreadRun, ThreadSetup,
};
use latlab_model::samples::Samples;
use latlab_model::{Histogram, Nanos, Plan};
use latlab_stats::summary;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What was counted of one thread so far.
pub struct ThreadCounts {
    pub setup: ThreadSetup,
    /// Everything but the bins.
    pub total: Histogram,
    /// All bins, because merging sparse ones for each second of a day takes minutes.
    bins: Vec<u64>,
    spikes: BinaryHeap<Reverse<Spike>>,
    /// The interval whose last part has not been seen yet.
    interval: Option<Interval>,
    /// Where its last interval ends.
    counted_to: Nanos,
    /// The time that was taken, where the latencies are gaps.
    noise: Noise,
    /// Samples that are stored.
    samples: u64,
    /// The release that the last sample lets expect.
    sampled_to: Nanos,
    pub end: Option<ThreadEnd>,
}

/// More in one interval is no count; the limit keeps every sum of a run within its integer.
const LARGEST_COUNT: u64 = 1 << 36;

impl ThreadCounts {
    pub fn new(setup: ThreadSetup) -> ThreadCounts {
        ThreadCounts {
            total: Histogram::default(),
            bins: vec![0; BINS],
            spikes: BinaryHeap::new(),
            interval: None,
            counted_to: Nanos(i64::MIN),
            noise: Noise::default(),
            samples: 0,
            sampled_to: setup.first_release_ns,
            setup,
            end: None,
        }
    }

    /// Where its last interval ends, if there was one.
    pub fn counted_to(&self) -> Option<Nanos> {
        Some(self.counted_to).filter(|&end| end > Nanos(i64::MIN))
    }

    /// Counts a part of an interval; gives back the interval that is whole now.
    pub fn count(
        &mut self,
        interval: Interval,
        plan: &Plan,
        findings: &mut Findings,
    ) -> Option<IntervalRow> {
        if let Err(reason) = check(&interval).and_then(|()| self.check_order(&interval, plan)) {
            let text = format!("An interval was left out, because {reason}.");
            let finding = Finding::new("interval-unsound", Severity::Error, text);
            let finding = finding.at(interval.start_ns).of_thread(interval.thread);
            findings.push(finding.invalidates());
            return None;
        }
        findings.extend(self.gap_before(interval.start_ns, plan));
        for &(bin, count) in &interval.counts.bins {
            self.bins[usize::from(bin)] += count;
        }
        let without_bins = Histogram { bins: Vec::new(), ..interval.counts };
        self.total.add(&without_bins);
        self.counted_to = interval.end_ns;
        let interval = Interval {
            counts: Histogram { bins: interval.counts.bins, ..without_bins },
            ..interval
        };
        self.join(interval, plan)
    }

    /// The interval whose last part was the last of all.
    pub fn last_interval(&mut self) -> Option<IntervalRow> {
        let interval = self.interval.take()?;
        Some(self.row(&interval))
    }

    /// The row of an interval that is whole.
    fn row(&mut self, whole: &Interval) -> IntervalRow {
        self.noise.add(noise_of(whole));
        IntervalRow::new(whole, self.setup.cpu)
    }

    /// Time in which the thread looked for gaps: not while it slept of its own will.
    pub fn watched(&self) -> Nanos {
        let spun = self.end.as_ref().and_then(|end| end.spun.as_ref());
        self.noise.of_ns - spun.map_or(Nanos::ZERO, |spun| spun.rested_ns)
    }

    /// The rows of a frame of samples; one that is missing matters less where they were only sent
    /// for the legs.
    pub fn sample(
        &mut self,
        samples: &Samples,
        asked_for: bool,
        findings: &mut Findings,
    ) -> Option<Vec<SampleRow>> {
        let finding = |text: String| {
            let severity = if asked_for { Severity::Error } else { Severity::Warning };
            let finding = Finding::new("samples-lost", severity, text);
            let finding = finding.at(samples.first_release_ns).of_thread(samples.thread);
            if asked_for { finding.invalidates() } else { finding }
        };
        let read = match samples.unpack() {
            Ok(read) => read,
            Err(error) => {
                findings.push(finding(format!("A frame was left out, because {error}.")));
                return None;
            }
        };
        if samples.lost_before > 0 {
            let (lost, span) = (samples.lost_before, samples.first_release_ns - self.sampled_to);
            let text = format!(
                "{lost} samples were lost in the {span} before this, because the stream was not \
                 taken in time; the histogram holds them all."
            );
            let remedy =
                "Let --out name a faster disk, or measure fewer threads or a longer period.";
            findings.push(finding(text).remedy(remedy));
        }
        self.samples += read.len() as u64;
        self.sampled_to = read.last()?.release_ns + samples.period_ns;
        let ThreadSetup { thread, cpu, .. } = self.setup;
        Some(read.into_iter().map(|sample| SampleRow { thread, cpu, sample }).collect())
    }

    /// Whether any sample of it came.
    pub fn has_samples(&self) -> bool {
        self.samples > 0
    }

    /// Keeps a spike as long as it is among the largest.
    pub fn keep_spike(&mut self, spike: Spike) {
        self.spikes.push(Reverse(spike));
        if self.spikes.len() > KEPT_SPIKES {
            self.spikes.pop();
        }
    }

    /// Cycles of which no sample came: of those that the thread says it ran, or else of those that
    /// were counted.
    pub fn samples_missing(&self) -> u64 {
        let cycles = self.end.as_ref().map_or(self.total.count, |end| end.cycles);
        cycles.saturating_sub(self.samples)
    }

    /// A stream that broke off has its last samples a moment before or after its last interval.
    fn without_sample(&self) -> Option<Finding> {
        let missing = self.samples_missing();
        let text = format!("{missing} cycles of the thread have no row in samples.parquet.");
        match (missing, &self.end) {
            (0, _) => None,
            (_, None) => Some(Finding::new("samples-missing", Severity::Warning, text)),
            (_, Some(_)) => {
                Some(Finding::new("samples-missing", Severity::Error, text).invalidates())
            }
        }
    }

    /// Puts the part of an interval to those before it; gives back the interval that is whole now.
    fn join(&mut self, part: Interval, plan: &Plan) -> Option<IntervalRow> {
        let number = |start| plan.interval_of(self.setup.first_release_ns, start);
        match &mut self.interval {
            Some(whole) if number(whole.start_ns) == number(part.start_ns) => {
                whole.end_ns = part.end_ns;
                whole.counts.add(&part.counts);
                None
            }
            whole => whole.replace(part).map(|whole| self.row(&whole)),
        }
    }

    /// What was counted once is not counted again; the times of other clocks may jump.
    fn check_order(&self, interval: &Interval, plan: &Plan) -> Result<(), &'static str> {
        match !plan.method.clock_can_be_set() && interval.start_ns < self.counted_to {
            true => Err("it begins before the end of the one before it"),
            false => Ok(()),
        }
    }

    /// Intervals follow each other without a gap, unless frames between them were lost; the times
    /// of other clocks may jump.
    fn gap_before(&self, start: Nanos, plan: &Plan) -> Option<Finding> {
        let gap = start - self.counted_to.max(self.setup.first_release_ns);
        (!plan.method.clock_can_be_set() && gap > Nanos::ZERO).then(|| {
            let text = format!("The counts of the {gap} before this are lost.");
            let finding = Finding::new("interval-lost", Severity::Error, text).at(start);
            finding.of_thread(self.setup.thread).invalidates()
        })
    }

    /// Puts the bins where a histogram has them.
    pub fn with_bins(mut self) -> ThreadCounts {
        let bins = std::mem::take(&mut self.bins).into_iter().enumerate();
        self.total.bins =
            bins.filter(|(_, count)| *count > 0).map(|(bin, count)| (bin as u16, count)).collect();
        self
    }

    /// Latencies whose interval never came, because the stream broke off before its end.
    pub fn uncounted(&self) -> impl Iterator<Item = Nanos> + '_ {
        let spikes = self.spikes.iter().map(|spike| spike.0).filter(|_| self.end.is_none());
        let late = spikes.filter(|spike| spike.release_ns >= self.counted_to);
        late.map(|spike| spike.latency_ns)
    }

    /// Release of the observed maximum, where it is among the spikes.
    fn max_at(&self) -> Option<Nanos> {
        let spikes = self.spikes.iter().map(|spike| spike.0);
        let largest = spikes.filter(|spike| spike.latency_ns == self.total.max_ns);
        largest.map(|spike| spike.release_ns).min()
    }

    pub fn run(&self, plan: &Plan) -> ThreadRun {
        ThreadRun {
            setup: self.setup.clone(),
            summary: Summary {
                noise: (plan.method.records() == Recorded::Gap).then_some(self.noise),
                ..self.due(summary(plan, &self.total, self.max_at()))
            },
            end: self.end.clone(),
        }
    }

    /// Each stimulus is due an answer, also one that got none.
    fn due(&self, summary: Summary) -> Summary {
        let responded = self.end.as_ref().and_then(|end| end.responded.as_ref());
        let stimuli = responded.map_or(summary.activations, |responses| responses.stimuli);
        Summary { activations: stimuli, ..summary }
    }

    pub fn bin_rows(&self) -> Vec<BinRow> {
        let (thread, cpu) = (self.setup.thread, self.setup.cpu);
        self.total.rows().into_iter().map(|bin| BinRow { thread, cpu, bin }).collect()
    }

    pub fn spike_rows(&self) -> Vec<SpikeRow> {
        let (thread, cpu) = (self.setup.thread, self.setup.cpu);
        let mut spikes: Vec<Spike> = self.spikes.iter().map(|spike| spike.0).collect();
        spikes.sort_by_key(|spike| (spike.release_ns, spike.latency_ns));
        spikes.into_iter().map(|spike| SpikeRow { thread, cpu, spike, legs: None }).collect()
    }

    pub fn findings(&self, plan: &Plan, faults_invalidate: bool) -> Vec<Finding> {
        let underflow = self.total.underflow;
        let negative = (underflow > 0).then(|| {
            let text = format!(
                "{underflow} latencies are below zero, down to {}: the clock is not one that \
                 times can be taken with.",
                self.total.min_ns
            );
            Finding::new("negative-latency", Severity::Error, text).invalidates()
        });
        let last_words = self.end.iter().flat_map(|end| self.last_words(end, faults_invalidate));
        let thread = self.setup.thread;
        let without_sample = self.without_sample().filter(|_| plan.samples);
        negative
            .into_iter()
            .chain(without_sample)
            .chain(often_missed(plan, &self.run(plan).summary, self.setup.period_ns))
            .chain(last_words)
            .chain(self.end.iter().flat_map(|end| noise::findings(end, self.noise.of_ns)))
            .map(|finding| finding.of_thread(thread))
            .collect()
    }

    fn last_words(&self, end: &ThreadEnd, faults_invalidate: bool) -> Vec<Finding> {
        [
            ended_early(end.reason),
            differs("cycles", end.cycles, self.total.count),
            differs("missed releases", end.missed, self.total.missed),
            page_faults(end.page_faults, faults_invalidate),
            spikes_lost(end.spikes_lost),
            intervals_grown(end.intervals_grown),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// What was taken in an interval; one that was cut short tells nothing of the worst.
fn noise_of(interval: &Interval) -> Noise {
    let (of_ns, taken) = (interval.end_ns - interval.start_ns, interval.counts.sum_ns);
    let sum_ns = Nanos(i64::try_from(taken).unwrap_or(i64::MAX));
    let noise = Noise { sum_ns, of_ns, worst_share: 0.0 };
    Noise { worst_share: if of_ns < LEAST_OF_WORST { 0.0 } else { noise.share() }, ..noise }
}

/// A shorter stretch is no interval but the rest of one.
const LEAST_OF_WORST: Nanos = Nanos(90_000_000);

/// Whether the counts of an interval fit each other, so that sums of them can be trusted.
fn check(interval: &Interval) -> Result<(), &'static str> {
    let counts = &interval.counts;
    let largest = [counts.count, counts.missed, counts.misses].into_iter().max().unwrap_or(0);
    let known_bins = counts.bins.iter().all(|(bin, _)| usize::from(*bin) < BINS);
    let rising = counts.bins.windows(2).all(|pair| pair[0].0 < pair[1].0);
    let binned =
        counts.bins.iter().try_fold(counts.underflow, |sum, (_, count)| sum.checked_add(*count));
    let times = i128::from(counts.count);
    let possible = i128::from(counts.min_ns.0) * times..=i128::from(counts.max_ns.0) * times;
    match () {
        () if interval.end_ns < interval.start_ns => Err("it ends before it begins"),
        () if largest > LARGEST_COUNT => Err("a count is impossible"),
        () if !known_bins || !rising => Err("its bins are not in order"),
        () if binned != Some(counts.count) => Err("its bins do not add up to its cycles"),
        () if !possible.contains(&counts.sum_ns) => Err("its sum does not fit its extremes"),
        () => Ok(()),
    }
}

fn ended_early(reason: EndReason) -> Option<Finding> {
    let (text, invalidates) = match reason {
        EndReason::Finished | EndReason::Interrupted | EndReason::StopAbove => return None,
        EndReason::CpuOffline => ("The thread's CPU was taken offline during the run.", false),
        EndReason::RanAway => {
            ("The thread ran for seconds without sleeping; it was stopped.", false)
        }
        EndReason::RecorderFull => ("The recorder of the thread could take no more.", true),
        EndReason::Failed => ("A system call of the measuring loop failed.", true),
        EndReason::Lost => ("The thread was lost before the end of the run.", true),
    };
    let finding = Finding::new("thread-ended-early", Severity::Error, text);
    Some(if invalidates { finding.invalidates() } else { finding })
}

fn differs(what: &str, by_loop: u64, by_intervals: u64) -> Option<Finding> {
    (by_loop != by_intervals).then(|| {
        let text = format!(
            "The loop counted {by_loop} {what}, but the intervals hold {by_intervals}: data was \
             lost on the way."
        );
        Finding::new("counts-differ", Severity::Error, text).invalidates()
    })
}

fn page_faults(faults: u64, invalidates: bool) -> Option<Finding> {
    let text = format!("{faults} page faults happened in the measuring loop.");
    match (faults, invalidates) {
        (0, _) => None,
        (_, false) => Some(Finding::new("page-faults", Severity::Warning, text)),
        (_, true) => {
            let finding = Finding::new("page-faults", Severity::Error, text).invalidates();
            Some(finding.remedy("Let the program lock its memory: raise RLIMIT_MEMLOCK."))
        }
    }
}

fn spikes_lost(lost: u64) -> Option<Finding> {
    let text = format!(
        "The times of {lost} large latencies were lost, because they came faster than they could \
         be taken away; the histogram holds them all."
    );
    (lost > 0).then(|| Finding::new("spikes-lost", Severity::Warning, text))
}

fn intervals_grown(grown: u64) -> Option<Finding> {
    let text = format!(
        "An interval grew {grown} times, because nobody took the one before it away; no count is \
         lost by it."
    );
    (grown > 0).then(|| Finding::new("intervals-grown", Severity::Info, text))
}
