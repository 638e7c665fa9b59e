//! What oslat prints: a column of counts for each CPU, whose last row has everything from there on.

use super::left_out::LeftOut;
use super::{Format, contains, is_text};
use crate::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::input::{Fault, Input, Query};
use crate::numbers::{decimal, nanos};
use crate::recording::Recording;
use crate::stated::{Scale, Stated, add_bins};
use latlab_model::Nanos;

pub const FORMAT: Format = Format { id: "oslat", title: "oslat", fits, read };

/// oslat counts in microseconds.
const UNIT: i64 = 1_000;

fn fits(head: &[u8]) -> bool {
    is_text(head)
        && contains(head, " (us):")
        && (contains(head, "Core:") || contains(head, "oslat"))
}

#[derive(Default)]
struct Table {
    cpus: Vec<Option<u32>>,
    rows: Vec<(u32, Vec<u64>)>,
    stated: Vec<Stated>,
    last_is_over: bool,
    length: i64,
    facts: Vec<(String, String)>,
    tool: Option<String>,
    left: LeftOut,
}

fn read(input: &mut Input, _: &Query) -> Result<Vec<Recording>, Fault> {
    let mut table = Table::default();
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        match text.split_once(':') {
            Some((name, values)) if !table.take(name.trim(), values) => {
                table.left.push(line.number, line.bytes);
            }
            Some(_) => {}
            None if text.starts_with("oslat V") => table.tool = Some(text.to_string()),
            None => {}
        }
    }
    Ok(table.recording().into_iter().collect())
}

impl Table {
    fn take(&mut self, name: &str, values: &str) -> bool {
        let cells = values.split('(').next().unwrap_or_default();
        let cells: Vec<&str> = cells.split_ascii_whitespace().collect();
        let numbers = || cells.iter().map(|cell| decimal(cell.as_bytes()));
        if let Some(bin) = name.strip_suffix(" (us)") {
            let counts: Option<Vec<u64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
            let counts = counts.filter(|counts| counts.iter().all(|count| *count < LARGEST_COUNT));
            return match (bin.trim().parse::<u64>().ok(), counts) {
                (Some(bin), Some(counts)) if bin < MOST_BINS && !counts.is_empty() => {
                    self.last_is_over = values.contains("including overflows");
                    self.rows.push((bin as u32, counts));
                    true
                }
                _ => false,
            };
        }
        let time = |value: Option<f64>| nanos(value?, UNIT).filter(|time| *time >= 0);
        match name {
            "Core" => self.cpus = cells.iter().map(|cell| cell.parse().ok()).collect(),
            "Minimum" => self.state(numbers(), |one, value| one.min_ns = time(value)),
            "Average" => {
                self.state(numbers(), |one, value| {
                    one.mean_ns = value.map(|mean| mean * UNIT as f64)
                });
            }
            "Maximum" => self.state(numbers(), |one, value| one.max_ns = time(value)),
            "Duration" => {
                let longest = numbers().flatten().fold(0.0, f64::max);
                self.length = nanos(longest, 1_000_000_000).unwrap_or(0);
            }
            "Thread priority" | "CPU list" | "Workload" | "Workload mem" => {
                self.facts.push((name.to_string(), values.trim().to_string()));
            }
            _ => {}
        }
        true
    }

    fn state(
        &mut self,
        values: impl Iterator<Item = Option<f64>>,
        set: impl Fn(&mut Stated, Option<f64>),
    ) {
        for (thread, value) in values.enumerate().take(8192) {
            if self.stated.len() <= thread {
                self.stated.push(Stated::default());
            }
            set(&mut self.stated[thread], value);
        }
    }

    fn recording(mut self) -> Option<Recording> {
        let threads = self.rows.first()?.1.len();
        let mut recording = Recording::new("oslat histogram");
        recording.quantity = "time taken from a busy loop";
        recording.tool = self.tool.take();
        recording.length_ns = Nanos(self.length);
        recording.resolution_ns = Some(Nanos(UNIT));
        let last = self.rows.iter().map(|row| row.0).max()?;
        let end = if self.last_is_over { last } else { last + 1 };
        let scale =
            Scale { start_ns: 0, width_ns: UNIT, bins: end, unit_ns: UNIT, is_limited: true };
        for thread in 0..threads {
            let (mut bins, mut over) = (Bins::default(), 0u64);
            for (bin, counts) in &self.rows {
                let Some(count) = counts.get(thread) else { continue };
                match *bin >= end {
                    true => over = over.saturating_add(*count),
                    false => bins.push(*bin, *count),
                }
            }
            let stated = self.stated.get(thread).copied().unwrap_or_default();
            let stated = Stated { overflow: self.last_is_over.then_some(over), ..stated };
            add_bins(&mut recording, bins, scale, &stated);
            if let Some(series) = recording.series.last_mut() {
                series.cpu = self.cpus.get(thread).copied().flatten();
            }
        }
        for (name, text) in &self.facts {
            recording.fact(name, text.clone());
        }
        if !self.last_is_over {
            let missing = "the last row of the histogram is not there".to_string();
            recording.add(latlab_model::finding::ImportFinding::ImportIncomplete { missing });
        }
        self.left.report("lines", &mut recording);
        Some(recording)
    }
}
