//! The end of a stream: makes the run from everything gathered.

use super::{MOST_THREADS, RunBuilder, RunDigest, StreamError};
use crate::breakdown::findings as breakdown_findings;
use crate::conditions;
use crate::findings::stream::{
    guest_time, incomplete_stream, injected_fault, is_refused_memory_lock, merged_intervals,
    no_thread_end, refused_setting, sampling_phase, spike_command_failed, uncounted_latencies,
};
use crate::load::MeasuredTime;
use crate::rows::SpikeRow;
use crate::self_interference::findings as self_interference_findings;
use crate::stream_end::{StreamEnd, damage_findings};
use crate::summary::{end_reason, include_uncounted, is_silent, mark_maxima, summarize};
use crate::thread::ThreadCounts;
use crate::trace::TraceDigest;
use jiff::Timestamp;
use latlab_model::breakdown::RunBreakdown;
use latlab_model::explanation::RunExplanation;
use latlab_model::fault::FAULT;
use latlab_model::finding::{CpuRate, EndFinding, Finding, MachineFinding};
use latlab_model::frame::STREAM_VERSION;
use latlab_model::load::LoadRun;
use latlab_model::machine::Machine;
use latlab_model::plan::{Recorded, Until};
use latlab_model::respond::Responses;
use latlab_model::run::{
    AppliedSetup, ClockReading, EndReason, Losses, SCHEMA_VERSION, Summary, ThreadRun, Verdict,
    VerdictWord,
};
use latlab_model::telemetry::{Conditions, metric};
use latlab_model::{CpuSet, Nanos, Plan, Run};
use latlab_stats::{
    ENOUGH_BURSTS, ENOUGH_FOR_CLUMPS, LateCycle, LowerLevel, VerdictInput, bursts, judge,
    lower_level,
};
use std::collections::BTreeMap;

/// What every stream has before the first interval.
struct Head {
    plan: Plan,
    machine: Machine,
    prepared: AppliedSetup,
}

/// The measured time, on CLOCK_MONOTONIC.
#[derive(Clone, Copy)]
struct MeasuredSpan {
    from: Nanos,
    length: Nanos,
}

impl RunBuilder {
    /// The whole run. `begun` is its start if its clocks do not tell, or are a guest's.
    pub fn finish(
        mut self,
        id: &str,
        begun: Timestamp,
        ending: StreamEnd,
    ) -> Result<RunDigest, StreamError> {
        let head = self.head()?;
        let breakdown = self.trace.as_mut().map(TraceDigest::last_breakdown);
        breakdown.into_iter().flatten().for_each(|breakdown| self.push_breakdown(breakdown));
        let losses = self.losses(&head.plan, &ending);
        let conditions = self.conditions(&head);
        self.collect_findings(&head, &ending, &losses);
        let measured = self.measured_span(&head.prepared);
        let loads = self.loads(measured);
        let started = self.start_time(&head.plan, begun, measured.from).to_string();

        let counts = std::mem::take(&mut self.threads).into_values();
        let counts: Vec<ThreadCounts> = counts.map(ThreadCounts::with_bins).collect();
        let deadlines = self.attach.deadlines();
        let judged_by = judged_plan(&head.plan, &deadlines);
        let mut threads: Vec<ThreadRun> = counts.iter().map(|one| one.run(&judged_by)).collect();
        let mut total = summarize(&judged_by, &counts, &threads);
        let mut spikes: Vec<SpikeRow> = counts.iter().flat_map(ThreadCounts::spike_rows).collect();
        self.breakdown.attach_to(&mut spikes);
        let breakdown = self.breakdown(&head.plan, &spikes);
        let explained =
            self.explanation.take().map(|explanation| explanation.finish(&head.prepared.threads));
        let (explanation, recording) = explained
            .map(|(explanation, recording, findings)| {
                self.findings.extend(findings);
                (explanation, recording)
            })
            .unzip();
        let attached = head.plan.method.attach().is_some().then(|| {
            let recorded =
                explanation.as_ref().map_or(&[][..], |one: &RunExplanation| &one.largest);
            let (attached, findings) = std::mem::take(&mut self.attach).finish(recorded);
            self.findings.extend(findings);
            attached
        });
        let self_interference = std::mem::take(&mut self.self_interference).finish();
        let found = self_interference
            .iter()
            .flat_map(|work| self_interference_findings(work, &head.prepared));
        self.findings.extend(found);
        let findings = std::mem::take(&mut self.findings).sorted();
        mark_maxima(&mut threads, &mut total, &findings);
        let ended = self.end_reason();
        let all =
            AllThreads { counts: &counts, threads: &threads, total: &total, findings: &findings };
        let large = LargeLatencies {
            plan: &judged_by,
            applied: &head.prepared,
            spikes: &spikes,
            deadlines: &deadlines,
        };
        let verdict = all.verdict(&large, measured, ended);
        let ended = decided_end(&head.plan, ended, verdict.as_ref());
        let run = Run {
            schema: SCHEMA_VERSION,
            latlab: self.hello.map(|hello| hello.latlab).unwrap_or_default(),
            id: id.to_string(),
            started,
            measured_ns: measured.length,
            ended,
            recovered: ending.recovered,
            asked: head.plan,
            applied: head.prepared,
            machine: head.machine,
            clocks: self.clocks.first_and_last(),
            threads,
            total,
            losses,
            agent: self.end,
            findings,
            doctor: self.snapshot.as_ref().map(latlab_doctor::examine),
            conditions,
            breakdown,
            explanation,
            loads,
            self_interference,
            guest_measurement: self.guest_measurement,
            largest: Vec::new(),
            statistics: None,
            attached,
            verdict,
            files: BTreeMap::new(),
            checksum: None,
        };
        let bins = counts.iter().flat_map(ThreadCounts::bin_rows).collect();
        let breakdown = self.breakdown.rows().collect();
        Ok(RunDigest { run, bins, spikes, breakdown, snapshot: self.snapshot, recording })
    }

    fn head(&mut self) -> Result<Head, StreamError> {
        if let Some(hello) = &self.hello
            && hello.stream != STREAM_VERSION
        {
            return Err(StreamError::OtherVersion(hello.stream));
        }
        if let (Some(refusal), 0) = (self.refusal.take(), self.intervals) {
            return Err(StreamError::Refused(refusal));
        }
        let threads = self.prepared.as_ref().map_or(0, |prepared| prepared.threads.len());
        if threads > MOST_THREADS {
            return Err(StreamError::TooManyThreads(threads));
        }
        Ok(Head {
            plan: self.plan.take().ok_or(StreamError::Missing("Plan"))?,
            machine: self.machine.take().ok_or(StreamError::Missing("Machine"))?,
            prepared: self.prepared.take().ok_or(StreamError::Missing("Prepared"))?,
        })
    }

    fn measured_span(&self, prepared: &AppliedSetup) -> MeasuredSpan {
        let from = prepared.threads.iter().map(|thread| thread.first_release_ns).min();
        let from = from.unwrap_or_default();
        let length = self.measured_to.map_or(Nanos::ZERO, |end| end - from);
        MeasuredSpan { from, length: length.max(Nanos::ZERO) }
    }

    /// The loads; adds their findings.
    fn loads(&mut self, measured: MeasuredSpan) -> Vec<LoadRun> {
        let MeasuredSpan { from, length } = measured;
        let window = MeasuredTime { from, to: from + length, whole: self.end.is_some() };
        let (loads, findings) = std::mem::take(&mut self.loads).finish(&window);
        self.findings.extend(findings);
        loads
    }

    /// The breakdown; adds its findings.
    fn breakdown(&mut self, plan: &Plan, spikes: &[SpikeRow]) -> Option<RunBreakdown> {
        let breakdown = self.breakdown.run(plan, spikes);
        let findings =
            breakdown.iter().flat_map(|breakdown| breakdown_findings(breakdown, &plan.method));
        self.findings.extend(findings);
        breakdown
    }

    fn end_reason(&self) -> EndReason {
        match &self.end {
            Some(end) => end.reason,
            None if self.stopped => EndReason::Interrupted,
            None => EndReason::Lost,
        }
    }

    /// The conditions; adds their findings.
    fn conditions(&mut self, head: &Head) -> Option<Conditions> {
        let Head { plan, machine, prepared: applied } = head;
        let pinned: Option<CpuSet> = applied.threads.iter().map(|thread| thread.cpu).collect();
        let ids = applied.threads.iter().filter_map(|thread| thread.thread_id?.try_into().ok());
        let context = conditions::ConditionsInput {
            from: applied.threads.iter().map(|thread| thread.first_release_ns).min()?,
            to: self.measured_to?,
            policy: plan.who.policy,
            measured: pinned.unwrap_or_else(|| machine.cpus_allowed.clone()),
            threads: ids.collect(),
            recorded: match plan.method.records() {
                Recorded::Latency => "latency",
                Recorded::Gap => "gap",
                Recorded::Response => "response",
            },
            every: plan.keep.telemetry.map(|telemetry| telemetry.every_ns),
            is_idle: plan.on.loads.is_empty() && plan.method.has_releases(),
            has_link: plan.is_behind_a_link(),
        };
        let (conditions, findings) = self.conditions.finish(&context)?;
        self.findings.extend(findings);
        self.findings.extend(network_interrupts(&conditions));
        Some(conditions)
    }

    fn losses(&self, plan: &Plan, ending: &StreamEnd) -> Losses {
        let ends =
            || self.threads.values().filter_map(|one| one.end.as_ref().map(|end| (one, end)));
        Losses {
            journal_bytes: ending.journal_bytes + ending.skipped_bytes,
            spikes: ends().fold(0, |sum, (_, end)| sum.saturating_add(end.spikes_lost)),
            intervals_merged: self.end.as_ref().map_or(0, |end| end.intervals_merged),
            cycles: ends().fold(0, |sum, (thread, end)| {
                sum.saturating_add(end.cycles.saturating_sub(thread.total.count))
            }),
            samples: match plan.keep.samples || self.threads.values().any(ThreadCounts::has_samples)
            {
                true => self.threads.values().map(ThreadCounts::samples_missing).sum(),
                false => 0,
            },
        }
    }

    /// The first counted release in UTC, as far as the clocks were read. The clock of another
    /// machine may be set to any date, and users want to know when the run was measured.
    fn start_time(&self, plan: &Plan, begun: Timestamp, first_release: Nanos) -> Timestamp {
        let clocks = self.clocks.first_and_last().filter(|_| plan.on.target.shares_clock());
        clocks.and_then(|(first, _)| utc(&first, first_release)).unwrap_or(begun)
    }

    /// A time near the end of the run, to the millisecond.
    fn in_utc(&self, time: Nanos) -> String {
        match self.clocks.first_and_last().and_then(|(_, last)| utc(&last, time)) {
            Some(time) => format!("{time:.3}"),
            None => format!("{} s of CLOCK_MONOTONIC", time.as_secs_f64()),
        }
    }

    fn collect_findings(&mut self, head: &Head, ending: &StreamEnd, losses: &Losses) {
        let Head { plan, machine, prepared } = head;
        let mut found: Vec<Finding> = ending.findings.clone();
        found.extend(prepared.settings.iter().filter_map(refused_setting));
        found.extend(self.clocks.findings(plan.method.clock()));
        if self.clocks.first_and_last().is_none() && plan.method.has_agent() {
            found.push(Finding::new(MachineFinding::ClocksUnknown {}));
        }
        let locked = !prepared.settings.iter().any(is_refused_memory_lock);
        for thread in self.threads.values() {
            found.extend(thread.findings(plan, !locked && plan.is_realtime()));
            found.extend(thread.response_findings(plan));
        }
        if self.end.is_some() {
            let silent = self.threads.values().filter(|thread| thread.end.is_none());
            found.extend(silent.map(|thread| no_thread_end(thread.setup.thread)));
        }
        found.extend(plan.on.guest.as_deref().map(|guest| guest_time(&plan.on.target, guest)));
        found.extend(plan.on.loads.iter().filter(|load| load.name == FAULT).map(injected_fault));
        if self.end.is_none() && !self.stopped {
            let end = self.measured_to.map(|end| self.in_utc(end));
            found.push(incomplete_stream(end).at(self.measured_to));
        }
        found.extend(damage_findings(ending));
        let late: Vec<Nanos> =
            self.threads.values().flat_map(ThreadCounts::uncounted_spikes).collect();
        found.extend(uncounted_latencies(&late));
        found.extend(self.end.as_ref().and_then(spike_command_failed));
        found.extend(merged_intervals(losses));
        found.extend(sampling_phase(plan, machine, prepared));
        found.into_iter().for_each(|finding| self.findings.push(finding));
    }
}

/// How often the network interrupted the CPUs of a board.
fn network_interrupts(conditions: &Conditions) -> Option<Finding> {
    let of_network = conditions.figures.iter().filter(|one| one.metric == metric::NETWORK_SOFTIRQS);
    let cpus: Vec<CpuRate> = of_network
        .filter(|one| one.mean > 0.0)
        .filter_map(|one| {
            let cpu = one.subject.strip_prefix("cpu")?.parse().ok()?;
            Some(CpuRate { cpu, per_second: one.mean })
        })
        .collect();
    (!cpus.is_empty()).then(|| Finding::new(EndFinding::BoardInterrupts { cpus }))
}

/// All threads, as the verdict needs them.
struct AllThreads<'a> {
    counts: &'a [ThreadCounts],
    threads: &'a [ThreadRun],
    total: &'a Summary,
    findings: &'a [Finding],
}

impl AllThreads<'_> {
    /// The time in which a miss would have been seen: for an import that of its samples, which may
    /// be far apart.
    fn exposure(&self, plan: &Plan, measured: Nanos) -> Nanos {
        if !plan.method.is_import() {
            return measured;
        }
        let of_thread = |one: &ThreadRun| {
            let cycles = i64::try_from(one.summary.cycles).unwrap_or(i64::MAX);
            one.setup.period_ns.map(|period| Nanos(period.0.saturating_mul(cycles)))
        };
        let sampled: Option<Vec<Nanos>> = self.threads.iter().map(of_thread).collect();
        let longest = sampled.and_then(|all| all.into_iter().max()).unwrap_or_default();
        measured.min(longest)
    }

    fn verdict(
        &self,
        large: &LargeLatencies,
        measured: MeasuredSpan,
        ended: EndReason,
    ) -> Option<Verdict> {
        let plan = large.plan;
        let deadline = plan.until.deadline_ns?;
        let late = large.late(deadline);
        let found = bursts(&late).len();
        let below = |enough: usize| large.lower_level(deadline, self.threads, enough);
        let few = (1..ENOUGH_BURSTS).contains(&found).then(|| below(ENOUGH_BURSTS)).flatten();
        let far_below = (found < ENOUGH_FOR_CLUMPS).then(|| below(ENOUGH_FOR_CLUMPS)).flatten();
        let uncounted = self.counts.iter().flat_map(ThreadCounts::uncounted_spikes);
        judge(&VerdictInput {
            plan,
            total: &include_uncounted(plan, self.total, uncounted),
            threads: self.threads.len(),
            silent_threads: self.threads.iter().filter(|one| is_silent(one)).count(),
            watched: self.counts.iter().map(ThreadCounts::observed_time).sum(),
            measured: self.exposure(plan, measured.length),
            from: measured.from,
            late: &late,
            below: few.as_ref(),
            far_below: far_below.as_ref(),
            unmeasured: self.threads.iter().filter_map(responses).map(Responses::unmeasured).sum(),
            ended: end_reason(plan, ended, self.threads),
            findings: self.findings,
        })
    }
}

/// The plan by which the run is judged: without a deadline, threads of a program are judged by
/// their periods, and the shortest stands for all.
fn judged_plan(plan: &Plan, deadlines: &BTreeMap<u32, Nanos>) -> Plan {
    let deadline_ns = plan.until.deadline_ns.or_else(|| deadlines.values().min().copied());
    Plan { until: Until { deadline_ns, ..plan.until.clone() }, ..plan.clone() }
}

/// A run meant to end when its limit is decided, and ended for that reason, was not cut short.
fn decided_end(plan: &Plan, ended: EndReason, verdict: Option<&Verdict>) -> EndReason {
    let is_decided = |verdict: &Verdict| {
        verdict.limit.is_some() && matches!(verdict.word, VerdictWord::Pass | VerdictWord::Fail)
    };
    match ended {
        EndReason::Interrupted if plan.until.decided && verdict.is_some_and(is_decided) => {
            EndReason::Decided
        }
        other => other,
    }
}

/// The largest latencies, whose releases are known.
struct LargeLatencies<'a> {
    plan: &'a Plan,
    applied: &'a AppliedSetup,
    spikes: &'a [SpikeRow],
    /// For threads with individual deadlines.
    deadlines: &'a BTreeMap<u32, Nanos>,
}

impl LargeLatencies<'_> {
    /// The cycles that missed the deadline, or that of their thread.
    fn late(&self, deadline: Nanos) -> Vec<LateCycle> {
        self.above_each(|thread| self.deadlines.get(&thread).copied().unwrap_or(deadline))
    }

    /// The cycles with a latency above this.
    fn above(&self, limit: Nanos) -> Vec<LateCycle> {
        self.above_each(|_| limit)
    }

    fn above_each(&self, limit: impl Fn(u32) -> Nanos) -> Vec<LateCycle> {
        let period = |thread: u32| {
            let setup = self.applied.threads.iter().find(|setup| setup.thread == thread);
            setup.and_then(|setup| setup.period_ns).unwrap_or_default()
        };
        let late = self.spikes.iter().filter_map(|row| {
            LateCycle::above(
                limit(row.thread),
                self.plan,
                row.thread,
                period(row.thread),
                row.spike,
            )
        });
        late.collect()
    }

    /// Bursts at a level below the deadline, as far down as all latencies of all threads are known.
    fn lower_level(
        &self,
        deadline: Nanos,
        threads: &[ThreadRun],
        enough: usize,
    ) -> Option<LowerLevel> {
        // Threads with different deadlines have no common level.
        let mut others = self.deadlines.values().filter(|own| **own != deadline);
        if others.next().is_some() {
            return None;
        }
        let is_whole =
            |thread: &ThreadRun| thread.end.as_ref().is_some_and(|end| end.spikes_lost == 0);
        if !threads.iter().all(is_whole) {
            return None;
        }
        let known_above = threads.iter().map(|thread| {
            let of_thread = self.spikes.iter().filter(|row| row.thread == thread.setup.thread);
            of_thread.map(|row| row.spike.latency_ns).min().unwrap_or(Nanos::MAX)
        });
        let known_above = known_above.max()?;
        let latencies = self.spikes.iter().map(|row| row.spike.latency_ns).collect();
        lower_level(latencies, deadline, known_above, enough, |level| self.above(level))
    }
}

/// A time of CLOCK_MONOTONIC in UTC, by a reading of the clocks.
fn utc(reading: &ClockReading, time: Nanos) -> Option<Timestamp> {
    let offset = reading.realtime_ns - reading.monotonic_ns;
    Timestamp::from_nanosecond(i128::from((time + offset).0)).ok()
}

fn responses(thread: &ThreadRun) -> Option<&Responses> {
    thread.end.as_ref()?.responded.as_ref()
}
