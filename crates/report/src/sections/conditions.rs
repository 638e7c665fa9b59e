//! The conditions of a run, as a table for the terminal and for the page.

use crate::page::folds::Fold;
use crate::terminal::style::Style;
use crate::terminal::table::{Column, table, wrapped};
use crate::units::percent;
use latlab_model::Run;
use latlab_model::telemetry::{Conditions, Figure};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Figures of one metric that are listed; of a machine with more CPUs the lowest and the highest.
const MOST_OF_A_METRIC: usize = 8;
/// Threads that are listed, the busiest ones.
const MOST_THREADS: usize = 6;
/// A pressure below this many percent at its highest is not worth a line.
const LITTLE_PRESSURE: f64 = 1.0;

/// Heads of the table of figures; those of numbers come last.
const FIGURE_HEADS: [&str; 7] =
    ["condition", "unit", "mean", "min", "max", "first tenth", "last tenth"];
/// Heads of the table of threads.
const THREAD_HEADS: [&str; 7] = ["thread", "id", "policy", "cpus", "mean", "peak", "peak at"];

/// For the terminal; nothing where no conditions were read.
pub fn text(run: &Run, width: usize, style: Style) -> String {
    let Some(conditions) = &run.conditions else { return String::new() };
    let rows = figure_rows(conditions);
    let mut text = format!("Conditions ({}):\n", readings(conditions));
    text += &table(columns(FIGURE_HEADS, &rows, 2), width, style);
    let threads = thread_rows(run, conditions);
    if !threads.is_empty() {
        text += "\nBusiest threads other than the measuring ones, in percent of one CPU:\n";
        text += &table(columns(THREAD_HEADS, &threads, 1), width, style);
    }
    for sentence in zeros(conditions).into_iter().chain(at_ends_only(conditions)) {
        text += &format!("{}\n", wrapped(&sentence, width, 0));
    }
    text
}

/// What is not known of the time between the ends of the run, and what would tell it.
fn at_ends_only(conditions: &Conditions) -> Option<String> {
    let metrics = conditions.at_ends_only.join(", ");
    (!metrics.is_empty()).then(|| {
        format!(
            "Read at both ends of the run only: {metrics}. Every CPU is measured, and to read these \
             files holds a CPU for long; --telemetry full reads them each time."
        )
    })
}

/// How much was read, and the table of figures; none where no conditions were read.
pub fn figures(run: &Run) -> Option<(String, Vec<Column>)> {
    let conditions = run.conditions.as_ref()?;
    Some((readings(conditions), columns(FIGURE_HEADS, &figure_rows(conditions), 2)))
}

/// The first columns are words; the last ones are given up first.
fn columns(heads: [&str; 7], rows: &[[String; 7]], words: usize) -> Vec<Column> {
    let columns = heads.into_iter().enumerate().map(|(at, head)| {
        let cells = rows.iter().map(|row| row[at].clone());
        let rank = if at < 4 { 0 } else { at as u8 };
        let column = Column::new(head, rank, cells);
        if is_word(head, at, words) { column.left() } else { column }
    });
    columns.collect()
}

fn is_word(head: &str, at: usize, words: usize) -> bool {
    at < words || head == "policy" || head == "cpus"
}

/// For the page.
pub fn fold(run: &Run) -> Option<Fold> {
    let conditions = run.conditions.as_ref()?;
    let threads = thread_rows(run, conditions);
    let tables = html! {
        (rows(&format!("Conditions of the run: {}.", readings(conditions)),
            FIGURE_HEADS, &figure_rows(conditions), 2))
        @if !threads.is_empty() {
            (rows("The busiest threads other than the measuring ones, in percent of one CPU.",
                THREAD_HEADS, &threads, 1))
        }
        @for sentence in zeros(conditions).into_iter().chain(at_ends_only(conditions)) { p { (sentence) } }
    };
    Some(Fold::new("conditions", "Conditions", tables))
}

/// A table whose first columns are words.
fn rows(caption: &str, heads: [&str; 7], rows: &[[String; 7]], words: usize) -> Markup {
    let class = |at: usize| is_word(heads[at], at, words).then_some("word");
    html! {
        div.scroll role="region" tabindex="0" aria-label=(caption) {
            table {
                caption { span { (caption) } }
                thead { tr { @for (at, head) in heads.into_iter().enumerate() { th scope="col" class=[class(at)] { (head) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" class="word" { (row[0]) }
                            @for (at, cell) in row.iter().enumerate().skip(1) { td class=[class(at)] { (cell) } }
                        }
                    }
                }
            }
        }
    }
}

fn readings(conditions: &Conditions) -> String {
    let lost = match conditions.lost {
        0 => String::new(),
        lost => format!(", {lost} lost"),
    };
    let cost = conditions.cost_share.map(|share| format!(", {} of one CPU", percent(share)));
    let refused = match conditions.shares_refused {
        0 => String::new(),
        refused => format!(", {refused} shares above 100 % left out"),
    };
    format!("{} readings{lost}{}{refused}", conditions.readings, cost.unwrap_or_default())
}

fn figure_rows(conditions: &Conditions) -> Vec<[String; 7]> {
    let matters = |figure: &&Figure| match figure.metric.as_str() {
        "cpu_steal" => figure.max > 0.0,
        "pressure" => figure.max >= LITTLE_PRESSURE,
        _ => !is_zero(figure),
    };
    let all: Vec<&Figure> = conditions.figures.iter().filter(matters).collect();
    let mut rows = Vec::new();
    let mut done: Vec<&str> = Vec::new();
    for figure in &all {
        let metric = figure.metric.as_str();
        if done.contains(&metric) {
            continue;
        }
        done.push(metric);
        let same: Vec<&Figure> = all.iter().filter(|one| one.metric == metric).copied().collect();
        match same.len() > MOST_OF_A_METRIC {
            true => rows.extend(lowest_and_highest(&same)),
            false => rows.extend(same.into_iter().map(|one| figure_row(one, ""))),
        }
    }
    rows
}

fn is_zero(figure: &Figure) -> bool {
    figure.min == 0.0 && figure.max == 0.0
}

/// The conditions of which nothing was seen.
fn zeros(conditions: &Conditions) -> Option<String> {
    let figures = &conditions.figures;
    let is_other = |metric: &str| !matches!(metric, "cpu_steal" | "pressure");
    let all: BTreeSet<&str> = figures.iter().map(|figure| figure.metric.as_str()).collect();
    let zero = all.into_iter().filter(|metric| {
        is_other(metric) && figures.iter().filter(|one| one.metric == *metric).all(is_zero)
    });
    let zero: Vec<String> = zero.map(|metric| metric.replace('_', " ")).collect();
    (!zero.is_empty()).then(|| format!("Zero throughout: {}.", zero.join(", ")))
}

/// What many figures of one metric come to.
fn lowest_and_highest(same: &[&Figure]) -> Vec<[String; 7]> {
    let by_mean = |a: &&&Figure, b: &&&Figure| a.mean.total_cmp(&b.mean);
    let (low, high) = (same.iter().min_by(by_mean), same.iter().max_by(by_mean));
    let of = format!(" of {}", same.len());
    let low = low.map(|figure| figure_row(figure, &format!(", lowest{of}")));
    let high = high.map(|figure| figure_row(figure, &format!(", highest{of}")));
    low.into_iter().chain(high).collect()
}

fn figure_row(figure: &Figure, remark: &str) -> [String; 7] {
    let name = match figure.metric.as_str() {
        "temperature" => figure.subject.clone(),
        metric => format!("{} {}", metric.replace('_', " "), figure.subject).trim().to_string(),
    };
    [
        format!("{name}{remark}"),
        figure.unit.clone(),
        number(figure.mean),
        number(figure.min),
        number(figure.max),
        figure.first_tenth.map_or("-".to_string(), number),
        figure.last_tenth.map_or("-".to_string(), number),
    ]
}

/// Three digits are as many as a condition is worth.
fn number(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn thread_rows(run: &Run, conditions: &Conditions) -> Vec<[String; 7]> {
    let first = run.threads.iter().map(|thread| thread.setup.first_release_ns).min();
    let first = first.unwrap_or_default();
    let row = |thread: &latlab_model::telemetry::BusyThread| {
        [
            thread.name.clone(),
            thread.id.to_string(),
            thread.policy.clone(),
            thread.cpus.to_string(),
            number(thread.mean_share * 100.0),
            number(thread.peak_share * 100.0),
            format!("{:.1} s", (thread.peak_at_ns - first).as_secs_f64()),
        ]
    };
    conditions.threads.iter().take(MOST_THREADS).map(row).collect()
}
