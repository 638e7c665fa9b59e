//! Builds a run and the rows of its tables from the messages of a stream; uses no file and no
//! clock.

mod finish;

use crate::attach::AttachDigest;
use crate::breakdown::BreakdownDigest;
use crate::clocks::ClockDigest;
use crate::conditions::{self, ConditionsBuilder};
use crate::edges::answered_edges;
use crate::explanation::ExplanationDigest;
use crate::findings::FindingList;
use crate::load::LoadDigest;
use crate::rows::{
    BinRow, BreakdownRow, CycleRow, IntervalRow, PageRow, SampleRow, SpikeRow, TraceRow,
};
use crate::self_interference::SelfInterferenceDigest;
use crate::telemetry::{ReadRow, TelemetryDigest, TelemetryRow};
use crate::thread::ThreadCounts;
use crate::trace::TraceDigest;
use latlab_model::attach::{AttachedThread, PackedCycles};
use latlab_model::breakdown::Breakdown;
use latlab_model::call_site::{CallFrame, CallStack};
use latlab_model::edges::Edges;
use latlab_model::finding::{Finding, LossFinding};
use latlab_model::flight::EventCapture;
use latlab_model::frame::{Hello, Interval, Message, Spikes};
use latlab_model::guest::GuestMeasurement;
use latlab_model::machine::Machine;
use latlab_model::run::{AgentEnd, AppliedSetup, ClockReading, ThreadEnd};
use latlab_model::samples::{Sample, Samples, Unreadable};
use latlab_model::telemetry::Reading;
use latlab_model::trace::PackedTrace;
use latlab_model::{Nanos, Plan, Run, Snapshot};
use std::collections::BTreeMap;

/// A row that can be stored as soon as it is read.
#[derive(Clone, PartialEq, Debug)]
pub enum StreamRow {
    /// Of `intervals.parquet`.
    Interval(IntervalRow),
    /// Of `clocks.parquet`.
    Clocks(ClockReading),
    /// Of `samples.parquet`: all of one thread.
    Samples(Vec<SampleRow>),
    /// Of `telemetry.parquet`.
    Telemetry(Vec<TelemetryRow>),
    /// Of `trace.parquet`: grouped by thread.
    Trace(Vec<TraceRow>),
    /// Of `pages.parquet`: all of one CPU.
    Pages(Vec<PageRow>),
    /// Of `cycles.parquet`: all of one thread.
    Cycles(Vec<CycleRow>),
}

/// A run without its files, and the rows that are only known at its end.
#[derive(Clone, PartialEq, Debug)]
pub struct RunDigest {
    pub run: Run,
    /// Of `histogram.parquet`.
    pub bins: Vec<BinRow>,
    /// Of `spikes.parquet`: by thread, then by release.
    pub spikes: Vec<SpikeRow>,
    /// Of `breakdown.parquet`; empty if not requested.
    pub breakdown: Vec<BreakdownRow>,
    /// The kernel files of the target, if the stream has them.
    pub snapshot: Option<Snapshot>,
    /// What is needed to read the pages of the flight recorder; `None` if nothing was recorded.
    pub recording: Option<EventCapture>,
}

/// Why a stream is not a run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StreamError {
    /// Nothing could be measured.
    #[error("{0}")]
    Refused(String),
    /// The stream broke off before measuring began.
    #[error("the stream ends before its {0} frame")]
    Missing(&'static str),
    /// Written by another version of the program.
    #[error("the stream has version {0}")]
    OtherVersion(u32),
    /// More threads than any machine has CPUs.
    #[error("the stream has {0} threads, more than {MOST_THREADS}")]
    TooManyThreads(usize),
}

/// No kernel supports more CPUs, and each thread takes memory for its bins.
const MOST_THREADS: usize = 8192;

/// Takes the messages in order.
#[derive(Default)]
pub struct RunBuilder {
    hello: Option<Hello>,
    plan: Option<Plan>,
    machine: Option<Machine>,
    prepared: Option<AppliedSetup>,
    snapshot: Option<Snapshot>,
    refusal: Option<String>,
    threads: BTreeMap<u32, ThreadCounts>,
    clocks: ClockDigest,
    readings: TelemetryDigest,
    loads: LoadDigest,
    conditions: ConditionsBuilder,
    breakdown: BreakdownDigest,
    trace: Option<TraceDigest>,
    self_interference: SelfInterferenceDigest,
    attach: AttachDigest,
    /// From the flight recorder's first message on.
    explanation: Option<ExplanationDigest>,
    findings: FindingList,
    end: Option<AgentEnd>,
    guest_measurement: Option<GuestMeasurement>,
    /// The conductor ended it at once, on purpose.
    stopped: bool,
    measured_to: Option<Nanos>,
    intervals: u64,
    /// Rows of edges, which all come at once.
    of_edges: Vec<StreamRow>,
}

impl RunBuilder {
    pub fn intervals(&self) -> u64 {
        self.intervals
    }

    /// Takes the next message; a returned row can be stored in its table now.
    pub fn push(&mut self, message: Message) -> Option<StreamRow> {
        match message {
            Message::Hello(hello) => keep_first(&mut self.hello, hello),
            Message::Plan(plan) => {
                self.loads.expect(&plan);
                keep_first(&mut self.plan, plan);
            }
            Message::Machine(machine) => keep_first(&mut self.machine, machine),
            Message::Snapshot(snapshot) => keep_first(&mut self.snapshot, snapshot),
            Message::Prepared(prepared) => self.prepare(prepared),
            Message::Interval(interval) => return self.count(interval),
            Message::Spikes(spikes) => self.push_spikes(spikes),
            Message::Samples(samples) => {
                let read = samples.unpack();
                return self.push_samples(&samples, read).map(StreamRow::Samples);
            }
            Message::FineSamples(fine) => {
                let read = fine.unpack();
                return self.push_samples(&fine.samples, read).map(StreamRow::Samples);
            }
            Message::Clocks(clocks) => {
                self.clocks.push(clocks);
                return Some(StreamRow::Clocks(clocks));
            }
            Message::Finding(finding) => self.findings.push(finding),
            Message::ThreadEnd(end) => self.end_thread(end),
            Message::Edges(edges) => self.answer(&edges),
            Message::End(end) => keep_first(&mut self.end, end),
            Message::Refusal(refusal) => keep_first(&mut self.refusal, refusal.text),
            Message::Series(series) => self.readings.announce(series),
            Message::Reading(reading) => return Some(self.read(&reading)),
            Message::Breakdown(breakdown) => self.push_breakdown(breakdown),
            Message::Trace(trace) => return self.push_trace(&trace).map(StreamRow::Trace),
            Message::LoadBegin(begin) => self.loads.begin(begin),
            Message::LoadSample(sample) => {
                return Some(StreamRow::Telemetry(self.loads.sample(sample)));
            }
            Message::LoadLine(line) => {
                return Some(StreamRow::Telemetry(self.loads.line(&line)));
            }
            Message::LoadEnd(end) => self.loads.end(end),
            Message::SelfInterference(work) => self.self_interference.push(work),
            Message::TraceFormats(formats) => {
                self.explanation.get_or_insert_default().push_formats(formats);
            }
            Message::TracePages(pages) => {
                return Some(StreamRow::Pages(self.explanation.as_mut()?.push_pages(pages)));
            }
            Message::RecordedSpike(spike) => {
                let threads = self.prepared.as_ref().map_or(&[][..], |prepared| &prepared.threads);
                let in_guest = self.machine.as_ref().is_some_and(Machine::has_hypervisor);
                self.explanation.as_mut()?.push_spike(spike, threads, in_guest);
            }
            Message::KnownThreads(threads) => self.explanation.as_mut()?.push_threads(threads),
            Message::RecorderReport(report) => self.explanation.as_mut()?.push_report(report),
            Message::AttachedThread(found) => self.find_thread(found),
            Message::Cycles(cycles) => return self.push_cycles(&cycles).map(StreamRow::Cycles),
            Message::AttachReport(report) => self.attach.push_report(report),
            Message::LongCycle(long) => self.attach.push_long_cycle(long),
            Message::CallStack(stack) => self.attach.push_stack(stack),
            Message::GuestMeasurement(stream) => keep_first(&mut self.guest_measurement, stream),
            Message::Stop => self.stopped = true,
            // An order to the agent; in a stream it means nothing.
            Message::Examine(_) => {}
        }
        None
    }

    fn prepare(&mut self, prepared: AppliedSetup) {
        if self.prepared.is_some() {
            return;
        }
        if prepared.threads.len() > MOST_THREADS {
            self.prepared = Some(prepared);
            return;
        }
        let is_exact = self.plan.as_ref().is_some_and(|plan| plan.method.gpio().is_some());
        for setup in &prepared.threads {
            let counts = ThreadCounts::new(setup.clone());
            let counts = if is_exact { counts.with_exact_figures() } else { counts };
            self.threads.insert(setup.thread, counts);
        }
        self.self_interference.prepare(&prepared);
        let breakdown = self.plan.as_ref().is_some_and(|plan| plan.method.has_breakdown());
        self.trace = breakdown.then(|| TraceDigest::new(&prepared.threads));
        self.prepared = Some(prepared);
    }

    /// A thread of an attached program becomes one of the run when found, if it is judged.
    fn find_thread(&mut self, found: AttachedThread) {
        if let (Some(setup), Some(prepared)) = (&found.setup, &mut self.prepared)
            && self.threads.len() < MOST_THREADS
            && !self.threads.contains_key(&setup.thread)
        {
            self.threads.insert(setup.thread, ThreadCounts::new(setup.clone()));
            prepared.threads.push(setup.clone());
        }
        self.attach.push_thread(found);
    }

    fn push_cycles(&mut self, packed: &PackedCycles) -> Option<Vec<CycleRow>> {
        match self.attach.push_cycles(packed, self.plan.as_ref()?) {
            Ok(rows) => Some(rows),
            Err(finding) => {
                self.findings.push(*finding);
                None
            }
        }
    }

    fn end_thread(&mut self, end: ThreadEnd) {
        let Some(thread) = self.threads.get_mut(&end.thread) else {
            return self.unknown_thread("the end", end.thread);
        };
        // A thread that waits for edges does not count them.
        let end = match thread.answered.take() {
            Some((responded, cycles)) => ThreadEnd { responded: Some(responded), cycles, ..end },
            None => end,
        };
        keep_first(&mut thread.end, end);
    }

    /// Counts edges as if their responses had come one by one.
    fn answer(&mut self, edges: &Edges) {
        let thread = self.threads.get_mut(&edges.thread).filter(|one| one.answered.is_none());
        let (Some(thread), Some(plan)) = (thread, &self.plan) else {
            return self.unknown_thread("edges", edges.thread);
        };
        let told = answered_edges(edges, plan, thread.setup.first_release_ns);
        thread.answered = Some((told.responses, told.answered));
        for message in told.messages {
            let row = self.push(message);
            self.of_edges.extend(row);
        }
    }

    fn count(&mut self, interval: Interval) -> Option<StreamRow> {
        self.intervals += 1;
        self.explanation.iter_mut().for_each(|explanation| explanation.push_interval(&interval));
        let Some(thread) = self.threads.get_mut(&interval.thread) else {
            self.unknown_thread("an interval", interval.thread);
            return None;
        };
        let row = thread.add_interval(interval, self.plan.as_ref()?, &mut self.findings);
        self.measured_to = self.measured_to.max(thread.counted_to());
        row.map(|row| self.interval_row(row))
    }

    fn interval_row(&mut self, row: IntervalRow) -> StreamRow {
        if let (Some(p99), Some(max)) = (row.p99_ns, row.max_ns) {
            let (from, to) = (row.start_ns, row.end_ns);
            self.conditions.interval(conditions::Interval { cpu: row.cpu, from, to, p99, max });
        }
        StreamRow::Interval(row)
    }

    /// The stacks of an attached program, and whether its files are those of this machine.
    pub fn call_stacks(&self) -> (&[CallStack], bool) {
        let is_here = self.plan.as_ref().is_some_and(|plan| plan.on.target.shares_packages());
        (self.attach.stacks(), is_here)
    }

    /// Takes the call chain of each of these by its site.
    pub fn set_call_chains(&mut self, chains: BTreeMap<u32, Vec<CallFrame>>) {
        self.attach.set_call_chains(chains);
    }

    /// The rows that are only known when the stream has ended.
    pub fn last_rows(&mut self) -> Vec<StreamRow> {
        let intervals: Vec<IntervalRow> =
            self.threads.values_mut().filter_map(ThreadCounts::last_interval).collect();
        let mut rows = std::mem::take(&mut self.of_edges);
        rows.extend(intervals.into_iter().map(|row| self.interval_row(row)));
        let readings = self.readings.end();
        if !readings.is_empty() {
            rows.push(self.telemetry_rows(readings));
        }
        let trace: Vec<TraceRow> =
            self.trace.iter_mut().filter_map(TraceDigest::end_window).collect();
        rows.extend((!trace.is_empty()).then_some(StreamRow::Trace(trace)));
        rows
    }

    fn read(&mut self, reading: &Reading) -> StreamRow {
        let taken = self.readings.push(reading);
        self.conditions.lost(taken.lost);
        self.conditions.reading(reading.at_ns);
        self.telemetry_rows(taken.rows)
    }

    fn telemetry_rows(&mut self, rows: Vec<ReadRow>) -> StreamRow {
        for ReadRow { reading_ns, row } in &rows {
            self.conditions.point(&row.series, *reading_ns, row.time_ns, row.value);
        }
        StreamRow::Telemetry(rows.into_iter().map(|read| read.row).collect())
    }

    fn push_samples(
        &mut self,
        samples: &Samples,
        read: Result<Vec<Sample>, Unreadable>,
    ) -> Option<Vec<SampleRow>> {
        let Some(thread) = self.threads.get_mut(&samples.thread) else {
            self.unknown_thread("samples", samples.thread);
            return None;
        };
        let stored = self.plan.as_ref().is_none_or(|plan| plan.keep.samples);
        let rows = thread.add_samples(samples, read, stored, &mut self.findings)?;
        if let Some(trace) = &mut self.trace {
            let samples: Vec<Sample> = rows.iter().map(|row| row.sample).collect();
            trace.push_samples(thread.setup.thread, &samples);
        }
        Some(rows)
    }

    fn push_spikes(&mut self, spikes: Spikes) {
        match self.threads.get_mut(&spikes.thread) {
            Some(thread) => spikes.spikes.into_iter().for_each(|spike| {
                self.self_interference.push_spike(&thread.setup, spike);
                thread.add_spike(spike);
            }),
            None => self.unknown_thread("spikes", spikes.thread),
        }
    }

    fn push_breakdown(&mut self, breakdown: Breakdown) {
        match self.threads.contains_key(&breakdown.thread) {
            true => self.findings.extend(self.breakdown.push(breakdown)),
            false => self.unknown_thread("breakdown", breakdown.thread),
        }
    }

    fn push_trace(&mut self, frame: &PackedTrace) -> Option<Vec<TraceRow>> {
        let rows = match self.trace.as_mut()?.push(frame) {
            Ok(rows) => rows,
            Err(error) => {
                let damage = Some(error.to_string());
                let lost = LossFinding::TraceLost { events: None, with_latencies: false, damage };
                self.findings.push(Finding::new(lost).at(frame.until_ns));
                return None;
            }
        };
        let breakdown = self.trace.as_mut()?.breakdown();
        breakdown.into_iter().for_each(|breakdown| self.push_breakdown(breakdown));
        Some(rows)
    }

    fn unknown_thread(&mut self, what: &str, thread: u32) {
        let what = what.to_string();
        self.findings.push(Finding::new(LossFinding::UnknownThread { what, number: thread }));
    }
}

fn keep_first<T>(place: &mut Option<T>, value: T) {
    place.get_or_insert(value);
}
