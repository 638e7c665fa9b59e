//! The table as terminal text, Markdown and CSV.

use super::comparisons::comparison_lines;
use super::conditions;
use super::format::{length_of, maximum, reason, rest, verdict};
use super::repeats::limits;
use super::variants::{headline, kernel};
use crate::campaign::{CampaignCell, CampaignRow, CampaignTable, CellAttempt, PooledRow};
use crate::document::style::{Colour, Style};
use crate::document::table::{Column, Table, markdown as markdown_table, wrapped};
use crate::document::{Section, escaped, to_terminal};
use crate::figures::{Counts, Place, Value, columns as figure_columns, figure};
use crate::sections::causes::SideBySide;
use crate::terms::VIRTUAL_TIME_SHOWS;
use crate::units::{Scale, bin_edge, grouped};
use latlab_model::Nanos;
use latlab_model::sanitize::escape_controls;
use latlab_store::CellWord;
use std::borrow::Cow;

/// The table for the terminal: the observed maximum of each repeat, and all repeats pooled.
pub fn show(of: &CampaignTable, width: usize, style: Style) -> String {
    let headline = headline(of)
        .map(|headline| format!("{}\n", style.paint(Colour::Bold, &wrapped(&headline, width, 0))));
    let head = format!("Campaign {}: {}", of.name, of.tally);
    let paragraphs = [Some(head), of.about.clone(), length_of(of)].into_iter().flatten();
    let paragraphs = paragraphs.map(|text| format!("{}\n", wrapped(&text, width, 0)));
    let head = headline.into_iter().chain(paragraphs).collect::<String>();
    let caption =
        "Each repeat shows its observed maximum; other figures are of all repeats together.";
    let rows = Section::new("rows", "Rows").without_title().table(Table::new(caption, columns(of)));
    let rows = rows.text(caption).texts(below(of).chain(comparison_lines(of)));
    let causes = causes(of).map(|causes| causes.section());
    format!(
        "{head}\n{}",
        to_terminal(&Vec::from_iter([rows].into_iter().chain(causes)), width, style)
    )
}

/// Causes of the spikes of all rows that recorded some.
pub fn causes(of: &CampaignTable) -> Option<SideBySide<'_>> {
    SideBySide::new(of.rows.iter().map(|row| {
        (row.label.as_str(), row.pooled.as_ref().and_then(|pooled| pooled.causes.as_ref()))
    }))
}

fn columns(of: &CampaignTable) -> Vec<Column> {
    let all = || of.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.figures.max_ns);
    let scale = Scale::for_times(all());
    let rows: Vec<Counts> = of.rows.iter().map(counted).collect();
    let mut columns =
        vec![Column::new("row", 0, of.rows.iter().map(|row| row.label.clone())).left()];
    columns.extend(machine_columns(of));
    columns.extend(figure_columns(Place::Rows, &rows));
    for repeat in 1..=of.repeats {
        let cell = |row: &CampaignRow| {
            let cell = row.cells.iter().find(|cell| cell.repeat == repeat)?;
            Some(match maximum(&cell.figures) {
                Some(max) => max.in_column(|ns| scale.number_f64(ns)),
                None => verdict(cell),
            })
        };
        let name = format!("repeat {repeat}");
        columns.push(Column::new(&name, 0, of.rows.iter().map(cell)).unit(scale.unit()));
    }
    columns.extend(conditions_column(of));
    columns
}

pub fn counted(row: &CampaignRow) -> Counts<'_> {
    let figures = row.pooled.as_ref().map(|pooled| &pooled.figures);
    let figures = figures.map_or_else(Cow::default, Cow::Borrowed);
    Counts { verdict: row.verdict, ..Counts::of_cell(&figures, row.deadline_ns) }
}

type RowFact = (&'static str, fn(&CampaignRow) -> Option<String>);

/// Target, kernel and board, each only if rows differ in it and their names do not show it.
fn machine_columns(of: &CampaignTable) -> Vec<Column> {
    let facts: [RowFact; 3] = [
        ("target", |row| Some(row.target.clone())),
        ("kernel", kernel),
        ("board", |row| row.board.clone()),
    ];
    let column = |(name, fact): RowFact| {
        let cells: Vec<String> =
            of.rows.iter().map(|row| fact(row).unwrap_or_else(|| "-".to_string())).collect();
        let differ = cells.iter().any(|cell| *cell != cells[0]);
        let is_said = cells.iter().zip(&of.rows).all(|(cell, row)| row.label.contains(cell));
        (differ && !is_said).then(|| Column::new(name, 0, cells).left())
    };
    facts.into_iter().filter_map(column).collect()
}

/// How the machine differed from what its row claims; `None` if it never did.
fn conditions_column(of: &CampaignTable) -> Option<Column> {
    let all: Vec<Option<String>> = of.rows.iter().map(conditions::summary).collect();
    let cells = || all.iter().map(|one| one.clone().unwrap_or_else(|| "-".to_string()));
    all.iter().any(Option::is_some).then(|| Column::new("conditions", 2, cells()).left())
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

/// The whole table in GitHub Markdown, each cell in full.
pub fn markdown(of: &CampaignTable) -> String {
    let mut columns =
        vec![Column::new("row", 0, of.rows.iter().map(|row| row.label.clone())).left()];
    columns.extend(machine_columns(of));
    for repeat in 1..=of.repeats {
        let cell = |row: &CampaignRow| {
            let cell = row.cells.iter().find(|cell| cell.repeat == repeat);
            cell.map_or(String::new(), |cell| cell_words(cell, row))
        };
        let cells = of.rows.iter().map(cell);
        columns.push(Column::new(&format!("repeat {repeat}"), 0, cells).left());
    }
    let word = |row: &CampaignRow| row.verdict.map(|word| word.to_string());
    columns.push(Column::new("verdict", 0, of.rows.iter().map(word)).left());
    columns.extend(conditions_column(of));
    let remarks = below(of).chain(comparison_lines(of));
    let remarks: String = remarks.map(|line| format!("- {}\n", escaped(&line))).collect();
    let headline = headline(of).map(|headline| format!("**{}**\n\n", escaped(&headline)));
    let paragraphs = [of.about.clone(), length_of(of)].into_iter().flatten();
    let paragraphs = paragraphs.map(|text| format!("{}\n\n", escaped(&text)));
    format!(
        "### {}: {}\n\n{}{}\n{remarks}",
        escaped(&of.name),
        of.tally,
        headline.into_iter().chain(paragraphs).collect::<String>(),
        markdown_table(&columns)
    )
}

fn cell_words(cell: &CampaignCell, row: &CampaignRow) -> String {
    let max = maximum(&cell.figures);
    let max = max.map(|max| format!("max {}", max.words(|ns| Nanos(ns as i64).to_string())));
    let word = Some(verdict(cell)).filter(|word| !word.is_empty());
    let words = max.into_iter().chain(rest(&cell.figures, row.deadline_ns)).chain(word);
    words.collect::<Vec<_>>().join(", ")
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
