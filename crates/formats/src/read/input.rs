//! A file to be read: its first bytes, then its lines or its whole text.

use crate::read::formats::Format;
use crate::read::lines::{Line, Lines};
use crate::read::prefix::{Prefix, without_escapes};
use latlab_model::Nanos;
use latlab_model::finding::{Finding, ImportFinding};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Cursor, Read};

/// Bytes that a format is recognised by.
const HEAD: usize = 64 << 10;
/// A longer document is not read into memory.
const LARGEST_DOCUMENT: u64 = 256 << 20;

/// What the user says of a file beside its content.
#[derive(Clone, Default)]
pub struct Query {
    /// Its format; none where the content decides.
    pub format: Option<&'static Format>,
    /// The column with the latencies of a table: its name, or its number from 1.
    pub column: Option<String>,
    /// Unit of the values, where the file does not say it.
    pub unit: Option<Unit>,
    /// Period of the loop whose cycles the values are times of; none where they are latencies.
    pub period: Option<Nanos>,
}

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl Unit {
    /// All of them.
    pub const ALL: &[Unit] =
        &[Unit::Seconds, Unit::Milliseconds, Unit::Microseconds, Unit::Nanoseconds];

    /// Its sign.
    pub fn as_str(self) -> &'static str {
        match self {
            Unit::Seconds => "s",
            Unit::Milliseconds => "ms",
            Unit::Microseconds => "us",
            Unit::Nanoseconds => "ns",
        }
    }

    /// Its length.
    pub fn nanos(self) -> i64 {
        match self {
            Unit::Seconds => 1_000_000_000,
            Unit::Milliseconds => 1_000_000,
            Unit::Microseconds => 1_000,
            Unit::Nanoseconds => 1,
        }
    }
}

/// Why a file gives no recording: what is wrong, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InputError {
    /// It has no bytes.
    #[error("the file is empty")]
    Empty,
    /// No format fits its content.
    #[error(
        "no known recording of latencies; name its format with --as, or the column of a table with \
         --column (captures of wires: latlab respond)"
    )]
    Unknown,
    /// A format fits, but no latency is in it.
    #[error("{format}: the file contains no latencies{}", reason.iter().map(|it| format!("; {it}")).collect::<String>())]
    NoLatencies {
        /// The format.
        format: &'static str,
        /// What could not be read.
        reason: Option<String>,
    },
    /// The file is not what its format says.
    #[error("{0}")]
    Malformed(String),
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
}

impl From<io::Error> for InputError {
    fn from(error: io::Error) -> InputError {
        InputError::Unreadable(error.to_string())
    }
}

/// A file whose first bytes are known.
pub struct Input {
    head: Vec<u8>,
    lines: Lines<Box<dyn Read>>,
    prefix: Prefix,
    plain: Vec<u8>,
    stripped: Vec<u8>,
    file: Option<File>,
    failure: Option<String>,
}

impl Input {
    /// Reads the first bytes; the source may be a file, which can then be read anywhere.
    pub fn open(mut source: Box<dyn Read>, file: Option<File>) -> Result<Input, InputError> {
        let mut head = Vec::with_capacity(HEAD);
        let read = source.by_ref().take(HEAD as u64).read_to_end(&mut head);
        let failure = match (read, head.is_empty()) {
            (Err(error), true) => return Err(error.into()),
            (Ok(_), true) => return Err(InputError::Empty),
            (Err(error), false) => Some(stopped(&error)),
            (Ok(_), false) => None,
        };
        // A source that failed is not asked again.
        let rest: Box<dyn Read> = if failure.is_some() { Box::new(io::empty()) } else { source };
        let all: Box<dyn Read> = Box::new(Cursor::new(head.clone()).chain(rest));
        let (prefix, plain, stripped) = (Prefix::default(), Vec::new(), Vec::new());
        Ok(Input { head, lines: Lines::new(all), prefix, plain, stripped, file, failure })
    }

    /// The first bytes, up to 64 KiB.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The same as its lines are given.
    pub fn plain_head(&self) -> Vec<u8> {
        self.prefix.strip_all(&self.head)
    }

    /// Takes this off each line from here on.
    pub fn set_prefix(&mut self, prefix: Prefix) {
        self.prefix = prefix;
    }

    /// The next line, without what a log has put before it and without what steers a terminal; none
    /// at the end, or where the rest cannot be read.
    pub fn next_line(&mut self) -> Option<Line<'_>> {
        let line = match self.lines.next() {
            Ok(line) => line?,
            Err(error) => {
                self.failure = Some(stopped(&error));
                return None;
            }
        };
        let bytes = match without_escapes(line.bytes) {
            Cow::Borrowed(bytes) => bytes,
            Cow::Owned(plain) => {
                self.plain = plain;
                &self.plain
            }
        };
        Some(Line { bytes: self.prefix.strip(bytes), ..line })
    }

    /// What comes next of the file, as far as it is in memory: for formats that know many lines at
    /// once. Nothing where something is to be taken off each line.
    pub fn buffered(&self) -> &[u8] {
        if self.prefix.is_empty() { self.lines.buffered() } else { &[] }
    }

    /// Passes over the first bytes of that, which are so many whole lines.
    pub fn skip(&mut self, bytes: usize, lines: u64) {
        self.lines.skip(bytes, lines);
    }

    /// The file itself, of a format that reads it from its end; none where it is packed or a pipe.
    pub fn take_file(&mut self) -> Option<File> {
        self.file.take()
    }

    /// The whole file, of a format that cannot be read line by line.
    pub fn document(&mut self) -> Result<Vec<u8>, InputError> {
        let bytes = self.whole()?;
        Ok(if self.prefix.is_empty() { bytes } else { self.prefix.strip_all(&bytes) })
    }

    fn whole(&mut self) -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        self.by_ref().take(LARGEST_DOCUMENT + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST_DOCUMENT {
            let text = "a document of this format may have 256 MiB, and this one is longer";
            return Err(InputError::Malformed(text.to_string()));
        }
        Ok(bytes)
    }

    /// Gives bytes of lines without what a log has put before them.
    fn read_stripped(&mut self, buffer: &mut [u8]) -> usize {
        if self.stripped.is_empty() {
            let bytes = self.next_line().map(|line| [line.bytes, b"\n"].concat());
            self.stripped = bytes.unwrap_or_default();
        }
        let count = self.stripped.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.stripped[..count]);
        self.stripped.drain(..count);
        count
    }

    /// Why the file could not be read to its end.
    pub fn failure(&self) -> Option<Finding> {
        let missing = self.failure.clone()?;
        Some(Finding::new(ImportFinding::ImportIncomplete { missing }))
    }
}

/// The bytes of the file, of a format without lines; they end where the rest cannot be read.
impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.prefix.is_empty() {
            return Ok(self.read_stripped(buffer));
        }
        match self.lines.source().read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.failure = Some(stopped(&error));
                Ok(0)
            }
            read => read,
        }
    }
}

fn stopped(error: &io::Error) -> String {
    format!("the rest cannot be read ({error})")
}
