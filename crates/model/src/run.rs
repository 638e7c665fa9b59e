//! What a run was: what was applied, what was found, and the verdict.

use crate::Nanos;
use crate::attach::AttachedRun;
use crate::doctor::Diagnosis;
use crate::explanation::RunExplanation;
pub use crate::finding::{Finding, Severity};
use crate::guest::GuestStream;
use crate::legs::RunLegs;
use crate::load::LoadRun;
use crate::machine::Machine;
use crate::outlier::Outlier;
use crate::own_work::RunOwnWork;
use crate::plan::{MissedPolicy, Plan};
use crate::respond::Responses;
pub use crate::spin::{Gaps, KernelReserve, Noise, SpinCounts};
use crate::statistics::RunStatistics;
use crate::telemetry::Conditions;
use crate::text_enum::text_enum;
pub use crate::verdict::{BurstLimit, MissBursts, Verdict, VerdictReason, VerdictWord};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

/// Version of `run.json` and of the tables next to it.
pub const SCHEMA_VERSION: u32 = 1;

/// One setting: what was asked, and what was read back after it was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// What was set, in words: `memory lock`, `scheduling`, `affinity`.
    pub what: String,
    /// The measuring thread it belongs to; none for the whole program.
    pub thread: Option<u32>,
    /// What was asked.
    pub asked: String,
    /// What was read back.
    pub applied: String,
    /// Whether a difference makes the figures worthless.
    pub matters: bool,
    /// What the machine had before, and has again, where that was changed.
    pub before: Option<String>,
}

impl Setting {
    /// A setting of the whole program; a difference does not make the figures worthless.
    pub fn new(what: &str, asked: String, applied: String) -> Setting {
        let what = what.to_string();
        Setting { what, thread: None, asked, applied, matters: false, before: None }
    }

    /// Whether the machine did what was asked.
    pub fn holds(&self) -> bool {
        self.asked == self.applied
    }
}

/// A measuring thread as it was set up.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadSetup {
    /// Number of the thread, from 0.
    pub thread: u32,
    /// CPU it is pinned to; none when it floats.
    pub cpu: Option<u32>,
    /// Type of that core, where the machine has several.
    pub core_type: Option<String>,
    /// Relative capacity of that core (1024 is the largest), where the kernel says so.
    pub capacity: Option<u32>,
    /// Its number in the kernel; the first runs did not tell it.
    pub thread_id: Option<i32>,
    /// Scheduling as read back.
    pub policy: String,
    /// Distance of its releases; none where nothing has a period, or nobody knows it.
    pub period_ns: Option<Nanos>,
    /// First counted release, on CLOCK_MONOTONIC.
    pub first_release_ns: Nanos,
}

/// What the agent made of the plan, read back.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppliedSetup {
    /// All settings.
    pub settings: Vec<Setting>,
    /// All measuring threads.
    pub threads: Vec<ThreadSetup>,
    /// Where everything of ours that does not measure runs.
    pub helpers_on: String,
}

text_enum! {
    /// Why a thread or a run ended.
    EndReason {
        /// The planned duration or number of cycles was reached.
        Finished = "finished",
        /// The user or a signal ended it.
        Interrupted = "interrupted",
        /// A latency was above `--stop-above`.
        StopAbove = "stop-above",
        /// The thread's CPU was taken offline.
        CpuOffline = "cpu-offline",
        /// The thread ran for seconds without sleeping and was stopped.
        RanAway = "ran-away",
        /// The interval buffer could take no more: nothing was drained for hours.
        RecorderFull = "recorder-full",
        /// A system call of the loop failed.
        Failed = "failed",
        /// The stream ended without a word: the agent was killed or the link was cut.
        Lost = "lost",
        /// It was decided whether the limit of miss bursts is kept (`--until-decided`).
        Decided = "decided",
    }
}

/// What a measuring thread says of itself when it ends.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadEnd {
    /// Number of the thread.
    pub thread: u32,
    /// Why it ended.
    pub reason: EndReason,
    /// Cycles the loop counted, to be compared with the sum of the intervals.
    pub cycles: u64,
    /// Missed releases the loop counted, to be compared with the sum of the intervals.
    pub missed: u64,
    /// Page faults after the first counted release.
    pub page_faults: u64,
    /// Times the thread was put off its CPU without having asked, after the first counted release.
    pub involuntary_switches: u64,
    /// Times the thread slept, after the first counted release.
    pub voluntary_switches: u64,
    /// Largest latencies that found the spike ring full, so that their release times are unknown.
    pub spikes_lost: u64,
    /// Seconds in which the drainer did not come, so that an interval grew.
    pub intervals_grown: u64,
    /// Samples that found their ring full; zero where none were asked for.
    pub samples_lost: u64,
    /// CPU time of the thread, its warm-up included.
    pub cpu_ns: Nanos,
    /// What it saw while it spun; only with the instrument `spin`.
    pub spun: Option<SpinCounts>,
    /// What became of the stimuli; only with the instrument `respond`.
    pub responded: Option<Responses>,
}

impl ThreadEnd {
    /// The end of a thread of which nothing else is counted.
    pub fn new(thread: u32, reason: EndReason, cycles: u64) -> ThreadEnd {
        ThreadEnd {
            thread,
            reason,
            cycles,
            missed: 0,
            page_faults: 0,
            involuntary_switches: 0,
            voluntary_switches: 0,
            spikes_lost: 0,
            intervals_grown: 0,
            samples_lost: 0,
            cpu_ns: Nanos::ZERO,
            spun: None,
            responded: None,
        }
    }
}

/// What the agent says when it has restored everything.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentEnd {
    /// Why the run ended.
    pub reason: EndReason,
    /// Largest resident memory of the agent.
    pub agent_peak_rss_bytes: u64,
    /// CPU time of everything of the agent that does not measure.
    pub helpers_cpu_ns: Nanos,
    /// Intervals that were merged because the stream was not taken in time.
    pub intervals_merged: u64,
    /// Runs of the spike command, where one was given.
    pub spike_hook: Option<SpikeHook>,
}

/// What the spike command cost.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpikeHook {
    /// Times it was started.
    pub started: u64,
    /// Spikes for which it was not started, because one was running or the rate was too high.
    pub suppressed: u64,
    /// Times it ended with an error.
    pub failed: u64,
    /// CPU time it took.
    pub cpu_ns: Nanos,
}

/// The four clocks, read one after the other in well under a microsecond.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockReading {
    /// CLOCK_MONOTONIC.
    pub monotonic_ns: Nanos,
    /// CLOCK_BOOTTIME, which goes on while the machine is suspended.
    pub boottime_ns: Nanos,
    /// CLOCK_REALTIME.
    pub realtime_ns: Nanos,
    /// CLOCK_TAI.
    pub tai_ns: Nanos,
}

/// Quantiles, each the largest latency that its bin can hold or the observed maximum, whichever is
/// smaller.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantiles {
    /// Median; `null` where it lies above `above_ns`, as with all others.
    pub p50_ns: Option<Nanos>,
    /// 90 %.
    pub p90_ns: Option<Nanos>,
    /// 99 %.
    pub p99_ns: Option<Nanos>,
    /// 99.9 %; none where fewer than 1000 latencies were recorded.
    pub p99_9_ns: Option<Nanos>,
    /// 99.99 %; none where fewer than 10 000 latencies were recorded.
    pub p99_99_ns: Option<Nanos>,
    /// 99.999 %; none where fewer than 100 000 latencies were recorded.
    pub p99_999_ns: Option<Nanos>,
    /// Where the bins of an imported histogram end: a quantile for which the latencies are enough, and
    /// which is `null` all the same, lies above this. None where all are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_ns: Option<Nanos>,
}

pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// The figures of one measuring thread, or of all together.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Latencies recorded.
    pub cycles: u64,
    /// Releases that were due: with the policy `skip` cycles and missed releases together.
    pub activations: u64,
    /// Missed releases; none where the mechanism has no releases.
    pub missed: Option<u64>,
    /// Releases later than the deadline, skipped ones included; none without a deadline.
    pub misses: Option<u64>,
    /// Latencies below zero.
    pub underflow: u64,
    /// Smallest latency.
    pub min_ns: Option<Nanos>,
    /// Mean latency.
    pub mean_ns: Option<f64>,
    /// Quantiles.
    pub quantiles: Option<Quantiles>,
    /// Observed maximum.
    pub max_ns: Option<Nanos>,
    /// Whether latencies may be missing, so that the true maximum may be larger.
    #[serde(default, skip_serializing_if = "is_false")]
    pub max_is_at_least: bool,
    /// Release of the observed maximum, on CLOCK_MONOTONIC.
    pub max_at_ns: Option<Nanos>,
    /// Time that was taken; only with the instrument `spin`, whose latencies are gaps.
    pub noise: Option<Noise>,
}

/// One measuring thread of a finished run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadRun {
    /// How it was set up.
    pub setup: ThreadSetup,
    /// Its figures.
    pub summary: Summary,
    /// What it said when it ended; none where the stream broke off before.
    pub end: Option<ThreadEnd>,
}

/// A run of which latencies may be missing, so that it is compared with no other.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncompleteRun {
    /// Its id.
    pub run: String,
    /// The first finding that says so, as the findings of a run are.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub finding: Finding,
    /// How many further ones there are.
    pub others: u64,
}

/// What was lost on the way, counted; all zero in a good run.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Losses {
    /// Bytes at the end of the journal that were no whole frame.
    pub journal_bytes: u64,
    /// Large latencies whose release time was lost (they are in the histogram).
    pub spikes: u64,
    /// Intervals that were merged with the next one (no count is lost by it).
    pub intervals_merged: u64,
    /// Cycles that a thread counted and no interval holds.
    pub cycles: u64,
    /// Cycles whose sample is missing; zero where no samples were asked for.
    pub samples: u64,
}

impl Losses {
    /// Whether nothing at all was lost or merged.
    pub fn none(&self) -> bool {
        *self == Losses::default()
    }
}

/// A file of the run folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoredFile {
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

/// `run.json`: one execution of one plan on one target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Version of this document and of the tables beside it.
    pub schema: u32,
    /// Version of the program.
    pub latlab: String,
    /// Name of the folder.
    pub id: String,
    /// First counted release, in UTC (RFC 3339); of a guest, whose clock is its own, when the run
    /// was begun.
    pub started: String,
    /// From the first counted release to the end of the last interval.
    pub measured_ns: Nanos,
    /// Why it ended.
    pub ended: EndReason,
    /// Whether it was finished from the journal of a program that was killed.
    pub recovered: bool,
    /// What was asked.
    pub asked: Plan,
    /// What was applied.
    pub applied: AppliedSetup,
    /// The target.
    pub machine: Machine,
    /// The clocks at the first and at the last reading.
    pub clocks: Option<(ClockReading, ClockReading)>,
    /// Each measuring thread.
    pub threads: Vec<ThreadRun>,
    /// All measuring threads together; the observed maximum is that of the worst thread.
    pub total: Summary,
    /// What was lost.
    pub losses: Losses,
    /// What the agent said of itself at its end.
    pub agent: Option<AgentEnd>,
    /// What the reader must know, heaviest first.
    pub findings: Vec<Finding>,
    /// What the doctor said of the target, heaviest first; none where nobody asked.
    pub doctor: Option<Vec<Diagnosis>>,
    /// The conditions of the run; none where they were not read.
    pub conditions: Option<Conditions>,
    /// The legs of the latencies; none where nobody asked.
    pub legs: Option<RunLegs>,
    /// Why the spikes were large; none where nothing was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<RunExplanation>,
    /// The programs that loaded the machine meanwhile, with the evidence that they did.
    pub loads: Vec<LoadRun>,
    /// What latlab's own threads did meanwhile; none where they did not say so.
    pub own_work: Option<RunOwnWork>,
    /// What the guest sent; none of other targets, of a guest that was stopped, or in the host's time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest_stream: Option<GuestStream>,
    /// The largest latencies with what is known of their moments, largest first: printed by `show` and
    /// `run`, not stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub largest: Vec<Outlier>,
    /// What the run says beyond what it counted: intervals, growth, a model of the largest latencies,
    /// periods. Printed by `show` and `run`, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<RunStatistics>,
    /// The threads of the program that was attached to; `None` for another instrument.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<AttachedRun>,
    /// The judgement, where a deadline was given.
    pub verdict: Option<Verdict>,
    /// The other files of the folder.
    pub files: BTreeMap<String, StoredFile>,
    /// SHA-256 of all lines of the document before this one; `None` until the document is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

impl Run {
    /// Whether releases exist that can be missed.
    pub fn has_releases(&self) -> bool {
        self.asked.method.has_releases()
    }

    /// What loaded the machine, in the words of the plan or of an imported file; `None` for a run without
    /// loads, and if that is not known.
    pub fn load(&self) -> Option<String> {
        let words: Vec<&str> = self.asked.on.loads.iter().map(|load| load.words.as_str()).collect();
        let facts = self.asked.method.import().into_iter().flat_map(|import| &import.facts);
        let stated = || facts.into_iter().find(|fact| fact.name == "Load");
        match words.is_empty() {
            true => stated().map(|fact| fact.text.clone()),
            false => Some(words.join(" + ")),
        }
    }

    /// The same, or this word if there was none; `unknown` if that is not known.
    pub fn load_or(&self, none: &str) -> String {
        let word = if self.asked.method.has_agent() { none } else { "unknown" };
        self.load().unwrap_or_else(|| word.to_string())
    }

    /// Findings as they are shown: the heaviest first, else in their order.
    pub fn findings_by_weight(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.iter().collect();
        findings.sort_by_key(|finding| Reverse((finding.effect(), finding.severity())));
        findings
    }

    /// The first finding of latencies that may be missing, and how many further ones there are; none of a
    /// complete run.
    pub fn incomplete(&self) -> Option<IncompleteRun> {
        let mut all = self.findings.iter().filter(|finding| finding.hides_latencies());
        let finding = all.next()?.clone();
        Some(IncompleteRun { run: self.id.clone(), finding, others: all.count() as u64 })
    }

    /// What cut the stream of a run that is lost, as far as a finding knows it; none of another run.
    pub fn why_lost(&self) -> Option<String> {
        let codes = ["board-lost", "emulator-failed"];
        let known = || self.findings.iter().find(|finding| codes.contains(&finding.code()));
        (self.ended == EndReason::Lost).then(|| {
            known().map_or("The agent, or the link to it, was lost.".to_string(), Finding::text)
        })
    }

    /// What became of the stimuli; none of another instrument.
    pub fn responses(&self) -> Option<&Responses> {
        self.threads.first()?.end.as_ref()?.responded.as_ref()
    }

    /// Releases that were due, from what was counted.
    pub fn activations(plan: &Plan, cycles: u64, missed: u64) -> u64 {
        match plan.method.missed_policy() {
            Some(MissedPolicy::CatchUp) => cycles,
            Some(MissedPolicy::Skip) | None => cycles + missed,
        }
    }
}
