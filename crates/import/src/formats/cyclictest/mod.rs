//! What cyclictest of any version prints: histograms, samples, the lines of threads, and what people
//! make of these: pasted screens, rows cut out with grep, tables with commas.
//!
//! `cyclicdeadline` and `signaltest` print the same lines.

mod footer;
mod histogram;
mod lines;
mod samples;
mod threads;

use super::left_out::LeftOut;
use super::{Format, contains, head_lines, is_text, number_parts};
use crate::input::{Input, InputError, Query, Unit};
use crate::lines::Line;
use crate::numbers::Cursor;
use crate::recording::Recording;
use footer::Footer;
use histogram::Rows;
use lines::{is_remark, is_time, without_escapes, without_log_prefix};
use samples::{REGULAR_LINE, Verbose};
use threads::ThreadLines;

pub const FORMAT: Format = Format { id: "cyclictest", title: "cyclictest", fits, read };

/// Lines of the head that are looked at.
const LOOKED_AT: usize = 2_000;

fn fits(head: &[u8]) -> bool {
    is_text(head)
        && (contains(head, "# Histogram")
            || contains(head, "# Min Latencies:")
            || head_lines(head).take(LOOKED_AT).any(is_typical))
}

/// Whether no other program prints such a line.
fn is_typical(line: &[u8]) -> bool {
    let line = without_escapes(line);
    let line = without_log_prefix(line.trim_ascii());
    let mut cursor = Cursor::new(line);
    if line.starts_with(b"T:") {
        return contains(line, " C:") && contains(line, "Min:") && contains(line, "Max:");
    }
    let first = cursor.rest();
    let Some(_) = cursor.unsigned() else { return false };
    let width = first.len() - cursor.rest().len();
    if cursor.take(b":") {
        cursor.skip_blanks();
        let has_cycle = cursor.unsigned().is_some() && cursor.take(b":");
        cursor.skip_blanks();
        // With --smi there is one more number.
        let has_latency = cursor.signed().is_some();
        return has_cycle
            && has_latency
            && cursor.rest().iter().all(|byte| b" 0123456789".contains(byte));
    }
    // The index and each count fill six columns with zeros.
    let mut columns = 0;
    while !cursor.rest().is_empty() {
        cursor.skip_separators();
        let before = cursor.rest().len();
        if cursor.unsigned().is_none() || before - cursor.rest().len() < 6 {
            return false;
        }
        columns += 1;
    }
    width >= 6 && first[0] == b'0' && columns > 0
}

/// What has been read of one recording.
#[derive(Default)]
struct Section {
    rows: Rows,
    footer: Footer,
    threads: ThreadLines,
    samples: Verbose,
    left_out: LeftOut,
}

fn read(input: &mut Input, query: &Query) -> Result<Vec<Recording>, InputError> {
    let unit = query.unit.unwrap_or(Unit::Microseconds).nanos();
    let mut done = Vec::new();
    let mut section = Section::default();
    loop {
        let regular = section.samples.take_regular(input.buffered());
        input.skip(regular * REGULAR_LINE, regular as u64);
        let Some(line) = input.next_line() else { break };
        let has_time = is_time(line.bytes);
        if !has_time && section.take_quickly(&line, unit) {
            continue;
        }
        let plain = without_escapes(line.bytes);
        let line = Line { number: line.number, bytes: without_log_prefix(plain.trim_ascii()) };
        if line.bytes.len() < plain.trim_ascii().len() && section.take_quickly(&line, unit) {
            continue;
        }
        // Several outputs in one file are several recordings.
        if line.bytes == b"# Histogram" && section.rows.count() > 0 {
            done.extend(std::mem::take(&mut section).recording(unit));
        }
        section.take(&line);
    }
    done.extend(section.recording(unit));
    number_parts(&mut done);
    Ok(done)
}

impl Section {
    /// Takes a line of samples or of a histogram, which are nearly all of a long file.
    fn take_quickly(&mut self, line: &Line<'_>, unit: i64) -> bool {
        let mut cursor = Cursor::new(line.bytes);
        cursor.skip_blanks();
        if !cursor.rest().first().is_some_and(u8::is_ascii_digit) {
            return false;
        }
        let Some(first) = cursor.unsigned() else { return false };
        match cursor.take(b":") {
            true => self.samples.take(first, cursor, unit, line, &mut self.left_out),
            false => self.rows.take(first, cursor, line, &mut self.left_out),
        }
        true
    }

    fn take(&mut self, line: &Line<'_>) {
        let bytes = line.bytes;
        if bytes.is_empty() {
            return;
        }
        if let Some(comment) = bytes.strip_prefix(b"#") {
            self.footer.take(comment);
        } else if bytes.starts_with(b"T:") {
            if !self.threads.take(bytes) {
                self.left_out.push(line.number, bytes);
            }
        } else if self.threads.take_policy(bytes)
            || self.samples.take_interval(bytes)
            || (self.rows.count() == 0 && self.rows.take_head(bytes))
        {
            // They belong to what follows.
        } else if !is_remark(bytes) {
            self.left_out.push(line.number, bytes);
        } else {
            self.threads.take_remark(bytes);
        }
    }

    /// What was read; none where no latency was.
    fn recording(mut self, unit: i64) -> Option<Recording> {
        let mut recording = match () {
            () if self.rows.count() > 0 => histogram::recording(&mut self, unit),
            () if self.samples.has_any() => self.samples.recording(unit),
            () if self.threads.count() > 0 => self.threads.recording(unit),
            () => return None,
        };
        self.footer.conditions(&mut recording);
        self.left_out.report("lines", &mut recording);
        Some(recording)
    }
}
