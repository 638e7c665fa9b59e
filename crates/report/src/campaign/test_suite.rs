//! The table as tests: one test case for each row.

use super::conditions;
use super::format::{maximum, reason, rest, verdict};
use super::repeats::limit;
use super::text::{below, remark};
use super::variants::{headline, kernel};
use crate::campaign::{CampaignCell, CampaignRow, CampaignTable};
use crate::test_suite::{Problem, SuiteTime, TestCase, TestSuite, heaviest};
use latlab_model::Nanos;
use latlab_model::run::VerdictWord;
use latlab_store::CellWord;

/// One test suite. A row fails as its verdict does; one without a deadline fails only if one of its
/// runs did.
pub fn test_suite(of: &CampaignTable) -> TestSuite {
    let case = |row: &CampaignRow| TestCase {
        group: of.name.clone(),
        name: row.label.clone(),
        properties: Some(properties(row)),
        problem: problem(row),
        output: Some(summary(row)),
        measured: row.cells.iter().filter_map(|cell| cell.figures.max_ns).max(),
        took: SuiteTime::of(row.cells.iter().filter_map(measured)).map(|time| time.took),
        ..TestCase::default()
    };
    let cases: Vec<TestCase> = of.rows.iter().map(case).collect();
    let output = headline(of).unwrap_or_else(|| of.tally.to_string());
    let remarks = headline(of).into_iter().chain(below(of)).collect::<Vec<_>>().join("\n");
    let overall = TestCase {
        group: of.name.clone(),
        name: of.name.clone(),
        problem: heaviest(&cases).map(|kind| (kind, output.clone())),
        output: Some(output),
        ..TestCase::default()
    };
    let cells = of.rows.iter().flat_map(|row| &row.cells);
    let time = SuiteTime::of(cells.filter_map(measured));
    TestSuite { name: of.name.clone(), cases, overall, remarks, time }
}

fn measured(cell: &CampaignCell) -> Option<(&str, Nanos, Option<&str>)> {
    Some((cell.started.as_deref()?, cell.measured_ns?, cell.hostname.as_deref()))
}

fn properties(row: &CampaignRow) -> Vec<(&'static str, String)> {
    let facts = [
        ("target", Some(row.target.clone())),
        ("kernel", kernel(row)),
        ("board", row.board.clone()),
    ];
    facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

fn problem(row: &CampaignRow) -> Option<(Problem, String)> {
    let why: Vec<String> = row
        .cells
        .iter()
        .filter_map(|cell| Some(format!("repeat {}: {}", cell.repeat, reason(cell)?)))
        .collect();
    let of = |kind, message: String| {
        let own = kind == Problem::Failure || why.is_empty();
        Some((kind, if own { message } else { why.join("; ") }))
    };
    let missing = row.cells.iter().filter(|cell| cell.state == CellWord::Missing).count();
    match row.verdict {
        Some(VerdictWord::Pass) => None,
        Some(VerdictWord::Fail) => of(Problem::Failure, limit(row).unwrap_or_else(|| missed(row))),
        Some(word) => {
            of(Problem::Error, limit(row).unwrap_or_else(|| format!("the verdict is {word}")))
        }
        None if missing > 0 => of(Problem::Error, format!("{missing} runs are missing")),
        None if row.cells.iter().all(|cell| cell.state == CellWord::LeftOut) => {
            of(Problem::Skipped, "left out".to_string())
        }
        None => None,
    }
}

/// The repeats that missed the deadline.
fn missed(row: &CampaignRow) -> String {
    let failed = row.cells.iter().filter(|cell| cell.verdict == Some(VerdictWord::Fail));
    let line = |cell: &CampaignCell| {
        let name = format!("repeat {}", cell.repeat);
        let words = words(cell, row).join(", ");
        let tries = cell.has_failed_before().then(|| remark(cell, &name)).flatten();
        tries.map_or(format!("{name}: {words}"), |tries| format!("{tries}: {words}"))
    };
    failed.map(line).collect::<Vec<_>>().join("; ")
}

fn words(cell: &CampaignCell, row: &CampaignRow) -> Vec<String> {
    let max = maximum(&cell.figures)
        .map(|max| format!("observed maximum {}", max.words(|ns| Nanos(ns as i64).to_string())));
    let word = Some(verdict(cell)).filter(|word| !word.is_empty());
    max.into_iter().chain(rest(&cell.figures, row.deadline_ns)).chain(word).collect()
}

fn summary(row: &CampaignRow) -> String {
    let line = |cell: &CampaignCell| {
        let run = cell.run.as_ref().map(|run| format!(" [{run}]")).unwrap_or_default();
        format!("repeat {}: {}{run}", cell.repeat, words(cell, row).join(", "))
    };
    row.cells.iter().map(line).chain(conditions::lines(row)).collect::<Vec<_>>().join("\n")
}
