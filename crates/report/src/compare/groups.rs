//! Runs that are shown together as sides: those of one name, kernel or load against those of another.

use super::sentences::named;
use crate::run_with_bins::RunWithBins;
use crate::sentence;
use latlab_model::Run;
use latlab_stats::{MeasuredRun, Tolerance, compare_runs};

/// Whether the runs differ by more than chance: a sentence for each side against that of the first run;
/// none where nothing tells sides apart, or not all runs have releases.
pub fn judgements(runs: &[RunWithBins]) -> Vec<String> {
    let valid: Vec<&RunWithBins> =
        runs.iter().filter(|one| !sentence::is_invalid(one.run)).collect();
    if !valid.iter().all(|one| one.run.has_releases() || one.run.asked.method.is_import()) {
        return Vec::new();
    }
    let name = |run: &Run| run.asked.name.clone();
    let load = |run: &Run| sentence::load(run).unwrap_or_else(|| "no load".to_string());
    let facts: [&dyn Fn(&Run) -> String; 3] = [&name, &sentence::kernel, &load];
    let sides = facts.iter().map(|fact| sides(&valid, fact)).find(|sides| sides.len() > 1);
    let Some(sides) = sides else { return Vec::new() };
    let Some(((base, first), others)) = sides.split_first() else { return Vec::new() };
    if sides.iter().all(|(_, runs)| runs.len() == 1) {
        return vec![
            "Cannot tell whether they differ by more than chance: too few runs; 3 more runs a side."
                .to_string(),
        ];
    }
    let judged = others.iter().filter_map(|(candidate, runs)| {
        let compared = compare_runs(first, runs, &Tolerance::default());
        Some(named(compared.scenarios.first()?, base, candidate, "run"))
    });
    judged.collect()
}

/// A side with its name.
type Side<'a> = (String, Vec<MeasuredRun<'a>>);

fn sides<'a>(runs: &[&RunWithBins<'a>], fact: &dyn Fn(&Run) -> String) -> Vec<Side<'a>> {
    let mut sides: Vec<Side> = Vec::new();
    for RunWithBins { run, bins } in runs {
        let name = fact(run);
        let one = MeasuredRun { run, bins, spans: &[], scenario: None };
        match sides.iter_mut().find(|(known, _)| *known == name) {
            Some((_, side)) => side.push(one),
            None => sides.push((name, vec![one])),
        }
    }
    sides
}
