//! Samples of jitterdebugger: packed records of 28 bytes, and the CSV made from them.

use super::left_out::{LeftOut, is_of_shell, is_other_text};
use super::{
    Format, Part, check_number, has_none, head_lines, is_text, number_parts, number_parts_of,
};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::numbers::Cursor;
use crate::read::recording::{LatencySeries, Recording};
use crate::read::samples::UnitSamples;
use latlab_model::Nanos;
use std::collections::BTreeMap;
use std::io::Read;

pub const CSV: Format = Format {
    id: "jitterdebugger-csv",
    title: "jitterdebugger samples as CSV",
    fits: fits_csv,
    has_value: |line| Sample::of_line(line).is_some(),
    read: read_csv,
};
pub const RAW: Format = Format {
    id: "jitterdebugger-raw",
    title: "jitterdebugger samples",
    fits: fits_raw,
    has_value: has_none,
    read: read_raw,
};

/// CPU (u32), seconds and nanoseconds (i64), latency (u64), little endian.
const RECORD: usize = 28;
/// More threads than any machine has CPUs.
const MOST_THREADS: u32 = 8192;
/// Samples further apart than this have unmeasured time between them.
const LONGEST_PERIOD: i64 = 1_000_000_000;
/// Records used for detection.
const LOOKED_AT: usize = 16;

/// One latency.
struct Sample {
    cpu: u32,
    at_ns: i64,
    latency: i64,
}

impl Sample {
    /// A plausible record.
    fn of_record(bytes: &[u8]) -> Option<Sample> {
        let word =
            |from: usize| Some(u64::from_le_bytes(bytes.get(from..from + 8)?.try_into().ok()?));
        let cpu = u32::from_le_bytes(bytes.get(..4)?.try_into().ok()?);
        let (seconds, nanos, latency) = (word(4)?, word(12)?, word(20)?);
        let sound = cpu < MOST_THREADS
            && (1..1 << 32).contains(&seconds)
            && nanos < 1_000_000_000
            && latency < 1 << 40;
        sound.then(|| Sample {
            cpu,
            at_ns: (seconds * 1_000_000_000 + nanos) as i64,
            latency: latency as i64,
        })
    }

    /// A line like `0;4657.259056376;40`.
    fn of_line(line: &[u8]) -> Option<Sample> {
        let mut cursor = Cursor::new(line);
        let cpu = plain(&mut cursor)?.try_into().ok().filter(|cpu| *cpu < MOST_THREADS)?;
        let seconds = cursor.take(b";").then(|| plain(&mut cursor))??;
        let point = cursor.take(b".").then_some(cursor.rest().len())?;
        let nanos = cursor.unsigned()?;
        let is_nanos = point - cursor.rest().len() == 9;
        let latency = cursor.take(b";").then(|| plain(&mut cursor))??;
        let sound = is_nanos && cursor.rest().is_empty() && seconds < 1 << 32 && latency < 1 << 40;
        sound.then(|| Sample {
            cpu,
            at_ns: (seconds * 1_000_000_000 + nanos) as i64,
            latency: latency as i64,
        })
    }
}

/// Takes a number without leading zeros.
fn plain(cursor: &mut Cursor<'_>) -> Option<u64> {
    let is_filled = matches!(cursor.rest(), [b'0', b'0'..=b'9', ..]);
    if is_filled { None } else { cursor.unsigned() }
}

fn fits_csv(head: &[u8]) -> bool {
    // Shell output may precede the samples.
    let mut lines = head_lines(head).filter(|line| !line.is_empty() && !is_of_shell(line));
    is_text(head) && lines.next().is_some_and(|line| Sample::of_line(line).is_some())
}

fn fits_raw(head: &[u8]) -> bool {
    let mut records = head.chunks_exact(RECORD).take(LOOKED_AT).peekable();
    records.peek().is_some() && records.all(|record| Sample::of_record(record).is_some())
}

/// The latencies of one thread.
#[derive(Default)]
struct Thread {
    samples: UnitSamples,
    last_at: i64,
    /// Release of its last cycle: its time minus its latency.
    last_due: Option<i64>,
    /// The shortest and longest time from cycle to cycle. jitterdebugger runs every cycle, so they
    /// differ only if samples are missing.
    shortest: Option<i64>,
    longest: i64,
    /// Time between samples too far apart for one test.
    unmeasured: i64,
}

#[derive(Default)]
struct Threads {
    first_line: u64,
    threads: BTreeMap<u32, Thread>,
    first: Option<i64>,
    last: i64,
    left: LeftOut,
}

impl Threads {
    /// Whether a sample is from another recording: its thread has already had this time, or a later
    /// one.
    fn ends_before(&self, sample: &Sample) -> bool {
        self.threads.get(&sample.cpu).is_some_and(|thread| sample.at_ns <= thread.last_at)
    }

    fn push(&mut self, sample: &Sample, unit: i64) -> bool {
        let thread = self.threads.entry(sample.cpu).or_default();
        if thread.samples.push(sample.latency, unit).is_none() {
            return false;
        }
        let due = sample.at_ns.saturating_sub(sample.latency.saturating_mul(unit));
        if let Some(last_due) = thread.last_due {
            // After a late cycle the next ones run at once, but their releases were regular.
            let (ran, was_due) = (sample.at_ns - thread.last_at, due - last_due);
            let step = ran.max(was_due);
            thread.shortest = Some(thread.shortest.map_or(step, |shortest| shortest.min(step)));
            thread.longest = thread.longest.max(ran.min(was_due));
            if ran.min(was_due) > LONGEST_PERIOD {
                thread.unmeasured = thread.unmeasured.saturating_add(ran);
            }
        }
        (thread.last_at, thread.last_due) = (sample.at_ns, Some(due));
        self.first = Some(self.first.map_or(sample.at_ns, |first| first.min(sample.at_ns)));
        self.last = self.last.max(sample.at_ns);
        true
    }

    fn part(self, unit: i64, items: &str, rest: usize) -> Part {
        if self.threads.is_empty() {
            return Part::none(self.first_line, self.left);
        }
        let mut recording = Recording::new("jitterdebugger samples");
        recording.tool = Some("jitterdebugger".to_string());
        recording.resolution_ns = Some(Nanos(unit));
        recording.length_ns = Nanos(self.first.map_or(0, |first| self.last - first));
        let unmeasured = self.threads.values().map(|one| one.unmeasured).max().unwrap_or(0);
        for (number, mut thread) in self.threads {
            // The number identifies the thread, not its CPU.
            recording.series.push(LatencySeries { cpu: None, ..thread.samples.series(unit) });
            let (shortest, longest) = (thread.shortest.unwrap_or(0), thread.longest);
            if longest > shortest + shortest / 2 {
                let [longest, shortest] = [longest, shortest].map(Nanos);
                recording.lacks(format!(
                    "thread {number} has no sample for {longest}, and one each {shortest} elsewhere"
                ));
            }
        }
        if unmeasured > 0 {
            recording.length_ns = Nanos((recording.length_ns.0 - unmeasured).max(0));
            let unmeasured = Nanos(unmeasured);
            recording
                .note(format!("The {unmeasured} between samples far apart were not measured."));
        }
        recording.compare_cycles(true);
        self.left.report(items, &mut recording);
        if rest > 0 {
            recording.lacks(format!("its last record has {rest} of {RECORD} bytes"));
        }
        Part::one(self.first_line, recording)
    }
}

fn read_csv(input: &mut Input, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let unit = query.unit.map_or(1_000, |unit| unit.nanos());
    let (mut parts, mut threads) = (Vec::new(), Threads { first_line: 1, ..Threads::default() });
    while let Some(line) = input.next_line() {
        let text = line.bytes.trim_ascii();
        // In an unterminated line the latency may be cut.
        let sample = Sample::of_line(text).filter(|_| line.is_whole);
        if sample.as_ref().is_some_and(|sample| threads.ends_before(sample)) {
            check_number(&parts, line.number)?;
            let next = Threads { first_line: line.number, ..Threads::default() };
            parts.push(std::mem::replace(&mut threads, next).part(unit, "lines", 0));
        }
        let was_read = match sample {
            Some(sample) => threads.push(&sample, unit),
            None => text.is_empty(),
        };
        if !was_read {
            threads.left.pass_over(&line, !is_other_text(text, 1) || text.contains(&b';'));
        }
    }
    parts.push(threads.part(unit, "lines", 0));
    Ok(number_parts(parts))
}

fn read_raw(input: &mut Input, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let unit = query.unit.map_or(1_000, |unit| unit.nanos());
    let (mut parts, mut threads) = (Vec::new(), Threads { first_line: 1, ..Threads::default() });
    let (mut number, mut rest) = (0, 0);
    let mut buffer = vec![0; RECORD * 8192];
    loop {
        let mut filled = 0;
        while filled < buffer.len() {
            match input.read(&mut buffer[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        for record in buffer[..filled].chunks(RECORD) {
            number += 1;
            let sample = Sample::of_record(record);
            if sample.as_ref().is_some_and(|sample| threads.ends_before(sample)) {
                check_number(&parts, number)?;
                let next = Threads { first_line: number, ..Threads::default() };
                parts.push(std::mem::replace(&mut threads, next).part(unit, "records", 0));
            }
            match sample {
                Some(sample) if threads.push(&sample, unit) => {}
                None if record.len() < RECORD => rest = record.len(),
                _ => threads.left.lose_item("a record with impossible values"),
            }
        }
        if filled < buffer.len() {
            break;
        }
    }
    parts.push(threads.part(unit, "records", rest));
    Ok(number_parts_of(parts, "First record"))
}
