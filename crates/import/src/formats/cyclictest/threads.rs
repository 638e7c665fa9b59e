//! Lines of threads: `T: 0 (23279) P:95 I:1000 C: 1000 Min: 11 Act: 16 Avg: 30 Max: 8592`.

use crate::numbers::{Cursor, decimal, nanos};
use crate::recording::{Recording, Series};
use crate::stated_figures::{StatedFigures, add_summary, note_summary};
use latlab_model::Nanos;
use std::collections::BTreeMap;

/// More threads than any machine has CPUs.
const MOST_THREADS: usize = 8192;

/// The last line of each thread.
#[derive(Default)]
pub struct ThreadLines {
    threads: BTreeMap<u32, ThreadLine>,
    lines: u64,
    spikes: u64,
    policy: Option<String>,
    is_deadline: bool,
}

/// Figures of one thread.
#[derive(Clone, Default)]
struct ThreadLine {
    priority: Option<u64>,
    interval: Option<i64>,
    cpu: Option<u32>,
    cycles: u64,
    min: Option<f64>,
    mean: Option<f64>,
    max: Option<f64>,
    in_ns: bool,
}

impl ThreadLines {
    /// How many threads there are.
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Whether `cyclicdeadline` has printed them.
    pub fn is_deadline(&self) -> bool {
        self.is_deadline
    }

    /// Takes a line that begins with `T:`; whether it could be read.
    pub fn take(&mut self, line: &[u8]) -> bool {
        let mut cursor = Cursor::new(&line[2..]);
        cursor.skip_blanks();
        let Some(thread) = cursor.unsigned().and_then(|thread| u32::try_from(thread).ok()) else {
            return false;
        };
        cursor.skip_blanks();
        if cursor.take(b"Spike:") {
            self.spikes += 1;
            return true;
        }
        if cursor.take(b"(") {
            cursor.skip_blanks();
            cursor.unsigned();
            cursor.take(b")");
        }
        let Some(one) = ThreadLine::read(cursor) else { return false };
        if self.threads.len() >= MOST_THREADS {
            return false;
        }
        self.lines += 1;
        // A pasted screen may be cut off; the line with the most cycles is the last.
        let older = self.threads.get(&thread).is_some_and(|known| known.cycles > one.cycles);
        if !older {
            self.threads.insert(thread, one);
        }
        true
    }

    /// Takes `policy: fifo: loadavg: …` of the live screen.
    pub fn take_policy(&mut self, line: &[u8]) -> bool {
        let Some(rest) = line.strip_prefix(b"policy: ") else { return false };
        let end = rest.iter().position(|byte| *byte == b':').unwrap_or(rest.len());
        self.policy = Some(String::from_utf8_lossy(&rest[..end]).into_owned());
        true
    }

    /// Takes what else the tool says.
    pub fn take_remark(&mut self, line: &[u8]) {
        let typical: [&[u8]; 2] = [b"deadline thread", b"Using all CPUS"];
        self.is_deadline |= typical.iter().any(|start| line.starts_with(start));
    }

    /// What the lines say of a thread whose latencies stand elsewhere.
    pub fn describe(&self, thread: u32, series: Option<&mut Series>) {
        if let (Some(one), Some(series)) = (self.threads.get(&thread), series) {
            self.conditions(one, series);
        }
    }

    fn conditions(&self, one: &ThreadLine, series: &mut Series) {
        series.cpu = one.cpu;
        series.period_ns = one.interval.and_then(|us| us.checked_mul(1_000)).map(Nanos);
        series.policy = match (&self.policy, one.priority) {
            (Some(policy), Some(priority)) => format!("{policy} {priority}"),
            (Some(policy), None) => policy.clone(),
            (None, Some(priority)) => format!("priority {priority}"),
            (None, None) => String::new(),
        };
    }

    /// A recording of figures alone.
    pub fn recording(&mut self, unit: i64) -> Recording {
        let unit = if self.threads.values().any(|one| one.in_ns) { 1 } else { unit };
        let is = |has: &dyn Fn(&ThreadLine) -> bool| self.threads.values().all(has);
        let mut recording = Recording::new(match () {
            () if self.is_deadline => "cyclicdeadline summary",
            () if is(&|one| one.cpu.is_some()) => "jitterdebugger summary",
            () if is(&|one| one.interval.is_none()) => "signaltest summary",
            () => "cyclictest summary",
        });
        recording.resolution_ns = Some(Nanos(unit));
        for one in self.threads.values() {
            let time = |value: Option<f64>| value.and_then(|value| nanos(value, unit));
            let stated = StatedFigures {
                count: Some(one.cycles),
                min_ns: time(one.min),
                mean_ns: one.mean.map(|mean| mean * unit as f64),
                max_ns: time(one.max),
                ..StatedFigures::default()
            };
            add_summary(&mut recording, &stated);
            let length = one
                .interval
                .and_then(|us| us.checked_mul(1_000))
                .and_then(|period| period.checked_mul(i64::try_from(one.cycles).ok()?));
            recording.length_ns = recording.length_ns.max(Nanos(length.unwrap_or(0)));
            if let Some(series) = recording.series.last_mut() {
                self.conditions(one, series);
            }
        }
        if self.lines > self.threads.len() as u64 {
            let lines = self.lines;
            recording.note(format!("The last of {lines} lines of threads count for each thread."));
        }
        if self.spikes > 0 {
            let spikes = self.spikes;
            recording.note(format!("{spikes} listed spikes are only in the original file."));
        }
        note_summary(&mut recording);
        recording
    }
}

impl ThreadLine {
    /// The figures behind the number of the thread; none where one is missing.
    fn read(mut cursor: Cursor<'_>) -> Option<ThreadLine> {
        let mut one = ThreadLine::default();
        let mut cycles = None;
        loop {
            cursor.skip_blanks();
            if cursor.rest().is_empty() {
                break;
            }
            let rest = cursor.rest();
            let colon = rest.iter().position(|byte| *byte == b':')?;
            let name = &rest[..colon];
            cursor = Cursor::new(&rest[colon + 1..]);
            let width = cursor.rest().len();
            cursor.skip_blanks();
            let blanks = width - cursor.rest().len();
            let value = decimal(cursor.word());
            // Option -N, which nothing else tells, makes this column wider.
            one.in_ns |= name == b"Act" && blanks > 0 && width - cursor.rest().len() == 8;
            let whole =
                value.filter(|value| *value >= 0.0 && *value < 1e15).map(|value| value as u64);
            match name {
                b"P" => one.priority = whole,
                b"I" => one.interval = whole.map(|us| us as i64),
                b"A" => one.cpu = whole.and_then(|cpu| u32::try_from(cpu).ok()),
                b"C" => cycles = whole,
                b"Min" => one.min = value,
                b"Avg" => one.mean = value,
                b"Max" => one.max = value,
                _ => {}
            }
        }
        one.cycles = cycles?;
        (one.min.is_some() && one.max.is_some()).then_some(one)
    }
}
