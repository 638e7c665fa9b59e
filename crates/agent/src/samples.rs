//! Sends every sample of a thread from its ring to the stream.

use crate::outbox::Outbox;
use latlab_measure::samples::{SampleDrain, Step};
use latlab_model::Nanos;
use latlab_model::frame::Message;
use latlab_model::samples::{Samples, pack};
use std::time::{Duration, Instant};

/// Largest number of samples per frame.
const MOST: usize = 16_384;
/// A frame is sent after this long, as a kill loses what is unsent.
const OLDEST: Duration = Duration::from_millis(500);

/// Drains the samples of one thread.
pub struct SampleDrainer {
    thread: u32,
    drain: SampleDrain,
    period: Nanos,
    /// Release of the next sample, on the clock of the loop.
    next: Nanos,
    /// Number lost since the last frame.
    lost_before: u64,
    first: Nanos,
    latencies: Vec<i64>,
    jumps: Vec<(u32, Nanos)>,
    begun: Instant,
    /// A frame that the stream has refused so far; the ring is not read until it is taken.
    waiting: Option<Message>,
}

impl SampleDrainer {
    /// Drains a thread with this period.
    pub fn new(thread: u32, drain: SampleDrain, period: Nanos) -> SampleDrainer {
        SampleDrainer {
            thread,
            drain,
            period,
            next: Nanos::ZERO,
            lost_before: 0,
            first: Nanos::ZERO,
            latencies: Vec::with_capacity(MOST),
            jumps: Vec::new(),
            begun: Instant::now(),
            waiting: None,
        }
    }

    /// Sends what the ring holds; returns true if at most an unfinished frame is left, which `all`
    /// sends as well.
    pub fn pass(&mut self, to_monotonic: Nanos, all: bool, outbox: &Outbox) -> bool {
        while self.offer(outbox) {
            let Some(step) = self.drain.next_step() else {
                let due = all || self.begun.elapsed() >= OLDEST;
                if self.latencies.is_empty() || !due {
                    return true;
                }
                self.seal(to_monotonic);
                continue;
            };
            self.add_step(step, to_monotonic);
        }
        false
    }

    fn add_step(&mut self, step: Step, to_monotonic: Nanos) {
        match step {
            Step::Latency(latency) => {
                let release = self.next;
                self.next += self.period;
                if self.latencies.is_empty() {
                    (self.first, self.begun) = (release, Instant::now());
                }
                self.latencies.push(latency);
                if self.latencies.len() == MOST {
                    self.seal(to_monotonic);
                }
            }
            Step::Jump(by) => {
                self.next += Nanos(by);
                if !self.latencies.is_empty() {
                    self.jumps.push((self.latencies.len() as u32, Nanos(by)));
                }
            }
            Step::Lost(count) => {
                // Samples before and after a loss go into separate frames.
                self.seal(to_monotonic);
                self.lost_before += count;
            }
        }
    }

    /// Makes a frame of what was taken.
    fn seal(&mut self, to_monotonic: Nanos) {
        if self.latencies.is_empty() {
            return;
        }
        self.waiting = Some(Message::Samples(Samples {
            thread: self.thread,
            lost_before: std::mem::take(&mut self.lost_before),
            first_release_ns: self.first + to_monotonic,
            period_ns: self.period,
            count: self.latencies.len() as u32,
            jumps: std::mem::take(&mut self.jumps),
            packed: pack(&self.latencies),
        }));
        self.latencies.clear();
    }

    /// Sends the waiting frame; returns whether none is left.
    fn offer(&mut self, outbox: &Outbox) -> bool {
        let taken = self.waiting.as_ref().is_none_or(|message| outbox.offer(message));
        if taken {
            self.waiting = None;
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drain::tests::carried;
    use latlab_measure::samples::{SampleSink, samples};
    use latlab_model::samples::Sample;

    const PERIOD: i64 = 1_000_000;

    fn frames(outbox: &Outbox) -> Vec<Samples> {
        let only_samples = |message| match message {
            Message::Samples(samples) => Some(samples),
            _ => None,
        };
        carried(outbox).into_iter().filter_map(only_samples).collect()
    }

    /// Invariant (losses): Every sample reaches the stream with its release, or is counted as lost.
    #[test]
    fn every_sample_reaches_the_stream_with_its_release() {
        let (mut ring, drain) = samples(PERIOD);
        ring.start();
        let outbox = Outbox::default();
        let mut line = SampleDrainer::new(3, drain, Nanos(PERIOD));
        let mut given = Vec::new();
        let mut release = 77;
        for cycle in 0..40_000_i64 {
            release += PERIOD * if cycle % 1000 == 999 { 7 } else { 1 };
            let latency = 5_000 + cycle * 7919 % 3001;
            ring.push(release, latency);
            given.push(Sample::new(Nanos(release + 9), Nanos(latency)));
            if cycle % 1_234 == 0 {
                line.pass(Nanos(9), false, &outbox);
            }
        }
        assert!(line.pass(Nanos(9), true, &outbox));
        let frames = frames(&outbox);
        let came: Vec<Sample> = frames.iter().flat_map(|frame| frame.unpack().unwrap()).collect();
        assert!(came == given && frames.iter().all(|frame| frame.lost_before == 0));
    }

    /// Invariant (losses): Every sample reaches the stream with its release, or is counted as lost.
    #[test]
    fn a_stalled_stream_loses_samples_only_when_the_ring_is_full_and_counts_them() {
        let (mut ring, drain) = samples(PERIOD);
        ring.start();
        let outbox = Outbox::default();
        while outbox.offer(&Message::Stop) {}
        let mut line = SampleDrainer::new(0, drain, Nanos(PERIOD));
        for cycle in 0..60_000 {
            ring.push(cycle * PERIOD, 1_000);
            if cycle % 1000 == 0 {
                line.pass(Nanos::ZERO, true, &outbox);
            }
        }
        let lost = ring.lost();
        assert!(lost > 0, "a minute is more than the ring holds");
        let mut link = Vec::new();
        outbox.close();
        outbox.carry(&mut link);
        assert!(line.pass(Nanos::ZERO, true, &outbox), "there is room again");
        ring.push(60_000 * PERIOD, 1_000);
        assert!(line.pass(Nanos::ZERO, true, &outbox));
        let frames = frames(&outbox);
        let came: u64 = frames.iter().map(|frame| u64::from(frame.count)).sum();
        assert_eq!(frames.iter().map(|frame| frame.lost_before).sum::<u64>(), lost);
        assert_eq!(came + lost, 60_001);
        assert_eq!(frames.last().unwrap().first_release_ns, Nanos(60_000 * PERIOD));
    }
}
