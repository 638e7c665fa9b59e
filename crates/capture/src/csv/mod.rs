//! Tables of values: captures with a time in each row, and lists of readings.

pub mod cells;
mod instants;
mod layout;
mod names;
mod table;

use crate::SECOND_PS;
use crate::capture::{Capture, LevelCapture};
use crate::capture::{Head, Kind, Point, Source};
use crate::error::ParseError;
use crate::lines::Lines;
use crate::list::{List, Unit};
use layout::{Layout, Shape, TimeFrom};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Rows that are read at once.
const AT_ONCE: usize = 2048;
/// Lines of the start of a file by which its layout is told.
const SNIFFED_LINES: usize = 400;
/// The same in bytes.
const SNIFFED_BYTES: usize = 1 << 18;

/// Opens a table; `unit` is that of a list of readings, where its user says so.
pub fn open(path: &Path, unit: Option<Unit>) -> Result<Capture, ParseError> {
    let start = start(path)?;
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, File::open(path)?));
    match layout::detect(&start, unit)? {
        Shape::List(list) => {
            skip(&mut lines, list.first_row)?;
            Ok(Capture::List(List::new(lines, list)))
        }
        Shape::Capture(layout) => {
            skip(&mut lines, layout.first_row)?;
            let head = Head {
                format: layout.format,
                channels: layout.columns.iter().map(|(_, channel)| channel.clone()).collect(),
                resolution_ps: layout.resolution_ps,
                is_sample_time: layout.is_sample_time,
                notes: layout.notes.clone(),
                ..Head::default()
            };
            let (before, unreadable) =
                (vec![None; head.channels.len()], vec![None; head.channels.len()]);
            let needed = layout.needed();
            let rows = Rows {
                lines,
                layout,
                needed,
                cells: Vec::new(),
                row: 0,
                reached: None,
                before,
                unreadable,
            };
            Ok(Capture::Points(LevelCapture { head, source: Box::new(rows) }))
        }
    }
}

/// The first lines of a file.
fn start(path: &Path) -> Result<Vec<String>, ParseError> {
    let mut lines = Lines::new(BufReader::new(File::open(path)?));
    let (mut start, mut bytes) = (Vec::new(), 0);
    while let Some(line) = lines.next()? {
        bytes += line.len();
        start.push(line.to_string());
        if start.len() >= SNIFFED_LINES || bytes > SNIFFED_BYTES {
            break;
        }
    }
    Ok(start)
}

fn skip(lines: &mut Lines<BufReader<File>>, count: usize) -> Result<(), ParseError> {
    for _ in 0..count {
        lines.next()?;
    }
    Ok(())
}

/// The rows of a capture.
struct Rows {
    lines: Lines<BufReader<File>>,
    layout: Layout,
    /// For each column up to the last one that matters whether it does.
    needed: Vec<bool>,
    /// The numbers in those columns of the row that is read.
    cells: Vec<Option<f64>>,
    row: u64,
    reached: Option<i64>,
    /// The last value of each channel, since logic tells changes only.
    before: Vec<Option<f64>>,
    /// The first value of each channel that is none.
    unreadable: Vec<Option<ParseError>>,
}

impl Rows {
    fn row(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        let Rows { lines, layout, needed, cells, before, unreadable, .. } = self;
        let number = lines.number() + 1;
        let Some(line) = lines.next()? else { return Ok(false) };
        if line.trim_ascii().is_empty() || cells::is_comment(line) {
            return Ok(true);
        }
        let of_time = layout.time.column();
        let (mut at_ps, mut is_empty) = (None, true);
        cells.clear();
        for (index, (cell, needed)) in layout.dialect.cells(line).zip(needed).enumerate() {
            is_empty &= cell.is_empty();
            let value = match *needed && !cell.is_empty() {
                false => None,
                true if of_time == Some(index) => {
                    at_ps = layout.time.at_ps(&layout.dialect, cell, index, number)?;
                    None
                }
                true => match layout.dialect.number(cell) {
                    Some(value) => Some(decode_special_value(value)),
                    None => {
                        if !cells::is_unknown(cell) {
                            layout.note_unreadable(unreadable, cell, index, number);
                        }
                        Some(f64::NAN)
                    }
                },
            };
            cells.push(value);
        }
        if is_empty {
            // Spreadsheets fill a table up with commas.
            return Ok(true);
        }
        let at_ps = match layout.time {
            TimeFrom::Rows { start, step } => {
                Some(picoseconds(start + self.row as f64 * step, number)?)
            }
            _ => at_ps,
        };
        let at_ps = at_ps.ok_or_else(|| ParseError::line(number, "the row has no time"))?;
        if self.reached.is_some_and(|reached| at_ps < reached) {
            return Err(ParseError::line(
                number,
                "the time is earlier than that of the row before",
            ));
        }
        for (channel, (index, what)) in layout.columns.iter().enumerate() {
            let Some(value) = cells.get(*index).copied().flatten() else { continue };
            let is_same =
                before[channel].is_some_and(|before: f64| before.to_bits() == value.to_bits());
            if what.kind == Kind::Sampled || !is_same {
                points.push(Point { at_ps, channel, value });
            }
            before[channel] = Some(value);
        }
        self.reached = Some(at_ps);
        self.row += 1;
        Ok(true)
    }
}

/// A value as the instrument means it: 9.9E37 is beyond its range, 9.91E37 is unknown.
fn decode_special_value(value: f64) -> f64 {
    match value.abs() {
        unknown if (9.905e37..1e38).contains(&unknown) => f64::NAN,
        beyond if (9.8e37..1e38).contains(&beyond) => f64::INFINITY.copysign(value),
        _ => value,
    }
}

impl Source for Rows {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        for _ in 0..AT_ONCE {
            if !self.row(points)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn reached_ps(&self) -> Option<i64> {
        self.reached
    }

    fn unreadable(&self) -> Vec<(usize, ParseError)> {
        let all = self.unreadable.iter().enumerate();
        all.filter_map(|(channel, error)| Some((channel, error.clone()?))).collect()
    }
}

fn picoseconds(seconds: f64, line: u64) -> Result<i64, ParseError> {
    let at = (seconds * SECOND_PS as f64).round();
    match () {
        () if at.is_nan() => Err(ParseError::line(line, "the row has no time")),
        () if at.abs() < i64::MAX as f64 => Ok(at as i64),
        () => Err(ParseError::line(line, "the time is later than 106 days")),
    }
}
