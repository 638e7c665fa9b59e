//! The table as JUnit XML: a test case for each row, with its verdict.

use super::format::{reason, rest, verdict};
use super::text::below;
use super::variants::{answer, kernel};
use latlab_model::campaign_table::{CampaignCell, CampaignRow, CampaignTable, CellWord};
use latlab_model::run::VerdictWord;
use latlab_model::sanitize::escape_lines;

/// One test suite. A row fails as its verdict does; one without a deadline fails only where a run
/// of it did.
pub fn junit(of: &CampaignTable) -> String {
    let cases: Vec<(Option<Problem>, &CampaignRow)> =
        of.rows.iter().map(|row| (problem(row), row)).collect();
    let count = |kind: &str| {
        cases.iter().filter(|(problem, _)| problem.as_ref().is_some_and(|p| p.kind == kind)).count()
    };
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text += &format!(
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\">\n",
        xml_text(&of.name),
        cases.len(),
        count("failure"),
        count("error"),
        count("skipped")
    );
    for (problem, row) in &cases {
        text += &format!(
            "  <testcase classname=\"{}\" name=\"{}\">\n",
            xml_text(&of.name),
            xml_text(&row.label)
        );
        text += &properties(row);
        if let Some(Problem { kind, message }) = problem {
            text += &format!("    <{kind} message=\"{}\"/>\n", xml_text(message));
        }
        text +=
            &format!("    <system-out>{}</system-out>\n  </testcase>\n", xml_text(&summary(row)));
    }
    let remarks = answer(of).into_iter().chain(below(of)).collect::<Vec<_>>().join("\n");
    text + &format!("  <system-out>{}</system-out>\n</testsuite>\n", xml_text(&remarks))
}

/// On what the row was measured.
fn properties(row: &CampaignRow) -> String {
    let facts = [
        ("target", Some(row.target.clone())),
        ("kernel", kernel(row)),
        ("board", row.board.clone()),
    ];
    let property = |(name, value): (&str, Option<String>)| {
        Some(format!("      <property name=\"{name}\" value=\"{}\"/>\n", xml_text(&value?)))
    };
    let properties: String = facts.into_iter().filter_map(property).collect();
    format!("    <properties>\n{properties}    </properties>\n")
}

struct Problem {
    kind: &'static str,
    message: String,
}

fn problem(row: &CampaignRow) -> Option<Problem> {
    let why: Vec<String> = row
        .cells
        .iter()
        .filter_map(|cell| Some(format!("repeat {}: {}", cell.repeat, reason(cell)?)))
        .collect();
    let of = |kind, message: String| {
        let own = kind == "failure" || why.is_empty();
        Some(Problem { kind, message: if own { message } else { why.join("; ") } })
    };
    let missing = row.cells.iter().filter(|cell| cell.state == CellWord::Missing).count();
    match row.verdict {
        Some(VerdictWord::Pass) => None,
        Some(VerdictWord::Fail) => of("failure", missed(row)),
        Some(word) => of("error", format!("the verdict is {word}")),
        None if missing > 0 => of("error", format!("{missing} runs are missing")),
        None if row.cells.iter().all(|cell| cell.state == CellWord::LeftOut) => {
            of("skipped", "left out".to_string())
        }
        None => None,
    }
}

/// Which repeats missed the deadline.
fn missed(row: &CampaignRow) -> String {
    let failed = row.cells.iter().filter(|cell| cell.verdict == Some(VerdictWord::Fail));
    let line =
        |cell: &CampaignCell| format!("repeat {}: {}", cell.repeat, words(cell, row).join(", "));
    failed.map(line).collect::<Vec<_>>().join("; ")
}

/// What a cell says.
fn words(cell: &CampaignCell, row: &CampaignRow) -> Vec<String> {
    let max = cell.figures.max_ns.map(|max| format!("observed maximum {max}"));
    let word = Some(verdict(cell)).filter(|word| !word.is_empty());
    max.into_iter().chain(rest(&cell.figures, row.deadline_ns)).chain(word).collect()
}

fn summary(row: &CampaignRow) -> String {
    let line = |cell: &CampaignCell| {
        let run = cell.run.as_ref().map(|run| format!(" [{run}]")).unwrap_or_default();
        format!("repeat {}: {}{run}", cell.repeat, words(cell, row).join(", "))
    };
    row.cells.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Text in XML 1.0, which has no place for most control characters.
pub(crate) fn xml_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in escape_lines(text).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            c => safe.push(c),
        }
    }
    safe
}
