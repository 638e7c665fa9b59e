//! The result of a run: what was applied, what was found, and the verdict.

use crate::Nanos;
use crate::attach::AttachedRun;
use crate::breakdown::RunBreakdown;
use crate::doctor::Diagnosis;
use crate::explanation::RunExplanation;
pub use crate::finding::{Finding, Severity};
use crate::guest::GuestMeasurement;
use crate::load::LoadRun;
use crate::machine::Machine;
use crate::outlier::Outlier;
use crate::plan::{OverrunPolicy, Plan};
use crate::respond::Responses;
use crate::self_interference::RunSelfInterference;
pub use crate::spin::{Gaps, KernelReserve, Noise, SpinCounts};
use crate::statistics::RunStatistics;
use crate::telemetry::Conditions;
use crate::text_enum::text_enum;
pub use crate::verdict::{BurstLimit, MissBursts, Verdict, VerdictReason, VerdictWord};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

/// Version of `run.json` and of the tables in its folder.
pub const SCHEMA_VERSION: u32 = 1;

/// A setting: the requested value, and the value read back after it was made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// Name of the setting: `memory lock`, `scheduling`, `affinity`.
    pub what: String,
    /// Number of the measuring thread; `None` for a setting of the whole program.
    pub thread: Option<u32>,
    /// Requested value.
    pub asked: String,
    /// Value read back.
    pub applied: String,
    /// Whether a difference makes the figures worthless.
    pub matters: bool,
    /// Value before the run, restored at its end; `None` if it was not changed.
    pub before: Option<String>,
}

impl Setting {
    /// A setting of the whole program that does not make the figures worthless if it is refused.
    pub fn new(what: &str, asked: String, applied: String) -> Setting {
        let what = what.to_string();
        Setting { what, thread: None, asked, applied, matters: false, before: None }
    }

    /// Whether the value read back is the requested one.
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
    /// CPU it is pinned to; `None` if it floats.
    pub cpu: Option<u32>,
    /// Core type, if the machine has several.
    pub core_type: Option<String>,
    /// Relative capacity of that core (1024 is the largest), if the kernel reports it.
    pub capacity: Option<u32>,
    /// Kernel thread id; absent from the first runs.
    pub thread_id: Option<i32>,
    /// Scheduling policy as read back.
    pub policy: String,
    /// Period; `None` if there is no period or it is unknown.
    pub period_ns: Option<Nanos>,
    /// First counted release, on CLOCK_MONOTONIC.
    pub first_release_ns: Nanos,
}

/// What the agent applied of the plan, as read back.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppliedSetup {
    /// All settings.
    pub settings: Vec<Setting>,
    /// All measuring threads.
    pub threads: Vec<ThreadSetup>,
    /// CPUs of latlab's threads that do not measure.
    pub helpers_on: String,
}

text_enum! {
    /// Why a thread or a run ended.
    EndReason {
        /// The planned duration or number of cycles was reached.
        Finished = "finished",
        /// The user or a signal ended it.
        Interrupted = "interrupted",
        /// A latency exceeded `--stop-above`.
        StopAbove = "stop-above",
        /// The thread's CPU was taken offline.
        CpuOffline = "cpu-offline",
        /// The thread ran for seconds without sleeping and was stopped.
        RanAway = "ran-away",
        /// The interval buffer was full: it had not been drained for hours.
        RecorderFull = "recorder-full",
        /// A system call of the measuring loop failed.
        Failed = "failed",
        /// The stream broke off: the agent was killed or the link was cut.
        Lost = "lost",
        /// `--until-decided`: the run passed or failed the limit of miss bursts.
        Decided = "decided",
    }
}

/// A measuring thread's report at its end.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadEnd {
    /// Number of the thread.
    pub thread: u32,
    /// Reason for the end.
    pub reason: EndReason,
    /// Cycles counted by the loop, to be compared with the sum of the intervals.
    pub cycles: u64,
    /// Overruns counted by the loop, to be compared with the sum of the intervals.
    pub overruns: u64,
    /// Page faults after the first counted release.
    pub page_faults: u64,
    /// Involuntary context switches after the first counted release.
    pub involuntary_switches: u64,
    /// Voluntary context switches after the first counted release.
    pub voluntary_switches: u64,
    /// Spikes dropped because the spike ring was full, so that their release times are unknown.
    pub spikes_lost: u64,
    /// Seconds without a drain of the counts, so that an interval grew.
    pub intervals_grown: u64,
    /// Samples dropped because their ring was full; zero without `--samples`.
    pub samples_lost: u64,
    /// CPU time of the thread, including warm-up.
    pub cpu_ns: Nanos,
    /// Counts of a busy loop; only with the instrument `spin`.
    pub spun: Option<SpinCounts>,
    /// Outcome of the stimuli; only with the instrument `respond`.
    pub responded: Option<Responses>,
}

impl ThreadEnd {
    /// The end of a thread with only cycles counted.
    pub fn new(thread: u32, reason: EndReason, cycles: u64) -> ThreadEnd {
        ThreadEnd {
            thread,
            reason,
            cycles,
            overruns: 0,
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

/// The agent's report after it has restored everything.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentEnd {
    /// Reason for the end of the run.
    pub reason: EndReason,
    /// Peak resident memory of the agent, in bytes.
    pub agent_peak_rss_bytes: u64,
    /// CPU time of the agent's threads that do not measure.
    pub helpers_cpu_ns: Nanos,
    /// Intervals merged because the stream did not take them in time.
    pub intervals_merged: u64,
    /// Statistics of the spike command, if there was one.
    pub spike_hook: Option<SpikeHook>,
}

/// Statistics of the spike command.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpikeHook {
    /// Number of starts.
    pub started: u64,
    /// Spikes for which it was not started, because it was running or its rate limit was reached.
    pub suppressed: u64,
    /// Times it ended with an error.
    pub failed: u64,
    /// CPU time it used.
    pub cpu_ns: Nanos,
}

/// All four clocks, read one after the other in well under a microsecond.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClockReading {
    /// CLOCK_MONOTONIC.
    pub monotonic_ns: Nanos,
    /// CLOCK_BOOTTIME, which continues while the machine is suspended.
    pub boottime_ns: Nanos,
    /// CLOCK_REALTIME.
    pub realtime_ns: Nanos,
    /// CLOCK_TAI.
    pub tai_ns: Nanos,
}

/// Quantiles: each is the upper edge of its bin, or the observed maximum if that is smaller.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantiles {
    /// Median; `null` if it lies above `above_ns`, like all other quantiles.
    pub p50_ns: Option<Nanos>,
    /// p90.
    pub p90_ns: Option<Nanos>,
    /// p99.
    pub p99_ns: Option<Nanos>,
    /// p99.9; `None` if fewer than 1000 latencies were recorded.
    pub p99_9_ns: Option<Nanos>,
    /// p99.99; `None` if fewer than 10 000 latencies were recorded.
    pub p99_99_ns: Option<Nanos>,
    /// p99.999; `None` if fewer than 100 000 latencies were recorded.
    pub p99_999_ns: Option<Nanos>,
    /// End of an imported histogram's bins: a quantile that is `null` despite enough latencies lies
    /// above it. `None` if all are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_ns: Option<Nanos>,
}

pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// Figures of one measuring thread, or of all together.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Latencies recorded.
    pub cycles: u64,
    /// Releases that were due; with the policy `skip` cycles plus overruns.
    pub releases: u64,
    /// Overruns; `None` if the mechanism has no releases.
    pub overruns: Option<u64>,
    /// Releases later than the deadline, including skipped ones; `None` without a deadline.
    pub misses: Option<u64>,
    /// Number of latencies below zero.
    pub underflow: u64,
    /// Smallest latency.
    pub min_ns: Option<Nanos>,
    /// Mean latency.
    pub mean_ns: Option<f64>,
    /// Quantiles; `None` if nothing was recorded.
    pub quantiles: Option<Quantiles>,
    /// Observed maximum.
    pub max_ns: Option<Nanos>,
    /// Whether latencies may be missing, so that the true maximum may be larger.
    #[serde(default, skip_serializing_if = "is_false")]
    pub max_is_at_least: bool,
    /// Release of the observed maximum, on CLOCK_MONOTONIC.
    pub max_at_ns: Option<Nanos>,
    /// Time taken; only with the instrument `spin`, whose latencies are gaps.
    pub noise: Option<Noise>,
}

/// One measuring thread of a finished run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadRun {
    /// Setup of the thread.
    pub setup: ThreadSetup,
    /// Figures of the thread.
    pub summary: Summary,
    /// Its report at the end; `None` if the stream broke off before.
    pub end: Option<ThreadEnd>,
}

/// A run that may lack latencies, so that it is not compared with others.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IncompleteRun {
    /// Id of the run.
    pub run: String,
    /// The first finding that says so.
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub finding: Finding,
    /// Number of further such findings.
    pub others: u64,
}

/// Losses by kind; all zero in a good run.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Losses {
    /// Bytes at the end of the journal that are not a whole frame.
    pub journal_bytes: u64,
    /// Large latencies whose release time was lost (they are still in the histogram).
    pub spikes: u64,
    /// Intervals merged with the next one (no count is lost).
    pub intervals_merged: u64,
    /// Cycles counted by a thread but in no interval.
    pub cycles: u64,
    /// Cycles without a sample; zero without `--samples`.
    pub samples: u64,
}

impl Losses {
    /// Whether nothing was lost or merged.
    pub fn none(&self) -> bool {
        *self == Losses::default()
    }
}

/// A file of the run folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoredFile {
    /// Size in bytes.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

/// `run.json`: one execution of one plan on one target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// Version of this document and of the tables in its folder.
    pub schema: u32,
    /// Version of latlab that made the run.
    pub latlab: String,
    /// Run id, which is its folder name.
    pub id: String,
    /// First counted release, UTC (RFC 3339); for a guest, whose clock is separate, the start of
    /// the run.
    pub started: String,
    /// From the first counted release to the end of the last interval.
    pub measured_ns: Nanos,
    /// Reason for the end.
    pub ended: EndReason,
    /// Whether it was recovered from the journal of a killed program.
    pub recovered: bool,
    /// The plan as requested.
    pub asked: Plan,
    /// The setup as applied.
    pub applied: AppliedSetup,
    /// The measured machine.
    pub machine: Machine,
    /// All clocks at the first and at the last reading.
    pub clocks: Option<(ClockReading, ClockReading)>,
    /// Each measuring thread.
    pub threads: Vec<ThreadRun>,
    /// All measuring threads together; the observed maximum is that of the worst thread.
    pub total: Summary,
    /// Losses by kind.
    pub losses: Losses,
    /// The agent's report at its end; `None` if it sent none.
    pub agent: Option<AgentEnd>,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
    /// The doctor's diagnoses of the target, most severe first; `None` if not requested.
    pub doctor: Option<Vec<Diagnosis>>,
    /// Conditions of the run; `None` if they were not read.
    pub conditions: Option<Conditions>,
    /// Breakdown of the latencies; `None` if not requested.
    pub breakdown: Option<RunBreakdown>,
    /// Causes of the spikes; `None` if nothing was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<RunExplanation>,
    /// Programs that loaded the machine, with the evidence that they ran.
    pub loads: Vec<LoadRun>,
    /// Activity of latlab's own threads; `None` if they reported none.
    pub self_interference: Option<RunSelfInterference>,
    /// Size and hash of what a guest measured; `None` for other targets, a stopped guest, or a guest
    /// in the host's time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guest_measurement: Option<GuestMeasurement>,
    /// The largest latencies with what is known of the time around them, largest first. Printed by
    /// `show` and `run`, not stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub largest: Vec<Outlier>,
    /// Statistics beyond the counts: intervals, growth, a model of the largest latencies, periods.
    /// Printed by `show` and `run`, not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<RunStatistics>,
    /// Threads of the attached program; `None` for other instruments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached: Option<AttachedRun>,
    /// Verdict; `None` without a deadline.
    pub verdict: Option<Verdict>,
    /// All other files of the folder.
    pub files: BTreeMap<String, StoredFile>,
    /// SHA-256 of all lines of the document before this one; `None` until the document is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

impl Run {
    /// Whether there are releases, and so possible overruns.
    pub fn has_releases(&self) -> bool {
        self.asked.method.has_releases()
    }

    /// The first counted release, on CLOCK_MONOTONIC; `None` without threads.
    pub fn first_release(&self) -> Option<Nanos> {
        self.threads.iter().map(|thread| thread.setup.first_release_ns).min()
    }

    /// Loads of the machine, in the words of the plan or of an imported file; `None` without loads
    /// or if unknown.
    pub fn load(&self) -> Option<String> {
        let words: Vec<&str> = self.asked.on.loads.iter().map(|load| load.words.as_str()).collect();
        let facts = self.asked.method.import().into_iter().flat_map(|import| &import.facts);
        let stated = || facts.into_iter().find(|fact| fact.name == "Load");
        match words.is_empty() {
            true => stated().map(|fact| fact.text.clone()),
            false => Some(words.join(" + ")),
        }
    }

    /// The load, or the given word if there was none; `unknown` if it is not known.
    pub fn load_or(&self, none: &str) -> String {
        let word = if self.asked.method.has_agent() { none } else { "unknown" };
        self.load().unwrap_or_else(|| word.to_string())
    }

    /// Findings in display order: the most severe first, otherwise as stored.
    pub fn findings_by_weight(&self) -> Vec<&Finding> {
        let mut findings: Vec<&Finding> = self.findings.iter().collect();
        findings.sort_by_key(|finding| Reverse((finding.effect(), finding.severity())));
        findings
    }

    /// The first finding of possibly missing latencies, and the number of further ones; `None` for
    /// a complete run.
    pub fn incomplete(&self) -> Option<IncompleteRun> {
        let mut all = self.findings.iter().filter(|finding| finding.hides_latencies());
        let finding = all.next()?.clone();
        Some(IncompleteRun { run: self.id.clone(), finding, others: all.count() as u64 })
    }

    /// The finding that says what cut the stream of a lost run, if there is one.
    pub fn lost_by(&self) -> Option<&Finding> {
        let codes = ["board-lost", "emulator-failed"];
        let is_lost = self.ended == EndReason::Lost;
        self.findings.iter().find(|finding| is_lost && codes.contains(&finding.code()))
    }

    /// Outcome of the stimuli; `None` for other instruments.
    pub fn responses(&self) -> Option<&Responses> {
        self.threads.first()?.end.as_ref()?.responded.as_ref()
    }

    /// Number of releases due, computed from the counts.
    pub fn releases(plan: &Plan, cycles: u64, overruns: u64) -> u64 {
        match plan.method.overrun_policy() {
            Some(OverrunPolicy::CatchUp) => cycles,
            Some(OverrunPolicy::Skip) | None => cycles + overruns,
        }
    }
}
