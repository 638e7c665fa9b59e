//! The members of a session that hold the samples of a channel, some of which may be missing.

use crate::capture::{Point, Source};
use crate::error::ParseError;
use crate::losses::Loss;
use crate::zip::{Archive, Member};

/// Groups of members without a gap.
pub struct Stretches {
    /// Each with the offset of its first byte.
    pub all: Vec<(Vec<Member>, u64)>,
    /// Names of members that are missing between them.
    pub missing: Vec<String>,
}

impl Stretches {
    /// The member of this name, or those of this name with a number, in numerical order. A missing
    /// one is assumed as long as the longest, like all but the last.
    pub fn find(archive: &Archive, name: &str) -> Result<Stretches, ParseError> {
        let mut stretches = Stretches { all: Vec::new(), missing: Vec::new() };
        if let Some(one) = archive.member(name) {
            stretches.all.push((vec![one.clone()], 0));
            return Ok(stretches);
        }
        let number =
            |member: &Member| member.name.strip_prefix(name)?.strip_prefix('-')?.parse().ok();
        let mut all: Vec<(u64, Member)> =
            archive.members.iter().filter_map(|one| Some((number(one)?, one.clone()))).collect();
        all.sort_by_key(|(number, _)| *number);
        let longest = all.iter().map(|(_, member)| member.size()).max().unwrap_or(0);
        if let Some(pair) = all.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(ParseError::member(&pair[1].1.name, "is twice in the session"));
        }
        let (mut byte, mut next) = (0_u64, 1);
        for (number, member) in all {
            let gap = number.saturating_sub(next);
            if gap > 0 {
                stretches.missing.push(match gap {
                    1 => format!("{name}-{next}"),
                    _ => format!("{name}-{next} to {name}-{}", number - 1),
                });
            }
            byte = byte.saturating_add(gap.saturating_mul(longest));
            if gap > 0 || stretches.all.is_empty() {
                stretches.all.push((Vec::new(), byte));
            }
            byte = byte.saturating_add(member.size());
            if let Some((members, _)) = stretches.all.last_mut() {
                members.push(member);
            }
            next = number.saturating_add(1);
        }
        Ok(stretches)
    }
}

/// Sources one after the other; the channels have no value in between.
pub struct InTurn<S> {
    parts: Vec<S>,
    now: usize,
    channels: usize,
}

impl<S: Source> InTurn<S> {
    pub fn new(parts: Vec<S>, channels: usize) -> InTurn<S> {
        InTurn { parts, now: 0, channels }
    }
}

impl<S: Source> Source for InTurn<S> {
    fn read(&mut self, points: &mut Vec<Point>) -> Result<bool, ParseError> {
        let Some(part) = self.parts.get_mut(self.now) else { return Ok(false) };
        if part.read(points)? {
            return Ok(true);
        }
        if let (Some(at_ps), true) = (part.reached_ps(), self.now + 1 < self.parts.len()) {
            let unknown = |channel| Point { at_ps, channel, value: f64::NAN };
            points.extend((0..self.channels).map(unknown));
        }
        self.now += 1;
        Ok(self.now < self.parts.len())
    }

    fn reached_ps(&self) -> Option<i64> {
        self.parts.iter().take(self.now + 1).rev().find_map(Source::reached_ps)
    }

    fn losses(&self) -> Vec<Loss> {
        self.parts.iter().flat_map(Source::losses).collect()
    }
}
