//! The sections of a campaign below its answer.

use super::comparisons::comparison_lines;
use super::conditions;
use super::format::{DeadlineDistance, maximum, rest, verdict};
use super::repeats::limits;
use super::text::{reasons, remarks, virtual_time};
use super::variants::kernel;
use crate::campaign::{CampaignCell, CampaignRow, CampaignTable, PooledRow};
use crate::document::style::verdict_colour;
use crate::document::table::{Cell, Column, Table};
use crate::document::{Block, On, Section};
use crate::figures::{Counts, Place, columns as figure_columns, figure_head};
use crate::sections::causes::SideBySide;
use crate::units::{Scale, bin_edge, grouped, short};
use latlab_model::Nanos;
use std::borrow::Cow;

/// Up to this many comparisons stand at the top of a page; if there are more, all follow below the
/// table.
pub const NAMED_COMPARISONS: usize = 2;

const IN_SHORT: &str =
    "Each repeat shows its observed maximum; other figures are of all repeats together.";
const TABLE: &str = "Each cell is one run: observed maximum, 99.9 % quantile, deadline misses and \
                     verdict. Colour and text show the observed maximum as a share of the deadline, \
                     or that the run is invalid, failed or damaged.";
/// Appended to the caption if there are such links.
const LINKS: &str = " The observed maximum leads to the page of the run.";

/// All sections; `page_of` returns the link to the page of a run.
pub fn of_campaign(
    of: &CampaignTable,
    page_of: &dyn Fn(&str) -> Option<String>,
    pictures: Option<Section>,
) -> Vec<Section> {
    let first = [Some(rows(of, page_of)), compared(of)];
    let last = [pooled(of), causes(of), remarked(of)];
    first.into_iter().chain([pictures]).chain(last).flatten().collect()
}

fn rows(of: &CampaignTable, page_of: &dyn Fn(&str) -> Option<String>) -> Section {
    let mut runs = of.rows.iter().flat_map(|row| &row.cells).filter_map(|cell| cell.run.as_ref());
    let links = if runs.any(|run| page_of(run).is_some()) { LINKS } else { "" };
    let cells = Table::new(format!("{TABLE}{links}"), cell_columns(of, page_of));
    Section::new("table", "Table")
        .without_title()
        .add(On::Terminal, Block::Table(Table::new(IN_SHORT, columns(of))))
        .add(On::Terminal, Block::Text(IN_SHORT.to_string()))
        .add(On::Document, Block::Table(cells.stacked().of_cells()))
        .list(limits(of))
        .list(reasons(of))
        .list(conditions::all_lines(of))
}

/// The comparisons; a page has few of them at its top.
fn compared(of: &CampaignTable) -> Option<Section> {
    let lines = comparison_lines(of);
    let on = if lines.len() > NAMED_COMPARISONS { On::All } else { On::Text };
    Section::new("compared", "Compared").without_title().on(on).list(lines).or_nothing()
}

fn remarked(of: &CampaignTable) -> Option<Section> {
    let time = Vec::from_iter(virtual_time(of));
    let section = Section::new("remarks", "Remarks").without_title();
    let section = match time.is_empty() {
        true => section,
        false => section.add(On::Text, Block::List(String::new(), time)),
    };
    section.list(remarks(of)).or_nothing()
}

/// Causes of the spikes of all rows that recorded some.
fn causes(of: &CampaignTable) -> Option<Section> {
    let causes = SideBySide::new(of.rows.iter().map(|row| {
        (row.label.as_str(), row.pooled.as_ref().and_then(|pooled| pooled.causes.as_ref()))
    }));
    causes.map(|causes| causes.section())
}

/// What a terminal has room for: the maximum of each repeat, and the figures of all together.
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

/// Each run in full.
fn cell_columns(of: &CampaignTable, page_of: &dyn Fn(&str) -> Option<String>) -> Vec<Column> {
    let name = |row: &CampaignRow| {
        let deadline = row.deadline_ns.map(|deadline| format!("deadline {deadline}"));
        let notes = [machine(row, of), row.about.clone(), deadline];
        Cell::from(row.label.clone()).notes(notes.into_iter().flatten())
    };
    let word = |row: &CampaignRow| match row.verdict {
        Some(word) => Cell::from(word.to_string()).badge(word.as_str(), verdict_colour(word)),
        None => Cell::from(None),
    };
    let mut columns = vec![
        Column::new("row", 0, of.rows.iter().map(name)).left(),
        Column::new(figure_head("verdict"), 0, of.rows.iter().map(word)).left(),
    ];
    for repeat in 1..=of.repeats {
        let cell = |row: &CampaignRow| {
            let cell = row.cells.iter().find(|cell| cell.repeat == repeat);
            cell.map(|cell| one_cell(cell, row, page_of)).unwrap_or_default()
        };
        let head = format!("repeat {repeat}");
        columns.push(Column::new(&head, 0, of.rows.iter().map(cell)).left());
    }
    if of.rows.iter().any(|row| !row.published.is_empty()) {
        columns.push(Column::new("published", 0, of.rows.iter().map(published)).left());
    }
    columns
}

fn one_cell(
    cell: &CampaignCell,
    row: &CampaignRow,
    page_of: &dyn Fn(&str) -> Option<String>,
) -> Cell {
    let page = cell.run.as_deref().and_then(page_of);
    let (max, word) = (maximum(&cell.figures), verdict(cell));
    let text = match (&max, &page) {
        (Some(max), _) => max.short(),
        (None, Some(_)) => "page".to_string(),
        (None, None) => String::new(),
    };
    let exact =
        max.map(|max| format!("observed maximum {}", max.words(|ns| Nanos(ns as i64).to_string())));
    let codes = conditions::codes(cell).map(str::to_string);
    Cell::from(text)
        .link(page)
        .tip(cell.reason.clone().or(exact))
        .notes(rest(&cell.figures, row.deadline_ns))
        .words(Some(word).filter(|word| !word.is_empty()).into_iter().chain(codes))
        .ground(DeadlineDistance::new(cell, row.deadline_ns).class())
}

fn published(row: &CampaignRow) -> Cell {
    let figure = |figure: &latlab_model::campaign::PublishedFigure| {
        let max = figure.max_ns.map(|max| short(max.0 as f64)).unwrap_or_default();
        let note = figure.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        format!("{}: {max}{note}", figure.of)
    };
    Cell::default().notes(row.published.iter().map(figure)).ground("published")
}

/// The measured kernel, and the board if rows differ in it.
fn machine(row: &CampaignRow, table: &CampaignTable) -> Option<String> {
    let differ = table.rows.iter().any(|other| other.board != row.board);
    let board = row.board.clone().filter(|_| differ);
    let kernel = kernel(row).map(|kernel| format!("kernel {kernel}"));
    let parts: Vec<String> = [kernel, board].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// All repeats of each row together.
fn pooled(of: &CampaignTable) -> Option<Section> {
    let all: Vec<(&CampaignRow, &PooledRow)> =
        of.rows.iter().filter_map(|row| Some((row, row.pooled.as_ref()?))).collect();
    let names = all.iter().map(|(row, _)| Cell::from(row.label.clone()).note(machine(row, of)));
    let mut columns = vec![
        Column::new("row", 0, names).left(),
        Column::new("runs", 0, all.iter().map(|(_, one)| one.runs.to_string())),
    ];
    let figures: Vec<Counts> = all.iter().map(|(row, _)| counted(row)).collect();
    columns.extend(figure_columns(Place::Pooled, &figures));
    let equal = all.iter().map(|(_, one)| one.p99_9_equal_weight_ns.map(said));
    let head = format!("{}, equal weight for each thread", figure_head("p99_9_ns"));
    columns.push(Column::new(&head, 1, equal));
    columns.retain(|column| !column.is_void());
    let table = Table::new("All repeats together", columns).stacked();
    let section = Section::new("pooled", "All repeats together").on(On::Document).table(table);
    let with_threads = all.iter().filter(|(_, one)| !one.threads.is_empty());
    let section =
        with_threads.fold(section, |section, (row, one)| section.add(On::All, threads(row, one)));
    (!all.is_empty()).then_some(section)
}

fn said(quantile: Nanos) -> String {
    bin_edge(quantile).to_string()
}

fn threads(row: &CampaignRow, pooled: &PooledRow) -> Block {
    let all = || pooled.threads.iter();
    let period = all().map(|one| one.period_ns.map(|time| time.to_string()));
    let max = all().map(|one| one.max_ns.map(|time| time.to_string()));
    let columns = vec![
        Column::new("thread", 0, all().map(|one| one.thread.to_string())),
        Column::new(figure_head("period_ns"), 0, period),
        Column::new(figure_head("cycles"), 0, all().map(|one| grouped(one.cycles))),
        Column::new(figure_head("max_ns"), 0, max),
        Column::new(figure_head("p99_9_ns"), 0, all().map(|one| one.p99_9_ns.map(said))),
    ];
    let table = Table::new(format!("Threads of {}", row.label), columns);
    let title = format!(
        "The threads of {}: each has its own period, and so a different number of latencies",
        row.label
    );
    Block::Folded(title, vec![Block::Table(table)])
}
