//! Several runs side by side: the result of each, and its difference from the first, the baseline.
//! These are plain differences of counts, not tested for significance.

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

/// Note below a table of runs.
pub(crate) const MEANING: &str = "Changes are against the first run, by what these runs counted; \
                                  `latlab compare` judges whether they are more than chance.";

/// Runs side by side, each with its differences from the first.
pub struct RunTable<'a> {
    runs: Vec<&'a Run>,
    names: Vec<String>,
    judgements: Vec<String>,
}

impl<'a> RunTable<'a> {
    pub fn new(runs: Vec<&'a Run>) -> RunTable<'a> {
        let names = names(&runs);
        RunTable { runs, names, judgements: Vec::new() }
    }

    /// Adds whether the runs, taken as replications, differ by more than chance.
    pub fn with_judgements(self, runs: &[MeasuredRun]) -> RunTable<'a> {
        RunTable { judgements: judgements(runs), ..self }
    }

    /// Whether all runs recorded the same kind of value.
    fn is_of_one_kind(&self) -> bool {
        let runs: Vec<RunWithBins> =
            self.runs.iter().map(|run| RunWithBins { run, bins: &[] }).collect();
        !std::ptr::eq(terms(&runs), &MIXED)
    }
}

/// The shortest names that distinguish all runs: their names, kernels or loads, two of these, or
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
