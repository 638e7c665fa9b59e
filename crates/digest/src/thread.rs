//! The counts of one thread: from its frames to its part of the run.

use crate::bins::BinCounts;
use crate::edges::figures;
use crate::findings::overruns::frequent_overruns;
use crate::findings::{FindingList, noise, responses};
use crate::rows::{BinRow, IntervalRow, SampleRow, SpikeRow};
use latlab_model::finding::{EndFinding, Finding, IntervalFlaw, LossFinding, MachineFinding};
use latlab_model::frame::{Interval, KEPT_SPIKES, Spike};
use latlab_model::plan::Recorded;
use latlab_model::respond::Responses;
use latlab_model::run::{EndReason, Noise, Summary, ThreadEnd, ThreadRun, ThreadSetup};
use latlab_model::samples::{Sample, Samples, Unreadable};
use latlab_model::{Histogram, Nanos, Plan};
use latlab_stats::summary;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The counts of one thread so far.
pub struct ThreadCounts {
    pub setup: ThreadSetup,
    /// Everything but the bins.
    pub total: Histogram,
    bins: BinCounts,
    spikes: BinaryHeap<Reverse<Spike>>,
    /// The interval whose last part has not been seen yet.
    interval: Option<Interval>,
    early: EarlyMaximum,
    /// End of its last interval.
    counted_to: Nanos,
    /// The time taken away, if the latencies are gaps.
    noise: Noise,
    /// Number of stored samples.
    samples: u64,
    /// The release expected after the last sample.
    sampled_to: Nanos,
    /// Outcome of its edges, and how many were answered, until it ends.
    pub answered: Option<(Responses, u64)>,
    pub end: Option<ThreadEnd>,
    /// All latencies, if their figures are more exact than the bins.
    exact: Option<Vec<i64>>,
}

impl ThreadCounts {
    pub fn new(setup: ThreadSetup) -> ThreadCounts {
        ThreadCounts {
            total: Histogram::default(),
            bins: BinCounts::default(),
            spikes: BinaryHeap::new(),
            interval: None,
            early: EarlyMaximum::default(),
            counted_to: Nanos(i64::MIN),
            noise: Noise::default(),
            samples: 0,
            sampled_to: setup.first_release_ns,
            setup,
            answered: None,
            end: None,
            exact: None,
        }
    }

    /// Keeps all latencies from samples.
    pub fn with_exact_figures(self) -> ThreadCounts {
        ThreadCounts { exact: Some(Vec::new()), ..self }
    }

    /// End of its last interval, if any.
    pub fn counted_to(&self) -> Option<Nanos> {
        Some(self.counted_to).filter(|&end| end > Nanos(i64::MIN))
    }

    /// Counts a part of an interval; returns the interval that is complete now.
    pub fn add_interval(
        &mut self,
        mut interval: Interval,
        plan: &Plan,
        findings: &mut FindingList,
    ) -> Option<IntervalRow> {
        let sound = check(&interval)
            .and_then(|()| self.check_order(&interval, plan))
            .and_then(|()| self.check_edges(&interval));
        if let Err(flaw) = sound {
            let finding = Finding::new(LossFinding::IntervalUnsound { flaw });
            findings.push(finding.at(interval.start_ns).of_thread(interval.thread));
            return None;
        }
        findings.extend(self.gap_before(interval.start_ns, plan));
        let bins = std::mem::take(&mut interval.counts.bins);
        bins.iter().for_each(|&(bin, count)| self.bins.add(bin, count));
        self.total.add(&interval.counts).expect("the edges were compared");
        interval.counts.bins = bins;
        self.counted_to = interval.end_ns;
        self.join(interval, plan)
    }

    /// The interval that the end of the stream completes.
    pub fn last_interval(&mut self) -> Option<IntervalRow> {
        let interval = self.interval.take()?;
        Some(self.row(&interval))
    }

    /// The row of a complete interval.
    fn row(&mut self, whole: &Interval) -> IntervalRow {
        self.noise.add(noise_of(whole));
        self.early.add(whole);
        IntervalRow::new(whole, self.setup.cpu)
    }

    /// Time in which the thread looked for gaps: without its own sleeps.
    pub fn observed_time(&self) -> Nanos {
        let spun = self.end.as_ref().and_then(|end| end.spun.as_ref());
        self.noise.of_ns - spun.map_or(Nanos::ZERO, |spun| spun.rested_ns)
    }

    /// The rows of a frame of samples; a missing one matters less if they were only sent for the
    /// breakdown.
    pub fn add_samples(
        &mut self,
        samples: &Samples,
        read: Result<Vec<Sample>, Unreadable>,
        asked_for: bool,
        findings: &mut FindingList,
    ) -> Option<Vec<SampleRow>> {
        let finding = |count, within_ns, damage| {
            let lost = LossFinding::SamplesLost { count, within_ns, damage, asked_for };
            Finding::new(lost).at(samples.first_release_ns).of_thread(samples.thread)
        };
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                findings.push(finding(None, None, Some(error.to_string())));
                return None;
            }
        };
        if samples.lost_before > 0 {
            let within = samples.first_release_ns - self.sampled_to;
            findings.push(finding(Some(samples.lost_before), Some(within), None));
        }
        self.samples += read.len() as u64;
        let latencies = read.iter().map(|sample| sample.latency_ps());
        self.exact.iter_mut().for_each(|exact| exact.extend(latencies.clone()));
        self.sampled_to = read.last()?.release_ns + samples.period_ns;
        let ThreadSetup { thread, cpu, .. } = self.setup;
        Some(read.into_iter().map(|sample| SampleRow { thread, cpu, sample }).collect())
    }

    pub fn has_samples(&self) -> bool {
        self.samples > 0
    }

    /// Keeps a spike as long as it is among the largest.
    pub fn add_spike(&mut self, spike: Spike) {
        self.spikes.push(Reverse(spike));
        if self.spikes.len() > KEPT_SPIKES {
            self.spikes.pop();
        }
    }

    /// Cycles without a sample: of those that the thread reports, or else of those counted.
    pub fn samples_missing(&self) -> u64 {
        let cycles = self.end.as_ref().map_or(self.total.count, |end| end.cycles);
        cycles.saturating_sub(self.samples)
    }

    /// In a stream that broke off, the last samples may be slightly before or after the last
    /// interval.
    fn without_sample(&self) -> Option<Finding> {
        let (count, cut_off) = (self.samples_missing(), self.end.is_none());
        (count > 0).then(|| Finding::new(LossFinding::SamplesMissing { count, cut_off }))
    }

    /// Joins the part of an interval with those before it; returns the interval that is complete
    /// now.
    fn join(&mut self, part: Interval, plan: &Plan) -> Option<IntervalRow> {
        let number = |start| plan.interval_of(self.setup.first_release_ns, start);
        // The slices of a file have no times, or arbitrary lengths.
        let is_whole = plan.method.is_import();
        match &mut self.interval {
            Some(whole) if !is_whole && number(whole.start_ns) == number(part.start_ns) => {
                whole.end_ns = part.end_ns;
                whole.counts.add(&part.counts).expect("the edges were compared");
                None
            }
            whole => whole.replace(part).map(|whole| self.row(&whole)),
        }
    }

    /// Nothing is counted twice; the times of other clocks may jump.
    fn check_order(&self, interval: &Interval, plan: &Plan) -> Result<(), IntervalFlaw> {
        match !plan.method.clock_can_be_set() && interval.start_ns < self.counted_to {
            true => Err(IntervalFlaw::Overlaps),
            false => Ok(()),
        }
    }

    /// Bins of different edges cannot be added.
    fn check_edges(&self, interval: &Interval) -> Result<(), IntervalFlaw> {
        let counts = &interval.counts;
        let both = self.total.count > 0 && counts.count > 0;
        match both && counts.layout != self.total.layout {
            true => Err(IntervalFlaw::OtherEdges),
            false => Ok(()),
        }
    }

    /// Intervals follow each other without a gap, unless frames between them were lost; the times
    /// of other clocks may jump.
    fn gap_before(&self, start: Nanos, plan: &Plan) -> Option<Finding> {
        let gap = start - self.counted_to.max(self.setup.first_release_ns);
        (!plan.method.clock_can_be_set() && gap > Nanos::ZERO).then(|| {
            let finding = Finding::new(LossFinding::IntervalLost { length_ns: gap });
            finding.at(start).of_thread(self.setup.thread)
        })
    }

    /// Moves the bins into the histogram.
    pub fn with_bins(mut self) -> ThreadCounts {
        self.total.bins = self.bins.take();
        let responded = self.end.as_mut().and_then(|end| end.responded.as_mut());
        if let Some((responded, exact)) = responded.zip(self.exact.take()) {
            responded.figures = figures(exact);
        }
        self
    }

    /// Latencies whose interval never came, because the stream broke off.
    pub fn uncounted_spikes(&self) -> impl Iterator<Item = Nanos> + '_ {
        let spikes = self.spikes.iter().map(|spike| spike.0).filter(|_| self.end.is_none());
        let late = spikes.filter(|spike| spike.release_ns >= self.counted_to);
        late.map(|spike| spike.latency_ns)
    }

    /// Release of the observed maximum, if it is among the spikes.
    fn max_at(&self) -> Option<Nanos> {
        let spikes = self.spikes.iter().map(|spike| spike.0);
        let largest = spikes.filter(|spike| Some(spike.latency_ns) == self.total.max());
        largest.map(|spike| spike.release_ns).min()
    }

    pub fn run(&self, plan: &Plan) -> ThreadRun {
        ThreadRun {
            setup: self.setup.clone(),
            summary: Summary {
                noise: (plan.method.records() == Recorded::Gap).then_some(self.noise),
                ..self.with_due_releases(summary(plan, &self.total, self.max_at()))
            },
            end: self.end.clone(),
        }
    }

    /// Each stimulus is due an answer, including those that got none.
    fn with_due_releases(&self, summary: Summary) -> Summary {
        let responded = self.end.as_ref().and_then(|end| end.responded.as_ref());
        let stimuli = responded.map_or(summary.releases, |responses| responses.stimuli);
        Summary { releases: stimuli, ..summary }
    }

    pub fn bin_rows(&self) -> Vec<BinRow> {
        let (thread, cpu) = (self.setup.thread, self.setup.cpu);
        self.total.rows().into_iter().map(|bin| BinRow { thread, cpu, bin }).collect()
    }

    pub fn spike_rows(&self) -> Vec<SpikeRow> {
        let (thread, cpu) = (self.setup.thread, self.setup.cpu);
        let mut spikes: Vec<Spike> = self.spikes.iter().map(|spike| spike.0).collect();
        spikes.sort_by_key(|spike| (spike.release_ns, spike.latency_ns));
        spikes.into_iter().map(|spike| SpikeRow { thread, cpu, spike, breakdown: None }).collect()
    }

    pub fn findings(&self, plan: &Plan, lock_refused: bool) -> Vec<Finding> {
        let underflow = self.total.underflow;
        let negative = (underflow > 0).then(|| {
            let min_ns = self.total.min_ns;
            Finding::new(MachineFinding::NegativeLatency { count: underflow, min_ns })
        });
        let last_words = self.end.iter().flat_map(|end| self.end_findings(end, lock_refused));
        let is_measured = plan.until.warm_up_ns.is_some_and(|_| plan.method.attach().is_none());
        let thread = self.setup.thread;
        let without_sample = self.without_sample().filter(|_| plan.keep.samples);
        negative
            .into_iter()
            .chain(without_sample)
            .chain(frequent_overruns(plan, &self.run(plan).summary, self.setup.period_ns))
            .chain(self.early.finding().filter(|_| is_measured))
            .chain(last_words)
            .chain(self.end.iter().flat_map(|end| noise::findings(end, self.noise.of_ns)))
            .map(|finding| finding.of_thread(thread))
            .collect()
    }

    /// The outcome of its stimuli, if it answered any.
    pub fn response_findings(&self, plan: &Plan) -> Vec<Finding> {
        let end = self.end.as_ref();
        let responded = end.and_then(|end| Some((end.responded.as_ref()?, end.cycles)));
        responded.map_or(Vec::new(), |(one, answered)| responses::findings(one, answered, plan))
    }

    fn end_findings(&self, end: &ThreadEnd, lock_refused: bool) -> Vec<Finding> {
        [
            ended_early(end.reason),
            count_mismatch("cycles", end.cycles, self.total.count),
            count_mismatch("overruns", end.overruns, self.total.overruns),
            page_faults(end.page_faults, lock_refused),
            spikes_lost(end.spikes_lost),
            intervals_grown(end.intervals_grown),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// The maxima of a thread's first interval and of all later ones.
#[derive(Default)]
struct EarlyMaximum {
    /// Length and maximum of the first interval.
    first: Option<(Nanos, Nanos)>,
    later_max_ns: Nanos,
    later_ns: Nanos,
}

impl EarlyMaximum {
    /// In one of this many runs of equal intervals the maximum is in the first by chance.
    const ENOUGH: i64 = 20;

    fn add(&mut self, whole: &Interval) {
        let (length, max) = (whole.end_ns - whole.start_ns, whole.counts.max());
        if self.first.is_none() {
            self.first = Some((length, max.unwrap_or_default()));
            return;
        }
        // A larger maximum of unknown size is later than the known one.
        let unknown = if whole.counts.count > 0 { Nanos::MAX } else { Nanos::ZERO };
        self.later_max_ns = self.later_max_ns.max(max.unwrap_or(unknown));
        self.later_ns += length;
    }

    fn finding(&self) -> Option<Finding> {
        let ((within_ns, max_ns), later_max_ns, later_ns) =
            (self.first?, self.later_max_ns, self.later_ns);
        let is_early = later_ns >= within_ns * Self::ENOUGH && max_ns.0 / 2 > later_max_ns.0;
        is_early.then(|| {
            Finding::new(MachineFinding::EarlyMaximum { max_ns, within_ns, later_max_ns, later_ns })
        })
    }
}

/// What was taken away in an interval; one that was cut short is not used for the worst.
fn noise_of(interval: &Interval) -> Noise {
    let (of_ns, taken) = (interval.end_ns - interval.start_ns, interval.counts.sum_ns);
    let sum_ns = Nanos(i64::try_from(taken).unwrap_or(i64::MAX));
    let noise = Noise { sum_ns, of_ns, worst_share: 0.0 };
    Noise { worst_share: if of_ns < LEAST_OF_WORST { 0.0 } else { noise.share() }, ..noise }
}

/// A shorter one is only the rest of an interval.
const LEAST_OF_WORST: Nanos = Nanos(90_000_000);

/// Whether the counts of an interval are consistent, so that their sums can be trusted.
fn check(interval: &Interval) -> Result<(), IntervalFlaw> {
    let counts = &interval.counts;
    if interval.end_ns < interval.start_ns {
        return Err(IntervalFlaw::EndsBeforeItBegins);
    }
    counts.check()?;
    let times = i128::from(counts.summed());
    let largest = if counts.overflow.max_is_unknown { Nanos::MAX } else { counts.max_ns };
    let possible = i128::from(counts.min_ns.0) * times..=i128::from(largest.0) * times;
    match possible.contains(&counts.sum_ns) {
        true => Ok(()),
        false => Err(IntervalFlaw::ImpossibleSum),
    }
}

fn ended_early(reason: EndReason) -> Option<Finding> {
    use EndReason::{Finished, Interrupted, StopAbove};
    (!matches!(reason, Finished | Interrupted | StopAbove))
        .then(|| Finding::new(EndFinding::ThreadEndedEarly { reason }))
}

fn count_mismatch(what: &str, by_thread: u64, by_intervals: u64) -> Option<Finding> {
    let what = what.to_string();
    (by_thread != by_intervals)
        .then(|| Finding::new(LossFinding::CountsDiffer { what, by_thread, by_intervals }))
}

fn page_faults(count: u64, lock_refused: bool) -> Option<Finding> {
    (count > 0).then(|| Finding::new(MachineFinding::PageFaults { count, lock_refused }))
}

fn spikes_lost(count: u64) -> Option<Finding> {
    (count > 0).then(|| Finding::new(LossFinding::SpikesLost { count }))
}

fn intervals_grown(count: u64) -> Option<Finding> {
    (count > 0).then(|| Finding::new(LossFinding::IntervalsGrown { count }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::nanos::SECOND;

    fn early(maxima: &[i64]) -> Option<Finding> {
        let mut early = EarlyMaximum::default();
        for (start, max) in (0..).zip(maxima) {
            let counts = Histogram { count: 1, max_ns: Nanos(*max), ..Histogram::default() };
            let (start_ns, end_ns) = (SECOND * start, SECOND * (start + 1));
            early.add(&Interval { thread: 0, start_ns, end_ns, counts });
        }
        early.finding()
    }

    #[test]
    fn a_maximum_at_the_start_is_reported_if_the_rest_is_long_and_far_below() {
        let mut maxima = [40_000; 21];
        assert_eq!(early(&maxima), None, "all alike");
        maxima[0] = 100_000;
        let found = MachineFinding::EarlyMaximum {
            max_ns: Nanos(100_000),
            within_ns: SECOND,
            later_max_ns: Nanos(40_000),
            later_ns: SECOND * 20,
        };
        assert_eq!(early(&maxima), Some(Finding::new(found)));
        assert_eq!(early(&maxima[..20]), None, "by chance in one run of 20");
        maxima[7] = 60_000;
        assert_eq!(early(&maxima), None, "not far below");
    }
}
