//! Several runs on one page: their main figures side by side, and their pictures over each other.

use super::PageRun;
use super::head::missed;
use super::markup::scrolling;
use super::markup::{count, dash, firm};
use super::pictures::compared;
use super::responders;
use crate::figures::{LATENCIES, LatencyFigure, MAXIMUM};
use crate::page::markup::Outline;
use crate::page::markup::prose;
use crate::run_with_bins::{RunWithBins, names, terms, title};
use crate::sections::respond;
use crate::sentence;
use crate::terms::MIXED;
use crate::units::{joined, span};
use latlab_model::{Nanos, Run};
use maud::{Markup, html};

/// The section that stands above the runs.
pub fn comparison(runs: &[PageRun], outline: &Outline) -> Markup {
    let measured: Vec<RunWithBins> = runs.iter().map(PageRun::with_bins).collect();
    let all: Vec<&Run> = runs.iter().map(|one| one.run).collect();
    html! {
        section.comparison id="comparison" aria-labelledby=(outline.id("headline")) {
            header {
                p.kicker { "Comparison of runs" }
                (outline.headline(html! { (title(&measured)) }))
                @if let Some(lead) = lead(runs, &names(&measured)) { p.lead { (prose(&lead)) } }
            }
            (responders::compared(runs, outline))
            @if respond::columns(&all).is_none() { (table(runs, &names(&measured))) }
            (compared(&measured, outline))
        }
    }
}

/// What the comparison comes to in plain words; none where a run has no latencies.
fn lead(runs: &[PageRun], names: &[String]) -> Option<String> {
    let measured: Vec<RunWithBins> = runs.iter().map(PageRun::with_bins).collect();
    if std::ptr::eq(terms(&measured), &MIXED) {
        let text = "These runs used different instruments: latencies of woken threads and gaps of \
                    spinning threads are not comparable.";
        return Some(text.to_string());
    }
    let maxima: Option<Vec<Nanos>> = runs.iter().map(|one| one.run.total.max_ns).collect();
    let mut all: Vec<(Nanos, &String)> = maxima?.into_iter().zip(names).collect();
    all.sort();
    let ((least, lowest), (most, highest)) = (all.first()?, all.last()?);
    let failed = runs.iter().filter(|one| verdict(one.run) == "fail").count();
    let failed =
        if failed > 0 { format!(" {failed} of {} failed.", runs.len()) } else { String::new() };
    Some(format!(
        "The observed maximum was smallest in {lowest} ({least}) and largest in {highest} ({most}).{failed}"
    ))
}

/// A column of the table: its name, its unit, and a cell for each run.
type Column = (String, &'static str, Vec<String>);

fn table(runs: &[PageRun], names: &[String]) -> Markup {
    let columns = columns(runs);
    let table = html! {
        table.threads {
            caption { span { "The main figures of each run; the observed maximum is the largest \
                              of its threads." } }
            thead {
                tr {
                    th scope="col" { "Run" }
                    @for (name, unit, _) in &columns {
                        th scope="col" { (name) @if !unit.is_empty() { small { (unit) } } }
                    }
                }
            }
            tbody {
                @for (index, name) in names.iter().enumerate() {
                    tr {
                        th scope="row" { a href={ "#run-" (index + 1) } { (name) } }
                        @for (_, _, cells) in &columns { td { (cells[index]) } }
                    }
                }
            }
        }
    };
    scrolling("Main figures of each run", false, table)
}

fn columns(runs: &[PageRun]) -> Vec<Column> {
    let column = |name: &str, cell: &dyn Fn(&Run) -> String| -> Column {
        (name.to_string(), "", runs.iter().map(|one| cell(one.run)).collect())
    };
    let latency = |figure: &LatencyFigure| -> Column {
        let (unit, numbers) = figure.column(runs.iter().map(|one| &one.run.total));
        (figure.name.to_string(), unit, numbers.into_iter().map(dash).collect())
    };
    let mut columns = vec![
        column("Verdict", &verdict),
        latency(&MAXIMUM),
        column("Missed", &|run| match run.asked.method.is_periodic() {
            true => missed(run.total.missed),
            false => dash(None),
        }),
        column("Misses", &|run| dash(run.total.misses.map(count))),
    ];
    columns.extend(LATENCIES.iter().map(latency));
    columns.push((heading(runs), "", runs.iter().map(|one| count(one.run.total.cycles)).collect()));
    columns.push(column("Measured for", &|run| firm(&span(run.measured_ns))));
    columns.push(column("Kernel", &|run| {
        dash(Some(joined(&sentence::kernel(run))).filter(|it| !it.is_empty()))
    }));
    columns.retain(|(_, _, cells)| cells.iter().any(|cell| cell != "–"));
    columns
}

/// What the runs counted, as a heading.
fn heading(runs: &[PageRun]) -> String {
    let measured: Vec<RunWithBins> = runs.iter().map(PageRun::with_bins).collect();
    let mut heading = terms(&measured).cycles.to_string();
    heading.get_mut(..1).map(str::make_ascii_uppercase);
    heading
}

fn verdict(run: &Run) -> String {
    match &run.verdict {
        Some(verdict) => verdict.word.to_string(),
        None if sentence::is_invalid(run) => "none; a finding makes it invalid".to_string(),
        None => "none".to_string(),
    }
}
