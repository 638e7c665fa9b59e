//! Several runs on one page: the answer, their main figures side by side, what differs between them,
//! and their pictures over each other.

use super::PageRun;
use super::pictures::compared;
use super::responders;
use crate::page::markup::{Outline, firm, prose, with_breaks};
use crate::run_table::{ComparedFigure, MEANING, RunRow, RunTable};
use crate::run_with_bins::RunWithBins;
use crate::sections::respond;
use latlab_model::Run;
use latlab_stats::MeasuredRun;
use maud::{Markup, html};

/// The section that stands above the runs.
pub fn comparison(runs: &[PageRun], outline: &Outline) -> Markup {
    let measured: Vec<RunWithBins> = runs.iter().map(PageRun::with_bins).collect();
    let judged: Vec<MeasuredRun> = runs.iter().map(PageRun::measured).collect();
    let all: Vec<&Run> = runs.iter().map(|one| one.run).collect();
    let comparison = RunTable::new(all).with_judgements(&judged);
    html! {
        section.comparison id="comparison" aria-labelledby=(outline.id("headline")) {
            header {
                p.kicker { "Comparison: " (comparison.title()) }
                @let (headline, more) = comparison.lines();
                (outline.headline(prose(&headline)))
                @for line in more { p.lead { (prose(&line)) } }
                @if let Some(misses) = comparison.misses() { p.lead { (prose(&misses)) } }
            }
            (responders::compared(runs, outline))
            @if respond::columns(comparison.runs()).is_none() { (runs_table(&comparison)) }
            (compared(&measured, outline))
            (outline.section("settings", "Settings that differ", settings_table(&comparison)))
        }
    }
}

/// A row for each run; where the window is narrow, a paragraph for each.
fn runs_table(comparison: &RunTable) -> Markup {
    let rows = comparison.rows();
    let figures: Vec<&str> = rows
        .first()
        .map(|row| row.figures.iter().map(|one| one.name).collect())
        .unwrap_or_default();
    let has_kernel = rows.iter().any(|row| !row.kernel.is_empty());
    let has_misses = rows.iter().any(|row| row.misses.is_some());
    let has_missed = rows.iter().any(|row| row.missed.is_some());
    let table = html! {
        table.stacked {
            caption { span { (prose(MEANING)) } }
            thead { tr {
                th scope="col" { "Run" }
                @if has_kernel { th scope="col" { "Kernel" } }
                th scope="col" { "Load" }
                th scope="col" { "Verdict" }
                @for name in &figures { th.number scope="col" { (heading(name)) } }
                @if has_misses { th.number scope="col" { "Misses" } }
                @if has_missed { th.number scope="col" { "Missed releases" } }
                th.number scope="col" { "Cycles" }
                th.number scope="col" { "Measured for" }
            } }
            tbody { @for (number, row) in (1..).zip(&rows) { tr {
                th scope="row" { a href={ "#run-" (number) } { (row.name) } }
                @if has_kernel { td.words data-head="Kernel" { (dash(&row.kernel)) } }
                td.words data-head="Load" { (with_breaks(&row.load, ',')) }
                (verdict(row))
                @for one in &row.figures { (figure(one)) }
                @if has_misses { (misses(row)) }
                @if has_missed {
                    td.number data-head="Missed releases" { (dash(row.missed.as_deref().unwrap_or_default())) }
                }
                td.number data-head="Cycles" { (firm(&row.cycles)) }
                td.number data-head="Measured for" { (firm(&row.measured)) }
            } } }
        }
    };
    html! { div.box { (table) } }
}

fn verdict(row: &RunRow) -> Markup {
    html! {
        td data-head="Verdict" {
            @match row.verdict {
                Some(word) => span class={ "badge " (word) } { (word) },
                None => (row.verdict_text),
            }
        }
    }
}

fn figure(one: &ComparedFigure) -> Markup {
    html! {
        td.number data-head=(heading(one.name)) {
            (dash(&firm(one.value.as_deref().unwrap_or_default())))
            @if let Some(change) = &one.change { small { (firm(change).replace(",\u{202f}", ", ")) } }
        }
    }
}

fn misses(row: &RunRow) -> Markup {
    html! {
        td.number data-head="Misses" {
            @match &row.misses {
                None => "–",
                Some((count, share)) => {
                    (firm(count))
                    @if let Some(share) = share { small { (firm(share)) } }
                }
            }
        }
    }
}

/// The name of a figure at the head of a column.
fn heading(name: &str) -> &str {
    if name == "largest" { "Largest" } else { name }
}

fn dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

fn settings_table(comparison: &RunTable) -> Markup {
    let settings = comparison.settings();
    if settings.is_empty() {
        return html! { p { "All settings are the same." } };
    }
    html! {
        div.scroll { table.stacked.settings {
            caption { span { "Requested settings, and facts of the machine, that are not the same \
                              in all runs" } }
            thead { tr {
                th scope="col" { "Setting" }
                @for name in comparison.names() { th scope="col" { (name) } }
            } }
            tbody { @for one in &settings { tr {
                th scope="row" { (one.name) }
                @for (name, value) in comparison.names().iter().zip(&one.values) {
                    td data-head=(name) { (value) }
                }
            } } }
        } }
    }
}
