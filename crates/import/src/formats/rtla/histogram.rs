//! `rtla timerlat` and `rtla osnoise`: histograms, and the table of `top`.
//!
//! A timerlat histogram has two or three columns for each CPU: latency of the timer interrupt, of the
//! thread, and of the return to user space. Each kind is a recording of its own, because their sum
//! would count every cycle several times. So is the section `ALL:` no further data.

use super::left_out::LeftOut;
use super::{Format, head_lines, is_text};
use crate::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::input::{Input, InputError, Query};
use crate::numbers::{decimal, nanos};
use crate::recording::Recording;
use crate::stated_figures::{
    Scale, StatedFigures, add_bins, add_summary, note_summary, note_unknown_overflow,
};
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;

pub const HISTOGRAM: Format =
    Format { id: "rtla-hist", title: "rtla histogram", fits: fits_histogram, read };
pub const TOP: Format =
    Format { id: "rtla-top", title: "rtla top", fits: fits_top, read: read_top };

/// Prefixes of columns: what each is, and the name of its recording.
const KINDS: [(&str, &str, &str); 4] = [
    ("IRQ-", "irq", "latency of the timer interrupt"),
    ("Thr-", "thread", "wake-up latency"),
    ("Usr-", "user", "latency up to user space"),
    ("CPU-", "noise", "noise in a period"),
];

fn words(line: &[u8]) -> impl Iterator<Item = &str> {
    std::str::from_utf8(line).unwrap_or_default().split_ascii_whitespace()
}

fn is_heading(line: &[u8]) -> bool {
    let mut words = words(line);
    let kind = |word: &str| KINDS.iter().any(|kind| word.starts_with(kind.0));
    words.next() == Some("Index") && words.next().is_some_and(kind)
}

/// Whether the columns have names, but no index: with `--no-index`.
fn is_heading_without_index(line: &[u8]) -> bool {
    let is_column = |word: &str| {
        let number = KINDS.iter().find_map(|kind| word.strip_prefix(kind.0));
        number.is_some_and(|number| number.len() >= 3 && number.parse::<u32>().is_ok())
    };
    words(line).next().is_some() && words(line).all(is_column)
}

fn fits_histogram(head: &[u8]) -> bool {
    is_text(head) && head_lines(head).any(|line| is_heading(line) || is_heading_without_index(line))
}

/// A column with what stands below it.
struct Column {
    kind: usize,
    cpu: Option<u32>,
    bins: Bins,
    stated: StatedFigures,
}

#[derive(Default)]
struct Histogram {
    unit: i64,
    columns: Vec<Column>,
    rows: Vec<u64>,
    length: i64,
    command: Option<String>,
    title: &'static str,
    has_footer: bool,
    ended: bool,
    left: LeftOut,
}

fn read(input: &mut Input, query: &Query) -> Result<Vec<Recording>, InputError> {
    let unit = query.unit.map_or(1_000, |unit| unit.nanos());
    let mut read = Histogram { unit, title: "rtla timerlat histogram", ..Histogram::default() };
    while let Some(line) = input.next_line() {
        let text = line.bytes.trim_ascii();
        if read.columns.is_empty() && is_heading_without_index(text) {
            let text = "its rows have no index (option --no-index of rtla), so it is unknown which \
                        latencies they count";
            return Err(InputError::Malformed(text.to_string()));
        }
        read.take(line.number, text);
    }
    Ok(read.recordings())
}

impl Histogram {
    fn take(&mut self, number: u64, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let mut cells = text.split_ascii_whitespace();
        let Some(first) = cells.next() else { return };
        if is_heading(line) && self.columns.is_empty() {
            self.columns = cells.filter_map(column).collect();
        } else if first == "#" {
            self.take_comment(&text);
        } else if first == "ALL:" || self.ended {
            self.ended = true;
        } else if self.columns.is_empty() {
            if let Some(at) = text.find("rtla ").or_else(|| text.find("timerlat hist")) {
                self.command = Some(text[at..].to_string());
            }
        } else if first.ends_with(':') {
            self.take_figures(first, cells);
        } else {
            let cells: Vec<Option<u64>> = cells.map(|cell| cell.parse().ok()).collect();
            let known = |count: &Option<u64>| count.is_some_and(|count| count < LARGEST_COUNT);
            match first.parse().ok().filter(|bin| *bin < MOST_BINS * 1_000) {
                Some(bin)
                    if cells.len() == self.columns.len()
                        && cells.iter().all(known)
                        && self.rows.len() < MOST_BINS as usize =>
                {
                    let row = self.rows.len() as u32;
                    self.rows.push(bin);
                    for (column, count) in self.columns.iter_mut().zip(cells) {
                        column.bins.push(row, count.unwrap_or(0));
                    }
                }
                // Log lines follow the table.
                _ if self.has_footer => self.ended = true,
                _ => self.left.lose_text(number, line),
            }
        }
    }

    fn take_comment(&mut self, text: &str) {
        if text.contains("osnoise") {
            self.title = "rtla osnoise histogram";
        }
        if text.contains("nanoseconds") {
            self.unit = 1;
        }
        if let Some(at) = text.find("Duration:") {
            self.length = duration(&text[at + "Duration:".len()..]);
        }
    }

    fn take_figures<'a>(&mut self, name: &str, cells: impl Iterator<Item = &'a str>) {
        let unit = self.unit;
        self.has_footer = true;
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            let Some(value) = decimal(cell.as_bytes()).filter(|value| *value >= 0.0) else {
                continue;
            };
            let time = nanos(value, unit);
            let stated = &mut column.stated;
            match name {
                "over:" => {
                    stated.overflow = Some(value as u64).filter(|over| *over < LARGEST_COUNT)
                }
                "count:" => stated.count = Some(value as u64).filter(|all| *all < LARGEST_COUNT),
                "min:" => stated.min_ns = time,
                "avg:" => stated.mean_ns = Some(value * unit as f64),
                "max:" => stated.max_ns = time,
                _ => {}
            }
        }
    }

    /// The distance of the bins: the largest that all indices are multiples of.
    fn width(&self) -> u64 {
        let divisor = |mut a: u64, mut b: u64| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        // Of few rows the distance is known from the command line only.
        let asked = self.command.as_deref().and_then(|command| {
            let mut words = command.split_ascii_whitespace();
            words.find(|word| *word == "-b" || *word == "--bucket-size")?;
            words.next()?.parse().ok()
        });
        let common = self.rows.iter().copied().fold(0, divisor).max(1);
        match asked {
            Some(asked) if asked > 0 && common % asked == 0 => asked,
            _ if self.rows.len() < 4 => 1,
            _ => common,
        }
    }

    fn recordings(mut self) -> Vec<Recording> {
        let width = self.width();
        let end = self.rows.iter().map(|bin| bin / width + 1).max().unwrap_or(1);
        let scale = Scale {
            start_ns: 0,
            width_ns: self.unit.saturating_mul(width.min(1 << 40) as i64),
            bins: u32::try_from(end).unwrap_or(u32::MAX),
            unit_ns: self.unit,
            is_limited: true,
        };
        let mut recordings = Vec::new();
        for (number, (_, part, quantity)) in KINDS.iter().enumerate() {
            let of_kind: Vec<Column> =
                self.columns.extract_if(.., |one| one.kind == number).collect();
            if of_kind.is_empty() {
                continue;
            }
            let mut recording = Recording::new(self.title);
            recording.quantity = quantity;
            recording.part = Some(part.to_string()).filter(|_| *part != "noise");
            recording.command = self.command.clone();
            recording.length_ns = Nanos(self.length);
            recording.resolution_ns = Some(Nanos(self.unit));
            for mut column in of_kind {
                let mut bins = Bins::default();
                for (row, count) in column.bins.take() {
                    bins.push((self.rows[row as usize] / width) as u32, count);
                }
                add_bins(&mut recording, bins, scale, &column.stated);
                if let Some(series) = recording.series.last_mut() {
                    series.cpu = column.cpu;
                }
            }
            if !self.has_footer {
                let missing = "its last lines, from 'over:' to 'max:', are not there".to_string();
                recording.add(ImportFinding::ImportIncomplete { missing });
            }
            self.left.report("lines", &mut recording);
            note_unknown_overflow(&mut recording);
            recordings.push(recording);
        }
        recordings
    }
}

/// A column by its heading: `Thr-003`.
fn column(heading: &str) -> Option<Column> {
    let kind = KINDS.iter().position(|kind| heading.starts_with(kind.0))?;
    let cpu = heading[KINDS[kind].0.len()..].parse().ok();
    Some(Column { kind, cpu, bins: Bins::default(), stated: StatedFigures::default() })
}

/// A time like `0 00:10:00`: days, hours, minutes, seconds.
fn duration(text: &str) -> i64 {
    let mut words = text.split_ascii_whitespace();
    let days: i64 = words.next().and_then(|days| days.parse().ok()).unwrap_or(0);
    let clock = words.next().unwrap_or_default();
    let parts = clock.splitn(3, ':').map(|part| part.parse::<i64>().unwrap_or(0).clamp(0, 1 << 20));
    let seconds = parts.fold(0, |sum, part| sum * 60 + part) + days.clamp(0, 36_500) * 86_400;
    seconds.saturating_mul(1_000_000_000)
}

fn fits_top(head: &[u8]) -> bool {
    is_text(head)
        && head_lines(head).any(|line| {
            line.starts_with(b"CPU COUNT")
                || (line.starts_with(b"CPU Period") && line.windows(9).any(|it| it == b"Max Noise"))
        })
}

fn read_top(input: &mut Input, query: &Query) -> Result<Vec<Recording>, InputError> {
    let mut unit = query.unit.map_or(1_000, |unit| unit.nanos());
    let mut length = 0;
    let mut timerlat: Vec<(u32, Vec<f64>)> = Vec::new();
    let mut is_noise = false;
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        is_noise |= text.contains("Max Noise");
        if text.contains("(ns)") || text.contains("time is in ns") {
            unit = 1;
        }
        let heading = text.split(['|', '\n']).next().unwrap_or_default().trim();
        if heading.split(' ').nth(1).is_some_and(|clock| clock.matches(':').count() == 2) {
            length = duration(heading.trim_start_matches("duration:"));
        }
        let mut words = text.split(['|', ' ', '\t']).filter(|word| !word.is_empty());
        let cpu = words.next().and_then(|cpu| cpu.parse().ok());
        let count = words.next().and_then(|count| count.strip_prefix('#')?.parse::<f64>().ok());
        if let (Some(cpu), Some(count)) = (cpu, count) {
            let number = |word: &str| decimal(word.as_bytes()).unwrap_or(f64::NAN);
            let row = std::iter::once(count).chain(words.map(number)).collect();
            // The screen is drawn again and again; the last one counts.
            timerlat.retain(|known| known.0 != cpu);
            timerlat.push((cpu, row));
        }
    }
    if is_noise {
        return Ok(vec![noise_recording(&timerlat, unit, length)]);
    }
    Ok((0..3).filter_map(|kind| top_recording(kind, &timerlat, unit, length)).collect())
}

/// The noise of each CPU: period, run time, noise of all periods, share, largest noise of a period.
fn noise_recording(rows: &[(u32, Vec<f64>)], unit: i64, length: i64) -> Recording {
    let mut recording = Recording::new("rtla osnoise top");
    recording.quantity = KINDS[3].2;
    recording.length_ns = Nanos(length);
    recording.resolution_ns = Some(Nanos(unit));
    for (cpu, row) in rows {
        let [periods, _, noise, _, largest, ..] = row[..] else { continue };
        let sound = periods >= 1.0 && periods < LARGEST_COUNT as f64 && noise >= 0.0;
        let max_ns = nanos(largest, unit).filter(|time| *time >= 0 && sound);
        let count = max_ns.map(|_| periods as u64);
        let mean_ns = Some(noise / periods * unit as f64);
        add_summary(
            &mut recording,
            &StatedFigures { count, mean_ns, max_ns, ..StatedFigures::default() },
        );
        if let Some(series) = recording.series.last_mut() {
            series.cpu = Some(*cpu);
        }
    }
    recording.series.sort_by_key(|series| series.cpu);
    note_summary(&mut recording);
    recording
}

/// The figures of one kind: current, minimum, mean and maximum stand beside each other.
fn top_recording(
    kind: usize,
    rows: &[(u32, Vec<f64>)],
    unit: i64,
    length: i64,
) -> Option<Recording> {
    let mut recording = Recording::new("rtla timerlat top");
    (recording.part, recording.quantity) = (Some(KINDS[kind].1.to_string()), KINDS[kind].2);
    recording.length_ns = Nanos(length);
    recording.resolution_ns = Some(Nanos(unit));
    for (cpu, row) in rows {
        let figures = row.get(1 + 4 * kind..5 + 4 * kind)?;
        let time = |at: usize| nanos(figures[at], unit).filter(|time| *time >= 0);
        let (min_ns, max_ns) = (time(1), time(3));
        let count = (row[0] < LARGEST_COUNT as f64).then_some(row[0] as u64);
        let count = count.filter(|_| min_ns.is_some() && max_ns.is_some());
        let mean_ns = Some(figures[2] * unit as f64).filter(|mean| mean.is_finite());
        add_summary(
            &mut recording,
            &StatedFigures { count, min_ns, mean_ns, max_ns, ..StatedFigures::default() },
        );
        recording.series.last_mut()?.cpu = Some(*cpu);
    }
    recording.series.sort_by_key(|series| series.cpu);
    note_summary(&mut recording);
    Some(recording).filter(Recording::has_latencies)
}
