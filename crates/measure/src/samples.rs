//! Every latency with its release, from the loop to the drainer: eight bytes each, in a ring.

use rtrb::{Consumer, Producer, RingBuffer};

/// Time that the ring covers at least, so that the drainer may be this late.
const HOLDS: i64 = 10_000_000_000;
/// Bounds of the capacity in words: less saves nothing, more is too much memory per thread.
const WORDS: std::ops::RangeInclusive<i64> = 1 << 12..=1 << 21;

/// A latency is stored doubled; an odd word describes the next word.
const JUMP: i64 = 1;
const LOST: i64 = 3;
/// Most words that one latency needs, with everything that may precede it.
const MOST_WORDS: usize = 5;

/// A sink that keeps every sample, or, as `()`, none.
pub trait SampleSink {
    /// Keeps samples from now on; earlier calls only warm up the code.
    fn start(&mut self);

    fn push(&mut self, release: i64, latency: i64);

    /// Samples that could not be kept.
    fn lost(&self) -> u64;
}

impl SampleSink for () {
    fn start(&mut self) {}

    #[inline]
    fn push(&mut self, _: i64, _: i64) {}

    fn lost(&self) -> u64 {
        0
    }
}

/// The loop's end of the ring.
pub struct SampleRing {
    words: Producer<i64>,
    period: i64,
    started: bool,
    /// The release one period after the last one kept.
    expected: i64,
    /// Lost since the last one kept.
    lost: u64,
    /// Lost before that.
    lost_before: u64,
}

/// The drainer's end of the ring.
pub struct SampleDrain {
    words: Consumer<i64>,
}

/// An item of the ring, in the order of the releases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The latency of the next release.
    Latency(i64),
    /// The next release comes this much later than one period after the previous.
    Jump(i64),
    /// This many latencies found the ring full; a jump follows.
    Lost(u64),
}

/// Both ends for a thread with this period; all memory is touched.
pub fn samples(period: i64) -> (SampleRing, SampleDrain) {
    let words = (HOLDS / period).clamp(*WORDS.start(), *WORDS.end()) as usize;
    let (mut words, mut out) = RingBuffer::new(words);
    while words.push(1).is_ok() {}
    while out.pop().is_ok() {}
    (
        SampleRing { words, period, started: false, expected: 0, lost: 0, lost_before: 0 },
        SampleDrain { words: out },
    )
}

impl SampleSink for SampleRing {
    fn start(&mut self) {
        self.started = true;
    }

    #[inline]
    fn push(&mut self, release: i64, latency: i64) {
        if release != self.expected || self.words.push(latency << 1).is_err() {
            return self.push_after_gap(release, latency);
        }
        self.expected += self.period;
    }

    fn lost(&self) -> u64 {
        self.lost_before + self.lost
    }
}

impl SampleRing {
    #[cold]
    #[inline(never)]
    fn push_after_gap(&mut self, release: i64, latency: i64) {
        if !self.started {
            return;
        }
        if self.words.slots() < MOST_WORDS {
            self.lost += 1;
            return;
        }
        if self.lost > 0 {
            // There is room for all of it, and both words of a pair become visible together.
            let _ = self.words.push_entire_slice(&[LOST, self.lost as i64]);
            self.lost_before += std::mem::take(&mut self.lost);
        }
        let jump = [JUMP, release - self.expected, latency << 1];
        let _ = self.words.push_entire_slice(&jump);
        self.expected = release + self.period;
    }
}

impl SampleDrain {
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
        ring.push(77, 7);
        ring.start();
        for (release, latency) in [(500, 7), (500 + HOLDS, -8), (500 + 3 * HOLDS, 9)] {
            ring.push(release, latency);
        }
        let (seven, eight, nine) = (Step::Latency(7), Step::Latency(-8), Step::Latency(9));
        assert_eq!(steps(&mut drain), [Step::Jump(500), seven, eight, Step::Jump(HOLDS), nine]);
        let mut release = 500 + 4 * HOLDS;
        while ring.lost() == 0 {
            ring.push(release, 1);
            release += HOLDS;
        }
        ring.push(release, 2);
        assert_eq!(steps(&mut drain).len(), *WORDS.start() as usize);
        ring.push(release + HOLDS, 3);
        let after = [Step::Lost(2), Step::Jump(2 * HOLDS), Step::Latency(3)];
        assert_eq!((&steps(&mut drain)[..], ring.lost()), (&after[..], 2));
    }

    proptest! {
        /// Invariant (losses): Every sample reaches the stream with its release, or is counted as lost.
        #[test]
        fn every_latency_comes_out_with_its_release_or_is_counted(
            cycles in proptest::collection::vec((0i64..3, -9i64..99), 1..3000),
            drained_every in 1usize..200,
        ) {
            const PERIOD: i64 = 10;
            let (words, out) = RingBuffer::new(64);
            let mut ring = SampleRing {
                words,
                period: PERIOD,
                started: true,
                expected: 0,
                lost: 0,
                lost_before: 0,
            };
            let mut drain = SampleDrain { words: out };
            let (mut release, mut given, mut kept) = (1000, Vec::new(), Vec::new());
            let (mut next, mut told) = (0, 0);
            for (cycle, (skipped, latency)) in cycles.iter().enumerate() {
                release += PERIOD * (1 + skipped);
                let lost = ring.lost();
                ring.push(release, *latency);
                if ring.lost() == lost {
                    given.push((release, *latency));
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
            prop_assert!(told <= ring.lost());
            prop_assert_eq!(given.len() as u64 + ring.lost(), cycles.len() as u64);
        }
    }
}
