//! `latlab compare`: whether the runs of one side are worse than those of another.

pub mod args;
mod sides;

use crate::exit::{EXIT_FAIL, EXIT_NO_ANSWER};
use crate::output::{print, print_json, print_text, style, width};
use crate::store::{open_store, recover};
use args::{CompareArgs, CompareFormat};
use latlab_model::Run;
use latlab_model::comparison::Comparison;
use latlab_model::machine::Machine;
use latlab_model::run_comparison::{ComparisonWord, RunComparison};
use latlab_model::sanitize::sanitize_lines;
use latlab_report::compare::{junit, markdown, plan_changes, show};
use latlab_stats::{MeasuredRun, compare_runs};
use sides::{Sides, StoredRun};
use std::process::ExitCode;

/// What `latlab compare` does.
pub fn compare(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(args.out.as_deref());
    recover(&store);
    let sides = Sides::read(&store, &args.base, &args.candidate)?;
    let compared = comparison(sides, args.care)?;
    let shown = || sanitize_lines(&compared);
    match args.format {
        CompareFormat::Json => print_json(&compared)?,
        CompareFormat::Text => print_text(&show(&shown()?, width(), style()))?,
        CompareFormat::Markdown => print_text(&markdown(&shown()?))?,
        CompareFormat::Junit => print(&junit(&shown()?))?,
    }
    Ok(ExitCode::from(if args.gate { gate(compared.word) } else { 0 }))
}

fn gate(word: ComparisonWord) -> u8 {
    match word {
        ComparisonWord::NoRegression => 0,
        ComparisonWord::Regressed => EXIT_FAIL,
        ComparisonWord::Changed | ComparisonWord::Inconclusive | ComparisonWord::Refused => {
            EXIT_NO_ANSWER
        }
    }
}

fn comparison(sides: Sides, care: f64) -> anyhow::Result<RunComparison> {
    let Sides { base, candidate, invalid } = sides;
    let of_base: Vec<MeasuredRun> = base.iter().map(StoredRun::measured).collect();
    let of_candidate: Vec<MeasuredRun> = candidate.iter().map(StoredRun::measured).collect();
    let compared = compare_runs(&of_base, &of_candidate, care);
    let (before, after): (Vec<&Run>, Vec<&Run>) =
        (base.iter().map(|one| &one.run).collect(), candidate.iter().map(|one| &one.run).collect());
    let machines =
        |runs: &[&Run]| -> Vec<Machine> { runs.iter().map(|run| run.machine.clone()).collect() };
    let (machines_before, machines_after) = (machines(&before), machines(&after));
    let mut changes = latlab_doctor::compare_machines(&machines_before, &machines_after);
    changes.extend(plan_changes(&before, &after));
    let machines = of_machines(&base[0], &candidate[0])?;
    Ok(RunComparison { invalid, changes, machines, ..compared })
}

/// Settings and kernel options of the first run of each side; the facts of the machines are told of
/// all runs.
fn of_machines(base: &StoredRun, candidate: &StoredRun) -> anyhow::Result<Option<Comparison>> {
    let snapshot = |one: &StoredRun| latlab_store::read_snapshot(&one.folder, &one.run);
    let (Some(before), Some(after)) = (snapshot(base)?, snapshot(candidate)?) else {
        return Ok(None);
    };
    let compared = latlab_doctor::compare((&base.run.id, &before), (&candidate.run.id, &after));
    Ok(Some(Comparison { machine: Vec::new(), ..compared }))
}
