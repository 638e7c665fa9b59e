//! What `--format json` prints beside `run.json`; their schemas are in docs/reference.

use latlab_model::Nanos;
use latlab_model::plan::Instrument;
use latlab_model::run::{EndReason, Run, Summary, Verdict};
use latlab_store::{Entry, State};
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
    Finished(Finished<'a>),
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
    verdict: Option<&'a Verdict>,
}

impl<'a> List<'a> {
    /// The list of what a store holds.
    pub fn new(entries: &'a [Entry]) -> List<'a> {
        List(entries.iter().map(Listed::new).collect())
    }
}

impl<'a> Listed<'a> {
    fn new(entry: &'a Entry) -> Listed<'a> {
        let state = match &entry.state {
            State::Finished(run) => ListedState::Finished(Finished::new(run)),
            State::GoingOn => ListedState::GoingOn,
            State::Unfinished => ListedState::Unfinished,
            State::Damaged(reason) => ListedState::Damaged { reason },
        };
        Listed { id: &entry.id, path: entry.path.display().to_string(), state }
    }
}

impl<'a> Finished<'a> {
    fn new(run: &'a Run) -> Finished<'a> {
        Finished {
            name: &run.asked.name,
            note: run.asked.note.as_deref(),
            instrument: run.asked.instrument,
            started: &run.started,
            ended: run.ended,
            recovered: run.recovered,
            measured_ns: run.measured_ns,
            threads: run.threads.len(),
            total: &run.total,
            verdict: run.verdict.as_ref(),
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
