//! Groups runs into sides by name, kernel or load.

use super::sentences::{FEWEST_RUNS, scenario_sentence};
use crate::facts;
use latlab_model::Run;
use latlab_stats::{MeasuredRun, Tolerance, compare_runs};

/// Whether the runs differ by more than chance: a sentence for each side against that of the first
/// run. Empty if nothing distinguishes the sides.
pub fn judgements(runs: &[MeasuredRun]) -> Vec<String> {
    let valid: Vec<MeasuredRun> =
        runs.iter().copied().filter(|one| !facts::is_invalid(one.run)).collect();
    let name = |run: &Run| run.asked.name.clone();
    let load = |run: &Run| run.load_or("no load");
    let facts: [&dyn Fn(&Run) -> String; 3] = [&name, &facts::kernel, &load];
    let sides = facts.iter().map(|fact| sides(&valid, fact)).find(|sides| sides.len() > 1);
    let Some(sides) = sides else { return Vec::new() };
    let Some(((base, first), others)) = sides.split_first() else { return Vec::new() };
    if sides.iter().all(|(_, runs)| runs.len() == 1) {
        // Single series of responses or gaps have their own sentences.
        if !valid.iter().all(|one| one.run.has_releases() || one.run.asked.method.is_import()) {
            return Vec::new();
        }
        return vec![format!(
            "One run each: another boot may explain the difference; {FEWEST_RUNS} a side decide."
        )];
    }
    let judged = others.iter().map(|(candidate, runs)| {
        let compared = compare_runs(first, runs, &Tolerance::default());
        match compared.scenarios.first() {
            Some(one) => scenario_sentence(one, base, candidate, "run"),
            None => format!(
                "Cannot tell {candidate} from {base}: latencies may be missing in all runs of one."
            ),
        }
    });
    judged.collect()
}

type Side<'a> = (String, Vec<MeasuredRun<'a>>);

fn sides<'a>(runs: &[MeasuredRun<'a>], fact: &dyn Fn(&Run) -> String) -> Vec<Side<'a>> {
    let mut sides: Vec<Side> = Vec::new();
    for one in runs {
        let name = fact(one.run);
        match sides.iter_mut().find(|(known, _)| *known == name) {
            Some((_, side)) => side.push(*one),
            None => sides.push((name, vec![*one])),
        }
    }
    sides
}
