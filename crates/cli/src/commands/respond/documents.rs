//! JSON output of commands about captures.

use latlab_model::respond::Responses;
use latlab_model::run::{Finding, Run, Verdict};
use latlab_report::InWords;
use latlab_report::rendered_verdict;
use latlab_stats::superiority;
use serde::Serialize;

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
    /// Compares runs with their response times in picoseconds.
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
            findings: one.run.findings.iter().map(InWords::rendered).collect(),
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
