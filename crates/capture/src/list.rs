//! Lists of readings from bench scopes and small programs: one delay per row, no times.

use crate::csv::cells::{Dialect, is_comment, no_number, uncommented};
use crate::csv::{SAID, cut_line, fewer_than_stated};
use crate::error::ParseError;
use crate::lines::{Line, LineFault, Lines};
use crate::losses::{Loss, LossKind, Lost};
use latlab_model::statements::states_loss;
use std::fs::File;
use std::io::BufReader;
use std::str::FromStr;

/// Oscilloscopes report 9.9E37 or 9.91E37 for a value that they could not measure.
const NOT_MEASURED: f64 = 9.8e37;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListUnit {
    Second,
    Milli,
    Micro,
    Nano,
    Pico,
}

impl ListUnit {
    /// Picoseconds per unit.
    pub fn picoseconds(self) -> f64 {
        match self {
            ListUnit::Second => 1e12,
            ListUnit::Milli => 1e9,
            ListUnit::Micro => 1e6,
            ListUnit::Nano => 1e3,
            ListUnit::Pico => 1.0,
        }
    }
}

impl ListUnit {
    /// Its symbol, as on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            ListUnit::Second => "s",
            ListUnit::Milli => "ms",
            ListUnit::Micro => "us",
            ListUnit::Nano => "ns",
            ListUnit::Pico => "ps",
        }
    }
}

impl FromStr for ListUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<ListUnit, String> {
        match text {
            "s" => Ok(ListUnit::Second),
            "ms" => Ok(ListUnit::Milli),
            "us" => Ok(ListUnit::Micro),
            "ns" => Ok(ListUnit::Nano),
            "ps" => Ok(ListUnit::Pico),
            _ => Err("expected s, ms, us, ns or ps".to_string()),
        }
    }
}

/// Where the readings are.
#[derive(Clone, PartialEq, Debug)]
pub struct ListLayout {
    pub format: &'static str,
    pub dialect: Dialect,
    /// Lines before the first row.
    pub first_row: usize,
    /// The column that counts the readings, if there is one.
    pub number: Option<usize>,
    /// The column of the readings.
    pub value: usize,
    pub unit: ListUnit,
    pub resolution_ps: Option<i64>,
    /// Number of cells in nearly all rows.
    pub cells: Option<usize>,
    /// Number of readings that the file states.
    pub stated: Option<u64>,
}

/// The meaning of a reading.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// Picoseconds from stimulus to response.
    Delay(i64),
    /// There was a stimulus, but its response could not be measured.
    Censored,
    /// No response was seen.
    NoResponse,
    /// A zero in the first row: the program started counting there and measured nothing.
    NotASample,
    /// A negative delay: no response can come before its stimulus.
    Impossible(i64),
}

/// One row of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListReading {
    /// Its number in the file, else the row number from 0.
    pub number: u64,
    pub value: Value,
}

/// The readings of a file, one after the other.
pub struct List {
    lines: Lines<BufReader<File>>,
    layout: ListLayout,
    row: u64,
    /// The number of the next reading, if the list counts them.
    next_number: Option<u64>,
    rows: Lost,
    numbers: Lost,
    end: Option<ParseError>,
}

impl List {
    /// The list below a head; `loss` is one that the head mentions.
    pub(crate) fn new(
        lines: Lines<BufReader<File>>,
        layout: ListLayout,
        loss: Option<ParseError>,
    ) -> List {
        let (rows, mut numbers) = (Lost::default(), Lost::default());
        loss.into_iter().for_each(|loss| numbers.note(|| loss));
        List { lines, layout, row: 0, next_number: None, rows, numbers, end: None }
    }

    /// Name of the format.
    pub fn format(&self) -> &'static str {
        self.layout.format
    }

    /// The last digit of the readings.
    pub fn resolution_ps(&self) -> Option<i64> {
        self.layout.resolution_ps
    }

    /// The next reading; `None` at the end.
    pub fn next_reading(&mut self) -> Result<Option<ListReading>, ParseError> {
        loop {
            let line_number = self.lines.number() + 1;
            let Some(Line { text, fault }) = self.lines.next()? else { return Ok(None) };
            let dialect = self.layout.dialect;
            let is_empty = dialect.cells(text).all(str::is_empty);
            match fault {
                Some(LineFault::NoEnd) if !is_empty => self.end = Some(cut_line(line_number)),
                Some(LineFault::TooLong) => {
                    self.rows.note(|| ParseError::line(line_number, "the row is longer than 1 MiB"))
                }
                _ => {}
            }
            if is_empty || fault.is_some() {
                continue;
            }
            if is_comment(text) {
                if dialect.is_row(uncommented(text)) {
                    let what = "the row begins with the sign of a remark";
                    self.rows.note(|| ParseError::line(line_number, what));
                } else if states_loss(text) {
                    self.numbers.note(|| ParseError::line(line_number, SAID));
                }
                continue;
            }
            match self.layout.reading(text, self.row, line_number) {
                Ok(reading) => {
                    self.row += 1;
                    self.count(reading.number, line_number);
                    return Ok(Some(reading));
                }
                Err(error) => {
                    // A lost reading's number must not count as missing as well.
                    self.next_number = self.next_number.map(|number| number + 1);
                    self.rows.note(|| error);
                }
            }
        }
    }

    /// A list that counts its readings shows which are missing.
    fn count(&mut self, number: u64, line_number: u64) {
        if self.layout.number.is_none() {
            return;
        }
        let wanted = self.next_number.replace(number.saturating_add(1));
        if let Some(wanted) = wanted.filter(|wanted| *wanted != number) {
            self.numbers.note(|| {
                ParseError::line(line_number, format!("expected number {wanted}, found {number}"))
            });
        }
    }

    /// Unreadable or missing parts, as far as it was read.
    pub fn losses(&self) -> Vec<Loss> {
        let rows = self.row + self.rows.count();
        let lost = self.rows.loss(LossKind::Rows, None, rows).into_iter();
        lost.chain(self.numbers.loss(LossKind::Missing, None, rows))
            .chain(self.end.clone().map(Loss::missing))
            .chain(fewer_than_stated(rows, self.layout.stated))
            .collect()
    }
}

impl ListLayout {
    /// The reading in a row.
    fn reading(&self, text: &str, row: u64, line: u64) -> Result<ListReading, ParseError> {
        let cells: Vec<&str> = self.dialect.cells(text).collect();
        let filled = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        if let Some(expected) = self.cells.filter(|expected| filled > *expected) {
            let what = format!("the row has {filled} cells, and the others have {expected}");
            return Err(ParseError::line(line, what));
        }
        let cell = cells.get(self.value).copied().unwrap_or_default();
        if cell.is_empty() {
            return Err(ParseError::line(line, "the row has no reading"));
        }
        // A unit in the cell overrides the one in the heading.
        let with_unit = self.dialect.seconds(cell).map(|(seconds, _)| seconds);
        let (said, unit) = match with_unit {
            Some(seconds) => (Some(seconds), ListUnit::Second),
            None => (self.dialect.number(cell), self.unit),
        };
        let said = said.ok_or_else(|| no_number(cell, self.value, line))?;
        let number = match self.number {
            Some(index) => {
                let cell = cells.get(index).copied().unwrap_or_default();
                cell.parse().map_err(|_| no_number(cell, index, line))?
            }
            None => row,
        };
        Ok(ListReading { number, value: parse_reading(said, cell, unit, row) })
    }
}

fn parse_reading(said: f64, cell: &str, unit: ListUnit, row: u64) -> Value {
    let delay = said * unit.picoseconds();
    match () {
        () if !said.is_finite() || said.abs() >= NOT_MEASURED => Value::Censored,
        () if cell == "-1" => Value::NoResponse,
        () if row == 0 && said == 0.0 => Value::NotASample,
        () if said < 0.0 => Value::Impossible(delay.round() as i64),
        // No window is that long, so this stands for an unmeasured value.
        () if delay >= i64::MAX as f64 => Value::Censored,
        () => Value::Delay(delay.round() as i64),
    }
}
