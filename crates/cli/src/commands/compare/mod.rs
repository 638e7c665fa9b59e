//! `latlab compare`: whether the runs of one side are worse than those of another.

pub mod args;
pub mod sides;

use crate::exit::{EXIT_FAIL, EXIT_NO_ANSWER};
use crate::output::{print, print_json, print_text, sanitize_run, style, width, write_whole};
use crate::store::{open_store, recover};
use anyhow::bail;
use args::{CompareArgs, CompareFormat};
use latlab_model::Run;
use latlab_model::comparison::Comparison;
use latlab_model::machine::Machine;
use latlab_model::run_comparison::{ComparisonWord, RunComparison, ScenarioComparison};
use latlab_model::sanitize::sanitize_lines;
use latlab_report::compare::{junit, markdown, page, plan_changes, show};
use latlab_report::{RunWithBins, Style};
use latlab_stats::{MeasuredRun, Tolerance, compare_runs};
use sides::{Sides, StoredRun};
use std::path::Path;
use std::process::ExitCode;

/// Columns of a text that is written to a file.
pub const FILE_WIDTH: usize = 100;

/// What `latlab compare` does.
pub fn compare(args: &CompareArgs) -> anyhow::Result<ExitCode> {
    let store = open_store(args.out.as_deref());
    recover(&store);
    let sides = Sides::read(&store, &args.base, &args.candidate)?;
    let tolerance = Tolerance { care: args.care, bursts_per_hour: args.limit };
    let compared = comparison(&sides, &tolerance)?;
    let limits =
        |one: &ScenarioComparison| one.misses.as_ref().and_then(|misses| misses.bursts).is_some();
    if args.limit.is_some() && !compared.scenarios.iter().any(limits) {
        bail!("--limit: no runs of both sides that have a deadline and releases in a known time");
    }
    let shown: RunComparison = sanitize_lines(&compared)?;
    let file = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    let text = match format_of(args.format, args.output.as_deref()) {
        CompareFormat::Json if file.is_none() => {
            print_json(&compared)?;
            None
        }
        CompareFormat::Text if file.is_none() => {
            print_text(&show(&shown, width(), style()))?;
            None
        }
        CompareFormat::Json => Some(serde_json::to_string_pretty(&compared)? + "\n"),
        CompareFormat::Text => Some(show(&shown, FILE_WIDTH, Style::default())),
        CompareFormat::Markdown => Some(markdown(&shown)),
        CompareFormat::Junit => Some(junit(&shown)),
        CompareFormat::Html => Some(html(&shown, &sides)?),
    };
    if let Some(text) = text {
        write_result(&text, file)?;
    }
    Ok(ExitCode::from(if args.gate { gate(compared.word) } else { 0 }))
}

/// The format that is asked for, or that the name of the file is of.
pub fn format_of(asked: CompareFormat, output: Option<&Path>) -> CompareFormat {
    match asked {
        CompareFormat::Text
            if output.and_then(Path::extension).is_some_and(|end| end == "html") =>
        {
            CompareFormat::Html
        }
        format => format,
    }
}

/// Writes a result to a file, or to standard output.
pub fn write_result(text: &str, file: Option<&Path>) -> anyhow::Result<()> {
    match file {
        Some(path) => write_whole(path, text.as_bytes()),
        None => print(text),
    }
}

/// The page, of runs whose texts are harmless.
fn html(compared: &RunComparison, sides: &Sides) -> anyhow::Result<String> {
    let all = sides.base.iter().chain(&sides.candidate);
    let runs: Vec<Run> = all.clone().map(|one| sanitize_run(&one.run)).collect::<Result<_, _>>()?;
    let with_bins: Vec<RunWithBins> =
        runs.iter().zip(all).map(|(run, one)| RunWithBins { run, bins: one.bins() }).collect();
    Ok(page(compared, &with_bins))
}

/// The exit code of an answer.
pub fn gate(word: ComparisonWord) -> u8 {
    match word {
        ComparisonWord::NoRegression => 0,
        ComparisonWord::Regressed => EXIT_FAIL,
        ComparisonWord::Changed | ComparisonWord::Inconclusive | ComparisonWord::Refused => {
            EXIT_NO_ANSWER
        }
    }
}

fn comparison(sides: &Sides, tolerance: &Tolerance) -> anyhow::Result<RunComparison> {
    let Sides { base, candidate, invalid } = sides;
    let of_base: Vec<MeasuredRun> = base.iter().map(StoredRun::measured).collect();
    let of_candidate: Vec<MeasuredRun> = candidate.iter().map(StoredRun::measured).collect();
    let compared = compare_runs(&of_base, &of_candidate, tolerance);
    let (before, after): (Vec<&Run>, Vec<&Run>) =
        (base.iter().map(|one| &one.run).collect(), candidate.iter().map(|one| &one.run).collect());
    let machines =
        |runs: &[&Run]| -> Vec<Machine> { runs.iter().map(|run| run.machine.clone()).collect() };
    let (machines_before, machines_after) = (machines(&before), machines(&after));
    let mut changes = latlab_doctor::compare_machines(&machines_before, &machines_after);
    changes.extend(plan_changes(&before, &after));
    let machines = of_machines(&base[0], &candidate[0])?;
    Ok(RunComparison { invalid: invalid.clone(), changes, machines, ..compared })
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
