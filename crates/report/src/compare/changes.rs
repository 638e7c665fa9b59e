//! Requested settings that differ between the two sides.

use crate::sentence;
use latlab_doctor::comparison::FactChange;
use latlab_model::Run;
use std::collections::{BTreeMap, BTreeSet};

/// Load, method and version of latlab of each side, where they differ.
pub fn plan_changes(base: &[&Run], candidate: &[&Run]) -> Vec<FactChange> {
    let (base, candidate) = (facts(base), facts(candidate));
    let names: BTreeSet<&String> = base.keys().chain(candidate.keys()).collect();
    let changes = names.into_iter().filter_map(|what| {
        let side = |facts: &BTreeMap<String, BTreeSet<String>>| {
            let values: Vec<String> = facts.get(what)?.iter().cloned().collect();
            Some(values.join(" or "))
        };
        let (before, after) = (side(&base), side(&candidate));
        (before != after).then(|| FactChange { what: what.clone(), before, after })
    });
    changes.collect()
}

fn facts(runs: &[&Run]) -> BTreeMap<String, BTreeSet<String>> {
    let mut facts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in runs {
        let of_plan = sentence::method_facts(&run.asked).into_iter();
        let of_plan = of_plan.map(|(what, value)| (what.to_lowercase(), value));
        let own =
            [("load".to_string(), run.load_or("none")), ("latlab".to_string(), run.latlab.clone())];
        for (what, value) in of_plan.chain(own).filter(|(what, _)| what != "target") {
            // Each run has its own seed by design.
            let value = value.split(", seed ").next().unwrap_or_default().to_string();
            facts.entry(what).or_default().insert(value);
        }
    }
    facts
}
