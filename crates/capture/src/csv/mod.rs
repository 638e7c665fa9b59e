//! Tables of values: captures with a time in each row, and lists of readings.

pub mod cells;
mod instants;
mod layout;
mod names;
mod rows;
mod shape;
mod table;

use crate::SECOND_PS;
use crate::capture::{Capture, Head, LevelCapture};
use crate::error::ParseError;
use crate::lines::{Line, LineFault, Lines};
use crate::list::{List, ListUnit};
use crate::losses::Loss;
use cells::is_comment;
use latlab_model::statements::states_loss;
use layout::Shape;
pub use names::volts_of;
use rows::Rows;
pub use rows::{SAID, cut_line, fewer_than_stated};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// Number of first lines from which the layout is detected.
const SNIFFED_LINES: usize = 400;
/// The same in bytes.
const SNIFFED_BYTES: usize = 1 << 18;

/// Opens a table; `unit` is the user's choice for a list of readings.
pub fn open(path: &Path, unit: Option<ListUnit>) -> Result<Capture, ParseError> {
    let start = start(path)?;
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, File::open(path)?));
    match layout::detect(&start, unit)? {
        Shape::List(list) => {
            let loss = skip(&mut lines, list.first_row)?;
            Ok(Capture::List(Box::new(List::new(lines, list, loss))))
        }
        Shape::Capture(layout) => {
            let loss = skip(&mut lines, layout.first_row)?;
            let head = Head {
                format: layout.format,
                channels: layout.columns.iter().map(|(_, channel)| channel.clone()).collect(),
                resolution_ps: layout.resolution_ps,
                is_sample_time: layout.is_sample_time,
                notes: layout.notes.clone(),
                losses: loss.map(Loss::missing).into_iter().collect(),
                ..Head::default()
            };
            let rows = Rows::new(lines, layout);
            Ok(Capture::Points(LevelCapture { head, source: Box::new(rows) }))
        }
    }
}

/// The first lines of a file, without one that may be truncated.
fn start(path: &Path) -> Result<Vec<String>, ParseError> {
    let mut lines = Lines::new(BufReader::new(File::open(path)?));
    let (mut start, mut bytes) = (Vec::new(), 0);
    while let Some(Line { text, fault }) = lines.next()? {
        if fault == Some(LineFault::NoEnd) {
            break;
        }
        let text = if fault.is_none() { text } else { "" };
        bytes += text.len();
        start.push(text.to_string());
        if start.len() >= SNIFFED_LINES || bytes > SNIFFED_BYTES {
            break;
        }
    }
    Ok(start)
}

/// Skips lines and returns the first that reports a loss.
fn skip(
    lines: &mut Lines<BufReader<File>>,
    count: usize,
) -> Result<Option<ParseError>, ParseError> {
    let mut loss = None;
    for number in (1..).take(count) {
        let Some(line) = lines.next()? else { break };
        if loss.is_none() && is_comment(line.text) && states_loss(line.text) {
            loss = Some(ParseError::line(number, SAID));
        }
    }
    Ok(loss)
}

fn picoseconds(seconds: f64, line: u64) -> Result<i64, ParseError> {
    let at = (seconds * SECOND_PS as f64).round();
    match () {
        () if at.is_nan() => Err(ParseError::line(line, "the row has no time")),
        () if at.abs() < i64::MAX as f64 => Ok(at as i64),
        () => Err(ParseError::line(line, "the time is later than 106 days")),
    }
}
