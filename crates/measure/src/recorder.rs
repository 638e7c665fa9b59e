//! What lies between the loop and the stream: interval buffers and the spike ring.
//!
//! The loop counts into its current buffer. At an interval's end it swaps that for one that the
//! drainer has returned, or continues with it if none has come. So nothing is copied, locked or
//! lost, and the intervals sum to the total by construction.

use latlab_model::Nanos;
use latlab_model::frame::Spike;
use latlab_model::histogram::{self, BINS, FINE_END, FINE_WIDTH, Histogram};
use latlab_sys::mark::MarkedWake;
use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Capacity for large latencies that the drainer has not taken yet.
const SPIKE_RING: usize = 4096;
/// Two buffers: one in use by the loop, one on its way or empty.
const BUFFERS: usize = 2;
/// A buffer with this many cycles has not been drained for hours, and a bin could overflow.
const FULL: u64 = 1 << 31;

/// The loop's counts of one interval.
///
/// The field order is fixed: if count and sum were adjacent, the compiler would update them with
/// vector instructions, and use more instructions in total.
#[repr(C)]
struct Buffer {
    last: MarkedWake,
    start: i64,
    end: i64,
    sum: i64,
    min: i64,
    max: i64,
    count: u64,
    underflow: u64,
    overruns: u64,
    misses: u64,
    bins: [u32; BINS],
    /// The largest spike that found the ring full.
    unsent: Option<Spike>,
}

impl Buffer {
    fn new() -> Box<Buffer> {
        let mut buffer = Box::new(Buffer {
            start: 0,
            end: 0,
            count: 0,
            last: MarkedWake::default(),
            sum: 0,
            min: i64::MAX,
            max: i64::MIN,
            underflow: 0,
            overruns: 0,
            misses: 0,
            bins: [0; BINS],
            unsent: None,
        });
        // A zeroed page may not be backed by memory until it is written to.
        std::hint::black_box(&mut buffer).bins.fill(0);
        buffer
    }

    #[cold]
    fn count_coarse(&mut self, latency: i64) {
        match u64::try_from(latency) {
            Ok(latency) => self.bins[histogram::bin_of(latency)] += 1,
            Err(_) => self.underflow += 1,
        }
    }

    fn clear(&mut self) {
        self.count = 0;
        self.sum = 0;
        self.min = i64::MAX;
        self.max = i64::MIN;
        self.underflow = 0;
        self.overruns = 0;
        self.misses = 0;
        self.bins.fill(0);
        self.unsent = None;
    }

    fn counts(&self) -> Histogram {
        let (min, max) = if self.count > 0 { (self.min, self.max) } else { (0, 0) };
        Histogram {
            count: self.count,
            sum_ns: self.sum.into(),
            min_ns: Nanos(min),
            max_ns: Nanos(max),
            underflow: self.underflow,
            overruns: self.overruns,
            misses: self.misses,
            bins: (0_u32..)
                .zip(self.bins.iter())
                .filter(|(_, count)| **count > 0)
                .map(|(bin, count)| (bin, u64::from(*count)))
                .collect(),
            ..Histogram::default()
        }
    }
}

/// The loop's side: counts, and hands over full intervals.
pub struct Recorder {
    current: Box<Buffer>,
    sealed: Producer<Box<Buffer>>,
    returned: Consumer<Box<Buffer>>,
    spikes: Producer<Spike>,
    spike_floor: Arc<AtomicI64>,
    interval: i64,
    /// First release that belongs to the next interval.
    pub interval_end: i64,
    /// Cycles in the buffers handed over so far.
    handed_over: u64,
    totals: Totals,
}

/// A recorder's totals of the whole run, kept outside its buffers.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Overruns.
    pub overruns: u64,
    /// Large latencies that found their ring full, without the largest of each interval.
    pub spikes_lost: u64,
    /// How often an interval grew because no buffer had come back.
    pub intervals_grown: u64,
}

/// The drainer's side.
pub struct Drain {
    sealed: Consumer<Box<Buffer>>,
    returned: Producer<Box<Buffer>>,
    spikes: Consumer<Spike>,
    spike_floor: Arc<AtomicI64>,
}

/// An interval as the drainer takes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sealed {
    /// First release counted.
    pub start: i64,
    /// First release not counted.
    pub end: i64,
    /// The last latency; meaningless if nothing was counted.
    pub last: i64,
    pub counts: Histogram,
    /// The largest of the spikes that found the ring full.
    pub spike: Option<Spike>,
}

/// Both sides of a thread's recorder, with intervals of this length; all memory is touched.
pub fn recorder(interval: i64) -> (Recorder, Drain) {
    let (sealed, sealed_out) = RingBuffer::new(BUFFERS);
    let (mut returned_in, returned) = RingBuffer::new(BUFFERS);
    let (mut spikes, mut spikes_out) = RingBuffer::new(SPIKE_RING);
    let nothing = Spike { latency_ns: Nanos(1), release_ns: Nanos(1) };
    while spikes.push(nothing).is_ok() {}
    while spikes_out.pop().is_ok() {}
    for _ in 1..BUFFERS {
        // The ring is empty and has room for all buffers.
        let _ = returned_in.push(Buffer::new());
    }
    // Until counting starts no latency is large enough.
    let spike_floor = Arc::new(AtomicI64::new(i64::MAX));
    let recorder = Recorder {
        current: Buffer::new(),
        sealed,
        returned,
        spikes,
        spike_floor: Arc::clone(&spike_floor),
        interval,
        interval_end: i64::MAX,
        handed_over: 0,
        totals: Totals::default(),
    };
    (recorder, Drain { sealed: sealed_out, returned: returned_in, spikes: spikes_out, spike_floor })
}

impl Recorder {
    /// Discards the warm-up and counts from this release on.
    pub fn start(&mut self, first_release: i64) {
        self.current.clear();
        self.current.start = first_release;
        self.handed_over = 0;
        self.interval_end = first_release.saturating_add(self.interval);
        self.totals = Totals::default();
        self.spike_floor.store(i64::MIN, Ordering::Relaxed);
    }

    /// Counts one latency; marked so that a replay of this machine finds its wake-up.
    #[inline]
    pub fn record_wake(&mut self, release: i64, latency: i64) {
        self.current.last.mark(release, latency);
        self.count(release, latency);
    }

    #[inline]
    pub fn record(&mut self, release: i64, latency: i64) {
        self.current.last.latency = latency;
        self.count(release, latency);
    }

    #[inline]
    fn count(&mut self, release: i64, latency: i64) {
        let buffer = &mut *self.current;
        buffer.count += 1;
        buffer.sum += latency;
        // Rarely taken branches cost less than conditional stores.
        if latency < buffer.min {
            buffer.min = latency;
        }
        if latency > buffer.max {
            buffer.max = latency;
        }
        if (latency as u64) < FINE_END {
            buffer.bins[(latency as u64 / FINE_WIDTH) as usize] += 1;
        } else {
            buffer.count_coarse(latency);
        }
        if latency >= self.spike_floor.load(Ordering::Relaxed) {
            self.keep_spike(release, latency);
        }
    }

    #[cold]
    fn keep_spike(&mut self, release: i64, latency: i64) {
        let spike = Spike { latency_ns: Nanos(latency), release_ns: Nanos(release) };
        if self.spikes.push(spike).is_err() {
            let unsent = &mut self.current.unsent;
            self.totals.spikes_lost += u64::from(unsent.is_some());
            *unsent = (*unsent).max(Some(spike));
        }
    }

    /// Counts overruns and deadline misses.
    pub fn count_late(&mut self, overruns: i64, misses: i64) {
        self.current.overruns += overruns as u64;
        self.totals.overruns += overruns as u64;
        self.current.misses += misses as u64;
    }

    /// Cycles recorded since the start.
    pub fn cycles(&self) -> u64 {
        self.handed_over + self.current.count
    }

    /// Hands over the interval before this release; false if a bin could overflow.
    ///
    /// If no buffer has come back the interval grows, and that is counted.
    pub fn next_interval(&mut self, release: i64) -> bool {
        match self.returned.pop() {
            Ok(empty) => {
                let full = std::mem::replace(&mut self.current, empty);
                self.handed_over += full.count;
                self.current.start = release;
                hand_over(full, release, &mut self.sealed);
            }
            Err(_) if self.current.count >= FULL => return false,
            Err(_) => self.totals.intervals_grown += 1,
        }
        let behind = (release - self.interval_end) / self.interval;
        self.interval_end =
            self.interval_end.saturating_add(self.interval.saturating_mul(behind + 1));
        true
    }

    /// Hands over the rest; the next release would have been this one.
    pub fn finish(mut self, next_release: i64) -> Totals {
        hand_over(self.current, next_release, &mut self.sealed);
        self.totals
    }
}

fn hand_over(mut full: Box<Buffer>, end: i64, sealed: &mut Producer<Box<Buffer>>) {
    full.end = end;
    // The ring has room for all buffers.
    let _ = sealed.push(full);
}

impl Drain {
    /// The next full interval, if there is one; its buffer returns to the loop.
    pub fn next_interval(&mut self) -> Option<Sealed> {
        let mut buffer = self.sealed.pop().ok()?;
        let (start, end, last) = (buffer.start, buffer.end, buffer.last.latency);
        let sealed = Sealed { start, end, last, counts: buffer.counts(), spike: buffer.unsent };
        buffer.clear();
        // Fails only if the loop has ended and handed over one buffer more.
        let _ = self.returned.push(buffer);
        Some(sealed)
    }

    /// The next large latency, if there is one; its release is on the clock of the loop.
    pub fn next_spike(&mut self) -> Option<Spike> {
        self.spikes.pop().ok()
    }

    /// Latencies below this are no longer wanted as spikes.
    pub fn raise_spike_floor(&self, floor: i64) {
        self.spike_floor.store(floor, Ordering::Relaxed);
    }
}
