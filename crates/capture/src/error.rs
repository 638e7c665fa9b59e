//! Why a capture cannot be read: one line that names the file and the place in it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Where in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Position {
    /// The file as a whole.
    Whole,
    /// A line, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
    /// A file within the file.
    Member(String),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Position::Whole => Ok(()),
            Position::Line(line) => write!(f, ":{line}"),
            Position::Byte(byte) => write!(f, ", byte {byte}"),
            Position::Member(name) => write!(f, ", {name}"),
        }
    }
}

/// What is wrong, and where; the caller knows the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    pub position: Position,
    /// What was expected, and what to do.
    pub what: String,
}

impl ParseError {
    /// An error of the file as a whole.
    pub fn whole(what: impl Into<String>) -> ParseError {
        ParseError { position: Position::Whole, what: what.into() }
    }

    /// An error in a line.
    pub fn line(line: u64, what: impl Into<String>) -> ParseError {
        ParseError { position: Position::Line(line), what: what.into() }
    }

    /// An error at a byte.
    pub fn byte(byte: u64, what: impl Into<String>) -> ParseError {
        ParseError { position: Position::Byte(byte), what: what.into() }
    }

    /// An error of a file within the file.
    pub fn member(name: &str, what: impl Into<String>) -> ParseError {
        ParseError { position: Position::Member(name.to_string()), what: what.into() }
    }

    /// Its place and what is wrong, for messages that name the file elsewhere.
    pub fn in_words(&self) -> String {
        let what = &self.what;
        match &self.position {
            Position::Whole => what.clone(),
            Position::Line(line) => format!("line {line}: {what}"),
            Position::Byte(byte) => format!("byte {byte}: {what}"),
            Position::Member(name) => format!("{name}: {what}"),
        }
    }

    /// Adds the file that it was found in.
    pub fn in_file(self, path: &Path) -> Error {
        Error { file: path.into(), error: self }
    }
}

impl From<io::Error> for ParseError {
    fn from(error: io::Error) -> ParseError {
        ParseError::whole(format!("cannot be read: {error}"))
    }
}

/// A capture that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}{}: {}", .file.display(), .error.position, .error.what)]
pub struct Error {
    pub file: PathBuf,
    /// What is wrong with it.
    pub error: ParseError,
}
