//! From the messages of a stream to a run and the rows of its tables; no file, no clock.

use crate::clocks::ClockWatch;
use crate::findings::Findings;
use crate::id;
use crate::tables::{BinRow, IntervalRow, SampleRow, SpikeRow};
use jiff::Timestamp;
use latlab_model::frame::{
    Damage, Hello, Interval, KEPT_SPIKES, Message, STREAM_VERSION, Spike, Spikes,
};
use latlab_model::histogram::BINS;
use latlab_model::machine::Machine;
use latlab_model::plan::{ClockName, Mechanism};
use latlab_model::run::{
    Clocks, End, EndReason, Finding, Losses, Prepared, SCHEMA_VERSION, Setting, Severity, Summary,
    ThreadEnd, ThreadRun, ThreadSetup,
};
use latlab_model::samples::Samples;
use latlab_model::{Histogram, Nanos, Plan, Run};
use latlab_stats::{Evidence, judge, stroboscope, summary};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// More in one interval is no count; the limit keeps every sum of a run within its integer.
const LARGEST_COUNT: u64 = 1 << 36;

/// A row that can be stored as soon as it was read.
#[derive(Clone, PartialEq, Debug)]
pub enum StreamedRow {
    /// Of `intervals.parquet`.
    Interval(IntervalRow),
    /// Of `clocks.parquet`.
    Clocks(Clocks),
    /// Of `samples.parquet`: all of one thread.
    Samples(Vec<SampleRow>),
}

/// How the stream ended, from whoever read it.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Ending {
    /// What is wrong after the last whole frame.
    pub damage: Option<Damage>,
    /// Bytes after the last whole frame.
    pub journal_bytes: u64,
    /// Bytes before it that were no whole frame.
    pub skipped_bytes: u64,
    /// Whether the program that wrote the journal was gone before it finished the run.
    pub recovered: bool,
    /// What the writer of the journal has to add.
    pub findings: Vec<Finding>,
}

/// A run, without its files, and the rows that are only known at its end.
#[derive(Clone, PartialEq, Debug)]
pub struct Assembled {
    /// The run.
    pub run: Run,
    /// Of `histogram.parquet`.
    pub bins: Vec<BinRow>,
    /// Of `spikes.parquet`: by thread, then by release.
    pub spikes: Vec<SpikeRow>,
}

/// Why a stream is not a run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoRun {
    /// Nothing could be measured.
    #[error("{0}")]
    Refused(String),
    /// The stream broke off before the measuring began.
    #[error("the stream ends before its {0} frame")]
    Missing(&'static str),
    /// Written by a later program.
    #[error("the stream has version {0}")]
    Newer(u32),
}

/// Takes the messages in their order.
#[derive(Default)]
pub struct Assembly {
    hello: Option<Hello>,
    plan: Option<Plan>,
    machine: Option<Machine>,
    prepared: Option<Prepared>,
    refusal: Option<String>,
    threads: BTreeMap<u32, Counted>,
    clocks: ClockWatch,
    findings: Findings,
    end: Option<End>,
    measured_to: Option<Nanos>,
    intervals: u64,
}

/// What was counted of one thread so far.
struct Counted {
    setup: ThreadSetup,
    /// Everything but the bins.
    total: Histogram,
    /// All bins, because merging sparse ones for each second of a day takes minutes.
    bins: Vec<u64>,
    spikes: BinaryHeap<Reverse<Spike>>,
    /// The interval whose last part has not been seen yet.
    interval: Option<Interval>,
    /// Where its last interval ends.
    counted_to: Nanos,
    /// Samples that are stored.
    samples: u64,
    /// The release that the last sample lets expect.
    sampled_to: Nanos,
    end: Option<ThreadEnd>,
}

impl Assembly {
    /// Intervals seen so far.
    pub fn intervals(&self) -> u64 {
        self.intervals
    }

    /// Takes in the next message; a row that comes back belongs into its table now.
    pub fn take(&mut self, message: Message) -> Option<StreamedRow> {
        match message {
            Message::Hello(hello) => keep_first(&mut self.hello, hello),
            Message::Plan(plan) => keep_first(&mut self.plan, plan),
            Message::Machine(machine) => keep_first(&mut self.machine, machine),
            Message::Prepared(prepared) => self.prepare(prepared),
            Message::Interval(interval) => return self.count(interval).map(StreamedRow::Interval),
            Message::Spikes(spikes) => self.keep_spikes(spikes),
            Message::Samples(samples) => return self.sample(samples).map(StreamedRow::Samples),
            Message::Clocks(clocks) => {
                self.clocks.take(clocks);
                return Some(StreamedRow::Clocks(clocks));
            }
            Message::Finding(finding) => self.findings.push(finding),
            Message::ThreadEnd(end) => match self.threads.get_mut(&end.thread) {
                Some(thread) => keep_first(&mut thread.end, end),
                None => self.unknown_thread("the end", end.thread),
            },
            Message::End(end) => keep_first(&mut self.end, end),
            Message::Refusal(refusal) => keep_first(&mut self.refusal, refusal.text),
            // An order to the agent; a stream that comes back says nothing with it.
            Message::Stop => {}
        }
        None
    }

    fn prepare(&mut self, prepared: Prepared) {
        if self.prepared.is_some() {
            return;
        }
        for setup in &prepared.threads {
            self.threads.insert(setup.thread, Counted::new(setup.clone()));
        }
        self.prepared = Some(prepared);
    }

    fn count(&mut self, mut interval: Interval) -> Option<IntervalRow> {
        self.intervals += 1;
        let Some(thread) = self.threads.get_mut(&interval.thread) else {
            self.unknown_thread("an interval", interval.thread);
            return None;
        };
        if let Err(reason) = check(&interval) {
            let text = format!("An interval was left out, because {reason}.");
            let finding = Finding::new("interval-unsound", Severity::Error, text);
            let finding = finding.at(interval.start_ns).of_thread(interval.thread);
            self.findings.push(finding.invalidates());
            return None;
        }
        let plan = self.plan.as_ref()?;
        self.findings.extend(thread.gap_before(interval.start_ns, plan));
        for &(bin, count) in &interval.counts.bins {
            thread.bins[usize::from(bin)] += count;
        }
        let bins = std::mem::take(&mut interval.counts.bins);
        thread.total.add(&interval.counts);
        interval.counts.bins = bins;
        thread.counted_to = interval.end_ns;
        self.measured_to = self.measured_to.max(Some(interval.end_ns));
        thread.join(interval, plan)
    }

    /// The intervals whose last part was the last of all.
    pub fn last_intervals(&mut self) -> Vec<IntervalRow> {
        let row = |thread: &mut Counted| {
            let interval = thread.interval.take()?;
            Some(IntervalRow::new(&interval, thread.setup.cpu))
        };
        self.threads.values_mut().filter_map(row).collect()
    }

    fn sample(&mut self, samples: Samples) -> Option<Vec<SampleRow>> {
        let Some(thread) = self.threads.get_mut(&samples.thread) else {
            self.unknown_thread("samples", samples.thread);
            return None;
        };
        let finding = |text: String| {
            let finding = Finding::new("samples-lost", Severity::Error, text);
            finding.at(samples.first_release_ns).of_thread(samples.thread).invalidates()
        };
        let read = match samples.unpack() {
            Ok(read) => read,
            Err(error) => {
                self.findings.push(finding(format!("A frame was left out, because {error}.")));
                return None;
            }
        };
        if samples.lost_before > 0 {
            let span = samples.first_release_ns - thread.sampled_to;
            self.findings.push(
                finding(format!(
                    "{} samples were lost in the {span} before this, because the stream was not \
                     taken in time; the histogram holds them all.",
                    samples.lost_before
                ))
                .remedy(
                    "Let --out name a faster disk, or measure fewer threads or a longer period.",
                ),
            );
        }
        thread.samples += read.len() as u64;
        thread.sampled_to = read.last()?.release_ns + samples.period_ns;
        let Counted { setup: ThreadSetup { thread, cpu, .. }, .. } = *thread;
        Some(read.into_iter().map(|sample| SampleRow { thread, cpu, sample }).collect())
    }

    fn keep_spikes(&mut self, spikes: Spikes) {
        let Some(thread) = self.threads.get_mut(&spikes.thread) else {
            return self.unknown_thread("spikes", spikes.thread);
        };
        for spike in spikes.spikes {
            thread.spikes.push(Reverse(spike));
            if thread.spikes.len() > KEPT_SPIKES {
                thread.spikes.pop();
            }
        }
    }

    fn unknown_thread(&mut self, what: &str, thread: u32) {
        let text = format!("The stream holds {what} of thread {thread}, which was not set up.");
        self.findings.push(Finding::new("unknown-thread", Severity::Error, text).invalidates());
    }

    /// The whole run; the id is the name of its folder.
    pub fn finish(mut self, id: &str, ending: Ending) -> Result<Assembled, NoRun> {
        if let Some(hello) = &self.hello
            && hello.stream > STREAM_VERSION
        {
            return Err(NoRun::Newer(hello.stream));
        }
        if let (Some(refusal), 0) = (self.refusal.take(), self.intervals) {
            return Err(NoRun::Refused(refusal));
        }
        let plan = self.plan.take().ok_or(NoRun::Missing("Plan"))?;
        let machine = self.machine.take().ok_or(NoRun::Missing("Machine"))?;
        let prepared = self.prepared.take().ok_or(NoRun::Missing("Prepared"))?;
        Ok(self.assembled(id, plan, machine, prepared, ending))
    }

    fn assembled(
        mut self,
        id: &str,
        asked: Plan,
        machine: Machine,
        applied: Prepared,
        ending: Ending,
    ) -> Assembled {
        let losses = self.losses(&asked, &ending);
        self.find(&asked, &machine, &applied, &ending, &losses);
        let first_release = applied.threads.iter().map(|thread| thread.first_release_ns).min();
        let first_release = first_release.unwrap_or_default();
        let measured_ns = self.measured_to.map_or(Nanos::ZERO, |end| end - first_release);
        let measured_ns = measured_ns.max(Nanos::ZERO);
        let started = self.started(id, first_release);

        let counted: Vec<Counted> = self.threads.into_values().map(Counted::with_bins).collect();
        let threads: Vec<ThreadRun> = counted.iter().map(|one| one.run(&asked)).collect();
        let total = total(&asked, &counted, &threads);
        let findings = self.findings.sorted();
        let ended = self.end.as_ref().map_or(EndReason::Lost, |end| end.reason);
        let seen = with_uncounted(&asked, &total, counted.iter().flat_map(Counted::uncounted));
        let verdict = judge(&Evidence {
            plan: &asked,
            total: &seen,
            threads: threads.len(),
            silent_threads: threads.iter().filter(|one| one.summary.activations == 0).count(),
            measured: measured_ns,
            ended: decisive(&asked, ended, &threads),
            findings: &findings,
        });
        let run = Run {
            schema: SCHEMA_VERSION,
            latlab: self.hello.map(|hello| hello.latlab).unwrap_or_default(),
            id: id.to_string(),
            started,
            measured_ns,
            ended,
            recovered: ending.recovered,
            asked,
            applied,
            machine,
            clocks: self.clocks.ends(),
            threads,
            total,
            losses,
            agent: self.end,
            findings,
            verdict,
            files: BTreeMap::new(),
            seal: None,
        };
        let bins = counted.iter().flat_map(Counted::bin_rows).collect();
        Assembled { run, bins, spikes: counted.into_iter().flat_map(Counted::spike_rows).collect() }
    }

    fn losses(&self, plan: &Plan, ending: &Ending) -> Losses {
        let ends =
            || self.threads.values().filter_map(|one| one.end.as_ref().map(|end| (one, end)));
        Losses {
            journal_bytes: ending.journal_bytes + ending.skipped_bytes,
            spikes: ends().fold(0, |sum, (_, end)| sum.saturating_add(end.spikes_lost)),
            intervals_merged: self.end.as_ref().map_or(0, |end| end.intervals_merged),
            cycles: ends().fold(0, |sum, (thread, end)| {
                sum.saturating_add(end.cycles.saturating_sub(thread.total.count))
            }),
            samples: match plan.samples {
                true => self.threads.values().map(Counted::samples_missing).sum(),
                false => 0,
            },
        }
    }

    /// The first counted release in UTC; without any reading of the clocks, the time in the id.
    fn started(&self, id: &str, first_release: Nanos) -> String {
        let from_clocks = self.clocks.ends().and_then(|(first, _)| utc(&first, first_release));
        from_clocks.or_else(|| id::time_of(id)).unwrap_or(Timestamp::UNIX_EPOCH).to_string()
    }

    /// A time near the end of the run, to the millisecond.
    fn in_utc(&self, time: Nanos) -> String {
        match self.clocks.ends().and_then(|(_, last)| utc(&last, time)) {
            Some(time) => format!("{time:.3}"),
            None => format!("{} s of CLOCK_MONOTONIC", time.as_secs_f64()),
        }
    }

    fn find(
        &mut self,
        plan: &Plan,
        machine: &Machine,
        prepared: &Prepared,
        ending: &Ending,
        losses: &Losses,
    ) {
        let mut found: Vec<Finding> = ending.findings.clone();
        found.extend(prepared.settings.iter().filter_map(refused_setting));
        found.extend(self.clocks.findings(plan.clock));
        if self.clocks.ends().is_none() {
            let text = "The clocks were never read side by side: a suspend or a clock that was \
                        set would not show.";
            found.push(Finding::new("clocks-unknown", Severity::Warning, text));
        }
        let locked = !prepared.settings.iter().any(is_refused_memory_lock);
        for thread in self.threads.values() {
            found.extend(thread.findings(plan, !locked && plan.policy.is_realtime()));
        }
        if self.end.is_some() {
            let silent = self.threads.values().filter(|thread| thread.end.is_none());
            found.extend(silent.map(|thread| no_last_word(thread.setup.thread)));
        }
        found.extend(self.broken_stream(ending));
        found.extend(self.uncounted_spikes());
        found.extend(self.end.as_ref().and_then(failed_hook));
        if losses.intervals_merged > 0 {
            let text = format!(
                "{} intervals were merged with their next one, because the stream was not taken \
                 in time; no count is lost by it.",
                losses.intervals_merged
            );
            found.push(Finding::new("intervals-merged", Severity::Info, text));
        }
        found.extend(sampling_phase(plan, machine, prepared));
        found.into_iter().for_each(|finding| self.findings.push(finding));
    }

    /// What was seen after the last interval is in no histogram, but it was seen.
    fn uncounted_spikes(&self) -> Option<Finding> {
        let latencies = || self.threads.values().flat_map(Counted::uncounted);
        let largest = latencies().max()?;
        let text = format!(
            "{} latencies came after the last interval that was stored, the largest {largest}: \
             they are in spikes.parquet and in the verdict, and in no other figure.",
            latencies().count()
        );
        Some(Finding::new("spikes-uncounted", Severity::Warning, text))
    }

    fn broken_stream(&self, ending: &Ending) -> Vec<Finding> {
        let mut found = Vec::new();
        if self.end.is_none() {
            let last = match self.measured_to {
                Some(end) => format!("what was measured up to {} is here", self.in_utc(end)),
                None => "nothing was counted".to_string(),
            };
            let text = format!(
                "The stream ended without a last word, because latlab was killed or the link to \
                 the agent was cut: {last}."
            );
            let finding = Finding::new("stream-lost", Severity::Error, text);
            found.push(Finding { at_ns: self.measured_to, ..finding });
        }
        if ending.skipped_bytes > 0 {
            let text = format!(
                "{} bytes within the journal are damaged: what they held is lost, and everything \
                 before and after them is in this run.",
                ending.skipped_bytes
            );
            found.push(Finding::new("journal-damaged", Severity::Error, text).invalidates());
        }
        if let Some(damage) = &ending.damage {
            let bytes = ending.journal_bytes;
            let (code, severity, what) = match damage {
                Damage::CutOff => ("journal-cut", Severity::Warning, "no whole frame"),
                _ => ("journal-damaged", Severity::Error, "damaged"),
            };
            let text = format!(
                "The last {bytes} bytes of the journal are {what} ({damage}); everything before \
                 them is in this run."
            );
            found.push(Finding::new(code, severity, text));
        }
        found
    }
}

/// A time of CLOCK_MONOTONIC in UTC, as a reading of the clocks has it.
fn utc(reading: &Clocks, time: Nanos) -> Option<Timestamp> {
    let offset = reading.realtime_ns - reading.monotonic_ns;
    Timestamp::from_nanosecond(i128::from((time + offset).0)).ok()
}

impl Counted {
    fn new(setup: ThreadSetup) -> Counted {
        Counted {
            total: Histogram::default(),
            bins: vec![0; BINS],
            spikes: BinaryHeap::new(),
            interval: None,
            counted_to: Nanos(i64::MIN),
            samples: 0,
            sampled_to: setup.first_release_ns,
            setup,
            end: None,
        }
    }

    /// Cycles of which no sample came: of those that the thread says it ran, or else of those that
    /// were counted.
    fn samples_missing(&self) -> u64 {
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
            whole => whole.replace(part).map(|whole| IntervalRow::new(&whole, self.setup.cpu)),
        }
    }

    /// Intervals follow each other without a gap, unless frames between them were lost; the times
    /// of other clocks may jump.
    fn gap_before(&self, start: Nanos, plan: &Plan) -> Option<Finding> {
        let gap = start - self.counted_to.max(self.setup.first_release_ns);
        (plan.clock == ClockName::Monotonic && gap > Nanos::ZERO).then(|| {
            let text = format!("The counts of the {gap} before this are lost.");
            let finding = Finding::new("interval-lost", Severity::Error, text).at(start);
            finding.of_thread(self.setup.thread).invalidates()
        })
    }

    /// Puts the bins where a histogram has them.
    fn with_bins(mut self) -> Counted {
        let bins = std::mem::take(&mut self.bins).into_iter().enumerate();
        self.total.bins =
            bins.filter(|(_, count)| *count > 0).map(|(bin, count)| (bin as u16, count)).collect();
        self
    }

    /// Latencies whose interval never came, because the stream broke off before its end.
    fn uncounted(&self) -> impl Iterator<Item = Nanos> + '_ {
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

    fn run(&self, plan: &Plan) -> ThreadRun {
        ThreadRun {
            setup: self.setup.clone(),
            summary: summary(plan, &self.total, self.max_at()),
            end: self.end.clone(),
        }
    }

    fn bin_rows(&self) -> Vec<BinRow> {
        let (thread, cpu) = (self.setup.thread, self.setup.cpu);
        self.total.rows().into_iter().map(|bin| BinRow { thread, cpu, bin }).collect()
    }

    fn spike_rows(self) -> Vec<SpikeRow> {
        let (thread, cpu) = (self.setup.thread, self.setup.cpu);
        let mut spikes: Vec<Spike> = self.spikes.into_iter().map(|spike| spike.0).collect();
        spikes.sort_by_key(|spike| (spike.release_ns, spike.latency_ns));
        spikes.into_iter().map(|spike| SpikeRow { thread, cpu, spike }).collect()
    }

    fn findings(&self, plan: &Plan, faults_invalidate: bool) -> Vec<Finding> {
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
            .chain(last_words)
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

fn keep_first<T>(place: &mut Option<T>, value: T) {
    place.get_or_insert(value);
}

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

/// All threads together; the time of the observed maximum is that of the thread that has it.
fn total(plan: &Plan, counted: &[Counted], threads: &[ThreadRun]) -> Summary {
    let mut all = Histogram::default();
    counted.iter().for_each(|one| all.add(&one.total));
    let of_max = threads.iter().filter(|one| one.summary.max_ns == Some(all.max_ns));
    let max_at = of_max.filter_map(|one| one.summary.max_at_ns).min();
    summary(plan, &all, max_at)
}

/// Why the run as a whole ended, or the first reason of a thread to end before it.
fn decisive(plan: &Plan, ended: EndReason, threads: &[ThreadRun]) -> EndReason {
    // Without a planned end, being interrupted is how a run ends.
    let open_ended = plan.duration_ns.is_none() && plan.cycles.is_none();
    let reasons = threads.iter().filter_map(|thread| thread.end.as_ref().map(|end| end.reason));
    std::iter::once(ended)
        .chain(reasons)
        .filter(|&reason| !(open_ended && reason == EndReason::Interrupted))
        .find(|&reason| reason != EndReason::Finished)
        .unwrap_or(EndReason::Finished)
}

/// The total with what was seen after the last interval, as far as it concerns the verdict.
fn with_uncounted(plan: &Plan, total: &Summary, late: impl Iterator<Item = Nanos>) -> Summary {
    late.fold(total.clone(), |total, latency| Summary {
        misses: total
            .misses
            .zip(plan.deadline_ns)
            .map(|(misses, deadline)| misses + u64::from(latency > deadline)),
        max_ns: total.max_ns.max(Some(latency)),
        activations: total.activations + 1,
        ..total
    })
}

fn failed_hook(end: &End) -> Option<Finding> {
    let hook = end.spike_hook.as_ref().filter(|hook| hook.failed > 0)?;
    let text = format!(
        "The spike command failed {} times; it was started {} times.",
        hook.failed, hook.started
    );
    Some(Finding::new("spike-command-failed", Severity::Warning, text))
}

fn refused_setting(setting: &Setting) -> Option<Finding> {
    let Setting { what, thread, asked, applied, matters, remedy } = setting;
    if setting.holds() {
        return None;
    }
    let text = format!("The setting '{what}' was asked as '{asked}', but is '{applied}'.");
    let finding = match matters {
        true => Finding::new("setting-refused", Severity::Error, text).invalidates(),
        false => Finding::new("setting-refused", Severity::Warning, text),
    };
    Some(Finding { thread: *thread, remedy: remedy.clone(), ..finding })
}

fn is_refused_memory_lock(setting: &Setting) -> bool {
    setting.what == "memory lock" && !setting.holds()
}

fn no_last_word(thread: u32) -> Finding {
    let text = "The thread ended without a word, so its counts cannot be checked.";
    Finding::new("thread-lost", Severity::Error, text).of_thread(thread).invalidates()
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

/// A warning for the first thread whose period fits the tick of the kernel.
fn sampling_phase(plan: &Plan, machine: &Machine, prepared: &Prepared) -> Option<Finding> {
    // A relative sleep adds its own latency to each period, so it does not stay in step.
    if plan.mechanism == Mechanism::Relative {
        return None;
    }
    let periods = prepared.threads.iter().map(|thread| thread.period_ns);
    periods.into_iter().find_map(|period| stroboscope(period, machine.tick_hz))
}
