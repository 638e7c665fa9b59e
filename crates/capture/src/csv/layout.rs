//! What a table is, told by its first lines.

use super::cells::{DIALECTS, Dialect, distance, no_number, number_in};
use super::instants::Instant;
use super::picoseconds;
use super::table::{CsvTable, cells_of, remarks, samplerate, table};
use crate::SECOND_PS;
use crate::capture::{Channel, Kind};
use crate::error::ParseError;
use crate::list::{ListLayout, Unit};

/// What a table holds.
pub enum Shape {
    /// Levels over time.
    Capture(Layout),
    /// Readings, one a row.
    List(ListLayout),
}

/// Where the values of a capture stand.
#[derive(Clone, PartialEq, Debug)]
pub struct Layout {
    pub format: &'static str,
    pub dialect: Dialect,
    /// Lines before the first row.
    pub first_row: usize,
    pub time: TimeFrom,
    pub columns: Vec<(usize, Channel)>,
    pub resolution_ps: Option<i64>,
    /// Whether that is the distance of samples.
    pub is_sample_time: bool,
    /// What is left out, a sentence each.
    pub notes: Vec<String>,
}

/// Where the time of a row comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TimeFrom {
    /// From a column, in units of so many seconds, from this number on: 0 unless the numbers are those
    /// of an epoch, which are too large.
    Column { index: usize, factor: f64, origin: i64 },
    /// From a column of numbers of samples.
    Index { index: usize, start: f64, step: f64 },
    /// From the number of the row.
    Rows { start: f64, step: f64 },
    /// From a column with times of the calendar, from this second on.
    Calendar { index: usize, origin_s: i64 },
}

impl TimeFrom {
    /// The column that it is read from, where it is.
    pub fn column(self) -> Option<usize> {
        match self {
            TimeFrom::Column { index, .. }
            | TimeFrom::Index { index, .. }
            | TimeFrom::Calendar { index, .. } => Some(index),
            TimeFrom::Rows { .. } => None,
        }
    }

    /// The time that the cell of its column says.
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
            TimeFrom::Index { start, step, .. } => {
                number_in(dialect, cell, index, line)?.map(|at| start + at * step)
            }
        };
        seconds.map(|seconds| picoseconds(seconds, line)).transpose()
    }
}

impl Layout {
    /// For each column up to the last one that matters whether it does.
    pub fn needed(&self) -> Vec<bool> {
        let all = self.columns.iter().map(|(index, _)| *index).chain(self.time.column());
        let mut needed = Vec::new();
        for index in all {
            needed.resize(needed.len().max(index + 1), false);
            needed[index] = true;
        }
        needed
    }

    /// Keeps the first value of each channel that is none.
    pub fn note_unreadable(
        &self,
        unreadable: &mut [Option<ParseError>],
        cell: &str,
        index: usize,
        line: u64,
    ) {
        let channel = self.columns.iter().position(|(column, _)| *column == index);
        if let Some(first) = channel.map(|channel| &mut unreadable[channel]) {
            first.get_or_insert_with(|| no_number(cell, index, line));
        }
    }
}

/// The shape of a table, by its first lines.
pub fn detect(start: &[String], unit: Option<Unit>) -> Result<Shape, ParseError> {
    if start.first().is_some_and(|line| is_old_tektronix(line)) {
        return Ok(Shape::Capture(tektronix(start)));
    }
    let table = table(start)?;
    table.check_commas()?;
    let rate = remarks(start).find_map(samplerate);
    match table.list(unit, start)? {
        Some(list) if rate.is_none() => Ok(Shape::List(list)),
        _ => table.capture(rate).map(Shape::Capture),
    }
}

/// `Record Length,2.5e+03,,-0.005,0.02`: a fact, a time and a value.
fn is_old_tektronix(line: &str) -> bool {
    let cells = cells_of(&DIALECTS[2], line);
    let is_number = |index: usize| cells.get(index).and_then(|it| DIALECTS[2].number(it)).is_some();
    cells[0] == "Record Length" && is_number(3) && is_number(4)
}

/// Older oscilloscopes of Tektronix have their facts beside the first rows.
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
    Layout {
        format: "CSV of Tektronix",
        dialect,
        first_row: 0,
        time,
        columns: vec![(4, Channel { name, kind: Kind::Sampled })],
        resolution_ps,
        is_sample_time,
        notes: Vec::new(),
    }
}
