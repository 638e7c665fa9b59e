//! The repeats whose machine was not as the row claims.

use crate::InWords;
use crate::campaign::{CampaignCell, CampaignRow, CampaignTable};
use latlab_model::Run;
use latlab_model::finding::{Finding, Severity};

/// Findings that count as such, each from this severity on. An idle machine that was not idle
/// matters for a row even where the finding is only a note elsewhere.
const CODES: [(&str, Severity); 6] = [
    ("other-work", Severity::Info),
    ("load-changed", Severity::Warning),
    ("competing-thread", Severity::Warning),
    ("throttled", Severity::Warning),
    ("temperature-drift", Severity::Warning),
    ("steal", Severity::Warning),
];

pub fn of_run(run: &Run) -> Vec<Finding> {
    let first = |(code, least): &(&str, Severity)| {
        let mut all = run.findings.iter();
        all.find(|one| one.code() == *code && one.severity() >= *least).cloned()
    };
    CODES.iter().filter_map(first).collect()
}

pub fn codes(cell: &CampaignCell) -> impl Iterator<Item = &str> {
    cell.conditions.iter().map(Finding::code)
}

/// The codes of a row, each with the number of repeats that have it unless all have.
pub fn summary(row: &CampaignRow) -> Option<String> {
    let told = told(row).into_iter().map(|(finding, repeats)| match repeats.len() {
        all if all == measured(row) => finding.code().to_string(),
        some => format!("{} ({some} of {})", finding.code(), measured(row)),
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// A line for each code of a row, worded as in the first repeat that has it.
pub fn lines(row: &CampaignRow) -> impl Iterator<Item = String> {
    told(row).into_iter().map(|(finding, repeats)| {
        let of = match repeats.as_slice() {
            [one] => format!("repeat {one}"),
            many => format!("{} of {} repeats, such as {}", many.len(), measured(row), many[0]),
        };
        format!("{}, {of}: {} [{}]", row.label, finding.text(), finding.code())
    })
}

pub fn all_lines(of: &CampaignTable) -> Vec<String> {
    of.rows.iter().flat_map(lines).collect()
}

fn measured(row: &CampaignRow) -> usize {
    row.cells.iter().filter(|cell| cell.run.is_some()).count()
}

/// The first finding of each code, and the repeats that have the code.
fn told(row: &CampaignRow) -> Vec<(&Finding, Vec<u32>)> {
    let of_code = |(code, _): &(&str, Severity)| {
        let found = row.cells.iter().filter_map(|cell| {
            let finding = cell.conditions.iter().find(|one| one.code() == *code)?;
            Some((finding, cell.repeat))
        });
        let (findings, repeats): (Vec<&Finding>, Vec<u32>) = found.unzip();
        findings.first().map(|first| (*first, repeats))
    };
    CODES.iter().filter_map(of_code).collect()
}
