//! Thread lines: `T: 0 (23279) P:95 I:1000 C: 1000 Min: 11 Act: 16 Avg: 30 Max: 8592`.

use super::super::left_out::{LeftOut, LostOnScreen};
use crate::read::lines::Line;
use crate::read::numbers::{Cursor, decimal, nanos};
use crate::read::recording::{LatencySeries, Recording};
use crate::read::stated_figures::{StatedFigures, add_summary, contradiction, note_summary};
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;
use std::collections::BTreeMap;

/// More threads than any machine has CPUs.
const MOST_THREADS: usize = 8192;
/// Width of the Min column, as all these tools print it.
const WIDTH_OF_MIN: usize = 7;
const WIDTH_OF_MAX: usize = 8;

/// The last line of each thread.
#[derive(Default)]
pub struct ThreadLines {
    threads: BTreeMap<u32, ThreadLine>,
    lines: u64,
    lost: LostOnScreen,
    spikes: u64,
    largest_spike: u64,
    policy: Option<String>,
    is_deadline: bool,
}

/// Figures of one thread.
#[derive(Clone, Default)]
pub struct ThreadLine {
    line: u64,
    thread: u32,
    process: u64,
    priority: Option<u64>,
    interval: Option<i64>,
    cpu: Option<u32>,
    cycles: u64,
    min: Option<f64>,
    act: Option<f64>,
    mean: Option<f64>,
    max: Option<f64>,
    in_ns: bool,
}

impl ThreadLines {
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Whether `cyclicdeadline` has printed them.
    pub fn is_deadline(&self) -> bool {
        self.is_deadline
    }

    /// Whether a line is from another run: its thread has a different process or fewer cycles than
    /// before.
    pub fn are_others(&self, one: &ThreadLine) -> bool {
        self.threads.get(&one.thread).is_some_and(|known| !known.goes_on_as(one))
    }

    /// Whether a line continues a known thread.
    pub fn knows(&self, one: &ThreadLine) -> bool {
        self.threads.get(&one.thread).is_some_and(|known| known.goes_on_as(one))
    }

    /// The state with which the next run's lines begin.
    pub fn successor(&self) -> ThreadLines {
        let policy = self.policy.clone();
        ThreadLines { policy, is_deadline: self.is_deadline, ..ThreadLines::default() }
    }

    /// Takes a line that begins with `T:`; returns whether it could be read.
    pub fn take(&mut self, line: &Line<'_>) -> bool {
        if let Some(spike) = spike(line) {
            self.spikes += 1;
            self.largest_spike = self.largest_spike.max(spike);
            return true;
        }
        let Some(one) = ThreadLine::read(line) else { return false };
        if self.threads.len() >= MOST_THREADS {
            return false;
        }
        self.lines += 1;
        self.threads.insert(one.thread, one);
        true
    }

    /// Keeps an unreadable line: later lines may contain everything it held.
    pub fn lose(&mut self, number: u64, bytes: &[u8]) {
        self.lost.push(number, bytes);
    }

    /// Reports the lost lines that no later line replaces.
    pub fn report_lost(&self, left: &mut LeftOut) {
        // On a screen that was drawn once, no line replaces another.
        let is_redrawn = self.lines > self.threads.len() as u64;
        let last_lines = self.threads.values().map(|one| one.line);
        let replaced_before = last_lines.min().filter(|_| is_redrawn).unwrap_or(0);
        // A thread that was never read has no line to replace the lost ones.
        let is_known = |line: &[u8]| {
            let behind = line.strip_prefix(b"T:").unwrap_or(line).trim_ascii_start();
            let number = Cursor::new(behind).unsigned().and_then(|number| number.try_into().ok());
            number.is_some_and(|number| self.threads.contains_key(&number))
        };
        self.lost.report(|number, line| number < replaced_before && is_known(line), left);
    }

    /// Takes `policy: fifo: loadavg: …` of the live screen.
    pub fn take_policy(&mut self, line: &[u8]) -> bool {
        let Some(rest) = line.strip_prefix(b"policy: ") else { return false };
        let end = rest.iter().position(|byte| *byte == b':').unwrap_or(rest.len());
        self.policy = Some(String::from_utf8_lossy(&rest[..end]).into_owned());
        true
    }

    /// Takes other messages of the tool.
    pub fn take_remark(&mut self, line: &[u8]) {
        let typical: [&[u8]; 2] = [b"deadline thread", b"Using all CPUS"];
        self.is_deadline |= typical.iter().any(|start| line.starts_with(start));
    }

    /// Adds what the lines say about a thread whose latencies are elsewhere in the file.
    pub fn describe(&self, thread: u32, series: Option<&mut LatencySeries>) {
        if let (Some(one), Some(series)) = (self.threads.get(&thread), series) {
            self.conditions(one, series);
        }
    }

    /// Compares the lines with the latencies elsewhere in the file: neither may have seen less.
    pub fn compare(&self, recording: &mut Recording, unit: i64) {
        for one in self.threads.values() {
            let thread = one.thread as usize;
            let unit = if one.in_ns { 1 } else { unit };
            let Some(series) = recording.series.get(thread) else {
                let missing = format!("thread {thread} has a line, but no column");
                recording.add(ImportFinding::ImportIncomplete { missing });
                continue;
            };
            let largest = series.stated_max_ns.unwrap_or(series.counts.max_ns).0;
            let counted = series.counts.count;
            if let Some(max) =
                one.largest().and_then(|max| nanos(max, unit)).filter(|it| *it > largest)
            {
                recording.has_at_least_of(thread, "Maximum", Nanos(max));
            }
            if one.cycles > counted {
                let stated = format!("{} cycles", one.cycles);
                contradiction(
                    recording,
                    thread,
                    "Number of latencies",
                    stated,
                    counted.to_string(),
                );
            }
        }
    }

    fn conditions(&self, one: &ThreadLine, series: &mut LatencySeries) {
        series.cpu = one.cpu;
        series.period_ns = one.interval.and_then(|us| us.checked_mul(1_000)).map(Nanos);
        series.policy = match (&self.policy, one.priority) {
            (Some(policy), Some(priority)) => format!("{policy} {priority}"),
            (Some(policy), None) => policy.clone(),
            (None, Some(priority)) => format!("priority {priority}"),
            (None, None) => String::new(),
        };
    }

    /// A recording of figures only.
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
        let last = self.threads.keys().max().copied().unwrap_or(0);
        for (at, one) in self.threads.values().enumerate() {
            let time = |value: Option<f64>| value.and_then(|value| nanos(value, unit));
            let stated = StatedFigures {
                count: Some(one.cycles),
                min_ns: time(one.min).filter(|_| one.cycles > 0),
                mean_ns: one.mean.map(|mean| mean * unit as f64),
                max_ns: time(one.max),
                ..StatedFigures::default()
            };
            add_summary(&mut recording, &stated);
            if let Some(act) = time(one.act).filter(|act| Some(*act) > stated.max_ns) {
                recording.has_at_least_of(at, "Last latency", Nanos(act));
            }
            let length = one
                .interval
                .and_then(|us| us.checked_mul(1_000))
                .and_then(|period| period.checked_mul(i64::try_from(one.cycles).ok()?));
            recording.length_ns = recording.length_ns.max(Nanos(length.unwrap_or(0)));
            if let Some(series) = recording.series.last_mut() {
                self.conditions(one, series);
            }
        }
        recording.compare_cycles(false);
        let absent = (0..last).filter(|thread| !self.threads.contains_key(thread)).count();
        if absent > 0 {
            let missing = format!("{absent} of {} threads have no line", u64::from(last) + 1);
            recording.add(ImportFinding::ImportIncomplete { missing });
        }
        if self.lines > self.threads.len() as u64 {
            let lines = self.lines;
            recording.note(format!("The last of {lines} lines of threads count for each thread."));
        }
        if self.spikes > 0 {
            let spikes = self.spikes;
            recording.note(format!("{spikes} listed spikes are only in the original file."));
            let spike = nanos(self.largest_spike as f64, unit).unwrap_or(i64::MAX);
            recording.has_at_least("Largest spike", Nanos(spike));
        }
        note_summary(&mut recording);
        recording
    }
}

/// The latency of `T: 1 Spike: 58: TS: 4512814991`.
fn spike(line: &Line<'_>) -> Option<u64> {
    let mut cursor = Cursor::new(line.bytes.strip_prefix(b"T:")?);
    cursor.skip_blanks();
    cursor.unsigned()?;
    cursor.skip_blanks();
    cursor.take(b"Spike:").then_some(())?;
    cursor.skip_blanks();
    let spike = cursor.unsigned()?;
    cursor.take(b":").then_some(())?;
    cursor.skip_blanks();
    cursor.take(b"TS:").then_some(())?;
    cursor.skip_blanks();
    cursor.unsigned()?;
    cursor.rest().is_empty().then_some(spike)
}

impl ThreadLine {
    /// Reads a thread line; `None` if a figure is missing, or the line contains anything else.
    pub fn read(line: &Line<'_>) -> Option<ThreadLine> {
        if line.bytes.contains(&b'\t') {
            return None;
        }
        let mut cursor = Cursor::new(line.bytes.strip_prefix(b"T:")?);
        cursor.skip_blanks();
        let thread =
            u32::try_from(cursor.unsigned()?).ok().filter(|it| *it < MOST_THREADS as u32)?;
        let mut one = ThreadLine { line: line.number, thread, ..ThreadLine::default() };
        cursor.skip_blanks();
        if cursor.take(b"(") {
            cursor.skip_blanks();
            one.process = cursor.unsigned()?;
            cursor.take(b")").then_some(())?;
        }
        let mut cycles = None;
        let (mut width_of_min, mut width_of_max) = (0, 0);
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
            let word = cursor.word();
            let value = decimal(word)?;
            // All of these tools print whole numbers, except jitterdebugger's mean.
            let is_whole = word.iter().all(u8::is_ascii_digit);
            if name != b"Avg" && !is_whole {
                return None;
            }
            let width = width - cursor.rest().len();
            // Only this wider column reveals option -N.
            one.in_ns |= name == b"Act" && blanks > 0 && width == 8;
            let whole = Some(value).filter(|it| *it >= 0.0 && *it < 1e15).map(|it| it as u64);
            match name {
                b"P" => one.priority = whole,
                b"I" => one.interval = whole.map(|us| us as i64),
                b"A" => one.cpu = whole.and_then(|cpu| u32::try_from(cpu).ok()),
                b"C" => cycles = Some(whole?),
                b"Min" => (one.min, width_of_min) = (Some(value), width),
                b"Act" => one.act = Some(value),
                b"Avg" => one.mean = Some(value),
                b"Max" => (one.max, width_of_max) = (Some(value), width),
                _ if name.iter().all(u8::is_ascii_alphabetic) => {}
                _ => return None,
            }
        }
        one.cycles = cycles?;
        // In columns of the usual width the last one shows whether its number was cut.
        let has_columns = width_of_min >= WIDTH_OF_MIN;
        let expected = if width_of_min == WIDTH_OF_MIN { WIDTH_OF_MAX } else { width_of_min };
        let is_cut = match line.is_whole {
            true => has_columns && width_of_max < expected,
            false => !has_columns || width_of_max != expected,
        };
        (one.min.is_some() && one.max.is_some() && !is_cut).then_some(one)
    }

    /// Whether a later line may be from the same thread of the same run.
    fn goes_on_as(&self, later: &ThreadLine) -> bool {
        let is_same = self.process == later.process || self.process == 0 || later.process == 0;
        let is_wider = later.max >= self.max && (self.cycles == 0 || later.min <= self.min);
        is_same && is_wider && later.cycles >= self.cycles
    }

    /// The largest latency in the line.
    fn largest(&self) -> Option<f64> {
        let act = self.act.filter(|_| self.cycles > 0);
        [act, self.max].into_iter().flatten().reduce(f64::max)
    }
}
