//! A campaign as one page: the table, whose cells link to the pages of the runs, and the
//! distributions with kernels overlaid.

use super::comparisons::comparison_lines;
use super::conditions;
use super::format::{DeadlineDistance, length_of, maximum, rest, verdict};
use super::multiples::RowLine;
use super::multiples::{Counted, can_be_overlaid, multiples, overlaid, pooled_rows, row_lines};
use super::repeats::limits;
use super::text::{causes, counted, reasons, remarks, virtual_time};
use super::variants::{headline, kernel};
use crate::campaign::{CampaignCell, CampaignRow, CampaignTable, PooledRow};
use crate::document::html::open;
use crate::document::outline::Outline;
use crate::document::outline::prose;
use crate::document::outline::scrolling;
use crate::document::table::{Cell, Column, Table, markup};
use crate::figures::{Counts, Place, columns as figure_columns};
use crate::page::data::{ChartLine, chart_data};
use crate::page::document;
use crate::pictures::curve::Curve;
use crate::pictures::options::Options;
use crate::terms::{self, Terms};
use crate::units::{bin_edge, grouped, short};
use latlab_model::{Nanos, Run, ThreadBins};
use maud::{Markup, PreEscaped, html};

/// Each chart is rendered in three widths; CSS shows the one that fits.
const WIDTHS: [(&str, u32); 3] = [("wide", 1120), ("middle", 700), ("narrow", 400)];

const TABLE: &str = "Each cell is one run: observed maximum, 99.9 % quantile, deadline misses and \
                     verdict. Colour and text show the observed maximum as a share of the deadline, \
                     or that the run is invalid, failed or damaged.";
/// Appended to the caption if there are such links.
const LINKS: &str = " The observed maximum leads to the page of the run.";

/// Up to this many comparisons stand at the top; if there are more, all follow below the table.
const NAMED_COMPARISONS: usize = 2;

pub struct CampaignRun<'a> {
    pub run: &'a Run,
    pub bins: &'a [ThreadBins],
    /// Link to the run's page, relative to this one; `None` on a standalone page.
    pub page: Option<String>,
}

/// The whole page. `runs` are the runs that the table names, in any order.
pub fn campaign_page(table: &CampaignTable, runs: &[CampaignRun], latlab: &str) -> String {
    let title = format!("{}: {}", table.name, table.tally);
    let outline = Outline::page();
    let rows: Vec<Vec<Option<Counted>>> = table.rows.iter().map(|row| runs_of(row, runs)).collect();
    let headline = headline(table);
    let body = html! {
        main.campaign {
            header {
                p.kicker { "Campaign " (table.name) " · " (table.id) }
                (outline.headline(prose(headline.as_deref().unwrap_or(&table.name))))
                @for line in comparison_lines(table).iter().take(NAMED_COMPARISONS) { p.lead { (prose(line)) } }
                @if let Some(about) = &table.about { p.lead { (prose(about)) } }
                p { (table.tally) "." @if let Some(length) = length_of(table) { " " (prose(&length)) } }
                @if let Some(time) = virtual_time(table) { p { (prose(&time)) } }
            }
            (outline.section("table", "Table", html! {
                (cells(table, runs))
                @let reasons = reasons(table);
                @let limits = limits(table);
                @if !limits.is_empty() { ul.reasons { @for line in &limits { li { (prose(line)) } } } }
                @if !reasons.is_empty() { ul.reasons { @for line in &reasons { li { (prose(line)) } } } }
                @let conditions = conditions::all_lines(table);
                @if !conditions.is_empty() { ul.reasons { @for line in &conditions { li { (prose(line)) } } } }
                p { (TABLE) @if runs.iter().any(|one| one.page.is_some()) { (LINKS) } }
            }))
            @let compared = comparison_lines(table);
            @if compared.len() > NAMED_COMPARISONS {
                (outline.section("compared", "Compared", html! {
                    ul { @for line in &compared { li { (prose(line)) } } }
                }))
            }
            (outline.section("picture", "Distributions", html! {
                (distributions(table, &rows, terms::of_all(runs.iter().map(|one| one.run))))
            }))
            (outline.section("pooled", "All repeats together", pooled(table)))
            @if let Some(causes) = causes(table) {
                (open(&outline, &causes.section()))
            }
            @let remarks = remarks(table);
            @if !remarks.is_empty() {
                (outline.section("remarks", "Remarks", html! {
                    ul { @for line in &remarks { li { (prose(line)) } } }
                }))
            }
        }
        footer { p { "Made by latlab " (latlab) " from campaign " (table.id) "." } }
    };
    document(&title, &body)
}

/// The charts, and the data with which scripts replace the first one by a zoomable chart.
fn distributions(
    table: &CampaignTable,
    rows: &[Vec<Option<Counted>>],
    terms: &'static Terms,
) -> Markup {
    let many = terms.many;
    let overlaid = can_be_overlaid(table).then(|| html! {
        (in_widths("overlaid", |options| overlaid(table, rows, options)))
        figcaption {
            "Histogram of the " (many) " of rows that differ in target, kernel, board or setting, \
                                over each other, all repeats together."
            span.still { " Heights are logarithmic, on one scale for all." }
        }
    });
    let each = html! {
        (in_widths("multiples", |options| multiples(table, rows, options)))
        figcaption {
            "Histogram of the " (many) " in each row"
            span.still {
                ": one line for all repeats together, and thin ones for each. Heights are \
                 logarithmic, on one scale for all rows"
            }
            "."
        }
    };
    let (first, folded) = match overlaid {
        Some(overlaid) => (overlaid, Some(each)),
        None => (each, None),
    };
    html! {
        figure data-picture="rows" data-run="" data-many=(terms.many) data-axis=(terms.axis)
            data-size=(terms.size) { (first) }
        @if let Some(each) = folded {
            details { summary { "Each row alone, with its repeats" } figure { (each) } }
        }
        (chart_data(&chart_lines(table, rows)))
    }
}

/// Each row with its pooled counts; the rows of one group share a chart.
fn chart_lines<'a>(table: &CampaignTable, rows: &[Vec<Option<Counted>>]) -> Vec<ChartLine<'a>> {
    let is_overlaid = can_be_overlaid(table);
    let lines = row_lines(table).into_iter().zip(pooled_rows(table, rows));
    let line = |(row, (line, curve)): (&CampaignRow, (RowLine, Curve<'a>))| ChartLine {
        group: if is_overlaid { line.group } else { String::new() },
        pen: line.pen,
        deadline_ns: row.deadline_ns,
        curve,
    };
    table.rows.iter().zip(lines).map(line).collect()
}

fn in_widths(id: &str, picture: impl Fn(&Options) -> String) -> Markup {
    html! {
        div.still {
            @for (class, width) in WIDTHS {
                @let options = Options { width, id: format!("{id}-{class}"), ..Options::default() };
                div class=(class) { (PreEscaped(picture(&options))) }
            }
        }
    }
}

fn runs_of<'a>(row: &CampaignRow, runs: &[CampaignRun<'a>]) -> Vec<Option<Counted<'a>>> {
    let of_cell = |cell: &CampaignCell| {
        let id = cell.run.as_ref()?;
        runs.iter().find(|one| one.run.id == *id).map(|one| (one.run, one.bins))
    };
    row.cells.iter().map(of_cell).collect()
}

fn cells(table: &CampaignTable, runs: &[CampaignRun]) -> Markup {
    let has_published = table.rows.iter().any(|row| !row.published.is_empty());
    let content = html! {
        table.cells.stacked {
            thead { tr {
                th scope="col" { "Row" }
                th scope="col" { "Verdict" }
                @for repeat in 1..=table.repeats { th scope="col" { "Repeat " (repeat) } }
                @if has_published { th scope="col" { "Published" } }
            } }
            tbody {
                @for row in &table.rows {
                    tr {
                        th scope="row" {
                            (row.label)
                            @if let Some(machine) = machine(row, table) { small { (machine) } }
                            @if let Some(about) = &row.about { small { (about) } }
                            @if let Some(deadline) = row.deadline_ns { small { "deadline " (deadline) } }
                        }
                        td data-head="Verdict" {
                            @match row.verdict {
                                Some(word) => span class={ "badge " (word) } { (word) },
                                None => "–",
                            }
                        }
                        @for cell in &row.cells { (one_cell(cell, row, runs)) }
                        @if has_published { (published(row)) }
                    }
                }
            }
        }
    };
    scrolling("Table", false, content)
}

fn one_cell(cell: &CampaignCell, row: &CampaignRow, runs: &[CampaignRun]) -> Markup {
    let near = DeadlineDistance::new(cell, row.deadline_ns);
    let word = verdict(cell);
    let run = cell.run.as_ref().and_then(|id| runs.iter().find(|one| one.run.id == *id));
    let page = run.and_then(|one| one.page.as_deref());
    let head = format!("Repeat {}", cell.repeat);
    html! {
        td class=(near.class()) title=[cell.reason.as_deref()] data-head=(head) {
            div {
                @if let Some(max) = maximum(&cell.figures) {
                    @let exact = max.words(|ns| Nanos(ns as i64).to_string());
                    @match page {
                        Some(page) => a href=(page) title={ "observed maximum " (exact) } {
                            strong { (max.short()) }
                        },
                        None => strong { (max.short()) },
                    }
                } @else if let Some(page) = page { a href=(page) { "page" } }
                @for part in rest(&cell.figures, row.deadline_ns) { small { (part) } }
                @if !word.is_empty() { small.word { (word) } }
                @for code in conditions::codes(cell) { small.word { (code) } }
            }
        }
    }
}

/// The measured kernel, and the board if rows differ in it.
fn machine(row: &CampaignRow, table: &CampaignTable) -> Option<String> {
    let differ = table.rows.iter().any(|other| other.board != row.board);
    let board = row.board.clone().filter(|_| differ);
    let kernel = kernel(row).map(|kernel| format!("kernel {kernel}"));
    let parts: Vec<String> = [kernel, board].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn published(row: &CampaignRow) -> Markup {
    html! {
        td.published data-head="Published" {
            div {
                @for figure in &row.published {
                    small {
                        (figure.of) ": "
                        @if let Some(max) = figure.max_ns { strong { (short(max.0 as f64)) } }
                        @if let Some(note) = &figure.note { " (" (note) ")" }
                    }
                }
            }
        }
    }
}

fn pooled(table: &CampaignTable) -> Markup {
    let all: Vec<(&CampaignRow, &PooledRow)> =
        table.rows.iter().filter_map(|row| Some((row, row.pooled.as_ref()?))).collect();
    let names = all.iter().map(|(row, _)| Cell::from(row.label.clone()).note(machine(row, table)));
    let mut columns = vec![
        Column::new("row", 0, names).left(),
        Column::new("runs", 0, all.iter().map(|(_, one)| one.runs.to_string())),
    ];
    let figures: Vec<Counts> = all.iter().map(|(row, _)| counted(row)).collect();
    columns.extend(figure_columns(Place::Pooled, &figures));
    let equal = all.iter().map(|(_, one)| one.p99_9_equal_weight_ns.map(said));
    columns.push(Column::new("p99.9, equal weight for each thread", 1, equal));
    columns.retain(|column| !column.is_void());
    html! {
        (markup(&Table::new("All repeats together", columns).stacked()))
        @for (row, one) in &all {
            @if !one.threads.is_empty() { (threads(row, one)) }
        }
    }
}

fn said(quantile: Nanos) -> String {
    bin_edge(quantile).to_string()
}

fn threads(row: &CampaignRow, pooled: &PooledRow) -> Markup {
    let all = pooled.threads.iter();
    let columns = vec![
        Column::new("thread", 0, all.clone().map(|one| one.thread.to_string())),
        Column::new("period", 0, all.clone().map(|one| one.period_ns.map(|time| time.to_string()))),
        Column::new("cycles", 0, all.clone().map(|one| grouped(one.cycles))),
        Column::new("max", 0, all.clone().map(|one| one.max_ns.map(|time| time.to_string()))),
        Column::new("p99.9", 0, all.map(|one| one.p99_9_ns.map(said))),
    ];
    html! {
        details {
            summary { "The threads of " (row.label) ": each has its own period, and so a \
                                                     different number of latencies" }
            (markup(&Table::new(format!("Threads of {}", row.label), columns)))
        }
    }
}
