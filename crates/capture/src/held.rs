//! What an opened file holds.

use crate::list::List;
use crate::point::{Head, Source};

/// What some programs begin a text with.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// A capture with channels.
pub struct Opened {
    /// What is known before its values.
    pub head: Head,
    /// Its values.
    pub source: Box<dyn Source>,
}

/// What a file holds.
pub enum Capture {
    /// Levels over time.
    Points(Opened),
    /// Readings without times.
    List(List),
}
