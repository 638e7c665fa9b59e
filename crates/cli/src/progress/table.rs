//! The table of the live view: its columns, and those that a narrow terminal has room for.

use latlab_conduct::live::{LiveThread, RECENT};
use latlab_model::Nanos;
use latlab_report::units::Scale;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::Stylize;
use ratatui::text::{Line, Text};
use ratatui::widgets::{Row, Table};

/// Blanks between two columns.
const GAP: u16 = 2;
/// A sparkline with fewer characters shows nothing.
const LEAST_SPARK: u16 = 13;
/// Columns that a narrow terminal goes without, the first one first, after those that hold nothing.
const GIVEN_UP: [&str; 7] = ["min", "mean", "p99", SPARK, "cycles", "p99.99", "cpu"];
const SPARK: &str = "last minute";
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A column of the table; `cells` has one entry for each shown thread.
pub struct LiveColumn {
    /// Its name.
    pub head: &'static str,
    unit: &'static str,
    cells: Vec<String>,
    width: u16,
}

impl LiveColumn {
    /// As wide as its widest cell.
    pub fn new(head: &'static str, cells: impl IntoIterator<Item = String>) -> LiveColumn {
        let cells: Vec<String> = cells.into_iter().collect();
        let widths = cells.iter().map(|cell| cell.chars().count()).chain([head.len()]);
        let width = widths.max().unwrap_or(0).min(60) as u16;
        LiveColumn { head, unit: "", cells, width }
    }

    /// All on one scale, which the head names; what is not known is a dash.
    pub fn latencies(
        head: &'static str,
        values: impl IntoIterator<Item = Option<f64>>,
    ) -> LiveColumn {
        let values: Vec<Option<f64>> = values.into_iter().collect();
        let scale = Scale::for_times(values.iter().flatten().map(|value| Nanos(*value as i64)));
        let scale = scale.steady();
        let cell = |value: Option<f64>| value.map_or("-".into(), |value| scale.number_f64(value));
        LiveColumn { unit: scale.unit(), ..LiveColumn::new(head, values.into_iter().map(cell)) }
    }

    /// The maxima of the last minute as sparklines.
    pub fn sparks(cells: impl IntoIterator<Item = String>) -> LiveColumn {
        LiveColumn { width: RECENT as u16, ..LiveColumn::new(SPARK, cells) }
    }
}

/// The maxima of a thread, where this is the largest of all threads.
pub fn spark(thread: &LiveThread, largest: Nanos) -> String {
    let steps = BLOCKS.len() as f64;
    let block = |max: &Nanos| {
        let share = max.0.max(0) as f64 / largest.0.max(1) as f64;
        BLOCKS[((share * steps) as usize).min(BLOCKS.len() - 1)]
    };
    thread.recent_max.iter().map(block).collect()
}

/// The columns that a terminal of this width has room for.
pub fn fitting(mut columns: Vec<LiveColumn>, width: u16) -> Vec<LiveColumn> {
    let void = |head: &&str| {
        let mut column = columns.iter().filter(|column| column.head == *head);
        column.any(|column| column.cells.iter().all(|cell| cell == "-"))
    };
    let void: Vec<&str> = GIVEN_UP.into_iter().filter(void).collect();
    for given_up in void.into_iter().chain(GIVEN_UP) {
        if least_width(&columns) <= width {
            break;
        }
        columns.retain(|column| column.head != given_up);
    }
    let spare = width.saturating_sub(least_width(&columns));
    if let Some(spark) = columns.iter_mut().find(|column| column.head == SPARK) {
        spark.width = spark.width.min(LEAST_SPARK + spare);
    }
    columns
}

fn least_width(columns: &[LiveColumn]) -> u16 {
    let width = |column: &LiveColumn| match column.head {
        SPARK => column.width.min(LEAST_SPARK),
        _ => column.width,
    };
    let gaps = GAP * (columns.len() as u16).saturating_sub(1);
    columns.iter().map(width).sum::<u16>() + gaps
}

/// Draws so many rows of them.
pub fn render_table(frame: &mut Frame, area: Rect, columns: &[LiveColumn], rows: usize) {
    let head = columns.iter().map(|column| {
        let text = Text::from(vec![Line::from(column.head), Line::from(column.unit)]);
        aligned(text, column)
    });
    let row = |index: usize| {
        Row::new(columns.iter().map(move |column| {
            let cell = column.cells.get(index).map_or("", String::as_str);
            let text = Text::from(latest(cell, column).to_string());
            aligned(if column.head == "max" { text.bold() } else { text }, column)
        }))
    };
    let widths = columns.iter().map(|column| Constraint::Length(column.width));
    let table = Table::new((0..rows).map(row), widths)
        .column_spacing(GAP)
        .header(Row::new(head).height(2).dim());
    frame.render_widget(table, area);
}

fn aligned<'a>(text: Text<'a>, column: &LiveColumn) -> Text<'a> {
    if column.head == SPARK { text } else { text.right_aligned() }
}

/// Of a sparkline that is too long, the end: it is the present.
fn latest<'a>(cell: &'a str, column: &LiveColumn) -> &'a str {
    let excess = cell.chars().count().saturating_sub(column.width.into());
    match (column.head, cell.char_indices().nth(excess)) {
        (SPARK, Some((start, _))) if cell.starts_with(BLOCKS) => &cell[start..],
        _ => cell,
    }
}
