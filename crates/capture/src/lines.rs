//! Lines of a text, each of bounded length.

use crate::error::ParseError;
use std::io::BufRead;

/// The byte order mark with which some programs begin a text.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Of a longer line only the start is returned, and not parsed.
const LONGEST: usize = 1 << 20;

/// Reads line after line.
pub struct Lines<R> {
    source: R,
    number: u64,
    line: Vec<u8>,
    /// The line if it is not UTF-8.
    latin: String,
}

/// A line without its end.
pub struct Line<'a> {
    pub text: &'a str,
    /// Why it cannot be taken as it is.
    pub fault: Option<LineFault>,
}

/// Why a line cannot be read as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineFault {
    /// The file ends within it, as far as can be told.
    NoEnd,
    /// It is longer than any row of a capture; only its start is returned.
    TooLong,
}

impl<R: BufRead> Lines<R> {
    pub fn new(source: R) -> Lines<R> {
        Lines { source, number: 0, line: Vec::new(), latin: String::new() }
    }

    /// Number of the last line, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line; `None` at the end of the text.
    pub fn next(&mut self) -> Result<Option<Line<'_>>, ParseError> {
        self.line.clear();
        self.number += 1;
        let mut fault = Some(LineFault::NoEnd);
        let mut is_too_long = false;
        loop {
            let there = self.source.fill_buf()?;
            if there.is_empty() {
                break;
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(there.len(), |end| end + 1);
            if self.line.len() + taken > LONGEST {
                is_too_long = true;
            } else {
                self.line.extend_from_slice(&there[..taken]);
            }
            self.source.consume(taken);
            if end.is_some() {
                fault = None;
                break;
            }
        }
        if self.line.is_empty() && !is_too_long {
            return Ok(None);
        }
        if is_too_long {
            fault = Some(LineFault::TooLong);
        }
        let text = match std::str::from_utf8(&self.line) {
            Ok(text) => text,
            Err(_) => {
                // Older programs write one byte per letter.
                self.latin = self.line.iter().map(|byte| char::from(*byte)).collect();
                &self.latin
            }
        };
        // The byte order mark that spreadsheets write.
        let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
        Ok(Some(Line { text, fault }))
    }
}
