//! The table as text: for the terminal, as Markdown, as CSV.

use super::comparisons::comparison_lines;
use super::conditions;
use super::format::{length_of, maximum, p99_9, reason, rest, verdict};
use super::repeats::limits;
use super::variants::{headline, kernel};
use crate::figures::SaidLatency;
use crate::sections::causes::SideBySide;
use crate::terminal::style::{Colour, Style};
use crate::terminal::table::escaped;
use crate::terminal::table::{Column, markdown as markdown_table, table, wrapped};
use crate::terminal::text::paint_verdict;
use crate::terms::VIRTUAL_TIME_SHOWS;
use crate::units::{Scale, bin_edge, grouped};
use latlab_model::Nanos;
use latlab_model::campaign_table::{
    CampaignCell, CampaignRow, CampaignTable, CellAttempt, CellFigures, CellWord, PooledRow,
};
use latlab_model::sanitize::escape_controls;

/// The table in the terminal: the observed maximum of each repeat, and all repeats together.
pub fn show(of: &CampaignTable, width: usize, style: Style) -> String {
    let headline = headline(of)
        .map(|headline| format!("{}\n", style.paint(Colour::Bold, &wrapped(&headline, width, 0))));
    let head = format!("Campaign {}: {}", of.name, of.tally);
    let paragraphs = [Some(head), of.about.clone(), length_of(of)].into_iter().flatten();
    let paragraphs = paragraphs.map(|text| format!("{}\n", wrapped(&text, width, 0)));
    let mut text = headline.into_iter().chain(paragraphs).collect::<String>() + "\n";
    text += &table(columns(of), width, style);
    let caption =
        "Each repeat shows its observed maximum; other figures are of all repeats together.";
    text += &format!("{}\n", wrapped(caption, width, 0));
    for line in below(of).chain(comparison_lines(of)) {
        text += &format!("{}\n", wrapped(&line, width, 2));
    }
    if let Some(causes) = causes(of) {
        text += &format!("\n{}", table(causes.columns(), width, style));
    }
    text
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
    let p99_9 = |row: &CampaignRow| pooled(row).and_then(p99_9);
    let p99_9_times = of.rows.iter().filter_map(p99_9).map(|time| Nanos(time.ns as i64));
    let p99_9_scale = Scale::for_times(p99_9_times);
    let number = |scale: Scale, time: Option<SaidLatency>| {
        time.map_or("-".into(), |time| time.in_column(|ns| scale.number_f64(ns)))
    };
    let each = |cell: &dyn Fn(&CampaignRow) -> String| of.rows.iter().map(cell).collect::<Vec<_>>();
    let word = |row: &CampaignRow| row.verdict.map_or("-".to_string(), |word| word.to_string());
    let misses = |row: &CampaignRow| {
        let misses = pooled(row).and_then(|all| all.misses);
        misses.map_or("-".to_string(), grouped)
    };
    let mut columns = vec![Column::new("row", 0, each(&|row| row.label.clone())).left()];
    columns.extend(machine_columns(of));
    columns.push(Column::new("verdict", 0, each(&word)).left().coloured(paint_verdict));
    columns.push(Column::new("misses", 1, each(&misses)));
    columns.push(
        Column::new("p99.9", 1, each(&|row| number(p99_9_scale, p99_9(row))))
            .unit(p99_9_scale.unit()),
    );
    for repeat in 1..=of.repeats {
        let cell = |row: &CampaignRow| match row.cells.iter().find(|cell| cell.repeat == repeat) {
            Some(cell) if cell.figures.max_ns.is_some() => number(scale, maximum(&cell.figures)),
            Some(cell) => verdict(cell),
            None => "-".to_string(),
        };
        let name = format!("repeat {repeat}");
        columns.push(Column::new(&name, 0, each(&cell)).unit(scale.unit()));
    }
    columns.extend(conditions_column(of));
    columns
}

/// A fact of a row with its name.
type RowFact = (&'static str, fn(&CampaignRow) -> Option<String>);

/// Target, kernel and board, each where rows differ in it and their names do not say it.
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

/// In what the machine was not as its row claims, where any was not.
fn conditions_column(of: &CampaignTable) -> Option<Column> {
    let all: Vec<Option<String>> = of.rows.iter().map(conditions::summary).collect();
    let cells = || all.iter().map(|one| one.clone().unwrap_or_else(|| "-".to_string()));
    all.iter().any(Option::is_some).then(|| Column::new("conditions", 2, cells()).left())
}

fn pooled(row: &CampaignRow) -> Option<&CellFigures> {
    row.pooled.as_ref().map(|pooled| &pooled.figures)
}

/// Why cells have no figures, or such as say nothing.
pub fn reasons(of: &CampaignTable) -> Vec<String> {
    let of_row = |row: &CampaignRow| -> Vec<String> {
        let line = |cell: &CampaignCell| {
            Some(format!("{}, repeat {}: {}", row.label, cell.repeat, reason(cell)?))
        };
        row.cells.iter().filter_map(line).collect()
    };
    of.rows.iter().flat_map(of_row).collect()
}

/// All that is said below a table.
pub fn below(of: &CampaignTable) -> impl Iterator<Item = String> {
    let conditions = conditions::all_lines(of);
    let machine = conditions.into_iter().chain(virtual_time(of));
    limits(of).into_iter().chain(reasons(of)).chain(machine).chain(remarks(of))
}

/// What figures of guests are.
pub fn virtual_time(of: &CampaignTable) -> Option<String> {
    of.virtual_time.then(|| format!("Virtual time: {VIRTUAL_TIME_SHOWS}."))
}

/// What the numbers alone do not say.
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

/// What its tries came to, where one was not enough.
pub fn remark(cell: &CampaignCell, name: &str) -> Option<String> {
    let last = cell.attempts.last()?.attempt;
    let head = match cell.state {
        CellWord::Done if last > 1 => "measured at try",
        CellWord::Failed if last > 1 => "given up after try",
        _ => return None,
    };
    // What cell and head say already is not said again.
    let is_told = |one: &&CellAttempt| one.reason.is_some() && one.reason != cell.reason;
    let told = cell.attempts.iter().filter(is_told).map(|one| {
        let missed = if one.has_failed() { "the deadline was missed, and " } else { "" };
        let reason = one.reason.as_deref().unwrap_or_default();
        format!("; try {}: {missed}{reason}", one.attempt)
    });
    Some(format!("{name}: {head} {last}{}", told.collect::<String>()))
}

/// Threads of different periods may have different numbers of latencies, which is to be known.
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

/// What others have published of the row.
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

/// The whole table in the Markdown of GitHub: each cell with all that it says.
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
    let word = |row: &CampaignRow| row.verdict.map_or("-".to_string(), |word| word.to_string());
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

/// A line for each cell, with exact nanoseconds; what is not known is empty. No text is a formula.
pub fn csv(of: &CampaignTable) -> String {
    let head = "row,target,kernel,repeat,state,verdict,run,cycles,max_ns,p99_9_ns,missed,misses,\
                deadline_ns,preemption,board,reason,max_is_at_least,conditions";
    let mut text = format!("{head}\n");
    for row in &of.rows {
        for cell in &row.cells {
            let number =
                |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
            let time =
                |time: Option<Nanos>| time.map(|time| time.0.to_string()).unwrap_or_default();
            let figures = &cell.figures;
            let text_of = |text: &Option<String>| text.as_deref().map(csv_text).unwrap_or_default();
            let fields = [
                csv_text(&row.label),
                csv_text(&row.target),
                text_of(&row.kernel),
                cell.repeat.to_string(),
                cell.state.to_string(),
                cell.verdict.map(|word| word.to_string()).unwrap_or_default(),
                text_of(&cell.run),
                number(cell.run.as_ref().map(|_| figures.cycles)),
                time(figures.max_ns),
                time(figures.p99_9_ns),
                number(figures.missed),
                number(figures.misses),
                time(row.deadline_ns),
                text_of(&row.preemption),
                text_of(&row.board),
                text_of(&cell.reason),
                cell.figures
                    .max_ns
                    .map(|_| figures.max_is_at_least.to_string())
                    .unwrap_or_default(),
                conditions::codes(cell).collect::<Vec<_>>().join(" "),
            ];
            text += &(fields.join(",") + "\n");
        }
    }
    text
}

/// A text as a field of RFC 4180; a spreadsheet takes what begins as a formula does for a text only
/// behind an apostrophe, and what stands behind another separator for another field unless quoted.
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
