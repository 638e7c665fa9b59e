//! A file to be read: its first bytes, then its lines or its whole text.

use crate::read::formats::Format;
use crate::read::lines::{Line, Lines};
use crate::read::prefix::{Prefix, without_escapes};
use latlab_model::Nanos;
use latlab_model::finding::{Finding, ImportFinding};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Cursor, Read};

/// Bytes used to recognise a format.
const HEAD: usize = 64 << 10;
/// A longer document is not read into memory.
const LARGEST_DOCUMENT: u64 = 256 << 20;

/// What the user specifies about a file.
#[derive(Clone, Default)]
pub struct ImportQuery {
    /// `None` to detect it from the content.
    pub format: Option<&'static Format>,
    /// The column with the latencies of a table: its name, or its number from 1.
    pub column: Option<String>,
    /// Unit of the values, if the file does not state it.
    pub unit: Option<InputUnit>,
    /// Period of the loop if the values are the times of its cycles; `None` if they are latencies.
    pub period: Option<Nanos>,
}

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InputUnit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

impl InputUnit {
    pub const ALL: &[InputUnit] = &[
        InputUnit::Seconds,
        InputUnit::Milliseconds,
        InputUnit::Microseconds,
        InputUnit::Nanoseconds,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            InputUnit::Seconds => "s",
            InputUnit::Milliseconds => "ms",
            InputUnit::Microseconds => "us",
            InputUnit::Nanoseconds => "ns",
        }
    }

    pub fn nanos(self) -> i64 {
        match self {
            InputUnit::Seconds => 1_000_000_000,
            InputUnit::Milliseconds => 1_000_000,
            InputUnit::Microseconds => 1_000,
            InputUnit::Nanoseconds => 1,
        }
    }
}

/// Why a file gives no recording: the problem, and what to do.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InputError {
    /// It has no bytes.
    #[error("the file is empty")]
    Empty,
    /// No format matches its content.
    #[error(
        "no known recording of latencies; name its format with --as, or the column of a table with \
         --column (captures of wires: latlab respond)"
    )]
    Unknown,
    /// A format matches, but there is no latency.
    #[error("{format}: the file contains no latencies{}", reason.iter().map(|it| format!("; {it}")).collect::<String>())]
    NoLatencies {
        format: &'static str,
        /// What could not be read.
        reason: Option<String>,
    },
    /// The file does not conform to its format.
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
    /// Reads the first bytes; if the source is a `file`, it allows random access later.
    pub fn open(mut source: Box<dyn Read>, file: Option<File>) -> Result<Input, InputError> {
        let mut head = Vec::with_capacity(HEAD);
        let read = source.by_ref().take(HEAD as u64).read_to_end(&mut head);
        let failure = match (read, head.is_empty()) {
            (Err(error), true) => return Err(error.into()),
            (Ok(_), true) => return Err(InputError::Empty),
            (Err(error), false) => Some(stopped(&error)),
            (Ok(_), false) => None,
        };
        // A source that failed is not read again.
        let rest: Box<dyn Read> = if failure.is_some() { Box::new(io::empty()) } else { source };
        let all: Box<dyn Read> = Box::new(Cursor::new(head.clone()).chain(rest));
        let (prefix, plain, stripped) = (Prefix::default(), Vec::new(), Vec::new());
        Ok(Input { head, lines: Lines::new(all), prefix, plain, stripped, file, failure })
    }

    /// The first bytes, up to 64 KiB.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// The same with prefixes stripped.
    pub fn plain_head(&self) -> Vec<u8> {
        self.prefix.strip_all(&self.head)
    }

    /// Strips this prefix from each line from here on.
    pub fn set_prefix(&mut self, prefix: Prefix) {
        self.prefix = prefix;
    }

    /// The next line, without log prefix and terminal escapes; `None` at the end, or if the rest
    /// cannot be read.
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

    /// The next bytes of the file in memory, for formats that parse many lines at once. Empty if a
    /// prefix must be stripped from each line.
    pub fn buffered(&self) -> &[u8] {
        if self.prefix.is_empty() { self.lines.buffered() } else { &[] }
    }

    /// Skips `bytes` of these, which are `lines` whole lines.
    pub fn skip(&mut self, bytes: usize, lines: u64) {
        self.lines.skip(bytes, lines);
    }

    /// The file itself, for a format that reads it from its end; `None` if it is compressed or a
    /// pipe.
    pub fn take_file(&mut self) -> Option<File> {
        self.file.take()
    }

    /// The whole file, for a format that cannot be read line by line.
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

    /// Reads bytes of lines without their log prefix.
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

/// The bytes of the file, for a format without lines; they end where the rest cannot be read.
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
