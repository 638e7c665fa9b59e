//! Parts of a capture that could not be read and may have held a sample or an edge.

use crate::error::ParseError;

/// If more than one row in this many is unreadable, the file is not a capture.
const FEWEST_READ: u64 = 10;
/// What occurs at most once in this many is not a habit of the writing program.
const RARE: u64 = 100;
/// Nor is what occurs at most this often: a moved line shows twice.
const SELDOM: u64 = 2;

/// Whether something is rare enough to be damage rather than habit.
pub fn is_rare(count: u64, of: u64) -> bool {
    count <= SELDOM || count.saturating_mul(RARE) <= of
}

/// What was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossKind {
    /// Unreadable rows or readings.
    Rows,
    /// Unreadable values of a channel.
    Values,
    /// Unreadable changes or times of a dump.
    Changes,
    /// Something that the file should contain: its end, samples in between, an edge.
    Missing,
}

impl LossKind {
    /// What is counted, in words.
    pub fn items(self) -> &'static str {
        match self {
            LossKind::Rows => "rows",
            LossKind::Values | LossKind::Missing => "values",
            LossKind::Changes => "changes",
        }
    }
}

/// A loss, with its first place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    pub kind: LossKind,
    /// The channel, if it concerns only one.
    pub channel: Option<usize>,
    pub count: u64,
    /// The total; 0 if it is meaningless.
    pub of: u64,
    /// The first occurrence.
    pub first: ParseError,
}

impl Loss {
    /// A missing part of the file.
    pub fn missing(first: ParseError) -> Loss {
        Loss { kind: LossKind::Missing, channel: None, count: 1, of: 0, first }
    }

    /// Whether so much is lost that the rest is not representative.
    pub fn is_too_much(&self) -> bool {
        self.kind != LossKind::Missing && self.count.saturating_mul(FEWEST_READ) > self.of
    }

    /// Whether it may concern one of these channels.
    pub fn concerns(&self, channels: &[Option<usize>]) -> bool {
        self.channel.is_none() || channels.contains(&self.channel)
    }
}

/// Counts losses, and keeps the first.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lost {
    count: u64,
    first: Option<ParseError>,
}

impl Lost {
    /// Counts one loss.
    pub fn note(&mut self, error: impl FnOnce() -> ParseError) {
        self.note_several(1, error);
    }

    /// Counts several losses.
    pub fn note_several(&mut self, count: u64, error: impl FnOnce() -> ParseError) {
        self.count = self.count.saturating_add(count);
        self.first.get_or_insert_with(error);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The losses, as this kind; `None` if nothing was lost.
    pub fn loss(&self, kind: LossKind, channel: Option<usize>, of: u64) -> Option<Loss> {
        let first = self.first.clone()?;
        Some(Loss { kind, channel, count: self.count, of, first })
    }
}
