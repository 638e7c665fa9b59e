//! Single latencies: `thread: cycle: latency`, as printed by option `-v`.

use crate::read::columns::Columns;
use crate::read::numbers::Cursor;
use crate::read::recording::{LatencySeries, Recording};
use crate::read::samples::UnitSamples;
use crate::read::stated_figures::contradiction;
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;

/// More threads than any machine has CPUs.
const MOST_THREADS: u64 = 8192;

/// Length of a line, with its newline, whose numbers all fit into columns of eight.
pub const REGULAR_LINE: usize = 27;
/// Width of a column.
const WIDTH: usize = 8;

/// A line with one latency.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    thread: usize,
    cycle: u64,
    latency: i64,
}

impl Sample {
    /// The latency of a line; `None` for any other line. A time of day has no blanks between its
    /// numbers.
    #[inline]
    pub fn of_line(line: &[u8]) -> Option<Sample> {
        let mut cursor = Cursor::new(line);
        cursor.skip_blanks();
        let thread = cursor.unsigned().filter(|thread| *thread < MOST_THREADS)?;
        let cycle = column(&mut cursor)?.unsigned()?;
        let latency = column(&mut cursor)?.signed()?;
        // With --smi there is one more number, in a separate column.
        let is_end = match cursor.rest() {
            [] => true,
            [b' ', rest @ ..] => {
                let digits = rest.trim_ascii_start();
                rest.len() + 1 >= WIDTH
                    && !digits.is_empty()
                    && digits.iter().all(u8::is_ascii_digit)
            }
            _ => false,
        };
        is_end.then_some(Sample { thread: thread as usize, cycle, latency })
    }
}

/// The number of the next column: after a colon, with blanks before it or as wide as its column.
fn column<'a, 'b>(cursor: &'b mut Cursor<'a>) -> Option<&'b mut Cursor<'a>> {
    cursor.take(b":").then_some(())?;
    let width = cursor.rest().iter().take_while(|byte| byte.is_ascii_digit()).count();
    let blanks = cursor.rest().iter().take_while(|byte| **byte == b' ').count();
    cursor.skip_blanks();
    let rest =
        cursor.rest().iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
    (width >= WIDTH || blanks + rest >= WIDTH).then_some(cursor)
}

/// The threads so far.
#[derive(Default)]
pub struct Verbose {
    threads: Vec<Thread>,
    intervals: Vec<i64>,
}

#[derive(Default)]
struct Thread {
    samples: UnitSamples,
    lines: u64,
    first_cycle: u64,
    last_cycle: u64,
    /// Lines whose cycle is the next one.
    next_cycles: u64,
    largest_step: u64,
}

impl Verbose {
    pub fn has_any(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Whether a latency is from another run: its thread has already had this cycle, or a later
    /// one.
    #[inline]
    pub fn is_before(&self, sample: &Sample) -> bool {
        let known = self.threads.get(sample.thread);
        known.is_some_and(|one| one.lines > 0 && sample.cycle <= one.last_cycle)
    }

    /// Takes a latency; returns whether it could be counted.
    #[inline]
    pub fn push(&mut self, sample: &Sample, unit: i64) -> bool {
        if sample.latency < 0 {
            return false;
        }
        if self.threads.len() <= sample.thread {
            self.threads.resize_with(sample.thread + 1, Thread::default);
        }
        let one = &mut self.threads[sample.thread];
        let was_counted = one.samples.push(sample.latency, unit).is_some();
        if was_counted {
            one.pass(sample.cycle);
        }
        was_counted
    }

    /// Takes lines from the start of a block as long as they have the regular form of nearly all
    /// lines; returns how many. Any other line is left to [`Sample::of_line`].
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
        let cycle = cycle.number();
        if one.lines == 0 || cycle <= one.last_cycle || !one.samples.push_small(latency.number()) {
            return None;
        }
        one.pass(cycle);
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

    /// The period of the first thread and the step to the next; `None` if the lines are ambiguous.
    fn periods(&self) -> Option<(i64, i64)> {
        let step = self.intervals.get(1)?.checked_sub(self.intervals[0])?;
        let first = self.intervals[0].checked_sub(step)?;
        let is_even = self.intervals.windows(2).all(|pair| pair[1] - pair[0] == step);
        (is_even && first > 0 && step >= 0 && first < 1 << 40).then_some((first, step))
    }

    /// The result.
    pub fn recording(&mut self, unit: i64) -> Recording {
        let mut recording = Recording::new("cyclictest samples");
        recording.resolution_ns = Some(Nanos(unit));
        let periods = self.periods();
        for (thread, one) in self.threads.iter_mut().enumerate() {
            let series = one.samples.series(unit);
            let period = periods.map(|(first, step)| Nanos((first + thread as i64 * step) * 1_000));
            let cycles = one.last_cycle.saturating_add(1) - one.first_cycle;
            if let Some(length) = period
                .filter(|_| one.lines > 0)
                .and_then(|one| one.0.checked_mul(cycles.min(1 << 40) as i64))
            {
                recording.length_ns = recording.length_ns.max(Nanos(length));
            }
            recording.series.push(LatencySeries { period_ns: period, ..series });
            one.report_absent(thread, &mut recording);
        }
        recording.compare_cycles(false);
        let announced = self.intervals.len().max(self.threads.len());
        let with_lines = self.threads.iter().filter(|one| one.lines > 0).count();
        if with_lines < announced {
            let missing = format!("{} of {announced} threads have no line", announced - with_lines);
            recording.add(ImportFinding::ImportIncomplete { missing });
        }
        recording
    }
}

impl Thread {
    /// Counts the line of a cycle later than all before.
    #[inline]
    fn pass(&mut self, cycle: u64) {
        if self.lines == 0 {
            self.first_cycle = cycle;
        } else {
            let step = cycle - self.last_cycle;
            self.next_cycles += u64::from(step == 1);
            self.largest_step = self.largest_step.max(step);
        }
        self.lines += 1;
        self.last_cycle = cycle;
    }

    /// Reports the cycles without a line.
    fn report_absent(&self, thread: usize, recording: &mut Recording) {
        if self.lines == 0 {
            return;
        }
        let steps = self.lines - 1;
        let cycles = self.last_cycle - self.first_cycle;
        let each = cycles.div_ceil(steps.max(1));
        // Option -o prints one line per group of cycles.
        let is_reduced = self.next_cycles * 2 < steps && self.largest_step < 2 * each;
        if is_reduced {
            recording.note(format!(
                "Each line of thread {thread} is the largest of about {each} cycles (option -o)."
            ));
        } else if self.next_cycles < steps {
            let stated = format!("{} cycles from the first to the last", cycles + 1);
            contradiction(recording, thread, "Cycles", stated, format!("{} lines", self.lines));
        }
        if self.first_cycle > 1 && !(is_reduced && self.first_cycle < each) {
            let missing = format!("thread {thread} begins at cycle {}", self.first_cycle);
            recording.add(ImportFinding::ImportIncomplete { missing });
        }
    }
}
