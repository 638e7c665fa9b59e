//! Several runs side by side: what each came to, and how it differs from the first of them, the
//! baseline. These are differences of counts; what chance has to do with them is not judged here.

mod figure;
mod headline;
mod settings;
mod text;

use crate::compare::judgements;
use crate::facts;
use crate::run_with_bins::{RunWithBins, terms};
use crate::terms::MIXED;
use latlab_model::Run;
use latlab_stats::MeasuredRun;
use std::collections::BTreeSet;

/// What a table of runs says below it.
pub(crate) const MEANING: &str = "Changes are against the first run, by what these runs counted; \
                                  `latlab compare` judges whether they are more than chance.";

/// Runs side by side, each with its differences to the first of them.
pub struct RunTable<'a> {
    runs: Vec<&'a Run>,
    names: Vec<String>,
    judgements: Vec<String>,
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
}

/// The shortest fact that tells all runs apart: their names, kernels or loads, two of these, or
/// else their ids.
fn names(runs: &[&Run]) -> Vec<String> {
    let name = |run: &Run| run.asked.name.clone();
    let load = |run: &Run| run.load_or("no load");
    let facts: [&dyn Fn(&Run) -> String; 5] = [
        &name,
        &facts::kernel,
        &load,
        &|run| format!("{}, {}", facts::kernel(run), load(run)),
        &|run| format!("{}, {}", name(run), facts::kernel(run)),
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
