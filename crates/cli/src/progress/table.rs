//! The table of the live view, and which columns a narrow terminal drops.

use super::line::{Line, left, right, width_of};
use latlab_conduct::live::{LiveThread, RECENT};
use latlab_model::Nanos;
use latlab_report::units::Scale;
use latlab_report::{Colour, figure_head};

/// Blanks between two columns.
const GAP: usize = 2;
/// Widest cell.
const WIDEST: usize = 60;
/// A shorter sparkline shows nothing useful.
const LEAST_SPARK: usize = 13;
/// Columns that a narrow terminal drops, in this order, after columns without values.
const GIVEN_UP: [&str; 7] = ["min_ns", "mean_ns", "p99_ns", SPARK, "cycles", "p99_99_ns", "cpu"];
const SPARK: &str = "last minute";
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A column of the table; `cells` has one entry for each shown thread.
pub struct LiveColumn {
    /// Name of the figure; the head, if it is none.
    id: &'static str,
    pub head: &'static str,
    unit: &'static str,
    cells: Vec<String>,
    width: usize,
}

impl LiveColumn {
    pub fn new(head: &'static str, cells: impl IntoIterator<Item = String>) -> LiveColumn {
        let cells: Vec<String> = cells.into_iter().collect();
        let widths = cells.iter().map(|cell| width_of(cell)).chain([head.len()]);
        let width = widths.max().unwrap_or(0).min(WIDEST);
        LiveColumn { id: head, head, unit: "", cells, width }
    }

    /// A column under the head of its figure.
    pub fn figure(id: &'static str, cells: impl IntoIterator<Item = String>) -> LiveColumn {
        LiveColumn { id, ..LiveColumn::new(figure_head(id), cells) }
    }

    pub fn headed(self, head: &'static str) -> LiveColumn {
        LiveColumn { head, width: self.width.max(head.len()), ..self }
    }

    /// Puts all latencies on one scale, whose unit is in the head. Unknown values are a dash.
    pub fn latencies(
        id: &'static str,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> LiveColumn {
        let values: Vec<Option<f64>> = values.into_iter().collect();
        let scale = Scale::for_times(values.iter().flatten().map(|value| Nanos(*value as i64)));
        let scale = scale.steady();
        let cell = |value: Option<f64>| value.map_or("-".into(), |value| scale.number_f64(value));
        LiveColumn { unit: scale.unit(), ..LiveColumn::figure(id, values.into_iter().map(cell)) }
    }

    /// Sparklines of the maxima of the last minute.
    pub fn sparks(cells: impl IntoIterator<Item = String>) -> LiveColumn {
        LiveColumn { width: RECENT, ..LiveColumn::new(SPARK, cells) }
    }

    fn aligned(&self, text: &str) -> String {
        if self.head == SPARK { left(text, self.width) } else { right(text, self.width) }
    }
}

/// A thread's sparkline, scaled to the largest maximum of all threads.
pub fn spark(thread: &LiveThread, largest: Nanos) -> String {
    let steps = BLOCKS.len() as f64;
    let block = |max: &Nanos| {
        let share = max.0.max(0) as f64 / largest.0.max(1) as f64;
        BLOCKS[((share * steps) as usize).min(BLOCKS.len() - 1)]
    };
    thread.recent_max.iter().map(block).collect()
}

/// The columns that fit the width. If those that are never dropped do not fit, the widest are
/// narrowed.
pub fn fitting(mut columns: Vec<LiveColumn>, width: usize) -> Vec<LiveColumn> {
    let void = |id: &&str| {
        let mut column = columns.iter().filter(|column| column.id == *id);
        column.any(|column| column.cells.iter().all(|cell| cell == "-"))
    };
    let void: Vec<&str> = GIVEN_UP.into_iter().filter(void).collect();
    for given_up in void.into_iter().chain(GIVEN_UP) {
        if least_width(&columns) <= width {
            break;
        }
        columns.retain(|column| column.id != given_up);
    }
    let spare = width.saturating_sub(least_width(&columns));
    if let Some(spark) = columns.iter_mut().find(|column| column.head == SPARK) {
        spark.width = spark.width.min(LEAST_SPARK + spare);
    }
    while least_width(&columns) > width {
        match columns.iter_mut().max_by_key(|column| column.width) {
            Some(widest) if widest.width > 0 => widest.width -= 1,
            _ => break,
        }
    }
    columns
}

fn least_width(columns: &[LiveColumn]) -> usize {
    let width = |column: &LiveColumn| match column.head {
        SPARK => column.width.min(LEAST_SPARK),
        _ => column.width,
    };
    let gaps = GAP * columns.len().saturating_sub(1);
    columns.iter().map(width).sum::<usize>() + gaps
}

/// Two head lines and `rows` rows.
pub fn table_lines(columns: &[LiveColumn], rows: usize) -> Vec<Line> {
    let head = |text: fn(&LiveColumn) -> &str| {
        joined(
            columns.iter().map(|column| Line::painted(Colour::Dim, column.aligned(text(column)))),
        )
    };
    let row = |index: usize| {
        joined(columns.iter().map(|column| {
            let cell = column.cells.get(index).map_or("", String::as_str);
            let cell = column.aligned(latest(cell, column));
            if column.id == "max_ns" {
                Line::painted(Colour::Bold, cell)
            } else {
                Line::plain(cell)
            }
        }))
    };
    let heads = [head(|column| column.head), head(|column| column.unit)];
    heads.into_iter().chain((0..rows).map(row)).collect()
}

/// Joins cells with a gap between them.
fn joined(cells: impl Iterator<Item = Line>) -> Line {
    let with_gap = |line: Line, cell| line.then(Line::plain(" ".repeat(GAP))).then(cell);
    cells.reduce(with_gap).unwrap_or_default()
}

/// The end of a sparkline that is too long: it shows the present.
fn latest<'a>(cell: &'a str, column: &LiveColumn) -> &'a str {
    let excess = cell.chars().count().saturating_sub(column.width);
    match (column.head, cell.char_indices().nth(excess)) {
        (SPARK, Some((start, _))) if cell.starts_with(BLOCKS) => &cell[start..],
        _ => cell,
    }
}
