//! Samples of jitterdebugger: packed records of 28 bytes, and the CSV that is made of them.

use super::left_out::LeftOut;
use super::{Format, head_lines, is_text};
use crate::input::{Input, InputError, Query};
use crate::numbers::Cursor;
use crate::recording::{Recording, Series};
use crate::samples::UnitSamples;
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;
use std::collections::BTreeMap;
use std::io::Read;

pub const CSV: Format = Format {
    id: "jitterdebugger-csv",
    title: "jitterdebugger samples as CSV",
    fits: fits_csv,
    read: read_csv,
};
pub const RAW: Format = Format {
    id: "jitterdebugger-raw",
    title: "jitterdebugger samples",
    fits: fits_raw,
    read: read_raw,
};

/// CPU (u32), seconds and nanoseconds (i64), latency (u64), little endian.
const RECORD: usize = 28;
/// More threads than any machine has CPUs.
const MOST_THREADS: u32 = 8192;
/// Records that are looked at.
const LOOKED_AT: usize = 16;

/// One latency.
struct Sample {
    cpu: u32,
    at_ns: i64,
    latency: i64,
}

impl Sample {
    /// A record that makes sense.
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
        let cpu = u32::try_from(cursor.unsigned()?).ok().filter(|cpu| *cpu < MOST_THREADS)?;
        let seconds = cursor.take(b";").then(|| cursor.unsigned())??;
        let point = cursor.take(b".").then_some(cursor.rest().len())?;
        let nanos = cursor.unsigned()?;
        let is_nanos = point - cursor.rest().len() == 9;
        let latency = cursor.take(b";").then(|| cursor.unsigned())??;
        let sound = is_nanos && cursor.rest().is_empty() && seconds < 1 << 32 && latency < 1 << 40;
        sound.then(|| Sample {
            cpu,
            at_ns: (seconds * 1_000_000_000 + nanos) as i64,
            latency: latency as i64,
        })
    }
}

fn fits_csv(head: &[u8]) -> bool {
    let mut lines = head_lines(head).filter(|line| !line.is_empty());
    is_text(head) && lines.next().is_some_and(|line| Sample::of_line(line).is_some())
}

fn fits_raw(head: &[u8]) -> bool {
    let mut records = head.chunks_exact(RECORD).take(LOOKED_AT).peekable();
    records.peek().is_some() && records.all(|record| Sample::of_record(record).is_some())
}

#[derive(Default)]
struct Threads {
    threads: BTreeMap<u32, UnitSamples>,
    first: Option<i64>,
    last: i64,
}

impl Threads {
    fn push(&mut self, sample: &Sample, unit: i64) {
        if self.threads.entry(sample.cpu).or_default().push(sample.latency, unit).is_none() {
            return;
        }
        self.first = Some(self.first.map_or(sample.at_ns, |first| first.min(sample.at_ns)));
        self.last = self.last.max(sample.at_ns);
    }

    fn recording(self, format: &'static str, unit: i64) -> Recording {
        let mut recording = Recording::new(format);
        recording.tool = Some("jitterdebugger".to_string());
        recording.resolution_ns = Some(Nanos(unit));
        recording.length_ns = Nanos(self.first.map_or(0, |first| self.last - first));
        for (_, mut samples) in self.threads {
            // The number is that of the thread, not of its CPU.
            recording.series.push(Series { cpu: None, ..samples.series(unit) });
        }
        recording
    }
}

fn read_csv(input: &mut Input, query: &Query) -> Result<Vec<Recording>, InputError> {
    let unit = query.unit.map_or(1_000, |unit| unit.nanos());
    let (mut threads, mut left) = (Threads::default(), LeftOut::default());
    while let Some(line) = input.next_line() {
        match Sample::of_line(line.bytes.trim_ascii()) {
            Some(sample) => threads.push(&sample, unit),
            None if line.bytes.trim_ascii().is_empty() => {}
            None => left.lose(&line),
        }
    }
    let mut recording = threads.recording("jitterdebugger samples", unit);
    left.report("lines", &mut recording);
    Ok(vec![recording])
}

fn read_raw(input: &mut Input, query: &Query) -> Result<Vec<Recording>, InputError> {
    let unit = query.unit.map_or(1_000, |unit| unit.nanos());
    let (mut threads, mut left, mut rest) = (Threads::default(), LeftOut::default(), 0);
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
            match Sample::of_record(record) {
                Some(sample) => threads.push(&sample, unit),
                None if record.len() < RECORD => rest = record.len(),
                None => left.lose_item("a record with impossible values"),
            }
        }
        if filled < buffer.len() {
            break;
        }
    }
    let mut recording = threads.recording("jitterdebugger samples", unit);
    left.report("records", &mut recording);
    if rest > 0 {
        let missing = format!("its last record has {rest} of {RECORD} bytes");
        recording.add(ImportFinding::ImportIncomplete { missing });
    }
    Ok(vec![recording])
}
