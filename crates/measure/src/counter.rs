//! The counter that a spinning thread reads, and everything else it asks of its machine.

use latlab_sys::clock::{self, Clock};
use latlab_sys::{counter, memory};

/// The environment of a spinning thread; tests use a scripted one.
pub trait Host {
    fn read(&mut self) -> i64;

    /// CLOCK_MONOTONIC at this reading.
    fn time_of(&self, reading: i64) -> i64;

    /// Nanoseconds of a number of ticks.
    fn nanos_of(&self, ticks: i64) -> f64;

    /// The reading at this time of CLOCK_MONOTONIC.
    fn reading_at(&self, time: i64) -> i64;

    /// Compares the counter with the clock again, so that times stay exact.
    fn align(&mut self);

    /// Context switches of this thread: it was preempted or stopped.
    fn switches(&mut self) -> u64;

    /// Sleeps for this many nanoseconds, or until a signal comes.
    fn sleep(&mut self, nanos: i64);
}

/// The time-stamp counter, compared with CLOCK_MONOTONIC now and then.
pub struct Tsc {
    reading: i64,
    time: i64,
    nanos_per_tick: f64,
}

/// Readings, of which the tightest is taken, since the thread may be preempted between two clocks.
const TRIES: usize = 5;
/// Sleep between the first two comparisons: long enough for a rate accurate to 1e-5.
const FIRST_SPAN: i64 = 10_000_000;

impl Tsc {
    /// Takes ten milliseconds to determine the rate.
    pub fn start() -> Tsc {
        let (reading, time) = Tsc::beside_clock();
        let mut tsc = Tsc { reading, time, nanos_per_tick: 1.0 };
        tsc.sleep(FIRST_SPAN);
        tsc.align();
        tsc
    }

    /// The counter and the clock at the same instant.
    fn beside_clock() -> (i64, i64) {
        let tried = (0..TRIES).map(|_| {
            let before = counter::read();
            let time = Clock::Monotonic.now();
            let after = counter::read();
            (after - before, before + (after - before) / 2, time)
        });
        tried.min().map_or((0, 0), |(_, reading, time)| (reading, time))
    }
}

impl Host for Tsc {
    #[inline]
    fn read(&mut self) -> i64 {
        counter::read()
    }

    fn time_of(&self, reading: i64) -> i64 {
        self.time + self.nanos_of(reading - self.reading).round() as i64
    }

    fn nanos_of(&self, ticks: i64) -> f64 {
        ticks as f64 * self.nanos_per_tick
    }

    fn reading_at(&self, time: i64) -> i64 {
        let ticks = (time.saturating_sub(self.time)) as f64 / self.nanos_per_tick;
        self.reading.saturating_add(ticks.round() as i64)
    }

    fn align(&mut self) {
        let (reading, time) = Tsc::beside_clock();
        if reading > self.reading && time > self.time {
            self.nanos_per_tick = (time - self.time) as f64 / (reading - self.reading) as f64;
        }
        (self.reading, self.time) = (reading, time);
    }

    fn switches(&mut self) -> u64 {
        switches()
    }

    fn sleep(&mut self, nanos: i64) {
        // A signal that interrupts it is a request to end, which the loop sees next.
        let _ = clock::sleep_for(Clock::Monotonic, nanos);
    }
}

fn switches() -> u64 {
    let usage = memory::thread_usage();
    usage.voluntary_switches + usage.involuntary_switches
}

/// CLOCK_MONOTONIC itself.
pub struct Monotonic;

impl Host for Monotonic {
    #[inline]
    fn read(&mut self) -> i64 {
        Clock::Monotonic.now()
    }

    fn time_of(&self, reading: i64) -> i64 {
        reading
    }

    fn nanos_of(&self, ticks: i64) -> f64 {
        ticks as f64
    }

    fn reading_at(&self, time: i64) -> i64 {
        time
    }

    fn align(&mut self) {}

    fn switches(&mut self) -> u64 {
        switches()
    }

    fn sleep(&mut self, nanos: i64) {
        let _ = clock::sleep_for(Clock::Monotonic, nanos);
    }
}
