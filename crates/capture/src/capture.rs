//! A capture: channels with their values by time, or a list of readings.

use crate::error::ParseError;
use crate::list::List;
use crate::losses::Loss;

/// The kind of a channel's values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Low or high; only changes are given.
    Logic,
    /// A sampled level: a straight line connects two points.
    Sampled,
    /// A number that holds until it changes.
    Held,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Channel {
    /// Its name in the file, else its number there.
    pub name: String,
    pub kind: Kind,
    /// Volts per unit of its values; `None` if they are another quantity.
    pub volts: Option<f64>,
}

impl Channel {
    /// A channel whose values are volts, or of an unnamed quantity.
    pub fn new(name: impl Into<String>, kind: Kind) -> Channel {
        Channel { name: name.into(), kind, volts: Some(1.0) }
    }
}

/// What is known of a capture before its values.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Head {
    /// Name of the format.
    pub format: &'static str,
    pub channels: Vec<Channel>,
    /// Resolution of all times: the sample period, or the unit they are rounded to.
    pub resolution_ps: Option<i64>,
    /// Whether that is the sample period; otherwise the times may show a longer step.
    pub is_sample_time: bool,
    /// Names of missing parts of the file.
    pub missing_chunks: Vec<String>,
    /// What the reader left out of the file, one sentence each.
    pub notes: Vec<String>,
    /// Losses that are known before the values are read.
    pub losses: Vec<Loss>,
}

/// The value of a channel from here on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    pub at_ps: i64,
    /// Index of the channel in [`Head::channels`].
    pub channel: usize,
    /// The level, 0 or 1 for logic; NaN if it is unknown.
    pub value: f64,
}

/// Yields the points of a capture in time order.
pub trait Source {
    /// Appends the next points, at most some thousand; false if none follow.
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError>;

    /// How far the capture goes, as far as it was read; channels may have been quiet for long.
    fn reached_ps(&self) -> Option<i64>;

    /// Unreadable or missing parts, as far as it was read.
    fn losses(&self) -> Vec<Loss> {
        Vec::new()
    }
}

/// A capture with channels.
pub struct LevelCapture {
    pub head: Head,
    pub source: Box<dyn Source>,
}

/// The contents of a file.
pub enum Capture {
    /// Levels over time.
    Points(LevelCapture),
    /// Readings without times.
    List(Box<List>),
}
