//! Single latencies: `thread: cycle: latency`, as option `-v` prints them.

use super::super::left_out::LeftOut;
use crate::lines::Line;
use crate::numbers::Cursor;
use crate::recording::{Recording, Series};
use crate::samples::Samples;
use latlab_model::Nanos;

/// More threads than any machine has CPUs.
const MOST_THREADS: u64 = 8192;

/// The threads so far.
#[derive(Default)]
pub struct Verbose {
    threads: Vec<Thread>,
    count: u64,
    intervals: Vec<i64>,
}

#[derive(Default)]
struct Thread {
    samples: Samples,
    first_cycle: u64,
    last_cycle: u64,
}

impl Verbose {
    /// How many latencies there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Takes a line whose first number has been read.
    #[inline]
    pub fn take(
        &mut self,
        thread: u64,
        mut cursor: Cursor<'_>,
        unit: i64,
        line: &Line<'_>,
        left: &mut LeftOut,
    ) {
        cursor.skip_blanks();
        let cycle = cursor.unsigned();
        let is_sample = cursor.take(b":");
        cursor.skip_blanks();
        let latency = cursor.signed().and_then(|latency| latency.checked_mul(unit));
        // With --smi there is one more number.
        let ends = cursor.rest().iter().all(|byte| b" \t0123456789".contains(byte));
        match (cycle, latency) {
            (Some(cycle), Some(latency))
                if is_sample && ends && latency >= 0 && thread < MOST_THREADS =>
            {
                self.push(thread as usize, cycle, latency, unit);
            }
            _ => left.push(line.number, line.bytes),
        }
    }

    #[inline]
    fn push(&mut self, thread: usize, cycle: u64, latency: i64, unit: i64) {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        let one = &mut self.threads[thread];
        if one.samples.count() == 0 {
            one.first_cycle = cycle;
        }
        one.last_cycle = one.last_cycle.max(cycle);
        one.samples.push(latency, unit);
        self.count += 1;
    }

    /// Takes `Thread 0 Interval: 1500`, which names the interval of the thread after it.
    pub fn take_interval(&mut self, line: &[u8]) -> bool {
        let mut cursor = Cursor::new(line);
        if !cursor.take(b"Thread ") {
            return false;
        }
        let thread = cursor.unsigned();
        let named = cursor.take(b" Interval: ");
        match (thread, cursor.unsigned().and_then(|interval| i64::try_from(interval).ok())) {
            (Some(thread), Some(interval)) if named => {
                if thread == self.intervals.len() as u64 {
                    self.intervals.push(interval);
                }
                true
            }
            _ => false,
        }
    }

    /// The period of the first thread and the step to the next; none where one line cannot tell.
    fn periods(&self) -> Option<(i64, i64)> {
        let step = self.intervals.get(1)?.checked_sub(self.intervals[0])?;
        let first = self.intervals[0].checked_sub(step)?;
        let is_even = self.intervals.windows(2).all(|pair| pair[1] - pair[0] == step);
        (is_even && first > 0 && step >= 0 && first < 1 << 40).then_some((first, step))
    }

    /// What was read.
    pub fn recording(&mut self, unit: i64) -> Recording {
        let mut recording = Recording::new("cyclictest samples");
        recording.resolution_ns = Some(Nanos(unit));
        let periods = self.periods();
        let mut without = 0;
        for (thread, one) in (0i64..).zip(&mut self.threads) {
            let cycles = (one.last_cycle - one.first_cycle).saturating_add(1);
            if one.samples.count() > 0 {
                without += cycles.saturating_sub(one.samples.count());
            }
            let period = periods.map(|(first, step)| Nanos((first + thread * step) * 1_000));
            if let Some(length) =
                period.and_then(|one| one.0.checked_mul(cycles.min(1 << 40) as i64))
            {
                recording.length_ns = recording.length_ns.max(Nanos(length));
            }
            let series = one.samples.series(unit);
            recording.series.push(Series { period_ns: period, ..series });
        }
        if without > 0 {
            recording.note(format!(
                "{without} cycles have no line of their own: option -o prints the largest of several \
                 cycles, and a slow terminal or disk loses lines."
            ));
        }
        recording
    }
}
