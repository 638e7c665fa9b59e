//! The conditions of a run.

use crate::document::Section;
use crate::document::table::{Column, Table};
use crate::units::percent;
use latlab_model::Run;
use latlab_model::telemetry::{Conditions, Figure};
use std::collections::BTreeSet;

/// Figures listed for one metric; if there are more, only the lowest and the highest.
const MOST_OF_A_METRIC: usize = 8;
/// The number of listed threads, the busiest first.
const MOST_THREADS: usize = 6;
/// A pressure whose peak is below this percentage is not listed.
const LITTLE_PRESSURE: f64 = 1.0;

/// Heads of the table of figures; numeric columns come last.
const FIGURE_HEADS: [&str; 7] =
    ["condition", "unit", "mean", "min", "max", "first tenth", "last tenth"];
/// Heads of the table of threads.
const THREAD_HEADS: [&str; 7] = ["thread", "id", "policy", "cpus", "mean", "peak", "peak at"];

/// `None` if no conditions were read.
pub fn section(run: &Run) -> Option<Section> {
    let conditions = run.conditions.as_ref()?;
    let figures = columns(FIGURE_HEADS, &figure_rows(conditions), 2);
    let threads = thread_rows(run, conditions);
    let section = Section::new("conditions", "Conditions")
        .sum(Some(readings(conditions)))
        .table(Table::new("Conditions of the run", figures));
    let section = match threads.is_empty() {
        true => section,
        false => {
            let caption = "Busiest threads other than the measuring ones, in percent of one CPU";
            let table = Table::new(caption, columns(THREAD_HEADS, &threads, 1));
            section.table(table.titled(format!("{caption}:")))
        }
    };
    Some(section.texts(zeros(conditions).into_iter().chain(at_ends_only(conditions))))
}

/// What is unknown between the start and the end of the run, and the option that would record it.
fn at_ends_only(conditions: &Conditions) -> Option<String> {
    let metrics = conditions.at_ends_only.join(", ");
    (!metrics.is_empty()).then(|| {
        format!(
            "Read at both ends of the run only: {metrics}. Every CPU is measured, and to read these \
             files holds a CPU for long; --telemetry full reads them each time."
        )
    })
}

/// The first columns hold words; the last ones are dropped first.
fn columns(heads: [&str; 7], rows: &[[String; 7]], words: usize) -> Vec<Column> {
    let columns = heads.into_iter().enumerate().map(|(at, head)| {
        let cells = rows.iter().map(|row| row[at].clone());
        let rank = if at < 4 { 0 } else { at as u8 };
        let column = Column::new(head, rank, cells);
        let is_word = at < words || head == "policy" || head == "cpus";
        if is_word { column.left() } else { column }
    });
    columns.collect()
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

/// Conditions that never occurred.
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

/// Summarises many figures of one metric.
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

/// Three digits; conditions are no more precise.
fn number(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn thread_rows(run: &Run, conditions: &Conditions) -> Vec<[String; 7]> {
    let first = run.first_release().unwrap_or_default();
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
