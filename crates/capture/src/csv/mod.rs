//! Tables of values: captures with a time in each row, and lists of readings.

mod cells;
mod layout;
mod names;

use crate::SECOND_PS;
use crate::fault::Fault;
use crate::lines::Lines;
use crate::list::{List, Unit};
use crate::open::{Capture, Opened};
use crate::point::{Head, Kind, Point, Source};
pub use cells::Dialect;
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
pub fn open(path: &Path, unit: Option<Unit>) -> Result<Capture, Fault> {
    let start = start(path)?;
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, File::open(path)?));
    match layout::of(&start, unit)? {
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
                notes: Vec::new(),
            };
            let before = vec![None; head.channels.len()];
            let rows = Rows { lines, layout, row: 0, reached: None, before };
            Ok(Capture::Points(Opened { head, source: Box::new(rows) }))
        }
    }
}

/// The first lines of a file.
fn start(path: &Path) -> Result<Vec<String>, Fault> {
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

fn skip(lines: &mut Lines<BufReader<File>>, count: usize) -> Result<(), Fault> {
    for _ in 0..count {
        lines.next()?;
    }
    Ok(())
}

/// The rows of a capture.
struct Rows {
    lines: Lines<BufReader<File>>,
    layout: Layout,
    row: u64,
    reached: Option<i64>,
    /// The last value of each channel, since logic tells changes only.
    before: Vec<Option<f64>>,
}

impl Rows {
    fn row(&mut self, points: &mut Vec<Point>) -> Result<bool, Fault> {
        let number = self.lines.number() + 1;
        let Some(line) = self.lines.next()? else { return Ok(false) };
        if line.trim().is_empty() || cells::is_comment(line) {
            return Ok(true);
        }
        let layout = &self.layout;
        let cells: Vec<&str> = layout.dialect.cells(line).collect();
        let seconds = match layout.time {
            TimeFrom::Column { index, factor } => {
                number_in(&layout.dialect, &cells, index, number)?.map(|time| time * factor)
            }
            TimeFrom::Index { index, start, step } => {
                number_in(&layout.dialect, &cells, index, number)?.map(|at| start + at * step)
            }
            TimeFrom::Rows { step } => Some(self.row as f64 * step),
        };
        let Some(seconds) = seconds else {
            return Err(Fault::line(number, "the row has no time"));
        };
        let at_ps = picoseconds(seconds, number)?;
        if self.reached.is_some_and(|reached| at_ps < reached) {
            return Err(Fault::line(number, "the time is before that of the row before"));
        }
        for (channel, (index, what)) in layout.columns.iter().enumerate() {
            let Some(value) = number_in(&layout.dialect, &cells, *index, number)? else { continue };
            if what.kind == Kind::Sampled || self.before[channel] != Some(value) {
                points.push(Point { at_ps, channel, value });
            }
            self.before[channel] = Some(value);
        }
        self.reached = Some(at_ps);
        self.row += 1;
        Ok(true)
    }
}

impl Source for Rows {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, Fault> {
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
}

/// The number in a cell; none where the cell is empty or missing.
pub fn number_in(
    dialect: &Dialect,
    cells: &[&str],
    index: usize,
    line: u64,
) -> Result<Option<f64>, Fault> {
    let cell = cells.get(index).copied().unwrap_or_default();
    if cell.is_empty() {
        return Ok(None);
    }
    let number = dialect.number(cell);
    let what = || {
        let found: String = cell.chars().take(24).collect();
        Fault::line(line, format!("expected a number in column {}, found '{found}'", index + 1))
    };
    number.map(Some).ok_or_else(what)
}

fn picoseconds(seconds: f64, line: u64) -> Result<i64, Fault> {
    let at = (seconds * SECOND_PS as f64).round();
    match at.abs() < i64::MAX as f64 {
        true => Ok(at as i64),
        false => Err(Fault::line(line, "the time is beyond 106 days")),
    }
}
