//! The rows of a histogram, and the threads that they come to.

use super::super::left_out::LeftOut;
use super::Section;
use crate::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::lines::Line;
use crate::numbers::Cursor;
use crate::recording::Recording;
use crate::stated_figures::{Scale, StatedFigures, add_bins, contradiction, note_unknown_overflow};
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;

/// More columns than any machine has CPUs.
const MOST_COLUMNS: usize = 8192;

/// The rows so far.
#[derive(Default)]
pub struct Rows {
    columns: Vec<Bins>,
    counts: Vec<u64>,
    rows: u64,
    last_bin: u32,
    /// Whether the last column was the sum of the others in each row.
    last_is_sum: bool,
    has_head: bool,
}

impl Rows {
    /// How many rows there are.
    pub fn count(&self) -> u64 {
        self.rows
    }

    /// The names above a table that was made of the rows: `time,core1,core2`.
    pub fn take_head(&mut self, line: &[u8]) -> bool {
        let is_head = !self.has_head
            && line.first().is_some_and(u8::is_ascii_alphabetic)
            && line.iter().any(|byte| b",;\t".contains(byte));
        self.has_head |= is_head;
        is_head
    }

    /// Takes a row whose first number has been read.
    pub fn take(&mut self, bin: u64, mut cursor: Cursor<'_>, line: &Line<'_>, left: &mut LeftOut) {
        self.counts.clear();
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
                _ => return left.push(line.number, line.bytes),
            }
        }
        let expected = if self.rows == 0 { self.counts.len() } else { self.columns.len() };
        if self.counts.len() != expected {
            left.push(line.number, line.bytes);
        }
        if bin >= MOST_BINS || self.counts.len() < expected || expected == 0 {
            if self.counts.len() == expected {
                left.push(line.number, line.bytes);
            }
            return;
        }
        self.counts.truncate(expected);
        if self.rows == 0 {
            self.columns.resize_with(expected, Bins::default);
            self.last_is_sum = true;
        }
        self.rows += 1;
        let bin = bin as u32;
        self.last_bin = self.last_bin.max(bin);
        for (column, count) in self.columns.iter_mut().zip(&self.counts) {
            column.push(bin, *count);
        }
        if let Some((last, others)) = self.counts.split_last() {
            self.last_is_sum &= others.iter().sum::<u64>() == *last;
        }
    }

    /// Whether the last column is the sum of all threads, as option `-H` prints it. The
    /// footer has a minimum for each thread, but none for the sum.
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

/// The recording of a section with rows.
pub fn recording(section: &mut Section, unit: i64) -> Recording {
    let Section { rows, footer, threads, .. } = section;
    let mut recording = Recording::new(match threads.is_deadline() {
        true => "cyclicdeadline histogram",
        false => "cyclictest histogram",
    });
    recording.resolution_ns = Some(Nanos(unit));
    let has_sum = rows.has_sum(footer.min.len());
    let mut columns = std::mem::take(&mut rows.columns);
    let sum = if has_sum { columns.pop() } else { None };
    let scale = Scale {
        start_ns: 0,
        width_ns: unit,
        bins: rows.last_bin + 1,
        unit_ns: unit,
        is_limited: true,
    };
    let counted: u64 = columns.iter().map(Bins::total).sum();
    let at = |list: &[u64], thread: usize| {
        list.get(thread).map(|value| value.saturating_mul(unit as u64).min(1 << 62) as i64)
    };
    for (thread, bins) in columns.into_iter().enumerate() {
        let stated = StatedFigures {
            binned: footer.total.get(thread).copied(),
            count: None,
            overflow: footer.overflows.get(thread).copied().filter(|count| *count < LARGEST_COUNT),
            // Without any latency it is the value that the search began with.
            min_ns: at(&footer.min, thread).filter(|_| bins.total() > 0),
            mean_ns: at(&footer.mean, thread).map(|mean| mean as f64),
            max_ns: at(&footer.max, thread),
        };
        add_bins(&mut recording, bins, scale, &stated);
        threads.describe(thread as u32, recording.series.last_mut());
    }
    if let Some(sum) = sum.filter(|sum| sum.total() != counted) {
        let (stated, counted) = (sum.total().to_string(), counted.to_string());
        contradiction(&mut recording, 0, "Column with the sum of all threads", stated, counted);
    }
    if footer.is_missing() {
        let missing = "its footer, with the maximum and the overflows, is not there".to_string();
        recording.add(ImportFinding::ImportIncomplete { missing });
    }
    note_unknown_overflow(&mut recording);
    recording
}
