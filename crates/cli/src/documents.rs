//! JSON output of commands, other than `run.json`; the schemas are in docs/reference.

mod campaigns;
mod loads;

pub use campaigns::{CampaignReported, CampaignResult, DryRun, ShippedSheet};
pub use loads::ListedLoad;

use latlab_model::Nanos;
use latlab_model::explanation::{RunExplanation, SpikeBlame};
use latlab_model::plan::Instrument;
use latlab_model::run::{BurstLimit, EndReason, Run, Summary, Verdict};
use latlab_report::rendered_verdict;
use latlab_store::{RunEntry, RunState};
use serde::Serialize;

/// `latlab list --format json`: the stored runs, newest first.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct List<'a>(Vec<Listed<'a>>);

/// A run of the list.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Listed<'a> {
    /// Name of its folder.
    id: &'a str,
    /// Path of its folder.
    path: String,
    #[serde(flatten)]
    state: ListedState<'a>,
}

/// How far a run is, and what is known of it then.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "kebab-case")]
enum ListedState<'a> {
    /// It is whole.
    Finished(Box<Finished<'a>>),
    /// It is being measured now.
    GoingOn,
    /// It was cut off and is not finished yet.
    Unfinished,
    /// It cannot be read.
    Damaged {
        /// What is wrong with it.
        reason: &'a str,
    },
}

/// The short form of a finished run; each field is that of `run.json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Finished<'a> {
    /// Name of the run.
    name: &'a str,
    /// The user's remark.
    note: Option<&'a str>,
    /// With what it measured: the figures of `spin` are of gaps, not of latencies.
    instrument: Instrument,
    /// First counted release, in UTC (RFC 3339).
    started: &'a str,
    /// Why it ended.
    ended: EndReason,
    /// Whether it was finished from the journal of a program that was killed.
    recovered: bool,
    /// From the first counted release to the end of the last interval.
    measured_ns: Nanos,
    /// Number of measuring threads.
    threads: usize,
    /// All measuring threads together.
    total: &'a Summary,
    /// The judgement, where a deadline was given.
    verdict: Option<Verdict>,
}

impl<'a> List<'a> {
    pub fn new(entries: &'a [RunEntry]) -> List<'a> {
        List(entries.iter().map(Listed::new).collect())
    }
}

impl<'a> Listed<'a> {
    fn new(entry: &'a RunEntry) -> Listed<'a> {
        let state = match &entry.state {
            RunState::Finished(run) => ListedState::Finished(Box::new(Finished::new(run))),
            RunState::Running => ListedState::GoingOn,
            RunState::Abandoned => ListedState::Unfinished,
            RunState::Damaged(reason) => ListedState::Damaged { reason },
        };
        Listed { id: &entry.id, path: entry.path.display().to_string(), state }
    }
}

impl<'a> Finished<'a> {
    fn new(run: &'a Run) -> Finished<'a> {
        Finished {
            name: &run.asked.name,
            note: run.asked.note.as_deref(),
            instrument: run.asked.method.instrument(),
            started: &run.started,
            ended: run.ended,
            recovered: run.recovered,
            measured_ns: run.measured_ns,
            threads: run.threads.len(),
            total: &run.total,
            verdict: rendered_verdict(run),
        }
    }
}

/// `latlab report --format json`: what was written.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Reported {
    /// Names of the runs' folders.
    pub runs: Vec<String>,
    /// Path of the page.
    pub page: String,
    /// Size of the page.
    pub bytes: usize,
}

/// `latlab explain --format json`: the causes of a run's spikes, and some spikes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explained<'a> {
    /// Id of the run.
    run: &'a str,
    /// What the run stores of its spikes.
    explanation: Option<RunExplanation>,
    /// The spikes that were asked for, computed from the stored pages, the largest first.
    spikes: Vec<SpikeBlame>,
}

impl<'a> Explained<'a> {
    pub fn new(run: &'a Run, spikes: &[SpikeBlame]) -> Explained<'a> {
        Explained {
            run: &run.id,
            explanation: latlab_report::rendered_explanation(run),
            spikes: spikes.iter().map(latlab_report::rendered_spike).collect(),
        }
    }
}

/// What the command of `latlab watch --on-fail` reads: a round that failed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WatchAlarm<'a> {
    /// Rounds that failed one after the other, this one included.
    failures: u64,
    /// Why nothing was measured, or what cut the round short; `null` for a complete round.
    error: Option<&'a str>,
    /// What all rounds of the watch together leave possible of `--limit`; `null` without it.
    limit: Option<BurstLimit>,
    /// The run; `null` if nothing was measured.
    run: Option<FailedRound<'a>>,
}

/// A round that was measured, and failed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FailedRound<'a> {
    /// Path of its folder.
    path: String,
    /// Id of the run.
    id: &'a str,
    /// First counted release, in UTC.
    started: &'a str,
    /// The machine.
    host: Option<&'a str>,
    /// Its kernel.
    kernel: &'a str,
    /// The verdict; `null` if --stop-above ended the run.
    verdict: Option<Verdict>,
    /// Observed maximum.
    max_ns: Option<Nanos>,
}

impl<'a> WatchAlarm<'a> {
    /// The alarm of a measured round. `error` says why it ended early, if it did.
    pub fn of_run(
        finished: &'a latlab_store::Finished,
        error: Option<&'a str>,
        limit: Option<BurstLimit>,
        failures: u64,
    ) -> WatchAlarm<'a> {
        let run = &finished.run;
        let round = FailedRound {
            path: finished.path.display().to_string(),
            id: &run.id,
            started: &run.started,
            host: run.machine.hostname.as_deref(),
            kernel: &run.machine.kernel,
            verdict: rendered_verdict(run),
            max_ns: run.total.max_ns,
        };
        WatchAlarm { failures, error, limit, run: Some(round) }
    }

    /// The alarm of a round in which nothing was measured.
    pub fn of_failure(error: &'a str, failures: u64) -> WatchAlarm<'a> {
        WatchAlarm { failures, error: Some(error), limit: None, run: None }
    }
}
