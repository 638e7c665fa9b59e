//! Responders in pairs: which is faster, how often, and by how much.

use crate::document::table::{Column, Table};
use crate::document::{On, Section};
use crate::figures::figure_head;
use crate::units::{grouped, trimmed};
use latlab_model::{Nanos, Run};
use latlab_stats::{Superiority, precedence, superiority};

/// Limit of rows, as a larger table would not fit.
const MOST: usize = 12;
/// Suffixes that mark a series taken under load.
const LOADED: [&str; 6] = ["_busy", "-busy", "_load", "-load", "_loaded", "-loaded"];

const WHY: &str = "Some responders are faster under load: a busy CPU does not enter idle \
                       states, and its governor keeps the frequency high. `latlab doctor` on that \
                       machine shows both settings.";

const MEANING: &str = "The probability that a response of the row is faster than one of the \
                           column, with ties counted half; in brackets how many responses of the \
                           row were faster than all of the column. It describes these series; \
                           only more series of each responder show whether it describes the \
                           responders.";

/// A responder's run with the responses in order.
#[derive(Clone, Copy)]
pub struct PairedRuns<'a> {
    pub run: &'a Run,
    /// In picoseconds.
    pub latencies: &'a [i64],
}

/// Each responder against each other one.
pub fn section(all: &[PairedRuns]) -> Section {
    let section = Section::new("pairs", "Faster responder").on(On::Page);
    match columns(all) {
        Some(columns) => section.table(Table::new(MEANING, columns)),
        None => section.text("There are too many responses or runs to compare them in pairs."),
    }
}

fn columns(all: &[PairedRuns]) -> Option<Vec<Column>> {
    if !(2..=MOST).contains(&all.len()) || all.iter().any(|one| one.latencies.is_empty()) {
        return None;
    }
    let name = |one: &PairedRuns| one.run.asked.name.clone();
    let mut columns = vec![Column::new("faster than", 0, all.iter().map(name)).left()];
    for (at, other) in all.iter().enumerate() {
        let cells = all.iter().enumerate().map(|(row, one)| {
            let compared = (row != at).then(|| precedence(one.latencies, other.latencies));
            match compared.flatten() {
                Some(it) => format!("{} ({})", share(it.less), grouped(it.below_all)),
                None => String::new(),
            }
        });
        columns.push(Column::new(&name(other), 0, cells));
    }
    Some(columns)
}

/// A series under load, paired with the same one without load.
struct LoadComparison<'a> {
    idle: PairedRuns<'a>,
    busy: PairedRuns<'a>,
    /// How the busy one compares with the idle one.
    compared: Superiority,
}

/// Series that were taken with and without load, matched by name.
fn load_comparisons<'a>(all: &[PairedRuns<'a>]) -> Vec<LoadComparison<'a>> {
    let idle = |busy: &PairedRuns| {
        let name = LOADED.iter().find_map(|end| busy.run.asked.name.strip_suffix(end))?;
        all.iter().find(|one| one.run.asked.name == name).copied()
    };
    let pair = |busy: &PairedRuns<'a>| {
        let idle = idle(busy)?;
        let compared = superiority(busy.latencies, idle.latencies)?;
        Some(LoadComparison { idle, busy: *busy, compared })
    };
    all.iter().filter_map(pair).collect()
}

/// The effect of the load on each series; `None` if no series was taken both ways.
pub fn under_load(all: &[PairedRuns]) -> Option<Section> {
    let pairs = load_comparisons(all);
    let caption = "Effect of the load: the median of all differences of two responses, under load \
                   minus idle, of these series.";
    (!pairs.is_empty()).then(|| {
        let table = Table::new(caption, load_comparison_columns(&pairs));
        Section::new("idle-busy", "Idle and under load").table(table).text(WHY)
    })
}

fn load_comparison_columns(pairs: &[LoadComparison]) -> Vec<Column> {
    let cells =
        |cell: &dyn Fn(&LoadComparison) -> String| pairs.iter().map(cell).collect::<Vec<_>>();
    let between = |(low, high): (f64, f64)| format!("{} to {}", signed(low), signed(high));
    let median = |one: &PairedRuns| {
        let median = one.run.responses().and_then(|responses| responses.figures.median_ns);
        median.map_or("-".to_string(), |median| Nanos(median.round() as i64).to_string())
    };
    vec![
        Column::new("responder", 0, cells(&|one| one.idle.run.asked.name.clone())).left(),
        Column::new(&format!("{} idle", figure_head("p50_ns")), 0, cells(&|one| median(&one.idle))),
        Column::new(
            &format!("{} under load", figure_head("p50_ns")),
            0,
            cells(&|one| median(&one.busy)),
        ),
        Column::new("effect", 0, cells(&|one| signed(one.compared.shift))),
        Column::new("95 %", 0, cells(&|one| between(one.compared.shift_between))),
        Column::new("P(load faster)", 0, cells(&|one| share(one.compared.precedence.less))),
        Column::new(
            "95 %",
            0,
            cells(&|one| {
                let (low, high) = one.compared.precedence.less_between;
                format!("{} to {}", share(low), share(high))
            }),
        ),
    ]
}

fn share(share: f64) -> String {
    format!("{share:.3}")
}

/// A signed difference in picoseconds.
fn signed(picoseconds: f64) -> String {
    let sign = if picoseconds > 0.0 { "+" } else { "" };
    match picoseconds.abs() {
        small if small > 0.0 && small < 100e3 => {
            format!("{sign}{} ns", trimmed(format!("{:.3}", picoseconds / 1e3)))
        }
        _ => format!("{sign}{}", Nanos((picoseconds / 1e3).round() as i64)),
    }
}
