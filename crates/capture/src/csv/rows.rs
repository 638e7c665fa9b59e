//! The rows of a capture: each is read, known to be harmless, or reported as lost.

use super::cells::{self, no_number, uncommented};
use super::layout::{Layout, TimeFrom};
use super::picoseconds;
use crate::capture::{Kind, Point, Source};
use crate::error::ParseError;
use crate::lines::{Line, LineFault, Lines};
use crate::losses::{Loss, LossKind, Lost, is_rare};
use latlab_model::statements::states_loss;
use std::fs::File;
use std::io::BufReader;

/// Rows read per call.
const AT_ONCE: usize = 2048;
/// If at least one cell in this many of a channel is empty, it does not have a value in each row.
const SPARSE: u64 = 10;
/// A time step this many times the sample period is a gap.
const GAP: f64 = 1.5;
/// Two times closer than this share of a step are the same sample.
const REPEATED: f64 = 0.5;

/// The rows of a capture.
pub struct Rows {
    lines: Lines<BufReader<File>>,
    layout: Layout,
    /// Further columns in the rows.
    ignored: usize,
    /// The numbers in the relevant columns of the current row.
    cells: Vec<Option<f64>>,
    /// Number of the next sample, if the times follow from it.
    sample: u64,
    /// The time of the last row, and of the one before it.
    reached: Option<i64>,
    reached_before: Option<i64>,
    /// Index of the last row's first point among those to be returned next.
    last_row: usize,
    /// The points of the last row; the next row may show that their time is wrong.
    held: Vec<Point>,
    /// Time steps outside this range are not those of adjacent samples.
    usual_step: Option<(i64, i64)>,
    /// The last value of each channel, as logic has only changes.
    before: Vec<Option<f64>>,
    rows_read: u64,
    lost: LostRows,
}

impl Rows {
    pub fn new(lines: Lines<BufReader<File>>, layout: Layout) -> Rows {
        let channels = layout.columns.len();
        let step = layout.shape.step_ps;
        Rows {
            lines,
            ignored: layout.shape.cells.unwrap_or(0).saturating_sub(layout.needed.len()),
            cells: Vec::new(),
            sample: 0,
            reached: None,
            reached_before: None,
            last_row: 0,
            held: Vec::new(),
            usual_step: step.map(|step| ((REPEATED * step) as i64, (GAP * step) as i64)),
            before: vec![None; channels],
            rows_read: 0,
            lost: LostRows::new(channels),
            layout,
        }
    }

    fn row(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        let Rows { lines, layout, cells, before, lost, .. } = self;
        let number = lines.number() + 1;
        let Some(Line { text, fault }) = lines.next()? else { return Ok(false) };
        if let Some(fault) = fault {
            lost.line(fault, text, number);
            self.sample += 1;
            return Ok(true);
        }
        if text.trim_ascii().is_empty() || cells::is_comment(text) {
            lost.remark(layout, text, number);
            return Ok(true);
        }
        let of_time = layout.time.column();
        let (mut at_ps, mut is_empty, mut fault) = (None, true, None);
        cells.clear();
        let mut row = layout.dialect.cells(text);
        for (index, shape) in layout.needed.iter().enumerate() {
            let Some(cell) = row.next() else { break };
            is_empty &= cell.is_empty();
            let value = match shape.filter(|_| !cell.is_empty()) {
                None => None,
                Some(shape) if of_time == Some(index) => {
                    match layout.time.at_ps(&layout.dialect, cell, index, number) {
                        Ok(time) => at_ps = time,
                        Err(error) => fault = Some(error),
                    }
                    if !shape.fits(cell) {
                        lost.odd_cells.note(|| odd_cell(cell, index, number));
                    }
                    None
                }
                Some(shape) => match layout.dialect.number(cell) {
                    Some(value) => {
                        let value = decode_special_value(value);
                        if !shape.fits(cell) && value.is_finite() {
                            lost.odd_cells.note(|| odd_cell(cell, index, number));
                        }
                        Some(value)
                    }
                    None => {
                        if !cells::is_unknown(cell) {
                            lost.value(layout, cell, index, number);
                        }
                        Some(f64::NAN)
                    }
                },
            };
            cells.push(value);
        }
        for _ in 0..self.ignored {
            is_empty &= row.next().is_none_or(str::is_empty);
        }
        if let Some(expected) = layout.shape.cells {
            let is_too_long = row.has_more();
            if is_empty && !is_too_long {
                // Spreadsheets pad a table with commas.
                return Ok(true);
            }
            if is_too_long || cells.len() < layout.needed.len().min(expected) {
                fault.get_or_insert_with(|| other_cells(layout, text, expected, number));
            }
        } else if is_empty {
            return Ok(true);
        }
        if let TimeFrom::Rows { start, step } = layout.time {
            match picoseconds(start + self.sample as f64 * step, number) {
                Ok(time) => at_ps = Some(time),
                Err(error) => fault = Some(error),
            }
            self.sample += 1;
        }
        let (None, Some(at_ps)) = (&fault, at_ps) else {
            let no_time = || ParseError::line(number, "the row has no time");
            lost.row(|| fault.unwrap_or_else(no_time));
            return Ok(true);
        };
        let mut is_sample_missing = false;
        if let Some(reached) = self.reached {
            if at_ps < reached {
                self.turn_back(at_ps, number, points);
                return Ok(true);
            }
            let step = at_ps - reached;
            if self.usual_step.is_some_and(|(least, most)| step < least || most < step) {
                is_sample_missing = lost.step(layout, text, step, number);
            }
        }
        let is_behind_loss = std::mem::take(&mut lost.is_gap_known) || is_sample_missing;
        let first_point = points.len();
        if is_behind_loss {
            let from_ps = self.reached.unwrap_or(at_ps);
            let unknown = |channel| Point { at_ps: from_ps, channel, value: f64::NAN };
            points.extend((0..layout.columns.len()).map(unknown));
            before.fill(None);
        }
        for (channel, (index, what)) in layout.columns.iter().enumerate() {
            let Some(value) = cells.get(*index).copied().flatten() else {
                lost.empty[channel].note(|| {
                    ParseError::line(number, format!("the cell of column {} is empty", index + 1))
                });
                if lost.empty[channel].count() * SPARSE < self.rows_read {
                    points.push(Point { at_ps, channel, value: f64::NAN });
                    before[channel] = None;
                }
                continue;
            };
            let is_same =
                before[channel].is_some_and(|before: f64| before.to_bits() == value.to_bits());
            if what.kind == Kind::Sampled || !is_same {
                points.push(Point { at_ps, channel, value });
            }
            before[channel] = Some(value);
        }
        if layout.shape.has_changes_only {
            lost.idle_row(points.len() == first_point, number);
        }
        self.last_row = first_point;
        (self.reached_before, self.reached) = (self.reached, Some(at_ps));
        self.rows_read += 1;
        Ok(true)
    }

    /// A row is earlier than the previous one, so one of them has a wrong time.
    fn turn_back(&mut self, at_ps: i64, number: u64, points: &mut Vec<Point>) {
        let error = || ParseError::line(number, "the time is earlier than that of the row before");
        self.lost.row(error);
        if self.reached_before.is_none_or(|before| at_ps >= before) {
            points.truncate(self.last_row);
            self.lost.row(error);
            self.rows_read = self.rows_read.saturating_sub(1);
            self.reached = self.reached_before;
            self.before.fill(None);
        }
    }
}

impl Source for Rows {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        self.last_row = points.len();
        points.append(&mut self.held);
        for _ in 0..AT_ONCE {
            if !self.row(points)? {
                return Ok(false);
            }
        }
        self.held.extend(points.drain(self.last_row..));
        Ok(true)
    }

    fn reached_ps(&self) -> Option<i64> {
        self.reached
    }

    fn losses(&self) -> Vec<Loss> {
        self.lost.losses(self.rows_read, self.layout.shape.stated)
    }
}

/// What was lost of a table.
struct LostRows {
    rows: Lost,
    /// Cells of each channel that are not numbers.
    values: Vec<Lost>,
    empty: Vec<Lost>,
    /// Places with missing or surplus samples.
    samples: Lost,
    /// Places from which on the times have too few digits for the sample period.
    coarse_times: Lost,
    /// Numbers written differently from all others in their column.
    odd_cells: Lost,
    /// Rows with the levels of the row before.
    idle: Lost,
    /// The last row if it is one of these, as it may mark the end.
    last_idle: Option<u64>,
    /// A file that ends within a row.
    end: Option<ParseError>,
    /// The row before was lost, which accounts for a gap.
    is_gap_known: bool,
}

impl LostRows {
    fn new(channels: usize) -> LostRows {
        LostRows {
            rows: Lost::default(),
            values: vec![Lost::default(); channels],
            empty: vec![Lost::default(); channels],
            samples: Lost::default(),
            coarse_times: Lost::default(),
            odd_cells: Lost::default(),
            idle: Lost::default(),
            last_idle: None,
            end: None,
            is_gap_known: false,
        }
    }

    fn row(&mut self, error: impl FnOnce() -> ParseError) {
        self.rows.note(error);
        self.is_gap_known = true;
    }

    fn line(&mut self, fault: LineFault, text: &str, number: u64) {
        match fault {
            LineFault::TooLong => {
                self.row(|| ParseError::line(number, "the row is longer than 1 MiB"));
            }
            LineFault::NoEnd if text.trim().is_empty() => {}
            LineFault::NoEnd => self.end = Some(cut_line(number)),
        }
    }

    /// A row that looks like a comment because of damage is not a comment.
    fn remark(&mut self, layout: &Layout, text: &str, number: u64) {
        let row = uncommented(text);
        if row.len() < text.len()
            && layout.dialect.is_row(row)
            && Some(layout.dialect.cells(row).count()) >= layout.shape.cells
            && layout.shape.cells.is_some_and(|cells| cells > 1)
        {
            self.row(|| ParseError::line(number, "the row begins with the sign of a remark"));
        } else if states_loss(text) {
            self.samples.note(|| ParseError::line(number, SAID));
        }
    }

    fn value(&mut self, layout: &Layout, cell: &str, index: usize, number: u64) {
        let channel = layout.columns.iter().position(|(column, _)| *column == index);
        if let Some(lost) = channel.map(|channel| &mut self.values[channel]) {
            lost.note(|| no_number(cell, index, number));
        }
    }

    /// Checks a time step that differs from a sample period; returns whether a sample is missing.
    fn step(&mut self, layout: &Layout, text: &str, step: i64, number: u64) -> bool {
        let usual = layout.shape.step_ps.unwrap_or(f64::INFINITY);
        let digit_ps = layout.last_digit_ps(text).unwrap_or(0.0);
        if digit_ps > 1.01 * usual {
            let what = "the times have too few digits for their samples";
            self.coarse_times.note(|| ParseError::line(number, what));
        } else if !self.is_gap_known {
            let what = match (step as f64 / usual).round() as i64 {
                ..=1 => "the time is about that of the row before".to_string(),
                2 => "a sample before this row is missing".to_string(),
                steps => format!("{} samples before this row are missing", steps - 1),
            };
            self.samples.note(|| ParseError::line(number, what));
            return (step as f64) > usual;
        }
        false
    }

    fn idle_row(&mut self, is_idle: bool, number: u64) {
        if let Some(line) = self.last_idle.take() {
            let what = "no level differs from the row before: a change between may be missing";
            self.idle.note(|| ParseError::line(line, what));
        }
        self.last_idle = is_idle.then_some(number);
    }

    fn losses(&self, rows_read: u64, stated: Option<u64>) -> Vec<Loss> {
        let rows = rows_read + self.rows.count();
        let by_channel = |lost: &[Lost], counts: &dyn Fn(&Lost) -> bool| -> Vec<Loss> {
            let all = lost.iter().enumerate().filter(|(_, lost)| counts(lost));
            all.filter_map(|(at, lost)| lost.loss(LossKind::Values, Some(at), rows)).collect()
        };
        let place = |lost: &Lost| lost.loss(LossKind::Missing, None, rows);
        let mut all: Vec<Loss> = self.rows.loss(LossKind::Rows, None, rows).into_iter().collect();
        all.extend(by_channel(&self.values, &|_| true));
        all.extend(by_channel(&self.empty, &|lost| lost.count() * SPARSE < rows));
        all.extend([&self.samples, &self.coarse_times].into_iter().filter_map(place));
        let oddities = [&self.odd_cells, &self.idle];
        all.extend(
            oddities.into_iter().filter(|lost| is_rare(lost.count(), rows)).filter_map(place),
        );
        all.extend(self.end.clone().map(Loss::missing));
        all.extend(fewer_than_stated(rows, stated));
        all
    }
}

/// The error if a comment mentions a loss.
pub const SAID: &str = "a remark says that something was lost";

/// A file whose last line has no end may be truncated there.
pub fn cut_line(number: u64) -> ParseError {
    let what = "the file ends without a line end, so that its last line may be cut; that line does \
                not count";
    ParseError::line(number, what)
}

/// Compares the row count with the one stated in the file.
pub fn fewer_than_stated(rows: u64, stated: Option<u64>) -> Option<Loss> {
    let stated = stated.filter(|stated| rows < *stated)?;
    let what = format!("the file states {stated} samples and has {rows}");
    Some(Loss::missing(ParseError::whole(what)))
}

fn odd_cell(cell: &str, index: usize, number: u64) -> ParseError {
    let cell: String = cell.chars().take(24).collect();
    let column = index + 1;
    let what =
        format!("'{cell}' in column {column} is written otherwise than the other numbers there");
    ParseError::line(number, what)
}

pub fn other_cells(layout: &Layout, text: &str, expected: usize, number: u64) -> ParseError {
    let count = layout.dialect.cells(text).count();
    ParseError::line(number, format!("the row has {count} cells, and the others have {expected}"))
}

/// A value as the instrument means it: 9.9E37 is out of range, 9.91E37 is unknown.
fn decode_special_value(value: f64) -> f64 {
    match value.abs() {
        unknown if (9.905e37..1e38).contains(&unknown) => f64::NAN,
        beyond if (9.8e37..1e38).contains(&beyond) => f64::INFINITY.copysign(value),
        _ => value,
    }
}
