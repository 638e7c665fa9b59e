//! What of a capture could not be read, although it may have held a sample or an edge.

use crate::error::ParseError;

/// Of more rows that cannot be read than one in so many, the file is no capture.
const FEWEST_READ: u64 = 10;
/// What is seen in no more than one in so many is no habit of the program that wrote a file.
const RARE: u64 = 100;
/// Nor is what is seen so seldom: a line that was moved shows twice.
const SELDOM: u64 = 2;

/// Whether something is so seldom that it shows damage, and no habit.
pub fn is_rare(count: u64, of: u64) -> bool {
    count <= SELDOM || count.saturating_mul(RARE) <= of
}

/// What was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossKind {
    /// Rows, or readings, that could not be read.
    Rows,
    /// Values of a channel that could not be read.
    Values,
    /// Changes or times of a dump that could not be read.
    Changes,
    /// Something that must have been in the file and is not: its end, samples in between, an edge.
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

/// Something that was lost, with the first place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    /// What.
    pub kind: LossKind,
    /// The only channel that it is about.
    pub channel: Option<usize>,
    /// How often.
    pub count: u64,
    /// Out of so many; 0 where that says nothing.
    pub of: u64,
    /// The first of them.
    pub first: ParseError,
}

impl Loss {
    /// A part of the file that is missing.
    pub fn missing(first: ParseError) -> Loss {
        Loss { kind: LossKind::Missing, channel: None, count: 1, of: 0, first }
    }

    /// Whether so much is lost that what remains is not what the file was meant to say.
    pub fn is_too_much(&self) -> bool {
        self.kind != LossKind::Missing && self.count.saturating_mul(FEWEST_READ) > self.of
    }

    /// Whether it may concern one of these channels.
    pub fn concerns(&self, channels: &[Option<usize>]) -> bool {
        self.channel.is_none() || channels.contains(&self.channel)
    }
}

/// Counts what was lost, and keeps the first.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Lost {
    count: u64,
    first: Option<ParseError>,
}

impl Lost {
    /// One more.
    pub fn note(&mut self, error: impl FnOnce() -> ParseError) {
        self.note_several(1, error);
    }

    /// So many more.
    pub fn note_several(&mut self, count: u64, error: impl FnOnce() -> ParseError) {
        self.count = self.count.saturating_add(count);
        self.first.get_or_insert_with(error);
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// As a loss of this kind; none where nothing was lost.
    pub fn loss(&self, kind: LossKind, channel: Option<usize>, of: u64) -> Option<Loss> {
        let first = self.first.clone()?;
        Some(Loss { kind, channel, count: self.count, of, first })
    }
}
