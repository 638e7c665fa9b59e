//! The runs of a chart: their distinguishing names, and the heading above them.

use crate::facts;
use crate::pictures::svg::printable;
use crate::sentence;
use crate::terms::{self, Terms};
use latlab_model::{Run, ThreadBins};
use std::collections::BTreeSet;

/// With more runs than this, only their names stand above a chart.
const TOLD_IN_FULL: usize = 4;

#[derive(Clone, Copy, Debug)]
pub struct RunWithBins<'a> {
    pub run: &'a Run,
    pub bins: &'a [ThreadBins],
}

/// The terms for what the runs recorded, which may be of two kinds.
pub fn terms(runs: &[RunWithBins]) -> &'static Terms {
    terms::of_all(runs.iter().map(|one| one.run))
}

/// Names for runs shown together: the name of each, with instrument, machine and kernel where these
/// differ.
pub fn names(runs: &[RunWithBins]) -> Vec<String> {
    let machine = |run: &Run| sentence::machine_name(run).to_string();
    let instrument = |run: &Run| run.asked.method.instrument().to_string();
    // The machine of a responder is only its name.
    let machine = |run: &Run| match run.asked.method.is_capture() {
        true => String::new(),
        false => machine(run),
    };
    let facts: [&dyn Fn(&Run) -> String; 3] = [&instrument, &machine, &facts::kernel];
    let differs = |fact: &&dyn Fn(&Run) -> String| {
        runs.iter().map(|one| fact(one.run)).collect::<BTreeSet<_>>().len() > 1
    };
    let told: Vec<_> = facts.into_iter().filter(differs).collect();
    let name = |first: &str, run: &Run| {
        // An import without a machine uses the name of its run.
        let is_new = |fact: &String| !fact.is_empty() && !first.contains(fact.as_str());
        let facts = told.iter().map(|fact| fact(run)).filter(is_new);
        std::iter::once(first.to_string()).chain(facts).collect::<Vec<_>>().join(", ")
    };
    let short: Vec<String> = runs.iter().map(|one| name(&one.run.asked.name, one.run)).collect();
    let is_unique = |text: &String| short.iter().filter(|other| *other == text).count() == 1;
    let unique = |(one, short): (&RunWithBins, &String)| match is_unique(short) {
        true => short.clone(),
        false => name(&one.run.id, one.run),
    };
    runs.iter().zip(&short).map(unique).map(|name| printable(&name)).collect()
}

/// The title of a chart of runs: machine and kernel, if all share them.
pub fn title(runs: &[RunWithBins]) -> String {
    let same = |fact: &dyn Fn(&Run) -> String| {
        let mut all = runs.iter().map(|one| fact(one.run));
        let first = all.next()?;
        all.all(|other| other == first).then_some(first).filter(|fact| !fact.is_empty())
    };
    if let [one] = runs {
        return sentence::picture_title(one.run);
    }
    let machine = same(&|run| sentence::machine_name(run).to_string());
    let machine = machine.map(|machine| format!(" of {machine}")).unwrap_or_default();
    let kernel = same(&facts::kernel).map(|kernel| format!(" on {kernel}")).unwrap_or_default();
    format!("{}{machine}{kernel}, {} runs", terms(runs).title, runs.len())
}

/// The measurement conditions, a paragraph each.
pub fn conditions(runs: &[RunWithBins]) -> Vec<String> {
    match runs {
        [one] => vec![sentence::conditions(one.run)],
        few if few.len() <= TOLD_IN_FULL => {
            let each = few.iter().zip(names(few));
            each.map(|(one, name)| format!("{name}: {}", sentence::conditions(one.run))).collect()
        }
        many => {
            let each = many.iter().zip(names(many));
            let each = each.map(|(one, name)| format!("{name}: {}", sentence::extent(one.run)));
            vec![each.collect::<Vec<_>>().join("; ")]
        }
    }
}
