//! Every latency with its release, from the loop to the drainer: eight bytes each, in a ring.

use rtrb::{Consumer, Producer, RingBuffer};

/// What the ring can hold at least, so that the drainer may be late by this much.
const HOLDS: i64 = 10_000_000_000;
/// Fewer words than this are not worth a thought; more are as much memory as a thread may take.
const WORDS: std::ops::RangeInclusive<i64> = 1 << 12..=1 << 21;

/// A latency is twice itself; an odd word says what the next word is.
const JUMP: i64 = 1;
const LOST: i64 = 3;
/// Words that a latency takes with all that may have to be said before it.
const MOST_WORDS: usize = 5;

/// The loop's end of the ring.
pub struct SampleRing {
    words: Producer<i64>,
    period: i64,
    /// The release that follows the last one kept at the distance of the period.
    expected: i64,
    /// Lost since the last one kept.
    lost: u64,
}

/// The drainer's end of the ring.
pub struct SampleDrain {
    words: Consumer<i64>,
}

/// What the ring says, in the order of the releases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The latency of the next release.
    Latency(i64),
    /// The next release comes this much later than a period after the one before.
    Jump(i64),
    /// So many latencies found the ring full; a jump follows.
    Lost(u64),
}

/// Both ends for a thread of this period; all memory is touched.
pub fn samples(period: i64) -> (SampleRing, SampleDrain) {
    let words = (HOLDS / period).clamp(*WORDS.start(), *WORDS.end()) as usize;
    let (mut words, mut out) = RingBuffer::new(words);
    while words.push(1).is_ok() {}
    while out.pop().is_ok() {}
    (SampleRing { words, period, expected: 0, lost: 0 }, SampleDrain { words: out })
}

impl SampleRing {
    /// Keeps a latency; false when the drainer has left no room for it.
    #[inline]
    pub fn keep(&mut self, release: i64, latency: i64) -> bool {
        if release != self.expected || self.words.push(latency << 1).is_err() {
            return self.keep_after_gap(release, latency);
        }
        self.expected += self.period;
        true
    }

    #[cold]
    fn keep_after_gap(&mut self, release: i64, latency: i64) -> bool {
        if self.words.slots() < MOST_WORDS {
            self.lost += 1;
            return false;
        }
        let lost = [LOST, self.lost as i64];
        let jump = [JUMP, release - self.expected, latency << 1];
        if self.lost > 0 {
            // There is room for all of it, and each half of a pair comes to be seen with the other.
            let _ = self.words.push_entire_slice(&lost);
            self.lost = 0;
        }
        let _ = self.words.push_entire_slice(&jump);
        self.expected = release + self.period;
        true
    }
}

impl SampleDrain {
    /// The next step, if there is one.
    pub fn next_step(&mut self) -> Option<Step> {
        let word = self.words.pop().ok()?;
        if word & 1 == 0 {
            return Some(Step::Latency(word >> 1));
        }
        let value = self.words.pop().ok()?;
        Some(if word == LOST { Step::Lost(value as u64) } else { Step::Jump(value) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn steps(drain: &mut SampleDrain) -> Vec<Step> {
        std::iter::from_fn(|| drain.next_step()).collect()
    }

    #[test]
    fn a_jump_is_said_once_and_what_found_no_room_is_counted_with_its_place() {
        let (mut ring, mut drain) = samples(HOLDS);
        assert!(ring.keep(500, 7) && ring.keep(500 + HOLDS, -8) && ring.keep(500 + 3 * HOLDS, 9));
        assert_eq!(
            steps(&mut drain),
            [
                Step::Jump(500),
                Step::Latency(7),
                Step::Latency(-8),
                Step::Jump(HOLDS),
                Step::Latency(9)
            ]
        );
        let mut release = 500 + 4 * HOLDS;
        let mut kept = 0;
        while ring.keep(release, 1) {
            release += HOLDS;
            kept += 1;
        }
        assert!(!ring.keep(release + HOLDS, 2));
        assert_eq!(steps(&mut drain).len(), kept);
        assert!(ring.keep(release + 2 * HOLDS, 3));
        let after = [Step::Lost(2), Step::Jump(2 * HOLDS), Step::Latency(3)];
        assert_eq!(steps(&mut drain), after);
    }

    proptest! {
        #[test]
        fn every_latency_comes_out_with_its_release_or_is_counted(
            cycles in proptest::collection::vec((0i64..3, -9i64..99), 1..3000),
            drained_every in 1usize..200,
        ) {
            const PERIOD: i64 = 10;
            let (words, out) = RingBuffer::new(64);
            let mut ring = SampleRing { words, period: PERIOD, expected: 0, lost: 0 };
            let mut drain = SampleDrain { words: out };
            let (mut release, mut given, mut kept, mut lost) = (1000, Vec::new(), Vec::new(), 0);
            let (mut next, mut told) = (0, 0);
            for (cycle, (skipped, latency)) in cycles.iter().enumerate() {
                release += PERIOD * (1 + skipped);
                match ring.keep(release, *latency) {
                    true => given.push((release, *latency)),
                    false => lost += 1,
                }
                if cycle % drained_every == 0 {
                    for step in steps(&mut drain) {
                        match step {
                            Step::Latency(latency) => {
                                kept.push((next, latency));
                                next += PERIOD;
                            }
                            Step::Jump(by) => next += by,
                            Step::Lost(count) => told += count,
                        }
                    }
                }
            }
            prop_assert_eq!(&kept[..], &given[..kept.len()]);
            prop_assert!(told <= lost);
        }
    }
}
