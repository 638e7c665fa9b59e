//! A campaign as terminal text, Markdown and CSV.

use super::conditions;
use super::format::{length_of, reason};
use super::repeats::limits;
use super::sections::of_campaign;
use super::variants::headline;
use crate::campaign::{CampaignCell, CampaignRow, CampaignTable, CellAttempt, PooledRow};
use crate::document::style::{Colour, Style};
use crate::document::table::wrapped;
use crate::document::{escaped, to_markdown, to_terminal};
use crate::figures::{Counts, Value, figure};
use crate::terms::VIRTUAL_TIME_SHOWS;
use crate::units::{bin_edge, grouped};
use latlab_model::sanitize::escape_controls;
use latlab_store::CellWord;

/// For the terminal: the observed maximum of each repeat, and all repeats pooled.
pub fn show(of: &CampaignTable, width: usize, style: Style) -> String {
    let headline = headline(of)
        .map(|headline| format!("{}\n", style.paint(Colour::Bold, &wrapped(&headline, width, 0))));
    let head = format!("Campaign {}: {}", of.name, of.tally);
    let paragraphs = [Some(head), of.about.clone(), length_of(of)].into_iter().flatten();
    let paragraphs = paragraphs.map(|text| format!("{}\n", wrapped(&text, width, 0)));
    let head = headline.into_iter().chain(paragraphs).collect::<String>();
    format!("{head}\n{}", to_terminal(&of_campaign(of, &|_| None, None), width, style))
}

/// Each run in full, in GitHub Markdown.
pub fn markdown(of: &CampaignTable) -> String {
    let headline = headline(of).map(|headline| format!("**{}**\n\n", escaped(&headline)));
    let paragraphs = [of.about.clone(), length_of(of)].into_iter().flatten();
    let paragraphs = paragraphs.map(|text| format!("{}\n\n", escaped(&text)));
    format!(
        "### {}: {}\n\n{}{}",
        escaped(&of.name),
        of.tally,
        headline.into_iter().chain(paragraphs).collect::<String>(),
        to_markdown(&of_campaign(of, &|_| None, None))
    )
}

/// Why cells have no figures, or no valid ones.
pub fn reasons(of: &CampaignTable) -> Vec<String> {
    let of_row = |row: &CampaignRow| -> Vec<String> {
        let line = |cell: &CampaignCell| {
            Some(format!("{}, repeat {}: {}", row.label, cell.repeat, reason(cell)?))
        };
        row.cells.iter().filter_map(line).collect()
    };
    of.rows.iter().flat_map(of_row).collect()
}

/// All lines below the table.
pub fn below(of: &CampaignTable) -> impl Iterator<Item = String> {
    let conditions = conditions::all_lines(of);
    let machine = conditions.into_iter().chain(virtual_time(of));
    limits(of).into_iter().chain(reasons(of)).chain(machine).chain(remarks(of))
}

/// What figures of emulated guests are worth.
pub fn virtual_time(of: &CampaignTable) -> Option<String> {
    of.virtual_time.then(|| format!("Virtual time: {VIRTUAL_TIME_SHOWS}."))
}

/// Reservations that the numbers alone do not show.
pub fn remarks(of: &CampaignTable) -> Vec<String> {
    let mut remarks = Vec::new();
    for row in &of.rows {
        for cell in &row.cells {
            remarks.extend(remark(cell, &format!("{}, repeat {}", row.label, cell.repeat)));
        }
        remarks.extend(row.pooled.iter().filter_map(|pooled| weights(&row.label, pooled)));
        remarks.extend(published(row));
    }
    let doubts = of.published.iter().flat_map(|published| &published.doubts);
    remarks.extend(of.published.iter().map(|published| format!("Published: {}", published.source)));
    remarks.extend(doubts.map(|doubt| format!("Doubt: {doubt}")));
    remarks
}

/// The outcome of the attempts, if there was more than one.
pub fn remark(cell: &CampaignCell, name: &str) -> Option<String> {
    let last = cell.attempts.last()?.attempt;
    let head = match cell.state {
        CellWord::Done if last > 1 => "measured at try",
        CellWord::Failed if last > 1 => "given up after try",
        _ => return None,
    };
    // Do not repeat what the cell and its heading already say.
    let is_told = |one: &&CellAttempt| one.reason.is_some() && one.reason != cell.reason;
    let told = cell.attempts.iter().filter(is_told).map(|one| {
        let failed = if one.has_failed() { "the deadline was missed, and " } else { "" };
        let reason = one.reason.as_deref().unwrap_or_default();
        format!("; try {}: {failed}{reason}", one.attempt)
    });
    Some(format!("{name}: {head} {last}{}", told.collect::<String>()))
}

/// Threads of different periods may contribute different numbers of latencies, which the reader
/// must know.
fn weights(label: &str, pooled: &PooledRow) -> Option<String> {
    let (most, least) = (
        pooled.threads.iter().max_by_key(|one| one.cycles)?,
        pooled.threads.iter().min_by_key(|one| one.cycles)?,
    );
    let equal = pooled
        .p99_9_equal_weight_ns
        .map(|time| format!("; p99.9 {} with equal weight for each thread", bin_edge(time)));
    let (fewest, threads) = (grouped(least.cycles), pooled.threads.len());
    if least.cycles == most.cycles {
        return Some(format!(
            "{label}: the {threads} threads have different periods, and {fewest} latencies each"
        ));
    }
    Some(format!(
        "{label}: the threads have different periods, and from {fewest} latencies (thread {}) to \
         {} (thread {}){}",
        least.thread,
        grouped(most.cycles),
        most.thread,
        equal.unwrap_or_default()
    ))
}

/// Published results for the row.
pub fn published(row: &CampaignRow) -> Option<String> {
    let figure = |figure: &latlab_model::campaign::PublishedFigure| {
        let max = figure.max_ns.map(|max| format!(" {max}")).unwrap_or_default();
        let note = figure.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        format!("{}{max}{note}", figure.of)
    };
    let figures: Vec<String> = row.published.iter().map(figure).collect();
    (!figures.is_empty())
        .then(|| format!("{}: published maxima: {}", row.label, figures.join(", ")))
}

type Field = (&'static str, fn(&CampaignRow, &CampaignCell) -> String);

/// The fields of a CSV line; an unknown value is empty.
const FIELDS: [Field; 18] = [
    ("row", |row, _| csv_text(&row.label)),
    ("target", |row, _| csv_text(&row.target)),
    ("kernel", |row, _| text_of(&row.kernel)),
    ("repeat", |_, cell| cell.repeat.to_string()),
    ("state", |_, cell| cell.state.to_string()),
    ("verdict", |_, cell| cell.verdict.map(|word| word.to_string()).unwrap_or_default()),
    ("run", |_, cell| text_of(&cell.run)),
    ("cycles", |_, cell| figure_of(cell, "cycles")),
    ("max_ns", |_, cell| figure_of(cell, "max_ns")),
    ("p99_9_ns", |_, cell| {
        cell.figures.p99_9_ns.map(|time| time.0.to_string()).unwrap_or_default()
    }),
    ("overruns", |_, cell| figure_of(cell, "overruns")),
    ("misses", |_, cell| figure_of(cell, "misses")),
    ("deadline_ns", |row, _| row.deadline_ns.map(|time| time.0.to_string()).unwrap_or_default()),
    ("preemption", |row, _| text_of(&row.preemption)),
    ("board", |row, _| text_of(&row.board)),
    ("reason", |_, cell| text_of(&cell.reason)),
    ("max_is_at_least", |_, cell| {
        cell.figures.max_ns.map(|_| cell.figures.max_is_at_least.to_string()).unwrap_or_default()
    }),
    ("conditions", |_, cell| conditions::codes(cell).collect::<Vec<_>>().join(" ")),
];

fn text_of(text: &Option<String>) -> String {
    text.as_deref().map(csv_text).unwrap_or_default()
}

/// A number without unit; empty if the cell has no run.
fn figure_of(cell: &CampaignCell, id: &str) -> String {
    let counted = Counts::of_cell(&cell.figures, None);
    match (figure(id).get)(&counted).filter(|_| cell.run.is_some()) {
        Some(Value::Count(count)) => count.to_string(),
        Some(Value::Latency(latency)) => (latency.ns as i64).to_string(),
        _ => String::new(),
    }
}

/// A line for each cell, in exact nanoseconds. No text can act as a spreadsheet formula.
pub fn csv(of: &CampaignTable) -> String {
    let line = |fields: Vec<String>| fields.join(",") + "\n";
    let head = line(FIELDS.map(|(name, _)| name.to_string()).into());
    let cells = of.rows.iter().flat_map(|row| row.cells.iter().map(move |cell| (row, cell)));
    let lines = cells.map(|(row, cell)| line(FIELDS.map(|(_, get)| get(row, cell)).into()));
    head + &lines.collect::<String>()
}

/// A text as a field of RFC 4180. An apostrophe keeps a spreadsheet from taking it for a formula,
/// and quotes keep one with another separator from splitting it.
fn csv_text(text: &str) -> String {
    let begins =
        |c| matches!(c, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠' | '\t' | '\r' | '\n');
    let apostrophe = if text.starts_with(begins) { "'" } else { "" };
    let field = format!("{apostrophe}{}", escape_controls(&text.replace(['\r', '\n', '\t'], " ")));
    match field.contains([',', '"', ';', '\'']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field,
    }
}
