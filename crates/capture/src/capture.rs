//! A capture: channels with their values in the order of time, or a list of readings.

use crate::error::ParseError;
use crate::list::List;
use crate::losses::Loss;

/// What the values of a channel are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Low or high; only changes are told.
    Logic,
    /// A level that is measured again and again, so that between two points lies a straight line.
    Sampled,
    /// A number that holds until it changes.
    Held,
}

/// A channel of a capture.
#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// Its name in the file, else its number there.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// The volts of a value of 1; none where it is another quantity.
    pub volts: Option<f64>,
}

impl Channel {
    /// A channel whose values are volts, or whose quantity is not named.
    pub fn new(name: impl Into<String>, kind: Kind) -> Channel {
        Channel { name: name.into(), kind, volts: Some(1.0) }
    }
}

/// What is known of a capture before its values.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Head {
    /// The format, in words.
    pub format: &'static str,
    /// Its channels.
    pub channels: Vec<Channel>,
    /// No time is known better than this: the distance of samples, or what the times are rounded to.
    pub resolution_ps: Option<i64>,
    /// Whether that is the distance of samples; else the times themselves may show a longer step.
    pub is_sample_time: bool,
    /// Parts of the file that are missing, by name.
    pub missing_chunks: Vec<String>,
    /// What the reader left out of the file, a sentence each.
    pub notes: Vec<String>,
    /// What is known to be lost before the values are read.
    pub losses: Vec<Loss>,
}

/// The value of a channel from here on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// When.
    pub at_ps: i64,
    /// Number of the channel in [`Head::channels`].
    pub channel: usize,
    /// The level, 0 and 1 for logic; not a number where it is unknown.
    pub value: f64,
}

/// Gives the points of a capture in the order of time.
pub trait Source {
    /// Adds the next points, some thousand at most; false when none come after these.
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError>;

    /// How far the capture goes, as far as it was read; channels may have been quiet for long.
    fn reached_ps(&self) -> Option<i64>;

    /// What could not be read, or is missing, as far as it was read.
    fn losses(&self) -> Vec<Loss> {
        Vec::new()
    }
}

/// A capture with channels.
pub struct LevelCapture {
    /// What is known before its values.
    pub head: Head,
    /// Its values.
    pub source: Box<dyn Source>,
}

/// What a file holds.
pub enum Capture {
    /// Levels over time.
    Points(LevelCapture),
    /// Readings without times.
    List(Box<List>),
}
