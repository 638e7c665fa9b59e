//! What `--format json` prints beside `run.json`; their schemas are in docs/reference.

use crate::load_library::LibraryLoad;
use latlab_load::Parameter;
use latlab_model::Nanos;
use latlab_model::campaign::Campaign;
use latlab_model::campaign_table::CampaignTable;
use latlab_model::explanation::{RunExplanation, SpikeBlame};
use latlab_model::plan::Instrument;
use latlab_model::replay::{LongPath, ReplayTable, ReplayedLatency};
use latlab_model::respond::Responses;
use latlab_model::run::{EndReason, Finding, Run, Summary, Verdict};
use latlab_report::{LoadEntry, rendered_verdict};
use latlab_stats::superiority;
use latlab_store::{RunEntry, RunState};
use serde::Serialize;
use std::collections::BTreeMap;

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
    /// The list of what a store holds.
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

/// `latlab respond --format json`: the runs that were made, and each against each other.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Responded<'a> {
    /// The runs, in the order of the captures.
    runs: Vec<RespondedRun<'a>>,
    /// Each pair of runs, both ways.
    pairs: Vec<RespondedPair<'a>>,
}

/// A run of a responder.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RespondedRun<'a> {
    /// Name of its folder.
    id: &'a str,
    /// Path of its folder.
    path: String,
    /// Name of the run.
    name: &'a str,
    /// Responses that were measured.
    answered: u64,
    /// What became of stimuli and responses, and the figures.
    responses: Option<&'a Responses>,
    /// What the reader must know.
    findings: Vec<Finding>,
    /// The judgement, where a deadline was given.
    verdict: Option<Verdict>,
}

/// Two series of responses beside each other.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RespondedPair<'a> {
    /// Name of the one.
    of: &'a str,
    /// Name of the other.
    against: &'a str,
    /// The probability that a response of the one is quicker; equal ones count half.
    quicker: f64,
    /// Its interval of 95 %, of these series.
    quicker_between: (f64, f64),
    /// The median of all differences of two responses, the one minus the other.
    shift_ns: f64,
    /// Its interval of 95 %, of these series.
    shift_between_ns: (f64, f64),
    /// How many of the one were quicker than every one of the other.
    quicker_than_all: u64,
}

impl<'a> Responded<'a> {
    /// Of runs with their responses in picoseconds.
    pub fn new(
        finished: &'a [latlab_store::Finished],
        series: &[(&'a Run, Vec<i64>)],
    ) -> Responded<'a> {
        let runs = finished.iter().map(|one| RespondedRun {
            id: &one.run.id,
            path: one.path.display().to_string(),
            name: &one.run.asked.name,
            answered: one.run.total.cycles,
            responses: one.run.responses(),
            findings: one.run.findings.iter().map(Finding::rendered).collect(),
            verdict: rendered_verdict(&one.run),
        });
        let pair = |of: &(&'a Run, Vec<i64>), against: &(&'a Run, Vec<i64>)| {
            let compared = superiority(&of.1, &against.1)?;
            let nanos = |picoseconds: f64| picoseconds / 1e3;
            let (low, high) = compared.shift_between;
            Some(RespondedPair {
                of: &of.0.asked.name,
                against: &against.0.asked.name,
                quicker: compared.precedence.less,
                quicker_between: compared.precedence.less_between,
                shift_ns: nanos(compared.shift),
                shift_between_ns: (nanos(low), nanos(high)),
                quicker_than_all: compared.precedence.below_all,
            })
        };
        let mut pairs = Vec::new();
        for (index, of) in series.iter().enumerate() {
            let others = series.iter().enumerate().filter(|(other, _)| *other != index);
            pairs.extend(others.filter_map(|(_, against)| pair(of, against)));
        }
        Responded { runs: runs.collect(), pairs }
    }
}

/// `latlab respond --look --format json`: what a capture holds.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CaptureListing {
    /// The file, or the files.
    pub file: String,
    /// Its format, in words.
    pub format: &'static str,
    /// Its channels; none of a list of readings.
    pub channels: Vec<ListedChannel>,
    /// No time is known better than this.
    pub resolution_ns: Option<f64>,
    /// From the first to the last value.
    pub duration_ns: Option<f64>,
    /// Readings of a list.
    pub readings: Option<u64>,
    /// Of these, those without a value.
    pub not_measured: Option<u64>,
    /// What was left out of it or is missing, a sentence each.
    pub notes: Vec<String>,
}

/// A channel of a capture.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedChannel {
    /// Its name.
    pub name: String,
    /// What its values are: logic, analog, number, noise.
    pub kind: &'static str,
    /// The usual low level; none of logic.
    pub low: Option<f64>,
    /// The usual high level; none of logic.
    pub high: Option<f64>,
    /// Rising edges.
    pub rising: u64,
    /// Falling edges.
    pub falling: u64,
    /// What it looks like.
    pub picture: String,
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

/// `latlab loads show --format json`: a load that can be asked for; without `show`, all of them.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedLoad<'a> {
    /// Its name.
    name: &'a str,
    /// What it loads, in one line.
    about: &'a str,
    /// Its file; none of those that every latlab has.
    file: Option<String>,
    /// The programs that it needs.
    programs: Vec<&'a str>,
    /// Those of them that are not on this machine, or on the board that was asked for.
    missing: Vec<&'a str>,
    /// What can be chosen.
    parameters: Vec<ListedParameter<'a>>,
    /// The package that holds it, by the name of the system.
    packages: &'a BTreeMap<String, String>,
    /// The text of its definition.
    definition: &'a str,
}

/// A parameter of a load.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ListedParameter<'a> {
    /// Its name.
    name: &'a str,
    /// What it takes: count, bytes, percent, time or text.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Its value where none is given; none where one must be.
    default: Option<String>,
    /// What it is, in a few words.
    about: &'a str,
}

impl<'a> ListedLoad<'a> {
    /// The programs of a load.
    pub fn programs_of(found: &'a LibraryLoad) -> Vec<&'a str> {
        let processes = found.definition.process.iter();
        let mut programs: Vec<&str> = processes.map(|one| one.program.as_str()).collect();
        programs.dedup();
        programs
    }

    /// A load of the library, on a machine that has some programs.
    pub fn new(found: &'a LibraryLoad, has: impl Fn(&str) -> bool) -> ListedLoad<'a> {
        let LibraryLoad { definition, text, file } = found;
        let programs = ListedLoad::programs_of(found);
        let missing = programs.iter().copied().filter(|name| !has(name));
        ListedLoad {
            name: &definition.name,
            about: &definition.about,
            file: file.as_ref().map(|path| path.display().to_string()),
            missing: missing.collect(),
            programs,
            parameters: definition.parameters.iter().map(ListedParameter::new).collect(),
            packages: &definition.packages,
            definition: text,
        }
    }
}

impl<'a> ListedParameter<'a> {
    fn new((name, parameter): (&'a String, &'a Parameter)) -> ListedParameter<'a> {
        let (kind, default) = (parameter.kind.as_str(), parameter.default_text());
        ListedParameter { name, kind, default, about: &parameter.about }
    }
}

impl ListedLoad<'_> {
    /// The same for a terminal.
    pub fn entry(&self) -> LoadEntry {
        let written = |one: &ListedParameter| match one.default.as_deref() {
            Some("") => format!("{}=", one.name),
            Some(default) => format!("{}={default}", one.name),
            None => format!("{}=…", one.name),
        };
        let programs = match self.missing.as_slice() {
            [] => format!("installed: {}", self.programs.join(", ")),
            missing => format!("missing: {}", missing.join(", ")),
        };
        let file = self.file.as_ref().map(|file| format!("; from {file}")).unwrap_or_default();
        LoadEntry {
            name: self.name.to_string(),
            about: self.about.to_string(),
            parameters: self.parameters.iter().map(written).collect::<Vec<_>>().join(", "),
            place: format!("{programs}{file}"),
            is_here: self.missing.is_empty(),
        }
    }
}

/// `latlab run SHEET --dry-run --format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DryRun<'a> {
    /// The rows, and the runs in their order; without an id, since nothing is begun.
    campaign: &'a Campaign,
    /// How long each run takes, in their order, as far as its limits tell.
    lengths_ns: Vec<Option<Nanos>>,
    /// How long all take with their warm-ups.
    measuring_ns: Nanos,
    /// How long the pauses between them take.
    pauses_ns: Nanos,
    /// Both together.
    total_ns: Nanos,
}

impl<'a> DryRun<'a> {
    /// Of a campaign that is only planned.
    pub fn new(campaign: &'a Campaign) -> DryRun<'a> {
        DryRun {
            campaign,
            lengths_ns: campaign.runs.iter().map(|run| campaign.run_duration(run)).collect(),
            measuring_ns: campaign.run_time(),
            pauses_ns: campaign.pause_time(),
            total_ns: campaign.total(),
        }
    }
}

/// `latlab run SHEET --format json`, and that of `--resume`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CampaignResult<'a> {
    /// Path of its folder.
    pub path: String,
    /// What it came to.
    pub table: &'a CampaignTable,
}

/// A sheet of `latlab scenarios --format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShippedSheet<'a> {
    /// Its name.
    name: &'a str,
    /// The question it answers.
    about: Option<&'a str>,
    /// Labels of its rows.
    rows: Vec<&'a str>,
    /// Its runs.
    runs: usize,
    /// How long they take.
    total_ns: Nanos,
}

impl<'a> ShippedSheet<'a> {
    /// Of what it leads to.
    pub fn new(name: &'a str, campaign: &'a Campaign) -> ShippedSheet<'a> {
        ShippedSheet {
            name,
            about: campaign.about.as_deref(),
            rows: campaign.rows.iter().map(|row| row.label.as_str()).collect(),
            runs: campaign.runs.len(),
            total_ns: campaign.total(),
        }
    }
}

/// `latlab report CAMPAIGN --format json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CampaignReported<'a> {
    /// Path of the page.
    pub page: String,
    /// Its size.
    pub bytes: usize,
    /// The table on it.
    pub table: &'a CampaignTable,
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

/// `latlab explain --replay --format json`: a run of a guest that was run again.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Replayed<'a> {
    /// Id of the run.
    pub run: &'a str,
    /// Time that the replay took, in seconds.
    pub took_s: f64,
    /// Instructions that the guest executed.
    pub instructions: u64,
    /// The latencies that were asked for: those that were held by a thread of latlab first, then the
    /// largest.
    pub latencies: &'a [ReplayedLatency],
    /// All wake-ups, with `--all`.
    pub table: Option<&'a ReplayTable>,
}

/// `latlab lab paths --format json`: where a kernel cannot be interrupted or preempted for longest.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KernelPaths<'a> {
    /// The guests.
    pub target: &'a str,
    /// Number of guests that were run, each with its own seed.
    pub seeds: u32,
    /// Time that each measured, in nanoseconds.
    pub duration_ns: Nanos,
    /// Instructions that they executed.
    pub instructions: u64,
    /// The paths of each kind, the longest first.
    pub paths: &'a [LongPath],
}

impl<'a> Explained<'a> {
    /// Of this run.
    pub fn new(run: &'a Run, spikes: &[SpikeBlame]) -> Explained<'a> {
        Explained {
            run: &run.id,
            explanation: run.explanation.as_ref().map(|one| one.rendered(run.asked.policy)),
            spikes: spikes.iter().map(SpikeBlame::rendered).collect(),
        }
    }
}

/// What the command of `latlab watch --on-fail` reads: a round that failed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WatchAlarm<'a> {
    /// Rounds that failed one after the other, this one included.
    failures: u64,
    /// Why nothing was measured, or what cut the round short; none of one that was measured to its end.
    error: Option<&'a str>,
    /// What was measured; none where nothing was.
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
    /// The verdict; none of a run that --stop-above ended.
    verdict: Option<Verdict>,
    /// Observed maximum.
    max_ns: Option<Nanos>,
}

impl<'a> WatchAlarm<'a> {
    /// Of a round that was measured, as far as this let it be.
    pub fn of_run(
        finished: &'a latlab_store::Finished,
        error: Option<&'a str>,
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
        WatchAlarm { failures, error, run: Some(round) }
    }

    /// Of a round in which nothing was measured.
    pub fn of_failure(error: &'a str, failures: u64) -> WatchAlarm<'a> {
        WatchAlarm { failures, error: Some(error), run: None }
    }
}
