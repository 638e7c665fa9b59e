//! From the messages of a stream to a run and the rows of its tables; no file, no clock.

use crate::clocks::ClockWatch;
use crate::ending::{Ending, damaged};
use crate::findings::Findings;
use crate::findings::stream::{
    clocks_unknown, failed_hook, guests_time, is_refused_memory_lock, lost, merged, no_last_word,
    planted, refused_setting, sampling_phase, uncounted,
};
use crate::legs::{LegsTaken, findings as leg_findings};
use crate::loads::Loads;
use crate::rows::{BinRow, IntervalRow, LegRow, SampleRow, SpikeRow};
use crate::telemetry::{Readings, TelemetryRow};
use crate::thread::Counted;
use crate::total::{decisive, is_silent, total, with_uncounted};
use jiff::Timestamp;
use latlab_doctor::conditions::{self, Watch};
use latlab_load::Window;
use latlab_model::fault::FAULT;
use latlab_model::frame::{Hello, Interval, Message, STREAM_VERSION, Spikes};
use latlab_model::legs::Legs;
use latlab_model::machine::Machine;
use latlab_model::respond::Responses;
use latlab_model::run::{
    Clocks, End, EndReason, Finding, Losses, Prepared, SCHEMA_VERSION, Severity, ThreadRun,
};
use latlab_model::samples::Samples;
use latlab_model::telemetry::{Conditions, Reading};
use latlab_model::{CpuSet, Nanos, Plan, Run, Snapshot};
use latlab_stats::{Evidence, judge};
use std::collections::BTreeMap;

/// A row that can be stored as soon as it was read.
#[derive(Clone, PartialEq, Debug)]
pub enum StreamedRow {
    /// Of `intervals.parquet`.
    Interval(IntervalRow),
    /// Of `clocks.parquet`.
    Clocks(Clocks),
    /// Of `samples.parquet`: all of one thread.
    Samples(Vec<SampleRow>),
    /// Of `telemetry.parquet`.
    Telemetry(Vec<TelemetryRow>),
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
    /// Of `legs.parquet`; none where nobody asked.
    pub legs: Vec<LegRow>,
    /// The kernel files of the target, where the stream holds them.
    pub snapshot: Option<Snapshot>,
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
    snapshot: Option<Snapshot>,
    refusal: Option<String>,
    threads: BTreeMap<u32, Counted>,
    clocks: ClockWatch,
    readings: Readings,
    loads: Loads,
    watch: Watch,
    legs: LegsTaken,
    findings: Findings,
    end: Option<End>,
    /// Whoever conducted it ended it at once, on purpose.
    stopped: bool,
    measured_to: Option<Nanos>,
    intervals: u64,
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
            Message::Plan(plan) => {
                self.loads.planned(&plan);
                keep_first(&mut self.plan, plan);
            }
            Message::Machine(machine) => keep_first(&mut self.machine, machine),
            Message::Snapshot(snapshot) => keep_first(&mut self.snapshot, snapshot),
            Message::Prepared(prepared) => self.prepare(prepared),
            Message::Interval(interval) => return self.count(interval),
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
            Message::Series(series) => self.readings.announce(series),
            Message::Reading(reading) => return Some(self.read(&reading)),
            Message::Legs(legs) => self.take_legs(legs),
            Message::LoadBegin(begin) => self.loads.begin(begin),
            Message::LoadSample(sample) => {
                return Some(StreamedRow::Telemetry(self.loads.sample(sample)));
            }
            Message::LoadLine(line) => {
                return Some(StreamedRow::Telemetry(self.loads.line(&line)));
            }
            Message::LoadEnd(end) => self.loads.end(end),
            Message::Stop => self.stopped = true,
            // An order to the agent; a stream that comes back says nothing with it.
            Message::Examine(_) => {}
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

    fn count(&mut self, interval: Interval) -> Option<StreamedRow> {
        self.intervals += 1;
        let Some(thread) = self.threads.get_mut(&interval.thread) else {
            self.unknown_thread("an interval", interval.thread);
            return None;
        };
        let row = thread.count(interval, self.plan.as_ref()?, &mut self.findings);
        self.measured_to = self.measured_to.max(thread.counted_to());
        row.map(|row| self.counted(row))
    }

    fn counted(&mut self, row: IntervalRow) -> StreamedRow {
        if let (Some(p99), Some(max)) = (row.p99_ns, row.max_ns) {
            let (from, to) = (row.start_ns, row.end_ns);
            self.watch.interval(conditions::Interval { cpu: row.cpu, from, to, p99, max });
        }
        StreamedRow::Interval(row)
    }

    /// The rows that are only known when the stream has ended.
    pub fn last_rows(&mut self) -> Vec<StreamedRow> {
        let intervals: Vec<IntervalRow> =
            self.threads.values_mut().filter_map(Counted::last_interval).collect();
        let mut rows: Vec<StreamedRow> =
            intervals.into_iter().map(|row| self.counted(row)).collect();
        let readings = self.readings.end();
        if !readings.is_empty() {
            rows.push(self.watched(readings));
        }
        rows
    }

    fn read(&mut self, reading: &Reading) -> StreamedRow {
        let taken = self.readings.take(reading);
        self.watch.lost(taken.lost);
        self.watch.reading(reading.at_ns);
        self.watched(taken.rows)
    }

    fn watched(&mut self, rows: Vec<TelemetryRow>) -> StreamedRow {
        rows.iter().for_each(|row| self.watch.point(&row.series, row.time_ns, row.value));
        StreamedRow::Telemetry(rows)
    }

    fn sample(&mut self, samples: Samples) -> Option<Vec<SampleRow>> {
        let Some(thread) = self.threads.get_mut(&samples.thread) else {
            self.unknown_thread("samples", samples.thread);
            return None;
        };
        thread.sample(&samples, &mut self.findings)
    }

    fn keep_spikes(&mut self, spikes: Spikes) {
        match self.threads.get_mut(&spikes.thread) {
            Some(thread) => spikes.spikes.into_iter().for_each(|spike| thread.keep_spike(spike)),
            None => self.unknown_thread("spikes", spikes.thread),
        }
    }

    fn take_legs(&mut self, legs: Legs) {
        match self.threads.contains_key(&legs.thread) {
            true => self.findings.extend(self.legs.take(legs).err()),
            false => self.unknown_thread("legs", legs.thread),
        }
    }

    fn unknown_thread(&mut self, what: &str, thread: u32) {
        let text = format!("The stream holds {what} of thread {thread}, which was not set up.");
        self.findings.push(Finding::new("unknown-thread", Severity::Error, text).invalidates());
    }

    /// The whole run. It began at `begun`, where its clocks do not say so, or are a guest's.
    pub fn finish(
        mut self,
        id: &str,
        begun: Timestamp,
        ending: Ending,
    ) -> Result<Assembled, NoRun> {
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
        Ok(self.assembled(id, begun, plan, machine, prepared, ending))
    }

    fn assembled(
        mut self,
        id: &str,
        begun: Timestamp,
        asked: Plan,
        machine: Machine,
        applied: Prepared,
        ending: Ending,
    ) -> Assembled {
        let losses = self.losses(&asked, &ending);
        let conditions = self.conditions(&asked, &machine, &applied);
        self.find(&asked, &machine, &applied, &ending, &losses);
        let first_release = applied.threads.iter().map(|thread| thread.first_release_ns).min();
        let first_release = first_release.unwrap_or_default();
        let measured_ns = self.measured_to.map_or(Nanos::ZERO, |end| end - first_release);
        let measured_ns = measured_ns.max(Nanos::ZERO);
        let started = match asked.target.shares_clock() {
            true => self.started(begun, first_release),
            // Its clock may be set to any date; people want to know when it was measured.
            false => begun.to_string(),
        };
        let (from, to) = (first_release, first_release + measured_ns);
        let window = Window { from, to, whole: self.end.is_some() };
        let (loads, findings) = std::mem::take(&mut self.loads).finish(&window);
        self.findings.extend(findings);

        let counted: Vec<Counted> = self.threads.into_values().map(Counted::with_bins).collect();
        let threads: Vec<ThreadRun> = counted.iter().map(|one| one.run(&asked)).collect();
        let total = total(&asked, &counted, &threads);
        let mut spikes: Vec<SpikeRow> = counted.iter().flat_map(Counted::spike_rows).collect();
        self.legs.explain(&mut spikes);
        let legs = self.legs.run(&asked, &spikes);
        self.findings.extend(legs.iter().flat_map(|legs| leg_findings(legs, asked.instrument)));
        let findings = self.findings.sorted();
        let cut = if self.stopped { EndReason::Interrupted } else { EndReason::Lost };
        let ended = self.end.as_ref().map_or(cut, |end| end.reason);
        let seen = with_uncounted(&asked, &total, counted.iter().flat_map(Counted::uncounted));
        let verdict = judge(&Evidence {
            plan: &asked,
            total: &seen,
            threads: threads.len(),
            silent_threads: threads.iter().filter(|one| is_silent(one)).count(),
            watched: counted.iter().map(Counted::watched).sum(),
            measured: measured_ns,
            unmeasured: threads.iter().filter_map(responses).map(Responses::unmeasured).sum(),
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
            doctor: self.snapshot.as_ref().map(latlab_doctor::examine),
            conditions,
            legs,
            loads,
            verdict,
            files: BTreeMap::new(),
            seal: None,
        };
        let bins = counted.iter().flat_map(Counted::bin_rows).collect();
        let legs = self.legs.rows().collect();
        Assembled { run, bins, spikes, legs, snapshot: self.snapshot }
    }

    /// What the telemetry says; its findings go to the others.
    fn conditions(
        &mut self,
        plan: &Plan,
        machine: &Machine,
        applied: &Prepared,
    ) -> Option<Conditions> {
        let pinned: Option<CpuSet> = applied.threads.iter().map(|thread| thread.cpu).collect();
        let ids = applied.threads.iter().filter_map(|thread| thread.thread_id?.try_into().ok());
        let context = conditions::Context {
            from: applied.threads.iter().map(|thread| thread.first_release_ns).min()?,
            to: self.measured_to?,
            policy: plan.policy,
            measured: pinned.unwrap_or_else(|| machine.cpus_allowed.clone()),
            threads: ids.collect(),
            recorded: if plan.spin.is_some() { "gap" } else { "latency" },
        };
        let (conditions, findings) = self.watch.finish(&context)?;
        self.findings.extend(findings);
        Some(conditions)
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

    /// The first counted release in UTC, as far as the clocks were read.
    fn started(&self, begun: Timestamp, first_release: Nanos) -> String {
        let from_clocks = self.clocks.ends().and_then(|(first, _)| utc(&first, first_release));
        from_clocks.unwrap_or(begun).to_string()
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
        if self.clocks.ends().is_none() && plan.respond.is_none() {
            found.push(clocks_unknown());
        }
        let locked = !prepared.settings.iter().any(is_refused_memory_lock);
        for thread in self.threads.values() {
            found.extend(thread.findings(plan, !locked && plan.policy.is_realtime()));
        }
        if self.end.is_some() {
            let silent = self.threads.values().filter(|thread| thread.end.is_none());
            found.extend(silent.map(|thread| no_last_word(thread.setup.thread)));
        }
        found.extend(plan.guest.as_deref().map(|guest| guests_time(&plan.target, guest)));
        found.extend(plan.loads.iter().filter(|load| load.name == FAULT).map(planted));
        if self.end.is_none() && !self.stopped {
            let last = match self.measured_to {
                Some(end) => format!("what was measured up to {} is here", self.in_utc(end)),
                None => "nothing was counted".to_string(),
            };
            found.push(lost(self.measured_to, &last));
        }
        found.extend(damaged(ending));
        let late: Vec<Nanos> = self.threads.values().flat_map(Counted::uncounted).collect();
        found.extend(uncounted(&late));
        found.extend(self.end.as_ref().and_then(failed_hook));
        found.extend(merged(losses));
        found.extend(sampling_phase(plan, machine, prepared));
        found.into_iter().for_each(|finding| self.findings.push(finding));
    }
}

/// A time of CLOCK_MONOTONIC in UTC, as a reading of the clocks has it.
fn utc(reading: &Clocks, time: Nanos) -> Option<Timestamp> {
    let offset = reading.realtime_ns - reading.monotonic_ns;
    Timestamp::from_nanosecond(i128::from((time + offset).0)).ok()
}

fn keep_first<T>(place: &mut Option<T>, value: T) {
    place.get_or_insert(value);
}

fn responses(thread: &ThreadRun) -> Option<&Responses> {
    thread.end.as_ref()?.responded.as_ref()
}
