//! Single latencies: `thread: cycle: latency`, as option `-v` prints them.

use super::super::left_out::LeftOut;
use crate::columns::Columns;
use crate::lines::Line;
use crate::numbers::Cursor;
use crate::recording::{Recording, Series};
use crate::samples::UnitSamples;
use latlab_model::Nanos;

/// More threads than any machine has CPUs.
const MOST_THREADS: u64 = 8192;

/// Bytes of a line whose numbers all fit into their columns of eight, with its end.
pub const REGULAR_LINE: usize = 27;

/// The threads so far.
#[derive(Default)]
pub struct Verbose {
    threads: Vec<Thread>,
    intervals: Vec<i64>,
}

#[derive(Default)]
struct Thread {
    samples: UnitSamples,
    first_cycle: Option<u64>,
    last_cycle: u64,
    /// The largest cycle of regular lines, by its order.
    last_columns: u64,
}

impl Thread {
    /// Cycles from the first to the last; none where there is no latency.
    fn cycles(&self) -> Option<u64> {
        let last = match self.last_columns {
            0 => 0,
            order => Columns::of_order(order).number(),
        };
        Some((self.last_cycle.max(last) - self.first_cycle?).saturating_add(1))
    }
}

impl Verbose {
    /// Whether there is any latency.
    pub fn has_any(&self) -> bool {
        self.threads.iter().any(|one| one.first_cycle.is_some())
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
        let latency = cursor.signed().filter(|latency| *latency >= 0);
        // With --smi there is one more number.
        let ends = cursor.rest().iter().all(|byte| b" \t0123456789".contains(byte));
        let taken = match (cycle, latency) {
            (Some(cycle), Some(latency)) if is_sample && ends && thread < MOST_THREADS => {
                self.push(thread as usize, cycle, latency, unit)
            }
            _ => None,
        };
        if taken.is_none() {
            left.push(line.number, line.bytes);
        }
    }

    fn push(&mut self, thread: usize, cycle: u64, latency: i64, unit: i64) -> Option<()> {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Thread::default);
        }
        let one = &mut self.threads[thread];
        one.samples.push(latency, unit)?;
        one.first_cycle.get_or_insert(cycle);
        one.last_cycle = one.last_cycle.max(cycle);
        Some(())
    }

    /// Takes the lines that a block begins with, as long as each is like nearly all of a log; gives
    /// back how many. What is different in any way is left to [`Verbose::take`].
    pub fn take_regular(&mut self, block: &[u8]) -> usize {
        let (lines, _) = block.as_chunks::<REGULAR_LINE>();
        lines.iter().map_while(|line| self.take_regular_line(line)).count()
    }

    #[inline]
    fn take_regular_line(&mut self, line: &[u8; REGULAR_LINE]) -> Option<()> {
        let columns = |from: usize| Columns::of(&line[from..]);
        let (thread, cycle, latency) = (columns(0)?, columns(9)?, columns(18)?);
        let separators = (line[8] ^ b':') | (line[17] ^ b':') | (line[26] ^ b'\n');
        if cycle.flaws() | latency.flaws() | u64::from(separators) != 0 {
            return None;
        }
        let number = || (thread.flaws() == 0).then(|| thread.number());
        let thread = thread.digit().or_else(number)?;
        let one = self.threads.get_mut(thread as usize)?;
        if !one.samples.push_small(latency.number()) {
            return None;
        }
        one.last_columns = one.last_columns.max(cycle.order());
        Some(())
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
            let series = one.samples.series(unit);
            let cycles = one.cycles().unwrap_or(0);
            without += cycles.saturating_sub(series.counts.count);
            let period = periods.map(|(first, step)| Nanos((first + thread * step) * 1_000));
            if let Some(length) =
                period.and_then(|one| one.0.checked_mul(cycles.min(1 << 40) as i64))
            {
                recording.length_ns = recording.length_ns.max(Nanos(length));
            }
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
