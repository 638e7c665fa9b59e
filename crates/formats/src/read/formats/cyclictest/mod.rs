//! Output of any version of cyclictest: histograms, samples, thread lines, and what users make of
//! these: pasted screens, rows extracted with grep, tables with commas.
//!
//! `cyclicdeadline` and `signaltest` print the same lines.

mod footer;
mod histogram;
mod remarks;
mod samples;
mod threads;

use super::left_out::{LeftOut, is_other_text};
use super::table::stated_latency;
use super::{Format, Part, check_number, contains, head_lines, is_text, number_parts};
use crate::read::input::{ImportQuery, Input, InputError, InputUnit};
use crate::read::lines::Line;
use crate::read::recording::Recording;
use footer::{Footer, split};
use histogram::Rows;
use remarks::{is_banner, is_remark};
use samples::{REGULAR_LINE, Sample, Verbose};
use threads::{ThreadLine, ThreadLines};

pub const FORMAT: Format =
    Format { id: "cyclictest", title: "cyclictest", fits, has_value: is_typical, read };

/// Lines of the head used for detection.
const LOOKED_AT: usize = 2_000;

fn fits(head: &[u8]) -> bool {
    is_text(head) && head_lines(head).take(LOOKED_AT).any(is_typical)
}

/// Whether no other program prints such a line.
fn is_typical(line: &[u8]) -> bool {
    if line == b"# Histogram" || line.starts_with(b"# Min Latencies:") {
        return true;
    }
    if line.starts_with(b"T:") {
        return contains(line, " C:") && contains(line, "Min:") && contains(line, "Max:");
    }
    // The first number of a row is not a time in seconds.
    let width = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    Sample::of_line(line).is_some() || (width <= 7 && histogram::is_padded_row(line))
}

/// What has been read of one recording.
#[derive(Default)]
struct Section {
    first_line: u64,
    rows: Rows,
    footer: Footer,
    threads: ThreadLines,
    samples: Verbose,
    left_out: LeftOut,
    /// Text of the first line, if it repeats a statement of the previous recording.
    repeated: Option<Vec<u8>>,
    unfinished: Option<(u64, Vec<u8>)>,
}

fn read(input: &mut Input, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let mut unit = query.unit.unwrap_or(InputUnit::Microseconds).nanos();
    let mut next_unit = unit;
    let mut done: Vec<Part> = Vec::new();
    let mut section = Section { first_line: 1, ..Section::default() };
    loop {
        let regular = section.samples.take_regular(input.buffered());
        input.skip(regular * REGULAR_LINE, regular as u64);
        let Some(line) = input.next_line() else { break };
        let is_cut = !line.is_whole && line.bytes.starts_with(b" ");
        let line = Line { bytes: line.bytes.trim_ascii(), ..line };
        // Trailing blanks of a file are the start of a column.
        if is_cut && line.bytes.is_empty() {
            section.left_out.lose(&line);
        }
        if section.ends_before(&line) {
            let repeated = line.bytes.starts_with(b"#").then(|| line.bytes.to_vec());
            let next = Section { repeated, ..section.successor(line.number) };
            done.extend(std::mem::replace(&mut section, next).part(unit));
            unit = next_unit;
            check_number(&done, line.number)?;
        }
        if let Some(in_file) = unit_of_command(line.bytes).filter(|_| query.unit.is_none()) {
            next_unit = in_file.nanos();
            if !section.has_data() {
                unit = next_unit;
            }
        }
        section.take(&line, unit);
    }
    done.extend(section.part(unit));
    Ok(number_parts(done))
}

impl Section {
    /// Whether this line starts another recording.
    fn ends_before(&self, line: &Line<'_>) -> bool {
        let bytes = line.bytes;
        let first = bytes.first().copied().unwrap_or(b' ');
        if first.is_ascii_digit() {
            return match Sample::of_line(bytes) {
                Some(sample) => self.rows.count() > 0 || self.samples.is_before(&sample),
                None => {
                    let has_ended = self.rows.count() > 0 && !self.footer.is_missing();
                    histogram::bin_of_row(bytes).is_some()
                        && (has_ended || self.rows.begins_again(bytes))
                }
            };
        }
        let has_data = self.rows.count() > 0 || self.samples.has_any();
        match bytes {
            b"# Histogram" => has_data,
            _ if is_banner(bytes) => self.has_data(),
            _ if bytes.starts_with(b"T:") => match ThreadLine::read(line) {
                Some(one) => {
                    self.threads.are_others(&one) || (has_data && !self.threads.knows(&one))
                }
                None => false,
            },
            _ => bytes.starts_with(b"#") && self.footer.has_ended_before(&bytes[1..]),
        }
    }

    fn has_data(&self) -> bool {
        self.rows.count() > 0 || self.samples.has_any() || self.threads.count() > 0
    }

    /// The following section; statements made about all threads carry over.
    fn successor(&self, first_line: u64) -> Section {
        Section { first_line, threads: self.threads.successor(), ..Section::default() }
    }

    fn take(&mut self, line: &Line<'_>, unit: i64) {
        if self.take_unfinished(line) || line.bytes.is_empty() {
            return;
        }
        let bytes = line.bytes;
        if bytes[0].is_ascii_digit() {
            self.take_numbers(line, unit);
        } else if let Some(comment) = bytes.strip_prefix(b"#") {
            if !self.footer.take(comment, line.is_whole) {
                let (name, value) = split(comment);
                self.left_out.pass_over(line, is_figure(name, value) || may_hold_value(bytes));
            }
        } else if bytes.starts_with(b"T:") {
            if !self.threads.take(line) {
                self.unfinished = Some((line.number, bytes.to_vec()));
            }
        } else if self.threads.take_policy(bytes)
            || self.samples.take_interval(bytes)
            || (self.rows.count() == 0 && self.rows.take_head(bytes))
        {
            // They belong to the next recording.
        } else if is_remark(bytes) && !has_padded_number(bytes) {
            self.threads.take_remark(bytes);
        } else {
            self.left_out.pass_over(line, may_hold_value(bytes));
        }
    }

    /// Takes a line of samples or of a histogram; a long file has hardly any others.
    fn take_numbers(&mut self, line: &Line<'_>, unit: i64) {
        let taken = match Sample::of_line(line.bytes) {
            // In an unterminated line the last number may be cut.
            Some(sample) => line.is_whole && self.samples.push(&sample, unit),
            // A histogram row among samples is a sample that lost its colons.
            None => !self.samples.has_any() && self.rows.take(line),
        };
        if !taken {
            self.left_out.lose(line);
        }
    }

    /// A thread line wrapped by a mail program: the rest is on the next line.
    fn take_unfinished(&mut self, line: &Line<'_>) -> bool {
        let Some((number, first)) = self.unfinished.take() else { return false };
        let is_number = !line.bytes.is_empty() && line.bytes.iter().all(u8::is_ascii_digit);
        // The blanks of its column were lost at the line break.
        let rest = String::from_utf8_lossy(line.bytes);
        let joined = [&first[..], format!("{rest:>8}").as_bytes()].concat();
        let joined = Line { number, bytes: &joined, is_whole: true };
        let was_read = is_number && line.is_whole && self.threads.take(&joined);
        if !was_read {
            self.threads.lose(number, &first);
        }
        was_read
    }

    /// The recording and the line at which it begins; `None` without any latency.
    fn part(mut self, unit: i64) -> Option<Part> {
        let first_line = self.first_line;
        if let Some((number, bytes)) = self.unfinished.take() {
            self.threads.lose(number, &bytes);
        }
        let mut recording = match () {
            () if self.rows.count() > 0 => histogram::recording(&mut self, unit),
            () if self.samples.has_any() => self.samples.recording(unit),
            () if self.threads.count() > 0 => self.threads.recording(unit),
            () => return self.lost_part(),
        };
        let (named, has) = (self.footer.named_threads(), recording.series.len());
        if named > has {
            recording.lacks(format!("it names the processes of {named} threads, and has {has}"));
        }
        self.footer.conditions(&mut recording, unit);
        self.threads.report_lost(&mut self.left_out);
        self.left_out.report("lines", &mut recording);
        Some(Part::one(first_line, recording))
    }

    /// What is left of a recording without a readable latency.
    fn lost_part(mut self) -> Option<Part> {
        self.threads.report_lost(&mut self.left_out);
        if let Some(bytes) = self.repeated.filter(|_| !self.footer.is_missing()) {
            self.left_out.lose_text(self.first_line, &bytes);
        }
        Some(Part::none(self.first_line, self.left_out))
    }
}

/// The unit that a cyclictest command line selects.
fn unit_of_command(line: &[u8]) -> Option<InputUnit> {
    let mut words = line.split(u8::is_ascii_whitespace);
    words.find(|word| word.rsplit(|byte| *byte == b'/').next() == Some(b"cyclictest"))?;
    let asks = |word: &[u8]| {
        let is_short = word.starts_with(b"-") && !word.starts_with(b"--");
        word == b"--nsecs" || (is_short && word.contains(&b'N'))
    };
    Some(if words.any(asks) { InputUnit::Nanoseconds } else { InputUnit::Microseconds })
}

/// Whether an unknown statement may be a damaged one about latencies.
fn is_figure(name: &[u8], value: &[u8]) -> bool {
    const PARTS: [&str; 8] =
        ["latenc", "overfl", "rflow", "break", "value", "max", "total", "worst"];
    let lower = name.to_ascii_lowercase();
    let has_digit = value.iter().any(u8::is_ascii_digit);
    may_hold_value(name)
        || has_padded_number(value)
        || (has_digit && PARTS.iter().any(|part| contains(&lower, part)))
}

/// Whether a number is zero-padded, as cyclictest prints them.
fn has_padded_number(line: &[u8]) -> bool {
    let mut numbers = line.split(|byte| !byte.is_ascii_digit());
    numbers.any(|number| number.len() >= 5 && number[0] == b'0')
}

/// Whether an unrecognised line may be the remains of one with a value.
fn may_hold_value(line: &[u8]) -> bool {
    const MARKS: [&str; 6] = ["Min:", "Max:", "Act:", "Avg:", "Latenc", "Overflow"];
    let has_digit = line.iter().any(u8::is_ascii_digit);
    let has_mark = MARKS.iter().any(|mark| contains(line, mark)) || contains(line, "Total");
    let text = String::from_utf8_lossy(line);
    let states_latency = || stated_latency(&text, InputUnit::Microseconds).is_some();
    has_digit
        && (has_mark || has_padded_number(line) || !is_other_text(line, 1) || states_latency())
}
