//! What a table is, told by its first lines.

use super::cells::{DIALECTS, Dialect, is_comment, last_digit};
use super::names;
use crate::SECOND_PS;
use crate::capture::{Channel, Kind};
use crate::error::ParseError;
use crate::list::{ListLayout, Unit};
use crate::sigrok::hertz;

/// More columns than any capture has.
const MOST_COLUMNS: usize = 4096;
/// The head of a list of the LagBox, which counts in microseconds.
const LAGBOX: [&str; 3] = ["counter", "latency", "delaytime"];

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
}

/// Where the time of a row comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum TimeFrom {
    /// From a column, in units of so many seconds.
    Column { index: usize, factor: f64 },
    /// From a column of numbers of samples.
    Index { index: usize, start: f64, step: f64 },
    /// From the number of the row.
    Rows { start: f64, step: f64 },
}

impl TimeFrom {
    /// The column that it is read from, where it is.
    fn column(self) -> Option<usize> {
        match self {
            TimeFrom::Column { index, .. } | TimeFrom::Index { index, .. } => Some(index),
            TimeFrom::Rows { .. } => None,
        }
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
}

/// The first lines as a table.
struct CsvTable<'a> {
    dialect: Dialect,
    first_row: usize,
    /// Names of the columns; empty where there are none.
    names: Vec<&'a str>,
    /// What stands between names and rows.
    below: Vec<&'a str>,
    rows: Vec<Vec<&'a str>>,
}

/// The shape of a table, by its first lines.
pub fn detect(start: &[String], unit: Option<Unit>) -> Result<Shape, ParseError> {
    if start.first().is_some_and(|line| is_old_tektronix(line)) {
        return Ok(Shape::Capture(tektronix(start)));
    }
    let table = table(start)?;
    let rate = remarks(start).find_map(samplerate);
    match table.list(unit)? {
        Some(list) if rate.is_none() => Ok(Shape::List(list)),
        _ => table.capture(rate).map(Shape::Capture),
    }
}

/// The lines that are remarks to the reader.
fn remarks(start: &[String]) -> impl Iterator<Item = &str> {
    start.iter().map(String::as_str).filter(|line| is_comment(line))
}

/// `; Samplerate: 24 MHz`, as sigrok writes it.
fn samplerate(line: &str) -> Option<u64> {
    let line = line.to_ascii_lowercase().replace("sample rate", "samplerate");
    hertz(line.split_once("samplerate:")?.1)
}

/// Whether a line begins with a date such as `2026-11-22T10:20:30`.
fn is_dated(line: &str) -> bool {
    let form = |byte: u8| if byte.is_ascii_digit() { b'0' } else { byte };
    let start: Vec<u8> = line.trim_start_matches('"').bytes().take(11).map(form).collect();
    start == b"0000-00-00T" || start == b"0000-00-00 "
}

/// `; Channels (2/8): D0, D1`, as sigrok writes it.
fn channels(line: &str) -> Option<Vec<&str>> {
    let (_, names) = line.split_once("Channels (")?.1.split_once("):")?;
    Some(names.split(',').map(str::trim).collect())
}

fn table<'a>(start: &'a [String]) -> Result<CsvTable<'a>, ParseError> {
    let told = |line: &str| !line.trim().is_empty() && !is_comment(line);
    let found = (0..start.len()).filter(|row| told(&start[*row])).find_map(|row| {
        let dialect = DIALECTS.iter().filter(|one| one.is_row(&start[row]));
        dialect.max_by_key(|one| columns_of(one, start, row)).map(|dialect| (row, *dialect))
    });
    let Some((first_row, dialect)) = found else {
        if start.iter().any(|line| is_dated(line)) {
            return Err(ParseError::whole(
                "expected times in seconds, found dates: export without dates",
            ));
        }
        return Err(ParseError::whole(
            "expected a sigrok session, a VCD, a table of values with times, an ISF waveform or a \
             list of readings; found no row of numbers",
        ));
    };
    let cells = |line: &'a String| cells_of(&dialect, line);
    let mut above = start[..first_row].iter().rev().filter(|line| told(line)).map(cells);
    let wide = |cells: &Vec<&str>| cells.len() > 1;
    let (mut names, mut below) = (above.next().filter(wide).unwrap_or_default(), Vec::new());
    let is_of_units = |cells: &[&str]| {
        let mut words =
            cells.iter().filter(|cell| !cell.is_empty() && dialect.number(cell).is_none());
        words.clone().next().is_some() && words.all(|cell| names::is_unit(cell))
    };
    if is_of_units(&names) {
        below = std::mem::take(&mut names);
        names = above.next().filter(wide).unwrap_or_default();
    }
    let rows: Vec<Vec<&str>> =
        start[first_row..].iter().filter(|line| dialect.is_row(line)).map(cells).collect();
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if let (true, Some(mut remarked)) = (names.is_empty(), remarks(start).find_map(channels)) {
        // A column of times before them has no name there.
        (remarked.len()..width).for_each(|_| remarked.insert(0, ""));
        names = remarked;
    }
    Ok(CsvTable { dialect, first_row, names, below, rows })
}

fn cells_of<'a>(dialect: &Dialect, line: &'a str) -> Vec<&'a str> {
    dialect.cells(line).take(MOST_COLUMNS).collect()
}

/// In how many columns a dialect parts a row; one that parts the next row alike is right.
fn columns_of(dialect: &Dialect, start: &[String], row: usize) -> (bool, usize, bool) {
    let width = |line: &String| dialect.cells(line).count();
    let here = width(&start[row]);
    let alike = start.get(row + 1).is_none_or(|next| dialect.is_row(next) && width(next) == here);
    (alike, here, !dialect.decimal_comma)
}

impl CsvTable<'_> {
    fn name(&self, index: usize) -> &str {
        self.names.get(index).copied().unwrap_or_default()
    }

    /// Columns that hold numbers.
    fn filled(&self) -> Vec<usize> {
        let width = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let is_filled = |index: &usize| {
            self.rows.iter().any(|row| row.get(*index).is_some_and(|cell| !cell.is_empty()))
        };
        (0..width).filter(is_filled).collect()
    }

    /// The table as a list of readings, if it is one.
    fn list(&self, unit: Option<Unit>) -> Result<Option<ListLayout>, ParseError> {
        let filled = self.filled();
        let lagbox = self.names.len() >= LAGBOX.len()
            && self.names.iter().zip(LAGBOX).all(|(name, known)| name.eq_ignore_ascii_case(known));
        let (number, value) = match (lagbox, &filled[..]) {
            (true, _) => (Some(0), 1),
            (_, [value]) => (None, *value),
            (_, [number, value]) if self.counts(*number) && !names::is_time(self.name(*number)) => {
                (Some(*number), *value)
            }
            _ => return Ok(None),
        };
        let by_name = names::unit_of_readings(self.name(value));
        let cells = || self.rows.iter().filter_map(|row| row.get(value));
        // Only instruments write exponents, and theirs are of seconds.
        let is_in_seconds = cells().any(|cell| cell.contains(['e', 'E']));
        let format = if lagbox { "list of a LagBox" } else { "list of readings" };
        let known = unit.or(lagbox.then_some(Unit::Micro)).or(by_name);
        let Some(unit) = known.or(is_in_seconds.then_some(Unit::Second)) else {
            return Err(ParseError::whole(
                "the readings have no unit: give --unit s, ms, us or ns",
            ));
        };
        let resolution = cells().filter_map(|cell| last_digit(cell)).fold(f64::INFINITY, f64::min);
        let resolution_ps = (resolution * unit.picoseconds()).round().max(1.0);
        let resolution_ps = resolution_ps.is_finite().then_some(resolution_ps as i64);
        let (dialect, first_row) = (self.dialect, self.first_row);
        Ok(Some(ListLayout { format, dialect, first_row, number, value, unit, resolution_ps }))
    }

    /// Whether a column counts the rows.
    fn counts(&self, index: usize) -> bool {
        let number = |row: &Vec<&str>| row.get(index)?.parse::<u64>().ok();
        let Some(first) = self.rows.first().and_then(number).filter(|first| *first <= 1) else {
            return false;
        };
        self.rows.iter().zip(first..).all(|(row, wanted)| number(row) == Some(wanted))
    }

    /// Where the times are.
    fn time(&self, rate: Option<u64>) -> Result<TimeFrom, ParseError> {
        if let Some(time) = self.sequence() {
            return Ok(time);
        }
        let filled = self.filled();
        let is_time = |index: &usize| {
            let below = self.below.get(*index).copied().unwrap_or_default();
            names::is_time(self.name(*index)) || names::seconds_of(below).is_some()
        };
        if let Some(index) = filled.iter().copied().find(is_time) {
            return Ok(TimeFrom::Column { index, factor: self.seconds(index, rate)? });
        }
        let index = filled.first().copied().unwrap_or(0);
        let step = rate.map(|rate| 1.0 / rate as f64);
        let counts = self.rises(index) && self.is_whole(index);
        match step {
            Some(step) if names::is_number(self.name(index)) => {
                Ok(TimeFrom::Index { index, start: 0.0, step })
            }
            Some(step) => Ok(TimeFrom::Rows { start: 0.0, step }),
            None if counts => Err(ParseError::whole(format!(
                "column {} is a counter without a unit of time: rename it, for example to 'Time \
                 [s]'; or, if it counts samples, add a line '; Samplerate: 24 MHz' at the top",
                index + 1
            ))),
            None if self.rises(index) => Ok(TimeFrom::Column { index, factor: 1.0 }),
            None => Err(ParseError::whole(
                "no column has times: expected one with rising values and a name like 'Time [s]'",
            )),
        }
    }

    /// Times that follow from a start and a step in the head, as Rigol writes them.
    fn sequence(&self) -> Option<TimeFrom> {
        let column = |name: &str| self.names.iter().position(|one| one.eq_ignore_ascii_case(name));
        let said = |name: &str| self.dialect.number(self.below.get(column(name)?)?);
        if let Some((start, step)) = said("Start").zip(said("Increment")) {
            return Some(TimeFrom::Index { index: 0, start, step });
        }
        let said = |name: &str| {
            self.names.iter().find_map(|cell| {
                let (key, value) = cell.split_once('=')?;
                (key.trim() == name).then(|| self.dialect.number(value.trim()))?
            })
        };
        said("t0").zip(said("tInc")).map(|(start, step)| TimeFrom::Rows { start, step })
    }

    /// The seconds in the unit of a column of times.
    fn seconds(&self, index: usize, rate: Option<u64>) -> Result<f64, ParseError> {
        match (names::unit_of_times(self.name(index), self.below.get(index).copied()), rate) {
            (Some(unit), _) => names::seconds_of(unit).ok_or_else(|| {
                ParseError::whole(format!("expected times in s, ms, us, ns or ps, found '{unit}'"))
            }),
            // sigrok names no unit, but takes that in which the rate makes whole numbers.
            (None, Some(rate)) if self.is_whole(index) => {
                let times = self.numbers(index);
                let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
                let step = steps.fold(f64::INFINITY, f64::min);
                let fits = |unit: &f64| (step * unit * rate as f64 - 1.0).abs() < 0.01;
                [1.0, 1e-3, 1e-6, 1e-9, 1e-12].into_iter().find(fits).ok_or_else(|| {
                    ParseError::whole("the times have no unit, and no unit matches the samplerate")
                })
            }
            (None, _) => Ok(1.0),
        }
    }

    /// The numbers of a column in the first rows.
    fn numbers(&self, index: usize) -> Vec<f64> {
        let cells = self.rows.iter().filter_map(|row| row.get(index));
        cells.filter_map(|cell| self.dialect.number(cell)).collect()
    }

    fn rises(&self, index: usize) -> bool {
        let numbers = self.numbers(index);
        numbers.is_sorted() && (numbers.len() < 2 || numbers.first() < numbers.last())
    }

    fn is_whole(&self, index: usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(index));
        cells.all(|cell| cell.bytes().all(|byte| byte.is_ascii_digit() || b"+-".contains(&byte)))
    }

    fn capture(&self, rate: Option<u64>) -> Result<Layout, ParseError> {
        let time = self.time(rate)?;
        let of_time = time.column();
        let values = self.filled().into_iter().filter(|index| Some(*index) != of_time);
        let columns: Vec<(usize, Channel)> =
            values.map(|index| (index, self.channel(index))).collect();
        if columns.is_empty() {
            return Err(ParseError::whole("the table has times, but no values"));
        }
        Ok(Layout {
            format: "CSV",
            dialect: self.dialect,
            first_row: self.first_row,
            time,
            columns,
            resolution_ps: self.resolution(time),
        })
    }

    fn channel(&self, index: usize) -> Channel {
        let name = match names::bare(self.name(index)) {
            "" => format!("column {}", index + 1),
            name => name.to_string(),
        };
        let mut cells = self.rows.iter().filter_map(|row| row.get(index));
        let is_logic = cells.all(|cell| matches!(*cell, "0" | "1" | ""));
        Channel { name, kind: if is_logic { Kind::Logic } else { Kind::Sampled } }
    }

    /// The distance of rows where it is always the same, else the last digit of the times.
    fn resolution(&self, time: TimeFrom) -> Option<i64> {
        let seconds = match time {
            TimeFrom::Index { step, .. } | TimeFrom::Rows { step, .. } => step,
            TimeFrom::Column { index, factor } => {
                let cells = || self.rows.iter().filter_map(move |row| row.get(index));
                let times = self.numbers(index);
                let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
                let first = steps.first().copied().unwrap_or(0.0);
                let is_even = steps.len() > 1
                    && steps.iter().all(|step| (step - first).abs() <= 0.02 * first.abs());
                let digits = cells().filter_map(|cell| last_digit(cell));
                let last = digits.fold(f64::INFINITY, f64::min);
                factor * if is_even && first > 0.0 { first } else { last }
            }
        };
        let resolution = (seconds * SECOND_PS as f64).round().max(1.0);
        resolution.is_finite().then_some(resolution as i64)
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
    let time = TimeFrom::Column { index: 3, factor: 1.0 };
    let rows = start.iter().map(|line| dialect.cells(line).collect()).collect();
    let table = CsvTable { dialect, first_row: 0, names: Vec::new(), below: Vec::new(), rows };
    Layout {
        format: "CSV of Tektronix",
        dialect,
        first_row: 0,
        time,
        columns: vec![(4, Channel { name, kind: Kind::Sampled })],
        resolution_ps: table.resolution(time),
    }
}
