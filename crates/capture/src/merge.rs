//! Merges several sources in time order.

use crate::SECOND_PS;
use crate::capture::{Point, Source};
use crate::error::ParseError;
use crate::losses::Loss;
use std::collections::VecDeque;

/// Points returned per call.
const AT_ONCE: usize = 4096;

/// Samples by which sources of one capture may differ at their end.
const SPARE_SAMPLES: i64 = 2;

/// A source, with the number of its first channel in the whole.
pub struct Part {
    pub source: Box<dyn Source>,
    pub first_channel: usize,
    /// Its name in reports; `None` if all are in one file.
    pub name: Option<String>,
    /// Its sample period; its samples end together with the others'.
    pub step_ps: Option<i64>,
}

/// Parallel sources; each has its own channels, which follow those of the one before.
pub struct Merged {
    parts: Vec<Waiting>,
    reached: Option<i64>,
}

/// A source with its points that were not returned yet.
struct Waiting {
    part: Part,
    points: VecDeque<Point>,
    is_done: bool,
}

impl Merged {
    pub fn new(parts: Vec<Part>) -> Merged {
        let waiting = |part| Waiting { part, points: VecDeque::new(), is_done: false };
        Merged { parts: parts.into_iter().map(waiting).collect(), reached: None }
    }

    /// Sampled sources that end before others, with data missing after that.
    fn ends_early(&self) -> impl Iterator<Item = Loss> + '_ {
        let end_and_step = |one: &Waiting| one.part.source.reached_ps().zip(one.part.step_ps);
        let all = self.parts.iter().filter_map(end_and_step);
        let (end, step) =
            all.fold((i64::MIN, 0), |(end, step), one| (end.max(one.0), step.max(one.1)));
        let earliest = end.saturating_sub(step.saturating_mul(SPARE_SAMPLES));
        self.parts.iter().filter_map(move |one| {
            let (at, _) = end_and_step(one).filter(|(at, _)| *at < earliest)?;
            let name = one.part.name.as_deref().unwrap_or("a channel");
            let seconds = (end - at) as f64 / SECOND_PS as f64;
            let what = format!("{name} ends {seconds} s before the others");
            Some(Loss::missing(ParseError::whole(what)))
        })
    }
}

impl Waiting {
    /// Ensures that its next point is known, unless there is none.
    fn fill(&mut self) -> Result<(), ParseError> {
        let mut read = Vec::new();
        while self.points.is_empty() && !self.is_done {
            self.is_done = !self.part.source.read(&mut read)?;
            let first = self.part.first_channel;
            self.points
                .extend(read.drain(..).map(|one| Point { channel: one.channel + first, ..one }));
        }
        Ok(())
    }

    /// Its losses, with its name and the channel numbers in the whole.
    fn losses(&self) -> impl Iterator<Item = Loss> + '_ {
        let Part { source, first_channel, name, .. } = &self.part;
        source.losses().into_iter().map(move |mut loss| {
            loss.channel = loss.channel.map(|channel| channel + first_channel);
            if let Some(name) = name {
                loss.first.what = format!("{} in {name}", loss.first.what);
            }
            loss
        })
    }
}

impl Source for Merged {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        for _ in 0..AT_ONCE {
            for part in &mut self.parts {
                part.fill()?;
            }
            let earliest = self.parts.iter_mut().filter(|part| !part.points.is_empty());
            let earliest = earliest.min_by_key(|part| part.points[0].at_ps);
            let Some(point) = earliest.and_then(|part| part.points.pop_front()) else {
                self.reached =
                    self.parts.iter().filter_map(|one| one.part.source.reached_ps()).max();
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

    fn losses(&self) -> Vec<Loss> {
        let lost = self.parts.iter().flat_map(Waiting::losses);
        lost.chain(self.ends_early()).collect()
    }
}
