//! Lines of a text, each of them of bounded length.

use crate::error::ParseError;
use std::io::BufRead;

/// The byte order mark that some programs begin a text with.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// A longer line is no capture.
const LONGEST: usize = 1 << 20;

/// Reads line after line.
pub struct Lines<R> {
    source: R,
    number: u64,
    line: Vec<u8>,
    /// The line where it is no UTF-8.
    latin: String,
}

impl<R: BufRead> Lines<R> {
    pub fn new(source: R) -> Lines<R> {
        Lines { source, number: 0, line: Vec::new(), latin: String::new() }
    }

    /// Number of the last line, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next line without its end; none at the end of the text.
    pub fn next(&mut self) -> Result<Option<&str>, ParseError> {
        self.line.clear();
        self.number += 1;
        loop {
            let there = self.source.fill_buf()?;
            if there.is_empty() {
                break;
            }
            let end = there.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(there.len(), |end| end + 1);
            self.line.extend_from_slice(&there[..taken]);
            self.source.consume(taken);
            if self.line.len() > LONGEST {
                return Err(ParseError::line(self.number, "the line is longer than 1 MiB"));
            }
            if end.is_some() {
                break;
            }
        }
        if self.line.is_empty() {
            return Ok(None);
        }
        let text = match std::str::from_utf8(&self.line) {
            Ok(text) => text,
            Err(_) => {
                // Older programs write a byte for each letter.
                self.latin = self.line.iter().map(|byte| char::from(*byte)).collect();
                &self.latin
            }
        };
        // The byte order mark that spreadsheets write.
        Ok(Some(text.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r'])))
    }
}
