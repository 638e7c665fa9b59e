//! Several runs side by side: what each came to, and how it differs from the first of them, the
//! baseline. These are differences of counts; what chance has to do with them is not judged here.

mod figure;
mod headline;
mod settings;
mod text;

pub(crate) use figure::ComparedFigure;

use crate::compare::judgements;
use crate::run_with_bins::{RunWithBins, terms};
use crate::sections::respond;
use crate::sentence;
use crate::terms::MIXED;
use crate::units::{grouped, percent_of, span};
use figure::figures;
use latlab_model::Run;
use latlab_model::run::VerdictWord;
use latlab_stats::MeasuredRun;
use std::collections::BTreeSet;

/// What a table of runs says below it.
pub(crate) const MEANING: &str = "Changes are against the first run, by what these runs counted; \
                                  `latlab compare` judges whether they are more than chance.";

/// What stands where a run has no verdict because a finding makes it invalid.
const INVALID: &str = "none; a finding makes it invalid";

/// Runs side by side, each with its differences to the first of them.
pub struct RunTable<'a> {
    runs: Vec<&'a Run>,
    names: Vec<String>,
    judgements: Vec<String>,
}

/// A run as a row of the table.
pub(crate) struct RunRow {
    /// What it is called beside the others.
    pub name: String,
    /// Its kernel with the preemption; empty where no machine was measured.
    pub kernel: String,
    /// Its load, or that there was none.
    pub load: String,
    /// The judgement, where there is one.
    pub verdict: Option<VerdictWord>,
    /// The judgement in words, also where there is none.
    pub verdict_text: String,
    /// Largest, tail and median.
    pub figures: Vec<ComparedFigure>,
    /// Deadline misses and their share; none without a deadline.
    pub misses: Option<(String, Option<String>)>,
    /// Missed releases; none where there are no releases.
    pub missed: Option<String>,
    /// What was counted.
    pub cycles: String,
    /// For how long.
    pub measured: String,
}

impl<'a> RunTable<'a> {
    /// Of these runs, the baseline first.
    pub fn new(runs: Vec<&'a Run>) -> RunTable<'a> {
        let names = names(&runs);
        RunTable { runs, names, judgements: Vec::new() }
    }

    /// The same, with what these runs show as replications of each other: whether they differ by more
    /// than chance.
    pub fn with_judgements(self, runs: &[MeasuredRun]) -> RunTable<'a> {
        RunTable { judgements: judgements(runs), ..self }
    }

    /// What each run is called beside the others.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The runs, the baseline first.
    pub(crate) fn runs(&self) -> &[&'a Run] {
        &self.runs
    }

    /// Whether all of them recorded the same kind of thing.
    fn is_of_one_kind(&self) -> bool {
        let runs: Vec<RunWithBins> =
            self.runs.iter().map(|run| RunWithBins { run, bins: &[] }).collect();
        !std::ptr::eq(terms(&runs), &MIXED)
    }

    /// A row for each run.
    pub(crate) fn rows(&self) -> Vec<RunRow> {
        let baseline = self.runs.first().filter(|_| self.is_of_one_kind());
        let runs = self.runs.iter().zip(&self.names).enumerate();
        let row = |(at, (run, name)): (usize, (&&Run, &String))| RunRow {
            name: name.clone(),
            kernel: sentence::kernel(run),
            load: run.load_or("none"),
            verdict: run.verdict.as_ref().map(|verdict| verdict.word),
            verdict_text: verdict_text(run),
            figures: figures(run, baseline.filter(|_| at > 0).copied()),
            misses: run
                .total
                .misses
                .map(|misses| (grouped(misses), percent_of(misses, run.total.activations))),
            missed: run.asked.method.is_periodic().then(|| match run.total.missed {
                Some(missed) => grouped(missed),
                None => sentence::missed_count(run, &run.total),
            }),
            cycles: grouped(run.total.cycles),
            measured: match respond::is_timed(run) {
                true => span(run.measured_ns),
                false => "-".to_string(),
            },
        };
        runs.map(row).collect()
    }
}

fn verdict_text(run: &Run) -> String {
    match &run.verdict {
        Some(verdict) => verdict.word.to_string(),
        None if sentence::is_invalid(run) => INVALID.to_string(),
        None => "none".to_string(),
    }
}

/// The shortest fact that tells all runs apart: their names, kernels or loads, two of these, or
/// else their ids.
fn names(runs: &[&Run]) -> Vec<String> {
    let name = |run: &Run| run.asked.name.clone();
    let load = |run: &Run| run.load_or("no load");
    let facts: [&dyn Fn(&Run) -> String; 5] = [
        &name,
        &sentence::kernel,
        &load,
        &|run| format!("{}, {}", sentence::kernel(run), load(run)),
        &|run| format!("{}, {}", name(run), sentence::kernel(run)),
    ];
    let told =
        |fact: &&dyn Fn(&Run) -> String| runs.iter().map(|run| fact(run)).collect::<Vec<_>>();
    let is_distinct = |names: &Vec<String>| {
        let distinct: BTreeSet<&String> = names.iter().collect();
        distinct.len() == names.len() && names.iter().all(|name| !name.trim().is_empty())
    };
    let found = facts.iter().map(told).find(is_distinct);
    found.unwrap_or_else(|| runs.iter().map(|run| run.id.clone()).collect())
}
