//! The rows of a histogram, and the resulting threads.

use super::Section;
use super::footer::Footer;
use crate::read::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::read::lines::Line;
use crate::read::numbers::Cursor;
use crate::read::recording::Recording;
use crate::read::stated_figures::{
    Scale, StatedFigures, add_bins, contradiction, note_unknown_overflow,
};
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;

/// More columns than any machine has CPUs.
const MOST_COLUMNS: usize = 8192;
/// Width to which cyclictest zero-pads numbers.
const FILLED_TO: usize = 6;

/// The rows so far.
#[derive(Default)]
pub struct Rows {
    columns: Vec<Bins>,
    counts: Vec<u64>,
    rows: u64,
    first_bin: u64,
    last_bin: u64,
    /// Whether each number is zero-padded, as cyclictest itself prints it.
    is_filled: bool,
    /// Whether the last column was the sum of the others in each row.
    last_is_sum: bool,
    has_head: bool,
}

impl Rows {
    pub fn count(&self) -> u64 {
        self.rows
    }

    /// Column names above a table made from the rows: `time,core1,core2`.
    pub fn take_head(&mut self, line: &[u8]) -> bool {
        let is_head = !self.has_head
            && line.first().is_some_and(u8::is_ascii_alphabetic)
            && !line.contains(&b':')
            && line.iter().any(|byte| b",;\t".contains(byte));
        self.has_head |= is_head;
        is_head
    }

    /// Whether a row starts another histogram: its bin is the first one again, or below.
    pub fn begins_again(&self, line: &[u8]) -> bool {
        self.rows > 1 && bin_of_row(line).is_some_and(|bin| bin <= self.first_bin)
    }

    /// Takes a row; returns whether it could be read.
    pub fn take(&mut self, line: &Line<'_>) -> bool {
        let mut cursor = Cursor::new(line.bytes);
        let is_filled = is_padded_row(line.bytes);
        let Some(bin) = cursor.unsigned() else { return false };
        self.counts.clear();
        if !is_filled && (self.is_filled || has_filled_number(line.bytes)) {
            return false;
        }
        loop {
            cursor.skip_separators();
            let zeros = cursor.take_zero_columns();
            self.counts.resize(self.counts.len() + zeros, 0);
            if cursor.rest().is_empty() && self.counts.len() <= MOST_COLUMNS {
                break;
            }
            match cursor.unsigned() {
                Some(count) if count < LARGEST_COUNT && self.counts.len() < MOST_COLUMNS => {
                    self.counts.push(count)
                }
                _ => return false,
            }
        }
        let last = line.bytes.rsplit(|byte| !byte.is_ascii_digit()).next().unwrap_or_default();
        // In an unterminated line the last number may be cut.
        let is_complete = line.is_whole || (is_filled && last.first() == Some(&b'0'));
        let expected = if self.rows == 0 { self.counts.len() } else { self.columns.len() };
        let is_later = self.rows == 0 || bin > self.last_bin;
        if !is_complete
            || self.counts.len() != expected
            || expected == 0
            || bin >= MOST_BINS
            || !is_later
        {
            return false;
        }
        if self.rows == 0 {
            self.columns.resize_with(expected, Bins::default);
            (self.last_is_sum, self.is_filled, self.first_bin) = (true, is_filled, bin);
        }
        self.rows += 1;
        self.last_bin = bin;
        for (column, count) in self.columns.iter_mut().zip(&self.counts) {
            column.push(bin as u32, *count);
        }
        if let Some((last, others)) = self.counts.split_last() {
            self.last_is_sum &= others.iter().sum::<u64>() == *last;
        }
        true
    }

    /// Whether the last column is the sum of all threads, as printed with option `-H`. The footer
    /// has a minimum for each thread, but none for the sum.
    fn has_sum(&self, minima: usize) -> bool {
        let columns = self.columns.len();
        let counted = self.columns.last().is_some_and(|last| last.total() > 0);
        match columns {
            0..=2 => false,
            _ if minima + 1 == columns => true,
            _ if minima == columns => false,
            _ => self.last_is_sum && counted,
        }
    }
}

/// The bin of a row that consists only of numbers.
pub fn bin_of_row(line: &[u8]) -> Option<u64> {
    let mut numbers = words(line);
    let bin = Cursor::new(numbers.next()?).unsigned()?;
    let has_counts = numbers.next().is_some();
    let is_row = has_counts && words(line).all(|word| word.iter().all(u8::is_ascii_digit));
    is_row.then_some(bin)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| b" \t,;|".contains(byte)).filter(|word| !word.is_empty())
}

/// Whether all numbers of a row are zero-padded, as cyclictest prints them.
pub fn is_padded_row(line: &[u8]) -> bool {
    let mut numbers = 0;
    for word in words(line) {
        let is_filled =
            word.len() == FILLED_TO || (word.len() > FILLED_TO && word.first() != Some(&b'0'));
        if !is_filled || !word.iter().all(u8::is_ascii_digit) {
            return false;
        }
        numbers += 1;
    }
    numbers > 1 && line.len() > FILLED_TO
}

/// Whether any number of a row begins with a zero, which only padding produces.
fn has_filled_number(line: &[u8]) -> bool {
    words(line).any(|word| word.len() > 1 && word[0] == b'0')
}

/// Compares the footer's statements about the sum of all threads with those about each.
fn compare_with_sum(recording: &mut Recording, footer: &Footer, threads: usize, unit: i64) {
    let of_sum = |list: &[u64]| list.get(threads).copied();
    if let Some(max) = of_sum(footer.max()) {
        let max = max.saturating_mul(unit as u64).min(1 << 62) as i64;
        recording.has_at_least("Maximum of all threads", Nanos(max));
    }
    let counted: u64 = footer.overflows().iter().take(threads).sum();
    if let Some(stated) = of_sum(footer.overflows()).filter(|stated| *stated != counted) {
        let (stated, counted) = (stated.to_string(), counted.to_string());
        contradiction(recording, 0, "Overflows of all threads", stated, counted);
    }
}

/// The recording of a section with rows.
pub fn recording(section: &mut Section, unit: i64) -> Recording {
    let Section { rows, footer, threads, .. } = section;
    let mut recording = Recording::new(match threads.is_deadline() {
        true => "cyclicdeadline histogram",
        false => "cyclictest histogram",
    });
    recording.resolution_ns = Some(Nanos(unit));
    let has_sum = rows.has_sum(footer.min().len());
    let all = rows.columns.len();
    let mut columns = std::mem::take(&mut rows.columns);
    let sum = if has_sum { columns.pop() } else { None };
    let scale = Scale {
        start_ns: 0,
        width_ns: unit,
        bins: rows.last_bin as u32 + 1,
        unit_ns: unit,
        is_limited: true,
    };
    let counted: u64 = columns.iter().map(Bins::total).sum();
    let at = |list: &[u64], thread: usize| {
        list.get(thread).map(|value| value.saturating_mul(unit as u64).min(1 << 62) as i64)
    };
    let threads_of_rows = columns.len();
    for (thread, bins) in columns.into_iter().enumerate() {
        let stated = StatedFigures {
            binned: footer.total().get(thread).copied(),
            count: None,
            overflow: footer
                .overflows()
                .get(thread)
                .copied()
                .filter(|count| *count < LARGEST_COUNT),
            // Without any latency it is the initial value of the search.
            min_ns: at(footer.min(), thread).filter(|_| bins.total() > 0),
            mean_ns: at(footer.mean(), thread).map(|mean| mean as f64),
            max_ns: at(footer.max(), thread),
        };
        add_bins(&mut recording, bins, scale, &stated);
        threads.describe(thread as u32, recording.series.last_mut());
    }
    if sum.is_some() {
        compare_with_sum(&mut recording, footer, threads_of_rows, unit);
    }
    for (thread, listed, counted) in footer.listed_above_count() {
        if thread < threads_of_rows {
            let listed = format!("{listed} in a list");
            contradiction(
                &mut recording,
                thread,
                "Histogram Overflows",
                listed,
                counted.to_string(),
            );
        }
    }
    if let Some(sum) = sum.filter(|sum| sum.total() != counted) {
        let (stated, counted) = (sum.total().to_string(), counted.to_string());
        contradiction(&mut recording, 0, "Column with the sum of all threads", stated, counted);
    }
    if footer.is_missing() {
        let missing = "its footer, with the maximum and the overflows, is not there".to_string();
        recording.add(ImportFinding::ImportIncomplete { missing });
    }
    for (name, length) in footer.lists_of_other_length(threads_of_rows) {
        if length != all {
            let columns = format!("{threads_of_rows} columns");
            contradiction(&mut recording, 0, name, format!("{length} threads"), columns);
        }
    }
    if footer.listed_threads() > all {
        let listed = format!("{} threads", footer.listed_threads());
        contradiction(&mut recording, 0, "Histogram Overflows", listed, format!("{all} columns"));
    }
    threads.compare(&mut recording, unit);
    // With a histogram all threads have the same period.
    recording.compare_cycles(!threads.is_deadline());
    note_unknown_overflow(&mut recording);
    recording
}
