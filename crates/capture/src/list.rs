//! Lists of readings, as bench scopes and small programs give them: one delay a row, no times.

use crate::csv::cells::{Dialect, is_comment, number_in};
use crate::error::ParseError;
use crate::lines::Lines;
use std::fs::File;
use std::io::BufReader;
use std::str::FromStr;

/// What oscilloscopes answer instead of a value that they could not measure is 9.9E37 or 9.91E37.
const NOT_MEASURED: f64 = 9.8e37;

/// The unit of readings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Seconds.
    Second,
    /// Milliseconds.
    Milli,
    /// Microseconds.
    Micro,
    /// Nanoseconds.
    Nano,
    /// Picoseconds.
    Pico,
}

impl Unit {
    /// Picoseconds in it.
    pub fn picoseconds(self) -> f64 {
        match self {
            Unit::Second => 1e12,
            Unit::Milli => 1e9,
            Unit::Micro => 1e6,
            Unit::Nano => 1e3,
            Unit::Pico => 1.0,
        }
    }
}

impl FromStr for Unit {
    type Err = String;

    fn from_str(text: &str) -> Result<Unit, String> {
        match text {
            "s" => Ok(Unit::Second),
            "ms" => Ok(Unit::Milli),
            "us" => Ok(Unit::Micro),
            "ns" => Ok(Unit::Nano),
            "ps" => Ok(Unit::Pico),
            _ => Err("expected s, ms, us, ns or ps".to_string()),
        }
    }
}

/// Where the readings stand.
#[derive(Clone, PartialEq, Debug)]
pub struct ListLayout {
    pub format: &'static str,
    pub dialect: Dialect,
    /// Lines before the first row.
    pub first_row: usize,
    /// The column that counts the readings, where there is one.
    pub number: Option<usize>,
    /// The column of the readings.
    pub value: usize,
    pub unit: Unit,
    pub resolution_ps: Option<i64>,
}

/// What a reading says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// So many picoseconds from stimulus to response.
    Delay(i64),
    /// There was a stimulus, and its response could not be measured.
    Censored,
    /// No response was seen.
    NoResponse,
    /// A first row that is zero: the program began to count there and measured nothing.
    NotASample,
    /// A negative delay: no response can come before its stimulus.
    Impossible(i64),
}

/// One row of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    /// Its number in the file, else that of its row from 0.
    pub number: u64,
    /// What it says.
    pub value: Value,
}

/// The readings of a file, one after the other.
pub struct List {
    lines: Lines<BufReader<File>>,
    layout: ListLayout,
    row: u64,
}

impl List {
    pub(crate) fn new(lines: Lines<BufReader<File>>, layout: ListLayout) -> List {
        List { lines, layout, row: 0 }
    }

    /// The format, in words.
    pub fn format(&self) -> &'static str {
        self.layout.format
    }

    /// The last digit of the readings.
    pub fn resolution_ps(&self) -> Option<i64> {
        self.layout.resolution_ps
    }

    /// The next reading; none at the end.
    pub fn next_reading(&mut self) -> Result<Option<Reading>, ParseError> {
        loop {
            let line_number = self.lines.number() + 1;
            let Some(line) = self.lines.next()? else { return Ok(None) };
            let ListLayout { dialect, number, value, unit, .. } = &self.layout;
            if is_comment(line) || dialect.cells(line).all(str::is_empty) {
                continue;
            }
            let cells: Vec<&str> = dialect.cells(line).collect();
            let cell = cells.get(*value).copied().unwrap_or_default();
            let said = number_in(dialect, cell, *value, line_number)?;
            let Some(said) = said else {
                return Err(ParseError::line(line_number, "the row has no reading"));
            };
            let counted = number.and_then(|index| cells.get(index)?.parse().ok());
            let reading = Reading {
                number: counted.unwrap_or(self.row),
                value: parse_reading(said, cell, *unit, self.row),
            };
            self.row += 1;
            return Ok(Some(reading));
        }
    }
}

fn parse_reading(said: f64, cell: &str, unit: Unit, row: u64) -> Value {
    let delay = said * unit.picoseconds();
    match () {
        () if !said.is_finite() || said.abs() >= NOT_MEASURED => Value::Censored,
        () if cell == "-1" => Value::NoResponse,
        () if row == 0 && said == 0.0 => Value::NotASample,
        () if said < 0.0 => Value::Impossible(delay.round() as i64),
        // No window is that long, so that this is a word for something that was not measured.
        () if delay >= i64::MAX as f64 => Value::Censored,
        () => Value::Delay(delay.round() as i64),
    }
}
