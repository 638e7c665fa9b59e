//! Several sources as one, in the order of time.

use crate::capture::{Point, Source};
use crate::error::ParseError;
use std::collections::VecDeque;

/// Points that are given away at once.
const AT_ONCE: usize = 4096;

/// Sources side by side; each has its own channels, which follow those of the one before.
pub struct Merged {
    parts: Vec<Part>,
    reached: Option<i64>,
}

struct Part {
    source: Box<dyn Source>,
    first_channel: usize,
    waiting: VecDeque<Point>,
    is_done: bool,
}

impl Merged {
    /// Each source with the number that its first channel has in the whole.
    pub fn new(sources: Vec<(Box<dyn Source>, usize)>) -> Merged {
        let part = |(source, first_channel)| Part {
            source,
            first_channel,
            waiting: VecDeque::new(),
            is_done: false,
        };
        Merged { parts: sources.into_iter().map(part).collect(), reached: None }
    }
}

impl Part {
    /// Makes sure that its next point is known, unless there is none.
    fn fill(&mut self) -> Result<(), ParseError> {
        let mut read = Vec::new();
        while self.waiting.is_empty() && !self.is_done {
            self.is_done = !self.source.read(&mut read)?;
            let first = self.first_channel;
            self.waiting
                .extend(read.drain(..).map(|one| Point { channel: one.channel + first, ..one }));
        }
        Ok(())
    }
}

impl Source for Merged {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        for _ in 0..AT_ONCE {
            for part in &mut self.parts {
                part.fill()?;
            }
            let earliest = self.parts.iter_mut().filter(|part| !part.waiting.is_empty());
            let earliest = earliest.min_by_key(|part| part.waiting[0].at_ps);
            let Some(point) = earliest.and_then(|part| part.waiting.pop_front()) else {
                self.reached = self.parts.iter().filter_map(|one| one.source.reached_ps()).max();
                return Ok(false);
            };
            self.reached = self.reached.max(Some(point.at_ps));
            points.push(point);
        }
        Ok(true)
    }

    fn reached_ps(&self) -> Option<i64> {
        self.reached
    }

    fn unreadable(&self) -> Vec<(usize, ParseError)> {
        let of_part = |part: &Part| {
            let first = part.first_channel;
            let errors = part.source.unreadable().into_iter();
            errors.map(move |(channel, error)| (channel + first, error)).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(of_part).collect()
    }
}
