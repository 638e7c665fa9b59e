//! Lines of a file of any length, in memory of fixed size.

use memchr::memchr;
use std::io::{self, Read};

/// Bytes per read.
const CHUNK: usize = 256 << 10;
/// A longer line is cut here; cyclictest's lists of overflows can be longer.
const LONGEST: usize = 1 << 20;

/// A line without its newline.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// From 1.
    pub number: u64,
    /// Its bytes, without the newline and carriage returns before it.
    pub bytes: &'a [u8],
    /// Whether it has its newline; otherwise its last number may be cut.
    pub is_whole: bool,
}

/// Reads line after line.
pub struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    ended: bool,
}

impl<R: Read> Lines<R> {
    pub fn new(source: R) -> Lines<R> {
        Lines { source, buffer: vec![0; CHUNK], start: 0, end: 0, number: 0, ended: false }
    }

    /// The unread source; only valid before the first line.
    pub fn source(&mut self) -> &mut R {
        &mut self.source
    }

    /// Bytes read from the source but not yet returned as lines.
    pub fn buffered(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Skips `bytes` of these, which are `lines` whole lines.
    pub fn skip(&mut self, bytes: usize, lines: u64) {
        self.start += bytes;
        self.number += lines;
    }

    /// The next line; `None` at the end.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut looked = 0;
        let (from, to, next, is_whole) = loop {
            let there = &self.buffer[self.start..self.end];
            if let Some(at) = memchr(b'\n', &there[looked..]) {
                let to = self.start + looked + at;
                break (self.start, to, to + 1, true);
            }
            looked = there.len();
            if looked >= LONGEST {
                let (from, to) = (self.start, self.end);
                self.start = self.end;
                return self.cut_line(from, to).map(Some);
            }
            if self.ended || !self.fill()? {
                if looked == 0 {
                    return Ok(None);
                }
                break (self.start, self.end, self.end, false);
            }
        };
        self.start = next;
        self.number += 1;
        let bytes = without_return(&self.buffer[from..to]);
        Ok(Some(Line { number: self.number, bytes, is_whole }))
    }

    /// The first part of a line that is too long; the rest is skipped.
    fn cut_line(&mut self, from: usize, to: usize) -> io::Result<Line<'_>> {
        let kept = self.buffer[from..to].to_vec();
        loop {
            (self.start, self.end) = (0, 0);
            if !self.fill()? {
                break;
            }
            if let Some(at) = memchr(b'\n', &self.buffer[..self.end]) {
                self.start = at + 1;
                break;
            }
        }
        // The bytes already read stay after the line, which moves to the front.
        let rest = self.buffer[self.start..self.end].to_vec();
        let length = kept.len();
        self.buffer.truncate(0);
        self.buffer.extend_from_slice(&kept);
        self.buffer.extend_from_slice(&rest);
        (self.start, self.end) = (length, length + rest.len());
        self.number += 1;
        Ok(Line { number: self.number, bytes: &self.buffer[..length], is_whole: false })
    }

    /// Reads more after the present bytes; returns whether there was more.
    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.buffer.len() < self.end + CHUNK {
            self.buffer.resize(self.end + CHUNK, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..self.end + CHUNK]) {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(count) => {
                    self.end += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
    }
}

fn without_return(mut line: &[u8]) -> &[u8] {
    while let Some(shorter) = line.strip_suffix(b"\r") {
        line = shorter;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(text: &[u8]) -> Vec<(u64, usize)> {
        let mut lines = Lines::new(text);
        let mut lengths = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            lengths.push((line.number, line.bytes.len()));
        }
        lengths
    }

    #[test]
    fn lines_end_as_on_any_system_and_at_the_end() {
        assert_eq!(lengths(b"one\r\n\nthree"), [(1, 3), (2, 0), (3, 5)]);
        assert_eq!(lengths(b""), []);
    }

    #[test]
    fn a_line_of_any_length_costs_no_more_memory_and_no_other_line() {
        let long = [&b"a\n"[..], &vec![b'x'; 5 << 20], b"\nlast\n"].concat();
        let lengths = lengths(&long);
        assert_eq!((lengths[0], lengths[2], lengths.len()), ((1, 1), (3, 4), 3));
        assert!((LONGEST..=LONGEST + CHUNK).contains(&lengths[1].1));
        let mut lines = Lines::new(&long[..]);
        while lines.next().unwrap().is_some() {}
        assert!(lines.buffer.len() <= LONGEST + 3 * CHUNK);
    }
}
