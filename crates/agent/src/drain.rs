//! The drainer: moves intervals and large latencies from the threads to the stream.

use crate::answer_breakdown::BreakdownDrainer;
use crate::flight::SpikeTrigger;
use crate::hook::Hook;
use crate::outbox::Outbox;
use crate::samples::SampleDrainer;
use latlab_measure::recorder::{Drain, Sealed};
use latlab_model::Nanos;
use latlab_model::frame::{Interval, KEPT_SPIKES, Message, Spike, Spikes};
use latlab_model::run::ClockReading;
use latlab_sys::clock::Clock;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the drainer reads from one thread.
pub struct ThreadSource {
    /// The CPU that the thread is pinned to.
    pub cpu: Option<u32>,
    /// Its intervals and large latencies.
    pub drain: Drain,
    /// All its latencies, if requested.
    pub samples: Option<SampleDrainer>,
    /// The breakdown of its answers, if it answers a wire.
    pub breakdown: Option<BreakdownDrainer>,
}

/// Called with the thread's number for every interval that the loop hands over.
pub type IntervalObserver = Box<dyn FnMut(u32, &Sealed) + Send>;

/// What waits for the stream from one thread.
struct ThreadDrain {
    thread: u32,
    source: ThreadSource,
    /// An interval that the stream has not taken yet; later ones are merged into it.
    interval: Option<Interval>,
    /// Large latencies that the stream has not taken yet.
    spikes: Vec<Spike>,
    /// The largest latencies so far, the smallest of them on top.
    largest: BinaryHeap<Reverse<Nanos>>,
}

/// Moves everything from all threads to the outbox.
pub struct Drainer {
    lines: Vec<ThreadDrain>,
    outbox: Outbox,
    clock: Clock,
    hook: Option<Hook>,
    trigger: Option<SpikeTrigger>,
    observer: Option<IntervalObserver>,
    /// Intervals are joined up to this length before they are sent.
    joined: Nanos,
    intervals_merged: u64,
}

impl Drainer {
    /// Drains these threads, whose releases are on this clock.
    pub fn new(
        sources: Vec<ThreadSource>,
        clock: Clock,
        outbox: Outbox,
        hook: Option<Hook>,
    ) -> Drainer {
        let lines = (0..)
            .zip(sources)
            .map(|(thread, source)| ThreadDrain {
                thread,
                source,
                interval: None,
                spikes: Vec::new(),
                largest: BinaryHeap::new(),
            })
            .collect();
        let (watch, joined) = (None, Nanos::ZERO);
        let trigger = None;
        Drainer {
            lines,
            outbox,
            clock,
            hook,
            trigger,
            observer: watch,
            joined,
            intervals_merged: 0,
        }
    }

    /// Passes each interval to an observer in this process at once, and joins them up to this
    /// length for the stream.
    pub fn with_observer(self, watch: IntervalObserver, joined: Nanos) -> Drainer {
        Drainer { observer: Some(watch), joined, ..self }
    }

    /// Passes each large latency to the flight recorder.
    pub fn with_trigger(self, trigger: Option<SpikeTrigger>) -> Drainer {
        Drainer { trigger, ..self }
    }

    /// Drains all threads; returns true if nothing is left. `last` sends even partly filled sample
    /// frames.
    pub fn pass(&mut self, last: bool) -> bool {
        let to_monotonic = offset_to_monotonic(self.clock);
        let mut nothing_left = true;
        for line in &mut self.lines {
            let drain = &mut line.source.drain;
            let sealed: Vec<_> = std::iter::from_fn(|| drain.next_interval()).collect();
            line.take_spikes(&sealed, to_monotonic, self.hook.as_mut(), self.trigger.as_mut());
            if let Some(watch) = &mut self.observer {
                sealed.iter().for_each(|sealed| watch(line.thread, sealed));
            }
            if let Some(trigger) = &mut self.trigger {
                trigger.count(sealed.iter().map(|sealed| sealed.counts.count).sum());
            }
            if let Some(samples) = &mut line.source.samples {
                // Samples go before the interval that counts them, so that a kill leaves no
                // interval without its samples.
                let all = last || !sealed.is_empty();
                nothing_left &= samples.pass(to_monotonic, all, &self.outbox);
            }
            if let Some(breakdown) = &mut line.source.breakdown {
                nothing_left &= breakdown.pass(&self.outbox);
            }
            self.intervals_merged +=
                line.take_intervals(sealed, to_monotonic, self.joined, &self.outbox);
            let joined = if last { Nanos::ZERO } else { self.joined };
            nothing_left &= line.send_pending(joined, &self.outbox);
        }
        if let Some(hook) = &mut self.hook {
            hook.poll();
        }
        nothing_left
    }

    /// Sends a reading of the clocks, if the stream has room.
    pub fn send_clocks(&self) {
        self.outbox.offer(&Message::Clocks(clocks()));
    }

    /// Returns the number of merged intervals, and the spike command with its cost.
    pub fn finish(self) -> (u64, Option<Hook>) {
        (self.intervals_merged, self.hook)
    }
}

impl ThreadDrain {
    fn take_spikes(
        &mut self,
        sealed: &[Sealed],
        to_monotonic: Nanos,
        mut hook: Option<&mut Hook>,
        mut trigger: Option<&mut SpikeTrigger>,
    ) {
        let before = self.spikes.len();
        let drain = &mut self.source.drain;
        let sent = std::iter::from_fn(|| drain.next_spike());
        for mut spike in sent.chain(sealed.iter().filter_map(|interval| interval.spike)) {
            spike.release_ns += to_monotonic;
            if let Some(hook) = hook.as_deref_mut() {
                hook.spike(self.thread, self.source.cpu, spike);
            }
            if let Some(trigger) = trigger.as_deref_mut() {
                trigger.push(self.thread, spike);
            }
            self.largest.push(Reverse(spike.latency_ns));
            if self.largest.len() > KEPT_SPIKES {
                self.largest.pop();
            }
            self.spikes.push(spike);
        }
        if self.spikes.len() > before {
            let floors = hook.map(|hook| hook.floor()).into_iter();
            self.raise_floor(floors.chain(trigger.map(|trigger| trigger.floor())).min());
        }
        if self.spikes.len() > 2 * KEPT_SPIKES {
            // The stream has been stalled for long: keep only the largest, which are all that is
            // promised.
            self.spikes.sort_unstable_by(|a, b| b.cmp(a));
            self.spikes.truncate(KEPT_SPIKES);
        }
    }

    /// Raises the threshold for latencies once enough are kept: then only those above the smallest
    /// kept one matter, and those that the spike command or flight recorder needs.
    fn raise_floor(&self, wanted_from: Option<Nanos>) {
        if self.largest.len() < KEPT_SPIKES {
            return;
        }
        if let Some(Reverse(smallest)) = self.largest.peek() {
            let floor = *smallest + Nanos(1);
            let floor = wanted_from.map_or(floor, |wanted| wanted.min(floor));
            self.source.drain.raise_spike_floor(floor.0);
        }
    }

    /// Sends intervals one by one; returns how many had to be merged.
    fn take_intervals(
        &mut self,
        all: Vec<Sealed>,
        to_monotonic: Nanos,
        joined: Nanos,
        outbox: &Outbox,
    ) -> u64 {
        let mut merged = 0;
        for sealed in all {
            let next = Interval {
                thread: self.thread,
                start_ns: Nanos(sealed.start) + to_monotonic,
                end_ns: Nanos(sealed.end) + to_monotonic,
                counts: sealed.counts,
            };
            match &mut self.interval {
                Some(waiting) => {
                    merged += u64::from(is_long_enough(waiting, joined));
                    waiting.end_ns = next.end_ns;
                    waiting.counts.add(&next.counts).expect("both have latlab's own bins");
                }
                None => self.interval = Some(next),
            }
            self.offer_interval(joined, outbox);
        }
        merged
    }

    fn offer_interval(&mut self, joined: Nanos, outbox: &Outbox) {
        let long_enough = |interval: &mut Interval| is_long_enough(interval, joined);
        let Some(interval) = self.interval.take_if(long_enough) else { return };
        let message = Message::Interval(interval);
        if !outbox.offer(&message)
            && let Message::Interval(interval) = message
        {
            self.interval = Some(interval);
        }
    }

    /// Sends what is pending; returns true if the stream took all of it.
    fn send_pending(&mut self, joined: Nanos, outbox: &Outbox) -> bool {
        self.offer_interval(joined, outbox);
        if !self.spikes.is_empty() {
            let spikes = std::mem::take(&mut self.spikes);
            let message = Message::Spikes(Spikes { thread: self.thread, spikes });
            if !outbox.offer(&message)
                && let Message::Spikes(Spikes { spikes, .. }) = message
            {
                self.spikes = spikes;
            }
        }
        self.interval.is_none() && self.spikes.is_empty()
    }
}

/// Whether an interval is long enough to be sent as it is. Its ends are releases, so it may be
/// slightly shorter than nominal.
fn is_long_enough(interval: &Interval, joined: Nanos) -> bool {
    (interval.end_ns - interval.start_ns).0 * 20 >= joined.0 * 19
}

/// Offset from this clock to CLOCK_MONOTONIC.
pub fn offset_to_monotonic(clock: Clock) -> Nanos {
    match clock {
        Clock::Monotonic => Nanos::ZERO,
        clock => {
            // Read this clock between two readings of the other, which halves the error of a
            // preemption.
            let (before, other, after) =
                (Clock::Monotonic.now(), clock.now(), Clock::Monotonic.now());
            Nanos(before + (after - before) / 2 - other)
        }
    }
}

/// Reads the four clocks together.
pub fn clocks() -> ClockReading {
    ClockReading {
        monotonic_ns: Nanos(Clock::Monotonic.now()),
        boottime_ns: Nanos(Clock::Boottime.now()),
        realtime_ns: Nanos(Clock::Realtime.now()),
        tai_ns: Nanos(Clock::Tai.now()),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use latlab_measure::recorder::recorder;
    use latlab_measure::samples::SampleSink;
    use latlab_model::frame::{FrameReader, ReadResult};

    fn source(drain: Drain) -> ThreadSource {
        ThreadSource { cpu: None, drain, samples: None, breakdown: None }
    }

    /// Closes the outbox and returns the messages in it.
    pub fn carried(outbox: &Outbox) -> Vec<Message> {
        outbox.close();
        let mut bytes = Vec::new();
        outbox.carry(&mut bytes);
        let mut reader = FrameReader::new(bytes.as_slice());
        std::iter::from_fn(|| match reader.next_frame() {
            Ok(ReadResult::Frame(frame)) => Some(frame.message),
            _ => None,
        })
        .collect()
    }

    /// Invariant (losses): The largest latencies are kept, however many there are.
    #[test]
    fn the_largest_are_kept_however_many_there_are() {
        let (mut recorder, drain) = recorder(i64::MAX);
        recorder.start(0);
        let outbox = Outbox::default();
        let mut drainer = Drainer::new(vec![source(drain)], Clock::Monotonic, outbox.clone(), None);
        // 1..=40 000 in scrambled order, drained every thousand.
        for cycle in 0..40_000_i64 {
            recorder.record(cycle, cycle * 7919 % 40_009);
            if cycle % 1000 == 0 {
                drainer.pass(false);
            }
        }
        drainer.pass(false);
        assert_eq!(recorder.finish(0).spikes_lost, 0);
        let mut sent: Vec<i64> = carried(&outbox)
            .into_iter()
            .filter_map(|message| match message {
                Message::Spikes(spikes) => Some(spikes.spikes),
                _ => None,
            })
            .flatten()
            .map(|spike| spike.latency_ns.0)
            .collect();
        let mut all: Vec<i64> = (0..40_000_i64).map(|cycle| cycle * 7919 % 40_009).collect();
        sent.sort_unstable_by(|a, b| b.cmp(a));
        all.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(sent[..KEPT_SPIKES], all[..KEPT_SPIKES]);
        assert!(sent.len() < 20_000, "the floor rises: {} of 40 000 were sent", sent.len());
    }

    #[test]
    fn the_samples_of_an_interval_are_sent_before_it() {
        let (mut recorder, drain) = recorder(10);
        let (mut ring, samples) = latlab_measure::samples::samples(1);
        let line = SampleDrainer::new(0, samples, Nanos(1));
        let source = ThreadSource { samples: Some(line), ..source(drain) };
        recorder.start(0);
        let outbox = Outbox::default();
        let mut drainer = Drainer::new(vec![source], Clock::Monotonic, outbox.clone(), None);
        for release in 0..10 {
            recorder.record(release, 5);
            ring.push(release, 5);
        }
        assert!(drainer.pass(false));
        recorder.next_interval(10);
        assert!(drainer.pass(false));
        let kept = carried(&outbox).into_iter().filter_map(|message| match message {
            Message::Samples(samples) => Some(("samples", u64::from(samples.count))),
            Message::Interval(interval) => Some(("interval", interval.counts.count)),
            _ => None,
        });
        assert_eq!(kept.collect::<Vec<_>>(), [("samples", 10), ("interval", 10)]);
    }

    #[test]
    fn intervals_that_come_together_are_sent_one_by_one() {
        let (mut recorder, drain) = recorder(10);
        recorder.start(0);
        let outbox = Outbox::default();
        let mut drainer = Drainer::new(vec![source(drain)], Clock::Monotonic, outbox.clone(), None);
        recorder.record(0, 5);
        recorder.next_interval(10);
        recorder.record(10, 5);
        recorder.finish(11);
        assert!(drainer.pass(false));
        assert_eq!(drainer.finish().0, 0);
        let is_interval = |message: &Message| matches!(message, Message::Interval(_));
        assert_eq!(carried(&outbox).iter().filter(|message| is_interval(message)).count(), 2);
    }

    #[test]
    fn who_watches_sees_each_interval_and_the_stream_gets_them_joined() {
        let (mut recorder, drain) = recorder(10);
        recorder.start(0);
        let outbox = Outbox::default();
        let seen = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let watch: IntervalObserver = Box::new({
            let seen = std::sync::Arc::clone(&seen);
            move |thread, sealed| {
                seen.lock().unwrap().push((thread, sealed.counts.count, sealed.last))
            }
        });
        let drainer = Drainer::new(vec![source(drain)], Clock::Monotonic, outbox.clone(), None);
        let mut drainer = drainer.with_observer(watch, Nanos(30));
        for release in 0..50 {
            recorder.record(release, release);
            if release % 10 == 9 {
                recorder.next_interval(release + 1);
                drainer.pass(false);
            }
        }
        recorder.finish(50);
        assert!(drainer.pass(true));
        let last = |number: i64| (0, 10, number * 10 + 9);
        assert_eq!(seen.lock().unwrap()[..5], [last(0), last(1), last(2), last(3), last(4)]);
        let counts = carried(&outbox).into_iter().filter_map(|message| match message {
            Message::Interval(interval) => Some(interval.counts.count),
            _ => None,
        });
        assert_eq!(counts.collect::<Vec<_>>(), [30, 20]);
        assert_eq!(drainer.finish().0, 0, "what is joined on purpose is not merged");
    }

    /// Invariant (losses): A stalled stream merges intervals and loses no count.
    #[test]
    fn a_stalled_stream_merges_intervals_and_loses_no_count() {
        let (mut recorder, drain) = recorder(10);
        recorder.start(0);
        let outbox = Outbox::default();
        while outbox.offer(&Message::Clocks(clocks())) {}
        let mut drainer = Drainer::new(vec![source(drain)], Clock::Monotonic, outbox.clone(), None);
        for cycle in 0..100 {
            recorder.record(cycle, 5);
            if cycle % 10 == 9 {
                recorder.next_interval(cycle + 1);
                assert!(!drainer.pass(false), "the outbox is full");
            }
        }
        recorder.finish(100);
        let mut link = Vec::new();
        outbox.close();
        outbox.carry(&mut link);
        assert!(drainer.pass(false), "there is room again");
        let intervals: Vec<Interval> = carried(&outbox)
            .into_iter()
            .filter_map(|message| match message {
                Message::Interval(interval) => Some(interval),
                _ => None,
            })
            .collect();
        assert_eq!(intervals.len(), 1);
        assert_eq!((intervals[0].start_ns, intervals[0].end_ns), (Nanos(0), Nanos(100)));
        assert_eq!(intervals[0].counts.count, 100);
        assert_eq!(drainer.finish().0, 10);
    }
}
