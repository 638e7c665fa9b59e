//! The first lines of a table: what each column holds.

use super::cells::{
    DIALECTS, Dialect, distance, is_comment, is_hexadecimal, is_unknown, last_digit, uncommented,
};
use super::instants::Instant;
use super::layout::{Layout, TimeFrom};
use super::names;
use super::shape::{self, CellShape, RowShape};
use crate::SECOND_PS;
use crate::capture::{Channel, Kind};
use crate::error::ParseError;
use crate::list::{ListLayout, ListUnit};
use crate::sigrok::hertz;

/// More columns than any capture has.
const MOST_COLUMNS: usize = 4096;
/// No capture begins this many seconds after its trigger.
const EPOCH_FROM_S: f64 = 1e6;
/// The head of a list from the LagBox, which counts in microseconds.
const LAGBOX: [&str; 3] = ["counter", "latency", "delaytime"];

/// The first lines as a table.
pub struct CsvTable<'a> {
    pub dialect: Dialect,
    pub first_row: usize,
    /// Column names; empty if there are none.
    pub names: Vec<&'a str>,
    /// The row between names and values.
    pub below: Vec<&'a str>,
    pub rows: Vec<Vec<&'a str>>,
}

/// The lines that are comments.
pub fn remarks(start: &[String]) -> impl Iterator<Item = &str> {
    start.iter().map(String::as_str).filter(|line| is_comment(line))
}

/// `; Samplerate: 24 MHz`, as sigrok writes it, or `# Sample rate = 1e6 Hz`.
pub fn samplerate(line: &str) -> Option<u64> {
    let line = line.to_ascii_lowercase().replace(['_', '-'], " ");
    let names = ["samplerate", "sample rate", "sampling rate", "sample frequency"];
    let rest = names.iter().find_map(|name| Some(line.split_once(name)?.1))?;
    hertz(
        rest.trim_start_matches([' ', '\t', ':', '=', ',', ';']).trim_end_matches(['"', ',', ';']),
    )
}

/// `; Channels (2/8): D0, D1`, as sigrok writes it.
fn channels(line: &str) -> Option<Vec<&str>> {
    let (_, names) = line.split_once("Channels (")?.1.split_once("):")?;
    Some(names.split(',').map(str::trim).collect())
}

fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !is_comment(line)
}

pub fn table<'a>(start: &'a [String]) -> Result<CsvTable<'a>, ParseError> {
    // Rows of values; if a column has words, rows that begin with a number.
    type IsRow = fn(&Dialect, &str) -> bool;
    let kinds: [IsRow; 2] = [Dialect::is_row, Dialect::is_row_with_words];
    let first_of = |is_row: IsRow| {
        (0..start.len()).filter(|row| is_content(&start[*row])).find_map(|row| {
            let dialect = DIALECTS.iter().filter(|one| is_row(one, &start[row]));
            // The first of equals.
            let best = dialect.rev().max_by_key(|one| columns_of(one, is_row, start, row));
            best.map(|dialect| (row, *dialect, is_row))
        })
    };
    // A row of values right below one with words and as many cells belongs to the same rows, with
    // its word missing.
    let is_among_words = |(row, dialect, _): &(usize, Dialect, IsRow)| {
        let above = start[..*row].iter().rev().find(|line| is_content(line));
        let width = |line: &String| dialect.cells(line).count();
        above.is_some_and(|above| {
            dialect.is_row_with_words(above) && width(above) == width(&start[*row])
        })
    };
    let [of_values, with_words] = kinds;
    let found = first_of(of_values).filter(|found| !is_among_words(found));
    let found = found.or_else(|| first_of(with_words));
    let Some((first_row, dialect, is_row)) = found else {
        return Err(ParseError::whole(
            "expected a sigrok session, a VCD, a table of values with times, an ISF waveform or a \
             list of readings; found no row of numbers",
        ));
    };
    let dialect = match has_decimal_commas(start, first_row, &dialect) {
        true => Dialect::new('\t', true),
        false => dialect,
    };
    let cells = |line: &'a String| cells_of(&dialect, line);
    let mut above = start[..first_row].iter().rev().filter(|line| is_content(line)).map(cells);
    let is_list = cells_of(&dialect, &start[first_row]).len() == 1;
    let wide = |cells: &Vec<&str>| cells.len() > 1 || is_list;
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
        start[first_row..].iter().filter(|line| is_row(&dialect, line)).map(cells).collect();
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if let (true, Some(mut remarked)) = (names.is_empty(), remarks(start).find_map(channels)) {
        // A preceding column of times has no name there.
        (remarked.len()..width).for_each(|_| remarked.insert(0, ""));
        names = remarked;
    }
    if names.is_empty() {
        names = remarked_heading(&start[..first_row], &dialect, width).unwrap_or_default();
    }
    let hexadecimal = rows.iter().flatten().filter(|cell| is_hexadecimal(cell)).count();
    let dialect = Dialect { hexadecimal: !shape::are_few(hexadecimal, rows.len()), ..dialect };
    Ok(CsvTable { dialect, first_row, names, below, rows })
}

/// A heading in the comment right above the rows: `# Time [s],A,B`.
fn remarked_heading<'a>(
    above: &'a [String],
    dialect: &Dialect,
    width: usize,
) -> Option<Vec<&'a str>> {
    let remark = above.iter().rev().find(|line| !line.trim().is_empty());
    let heading = cells_of(dialect, uncommented(remark.filter(|line| is_comment(line))?));
    let is_name = |cell: &&str| !cell.is_empty() && dialect.number(cell).is_none();
    (width > 1 && heading.len() == width && heading.iter().all(is_name)).then_some(heading)
}

/// Whether the commas of a table are decimal ones: a single name with a unit has one column below
/// it.
fn has_decimal_commas(start: &[String], first_row: usize, dialect: &Dialect) -> bool {
    let is_number = |line: &String| line.split(',').count() == 2 && !line.contains('.');
    let head = start[..first_row].iter().rev().find(|line| is_content(line));
    dialect.delimiter == ','
        && head.is_some_and(|head| !head.contains(',') && names::unit_of_readings(head).is_some())
        && start[first_row..].iter().filter(|line| is_content(line)).all(is_number)
}

pub fn cells_of<'a>(dialect: &Dialect, line: &'a str) -> Vec<&'a str> {
    dialect.cells(line).take(MOST_COLUMNS).collect()
}

/// Number of columns into which a dialect splits a row; one that splits the next row alike is
/// right.
fn columns_of(
    dialect: &Dialect,
    is_row: fn(&Dialect, &str) -> bool,
    start: &[String],
    row: usize,
) -> (bool, usize, bool) {
    let width = |line: &String| dialect.cells(line).count();
    let here = width(&start[row]);
    let alike = start.get(row + 1).is_none_or(|next| is_row(dialect, next) && width(next) == here);
    (alike, here, !dialect.decimal_comma)
}

impl<'a> CsvTable<'a> {
    fn name(&self, index: usize) -> &str {
        self.names.get(index).copied().unwrap_or_default()
    }

    fn width(&self) -> usize {
        // A damaged row may be wider.
        self.usual_cells().or(self.rows.iter().map(Vec::len).max()).unwrap_or(0)
    }

    /// The non-empty cells of a column.
    fn column(&self, index: usize) -> impl Iterator<Item = &str> + Clone {
        let cells = self.rows.iter().filter_map(move |row| row.get(index).copied());
        cells.filter(|cell| !cell.is_empty())
    }

    /// Columns with values.
    fn filled(&self) -> Vec<usize> {
        let is_value = |cell: &str| self.dialect.is_value(cell) || is_unknown(cell);
        (0..self.width()).filter(|index| self.column(*index).any(is_value)).collect()
    }

    /// Columns with nothing but words.
    fn words(&self) -> Vec<usize> {
        let filled = self.filled();
        let has_words =
            |index: &usize| !filled.contains(index) && self.column(*index).next().is_some();
        (0..self.width()).filter(has_words).collect()
    }

    /// Drops or rejects a heading with fewer cells than its rows.
    pub fn fit_heading(&mut self) -> Result<(), ParseError> {
        let filled = |cells: &[&str]| {
            cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1)
        };
        let (names, width) =
            (filled(&self.names), shape::usual(self.rows.iter().map(|row| filled(row))));
        let Some(width) = width.filter(|width| names > 0 && *width > self.names.len()) else {
            return Ok(());
        };
        if self.names.iter().any(|name| self.dialect.number(name).is_some()) {
            // A setting with its value.
            self.names.clear();
            return Ok(());
        }
        Err(ParseError::whole(format!(
            "the rows have {width} cells below a heading of {names}: their commas may be decimal \
             commas, or names are missing. Save the table with decimal points and a name for each \
             column"
        )))
    }

    /// Rejects commas that may be separators, decimal points or thousands separators.
    pub fn check_commas(&self) -> Result<(), ParseError> {
        let mut commas = self.rows.iter().flatten().filter(|cell| cell.contains(',')).peekable();
        if self.dialect.decimal_comma
            && commas.peek().is_some()
            && commas.all(|cell| shape::may_be_thousands(cell))
        {
            return Err(ParseError::whole(
                "the commas may be decimal commas or part thousands: save the table with decimal \
                 points and without separators of thousands",
            ));
        }
        let is_whole = |cell: &str| cell.bytes().all(|byte| b"+-0123456789".contains(&byte));
        let all = || self.rows.iter().flatten().copied();
        let width = self.width();
        if self.dialect.delimiter != ',' || !width.is_multiple_of(2) || !all().all(is_whole) {
            return Ok(());
        }
        let has_names = self.names.iter().filter(|name| !name.is_empty()).count() > 1;
        let is_doubtful = match has_names {
            true => self.names.len() * 2 == width,
            false => !self.counts(0) && !all().all(|cell| matches!(cell, "0" | "1" | "")),
        };
        match is_doubtful {
            true => Err(ParseError::whole(
                "the commas may part cells or be decimal commas: save the table with semicolons \
                 between its cells, or with decimal points and a line of names",
            )),
            false => Ok(()),
        }
    }

    /// The first second of a column of calendar times.
    fn calendar(&self, index: usize) -> Option<i64> {
        let mut cells = self.column(index);
        Instant::parse(cells.next()?).map(|first| first.seconds)
    }

    /// The table as a list of readings, if it is one.
    pub fn list(
        &self,
        unit: Option<ListUnit>,
        start: &[String],
    ) -> Result<Option<ListLayout>, ParseError> {
        let filled = self.filled();
        if filled.first().is_some_and(|first| self.calendar(*first).is_some()) {
            return Ok(None);
        }
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
        let below = self.below.get(value).copied().unwrap_or_default();
        if names::is_level(self.name(value), below) {
            return Err(ParseError::whole(format!(
                "the column {} has levels, and no column has their times",
                self.name(value)
            )));
        }
        let by_heading = names::unit_of_readings(self.name(value))
            .or_else(|| self.below.get(value).and_then(|unit| names::unit_of_readings(unit)))
            .or(lagbox.then_some(ListUnit::Micro));
        if let (Some(unit), Some(said)) = (unit, by_heading)
            && unit != said
        {
            let (unit, said) = (unit.as_str(), said.as_str());
            return Err(ParseError::whole(format!(
                "--unit {unit} contradicts the heading of the readings, which says {said}"
            )));
        }
        let by_name = by_heading.or_else(|| remarks(start).find_map(names::unit_of_readings));
        let cells = || self.rows.iter().filter_map(|row| row.get(value));
        // Only instruments write exponents, always in seconds; all times with a unit become seconds
        // too.
        let in_seconds =
            cells().any(|cell| cell.contains(['e', 'E']) || self.dialect.seconds(cell).is_some());
        let format = if lagbox { "list of a LagBox" } else { "list of readings" };
        let Some(unit) = unit.or(by_name).or(in_seconds.then_some(ListUnit::Second)) else {
            return Err(ParseError::whole(
                "the readings have no unit: give --unit s, ms, us, ns or ps",
            ));
        };
        let digit = |cell: &&str| match self.dialect.seconds(cell) {
            Some((_, digit)) => Some(digit * SECOND_PS as f64),
            None => last_digit(cell).map(|digit| digit * unit.picoseconds()),
        };
        let resolution = cells().filter_map(digit).fold(f64::INFINITY, f64::min);
        let resolution_ps = resolution.is_finite().then(|| resolution.round().max(1.0) as i64);
        Ok(Some(ListLayout {
            format,
            dialect: self.dialect,
            first_row: self.first_row,
            number,
            value,
            unit,
            resolution_ps,
            cells: self.usual_cells(),
            stated: shape::stated_rows(&start[..self.first_row]),
        }))
    }

    /// The number of cells in nearly every row.
    fn usual_cells(&self) -> Option<usize> {
        shape::usual(self.rows.iter().map(Vec::len))
    }

    /// Whether a column counts the rows.
    fn counts(&self, index: usize) -> bool {
        let number = |row: &Vec<&str>| row.get(index)?.parse::<u64>().ok();
        let starts = self.rows.first().and_then(number).is_some_and(|first| first <= 1);
        let follows = |pair: &&[Vec<&str>]| {
            number(&pair[0])
                .zip(number(&pair[1]))
                .is_some_and(|(one, next)| one.checked_add(1) == Some(next))
        };
        let steps = self.rows.windows(2);
        let following = steps.clone().filter(follows).count();
        starts && shape::are_few(steps.len() - following, steps.len())
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
        let dated = filled.iter().copied().find_map(|index| Some((index, self.calendar(index)?)));
        if let Some((index, origin_s)) = dated {
            return Ok(TimeFrom::Calendar { index, origin_s });
        }
        let has_units = |index: usize| {
            self.column(index).next().is_some_and(|cell| self.dialect.seconds(cell).is_some())
        };
        let named = filled.iter().copied().find(is_time);
        if let Some(index) = named.or(filled.iter().copied().find(|index| has_units(*index))) {
            return match has_units(index) {
                true => Ok(TimeFrom::Quantity { index }),
                false => Ok(self.times_of(index, self.seconds(index, rate)?)),
            };
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
            None if self.rises(index) => Ok(self.times_of(index, 1.0)),
            None => Err(ParseError::whole(
                "no column has times: expected one with rising values and a name like 'Time [s]'",
            )),
        }
    }

    /// Times of a column, counted from its first second if that is so far from 0 that it must be an
    /// epoch time.
    fn times_of(&self, index: usize, factor: f64) -> TimeFrom {
        let first = self.numbers(index).first().copied().unwrap_or(0.0);
        let is_of_epoch = first * factor > EPOCH_FROM_S && first < i64::MAX as f64;
        let origin = if is_of_epoch { first.floor() as i64 } else { 0 };
        TimeFrom::Column { index, factor, origin }
    }

    /// Times computed from a start and a step in the head, as Rigol writes them.
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
            // sigrok names no unit, but uses the one in which the rate gives whole numbers.
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

    pub fn capture(&self, rate: Option<u64>, start: &[String]) -> Result<Layout, ParseError> {
        let time = self.time(rate)?;
        let of_time = time.column();
        let values = self.filled().into_iter().filter(|index| Some(*index) != of_time);
        let columns: Vec<(usize, Channel)> =
            values.map(|index| (index, self.channel(index))).collect();
        if columns.is_empty() {
            return Err(ParseError::whole("the table has times, but no values"));
        }
        let (resolution_ps, is_sample_time) = self.resolution(time, rate);
        let note = |index: usize| {
            format!("The column {} has no numbers and was not read.", self.channel(index).name)
        };
        let shape = self.row_shape(time, &columns, shape::stated_rows(&start[..self.first_row]));
        let needed = self.needed(time, &columns);
        Ok(Layout {
            format: "CSV",
            dialect: self.dialect,
            first_row: self.first_row,
            time,
            columns,
            resolution_ps,
            is_sample_time,
            notes: self.words().into_iter().map(note).collect(),
            shape,
            needed,
        })
    }

    /// The notation of each column's cells up to the last relevant column; `None` for the others.
    pub fn needed(&self, time: TimeFrom, columns: &[(usize, Channel)]) -> Vec<Option<CellShape>> {
        let mut needed = Vec::new();
        for index in columns.iter().map(|(index, _)| *index).chain(time.column()) {
            needed.resize(needed.len().max(index + 1), None);
            needed[index] = Some(CellShape::of(self.column(index), self.dialect.decimal_comma));
        }
        needed
    }

    /// What nearly all of the first rows have in common.
    pub fn row_shape(
        &self,
        time: TimeFrom,
        columns: &[(usize, Channel)],
        stated: Option<u64>,
    ) -> RowShape {
        let levels = |row: &Vec<&'a str>| -> Vec<Option<&'a str>> {
            columns.iter().map(|(index, _)| row.get(*index).copied()).collect()
        };
        let is_logic = columns.iter().all(|(_, channel)| channel.kind == Kind::Logic);
        let is_same = |pair: &&[Vec<&'a str>]| levels(&pair[0]) == levels(&pair[1]);
        let idle = self.rows.windows(2).filter(is_same).count();
        let has_changes_only = is_logic
            && !matches!(time, TimeFrom::Rows { .. })
            && shape::are_few(idle, self.rows.len());
        let (times, digits) = self.times_and_digits(time);
        let step = shape::usual_step(&times, digits.iter().copied().fold(0.0, f64::max));
        RowShape {
            cells: self.usual_cells(),
            step_ps: step.filter(|_| !has_changes_only).map(|step| step * SECOND_PS as f64),
            has_changes_only,
            stated,
        }
    }

    fn channel(&self, index: usize) -> Channel {
        let name = match names::bare(self.name(index)) {
            "" => format!("column {}", index + 1),
            name => name.to_string(),
        };
        let is_bit = |cell: &str| {
            matches!(cell, "0" | "1") || is_unknown(cell) && self.dialect.number(cell).is_none()
        };
        let is_logic = self.column(index).all(is_bit);
        let unit = names::bracketed(self.name(index));
        let unit = unit.or(self.below.get(index).copied()).filter(|unit| names::is_unit(unit));
        Channel {
            volts: names::volts_of(unit.unwrap_or_default()),
            ..Channel::new(name, if is_logic { Kind::Logic } else { Kind::Sampled })
        }
    }

    /// The sample period, from a comment or from the rows, else the last digit of the times; and
    /// whether it is the sample period.
    pub fn resolution(&self, time: TimeFrom, rate: Option<u64>) -> (Option<i64>, bool) {
        let (seconds, is_sample_time) = match (time, rate) {
            (TimeFrom::Index { step, .. } | TimeFrom::Rows { step, .. }, _) => (step, true),
            (_, Some(rate)) => (1.0 / rate as f64, true),
            (_, None) => {
                let (times, digits) = self.times_and_digits(time);
                of_times(&times, digits.into_iter())
            }
        };
        let resolution = (seconds * SECOND_PS as f64).round().max(1.0);
        (resolution.is_finite().then_some(resolution as i64), is_sample_time)
    }
}

impl CsvTable<'_> {
    /// The times of the first rows in seconds, and the value of each one's last digit.
    fn times_and_digits(&self, time: TimeFrom) -> (Vec<f64>, Vec<f64>) {
        let digits = |factor: f64, index| {
            self.column(index).filter_map(last_digit).map(|digit| digit * factor).collect()
        };
        match time {
            TimeFrom::Column { index, factor, origin } => {
                let number = |cell: &str| match origin {
                    0 => self.dialect.number(cell),
                    _ => distance(&self.dialect, cell, origin),
                };
                let times = self.column(index).filter_map(number).map(|time| time * factor);
                (times.collect(), digits(factor, index))
            }
            TimeFrom::Index { index, step, .. } => {
                let numbers = self.numbers(index);
                (numbers.into_iter().map(|at| at * step).collect(), vec![step])
            }
            TimeFrom::Quantity { index } => {
                self.column(index).filter_map(|cell| self.dialect.seconds(cell)).unzip()
            }
            TimeFrom::Calendar { index, origin_s } => {
                let instants = || self.column(index).filter_map(Instant::parse);
                let seconds = |at: Instant| {
                    (at.seconds.saturating_sub(origin_s)) as f64 + at.picoseconds as f64 / 1e12
                };
                let digits = instants().map(|at| 10f64.powi(-(at.digits.min(12) as i32)));
                (instants().map(seconds).collect(), digits.collect())
            }
            TimeFrom::Rows { .. } => (Vec::new(), Vec::new()),
        }
    }
}

/// The step of times that are evenly spaced except for rounding, else their last digit; and whether
/// they are.
fn of_times(times: &[f64], digits: impl Iterator<Item = f64>) -> (f64, bool) {
    let (mut finest, mut coarsest) = (f64::INFINITY, 0.0_f64);
    digits.for_each(|digit| {
        (finest, coarsest) = (finest.min(digit), coarsest.max(digit));
    });
    let steps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = steps.iter().sum::<f64>() / steps.len().max(1) as f64;
    let off = if 4.0 * coarsest <= mean { (0.02 * mean).max(1.01 * coarsest) } else { 0.02 * mean };
    let is_even = steps.len() > 1 && mean > 0.0 && steps.iter().all(|it| (it - mean).abs() <= off);
    if is_even { (mean, true) } else { (finest, false) }
}
