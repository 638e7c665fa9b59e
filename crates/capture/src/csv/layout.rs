//! Detects the kind of a table from its first lines.

use super::cells::{DIALECTS, Dialect, distance, last_digit, no_number, number_in};
use super::instants::Instant;
use super::picoseconds;
use super::shape::{self, CellShape, RowShape};
use super::table::{CsvTable, cells_of, remarks, samplerate, table};
use crate::SECOND_PS;
use crate::capture::{Channel, Kind};
use crate::error::ParseError;
use crate::list::{ListLayout, ListUnit};

/// The contents of a table.
pub enum Shape {
    /// Levels over time.
    Capture(Layout),
    /// Readings, one per row.
    List(ListLayout),
}

/// Where the values of a capture are.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    pub format: &'static str,
    pub dialect: Dialect,
    /// Lines before the first row.
    pub first_row: usize,
    pub time: TimeFrom,
    pub columns: Vec<(usize, Channel)>,
    pub resolution_ps: Option<i64>,
    /// Whether that is the sample period.
    pub is_sample_time: bool,
    /// What is left out, one sentence each.
    pub notes: Vec<String>,
    /// What its rows have in common.
    pub shape: RowShape,
    /// The notation of each column's cells up to the last relevant column; `None` for the others.
    pub needed: Vec<Option<CellShape>>,
}

/// Where the time of a row comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TimeFrom {
    /// A column in units of `factor` seconds, counted from `origin`: 0 unless the numbers are epoch
    /// times, which are too large.
    Column { index: usize, factor: f64, origin: i64 },
    /// A column of sample numbers.
    Index { index: usize, start: f64, step: f64 },
    /// The row number.
    Rows { start: f64, step: f64 },
    /// A column whose cells have a unit.
    Quantity { index: usize },
    /// A column of calendar times, counted from this second.
    Calendar { index: usize, origin_s: i64 },
}

impl TimeFrom {
    /// The column that it is read from, if any.
    pub fn column(self) -> Option<usize> {
        match self {
            TimeFrom::Column { index, .. }
            | TimeFrom::Index { index, .. }
            | TimeFrom::Quantity { index }
            | TimeFrom::Calendar { index, .. } => Some(index),
            TimeFrom::Rows { .. } => None,
        }
    }

    /// The time in the cell of its column.
    pub fn at_ps(
        self,
        dialect: &Dialect,
        cell: &str,
        index: usize,
        line: u64,
    ) -> Result<Option<i64>, ParseError> {
        let seconds = match self {
            TimeFrom::Rows { .. } => return Ok(None),
            TimeFrom::Calendar { origin_s, .. } => {
                let Some(at) = Instant::parse(cell) else {
                    return Err(no_number(cell, index, line));
                };
                let whole = at.seconds.checked_sub(origin_s);
                let whole = whole.and_then(|seconds| seconds.checked_mul(SECOND_PS));
                let at_ps = whole.and_then(|whole| whole.checked_add(at.picoseconds));
                return at_ps.map(Some).ok_or_else(|| {
                    ParseError::line(line, "the time is later than 106 days after the first")
                });
            }
            TimeFrom::Column { factor, origin: 0, .. } => {
                number_in(dialect, cell, index, line)?.map(|time| time * factor)
            }
            TimeFrom::Column { factor, origin, .. } => match distance(dialect, cell, origin) {
                Some(time) => Some(time * factor),
                None => number_in(dialect, cell, index, line)?
                    .map(|time| (time - origin as f64) * factor),
            },
            TimeFrom::Quantity { .. } => match dialect.seconds(cell) {
                Some((seconds, _)) => Some(seconds),
                None => return Err(no_number(cell, index, line)),
            },
            TimeFrom::Index { start, step, .. } => {
                number_in(dialect, cell, index, line)?.map(|at| start + at * step)
            }
        };
        seconds.map(|seconds| picoseconds(seconds, line)).transpose()
    }
}

impl Layout {
    /// Value of the last digit of a row's time.
    pub fn last_digit_ps(&self, row: &str) -> Option<f64> {
        let TimeFrom::Column { index, factor, .. } = self.time else { return None };
        let digit = last_digit(self.dialect.cells(row).nth(index)?)?;
        Some(digit * factor * SECOND_PS as f64)
    }
}

/// Detects the kind of a table from its first lines.
pub fn detect(start: &[String], unit: Option<ListUnit>) -> Result<Shape, ParseError> {
    if start.first().is_some_and(|line| is_old_tektronix(line)) {
        return Ok(Shape::Capture(tektronix(start)));
    }
    let mut table = table(start)?;
    table.check_commas()?;
    table.fit_heading()?;
    let rate = remarks(start).find_map(samplerate);
    match table.list(unit, start)? {
        Some(list) if rate.is_none() => Ok(Shape::List(list)),
        _ => table.capture(rate, start).map(Shape::Capture),
    }
}

/// `Record Length,2.5e+03,,-0.005,0.02`: a fact, a time and a value.
fn is_old_tektronix(line: &str) -> bool {
    let cells = cells_of(&DIALECTS[2], line);
    let is_number = |index: usize| cells.get(index).and_then(|it| DIALECTS[2].number(it)).is_some();
    cells[0] == "Record Length" && is_number(3) && is_number(4)
}

/// Older Tektronix oscilloscopes write their facts in the first rows.
fn tektronix(start: &[String]) -> Layout {
    let dialect = DIALECTS[2];
    let source = start.iter().find_map(|line| {
        let mut cells = dialect.cells(line);
        (cells.next()? == "Source").then(|| cells.next()).flatten()
    });
    let name = source.filter(|name| !name.is_empty()).unwrap_or("CH1").to_string();
    let time = TimeFrom::Column { index: 3, factor: 1.0, origin: 0 };
    let rows = start.iter().map(|line| dialect.cells(line).collect()).collect();
    let table = CsvTable { dialect, first_row: 0, names: Vec::new(), below: Vec::new(), rows };
    let (resolution_ps, is_sample_time) = table.resolution(time, None);
    let columns = vec![(4, Channel::new(name, Kind::Sampled))];
    // The facts make the first rows wider.
    let shape =
        RowShape { cells: None, ..table.row_shape(time, &columns, shape::stated_rows(start)) };
    let needed = table.needed(time, &columns);
    Layout {
        format: "CSV of Tektronix",
        dialect,
        first_row: 0,
        time,
        columns,
        resolution_ps,
        is_sample_time,
        notes: Vec::new(),
        shape,
        needed,
    }
}
