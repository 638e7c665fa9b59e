//! The histogram that EVL's `latmus -g` writes: figures in comments, and a row per microsecond.

use super::left_out::{LeftOut, is_other_text};
use super::{Format, Part, head_lines, is_text, number_parts};
use crate::read::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::numbers::{decimal, nanos};
use crate::read::recording::Recording;
use crate::read::stated_figures::{Scale, StatedFigures, add_bins, note_unknown_overflow};
use latlab_model::Nanos;

pub const FORMAT: Format =
    Format { id: "latmus", title: "histogram of EVL's latmus", fits, has_value, read };

/// Rows and figures are in microseconds, the figures with decimals.
const UNIT: i64 = 1_000;

fn fits(head: &[u8]) -> bool {
    let has = |start: &[u8]| head_lines(head).any(|line| line.starts_with(start));
    is_text(head) && has(b"# sampling period:") && has(b"# max latency:")
}

fn has_value(line: &[u8]) -> bool {
    line.starts_with(b"# max latency:")
}

#[derive(Default)]
struct Histogram {
    first_line: u64,
    bins: Bins,
    last_bin: Option<u64>,
    stated: StatedFigures,
    period: Option<Nanos>,
    facts: Vec<(String, String)>,
    length: i64,
    left: LeftOut,
}

fn read(input: &mut Input, _: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let mut parts = Vec::new();
    let mut histogram = Histogram { first_line: 1, ..Histogram::default() };
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        if text.starts_with("# sampling period:") && histogram.last_bin.is_some() {
            let next = Histogram { first_line: line.number, ..Histogram::default() };
            parts.push(std::mem::replace(&mut histogram, next).part());
        }
        let taken = match text.strip_prefix('#') {
            Some(comment) => histogram.take_comment(comment.trim()),
            None => line.is_whole && histogram.take_row(text),
        };
        if !taken {
            histogram.left.pass_over(&line, !is_other_text(line.bytes, 1));
        }
    }
    parts.push(histogram.part());
    Ok(number_parts(parts))
}

impl Histogram {
    fn take_comment(&mut self, comment: &str) -> bool {
        let Some((name, value)) = comment.split_once(':') else { return false };
        let value = value.trim();
        let is_figure = |value: &&str| value.split_once('.').is_some_and(|(_, one)| one.len() == 3);
        let time = |value: &str| nanos(decimal(value.as_bytes())?, UNIT);
        let figure = |value: &str| time(Some(value).filter(is_figure)?);
        match name {
            "min latency" => self.stated.min_ns = figure(value),
            "avg latency" => self.stated.mean_ns = figure(value).map(|mean| mean as f64),
            "max latency" => self.stated.max_ns = figure(value),
            "sample count" => self.stated.count = value.parse().ok(),
            "sampling period" => {
                self.period = value.strip_suffix(" microseconds").and_then(time).map(Nanos);
            }
            "duration (hhmmss)" => {
                let parts = value.split(':').map(|part| part.parse::<i64>().unwrap_or(0));
                self.length =
                    parts.fold(0, |sum, part| sum.saturating_mul(60).saturating_add(part));
            }
            _ => self.facts.push((name.to_string(), value.to_string())),
        }
        // An unreadable figure is lost, whatever else the comment says.
        !matches!(name, "min latency" | "avg latency" | "max latency") || figure(value).is_some()
    }

    fn take_row(&mut self, text: &str) -> bool {
        let mut cells = text.split_ascii_whitespace();
        let mut number = || cells.next()?.parse::<u64>().ok();
        let (Some(bin), Some(count)) = (number(), number()) else { return text.is_empty() };
        let is_later = self.last_bin.is_none_or(|last| bin > last);
        if cells.next().is_some() || bin >= MOST_BINS || count >= LARGEST_COUNT || !is_later {
            return false;
        }
        self.bins.push(bin as u32, count);
        self.last_bin = Some(bin);
        true
    }

    fn part(self) -> Part {
        let mut recording = Recording::new("EVL latmus histogram");
        recording.tool = Some("latmus".to_string());
        recording.resolution_ns = Some(Nanos(UNIT));
        recording.length_ns = Nanos(self.length.saturating_mul(1_000_000_000));
        let end = self.last_bin.unwrap_or(0) as u32 + 1;
        let scale = Scale { start_ns: 0, width_ns: UNIT, bins: end, unit_ns: 1, is_limited: true };
        add_bins(&mut recording, self.bins, scale, &self.stated);
        if let Some(series) = recording.series.last_mut() {
            series.period_ns = self.period;
            // Rows are truncated to microseconds; the stated mean has nanoseconds.
            let counts = &mut series.counts;
            let (least, most) = (counts.min_ns.0 as f64, counts.max_ns.0 as f64);
            if let Some(mean) = self.stated.mean_ns.filter(|mean| (least..=most).contains(mean)) {
                counts.sum_ns = (mean * counts.summed() as f64).round() as i128;
            }
        }
        self.facts.into_iter().for_each(|(name, text)| recording.fact(&name, text));
        self.left.report("lines", &mut recording);
        note_unknown_overflow(&mut recording);
        Part::one(self.first_line, recording)
    }
}
