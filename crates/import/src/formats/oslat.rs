//! What oslat prints: a column of counts for each CPU, whose last row has everything from there on.

use super::left_out::LeftOut;
use super::{Format, contains, is_text};
use crate::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::input::{Input, InputError, Query};
use crate::numbers::{decimal, nanos};
use crate::recording::Recording;
use crate::stated_figures::{Scale, StatedFigures, add_bins};
use latlab_model::Nanos;

pub const FORMAT: Format = Format { id: "oslat", title: "oslat", fits, read };

/// oslat counts in microseconds, unless its buckets are narrower.
const UNIT: i64 = 1_000;

/// Where the buckets of oslat lie. Each is named after the longest gap that it counts, and oslat rounds gaps up to
/// its unit: the bucket of 5 us that is named 10 counts gaps of 6 to 10 us.
pub struct Buckets {
    /// The unit of oslat: a nanosecond if the names have decimals.
    pub unit_ns: i64,
    width_ns: i64,
    start_ns: i64,
}

impl Buckets {
    /// The buckets with these names, in nanoseconds, behind what option `-B` takes off; the width is the
    /// largest that fits all names, unless the command line says it.
    pub fn new(names: &[i64], in_ns: bool, bias_ns: i64, asked_ns: Option<i64>) -> Buckets {
        let unit_ns = if in_ns { 1 } else { UNIT };
        let common = names.iter().map(|name| name - bias_ns).fold(0, divisor);
        let width_ns = asked_ns.filter(|width| *width > 0).unwrap_or(common.max(unit_ns));
        let first = names.iter().min().map_or(0, |first| (first - width_ns).rem_euclid(width_ns));
        Buckets { unit_ns, width_ns, start_ns: first + unit_ns }
    }

    /// The number of the bucket of this name.
    pub fn bin(&self, name_ns: i64) -> Option<u32> {
        let bin = (name_ns + self.unit_ns - self.start_ns) / self.width_ns - 1;
        u32::try_from(bin).ok().filter(|bin| u64::from(*bin) < MOST_BINS)
    }

    /// The scale of so many buckets.
    pub fn scale(&self, bins: u32) -> Scale {
        let Buckets { unit_ns, width_ns, start_ns } = *self;
        Scale { start_ns, width_ns, bins, unit_ns, is_limited: true }
    }
}

/// The largest number that divides both.
fn divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

/// The name of a bucket, in microseconds, as nanoseconds.
pub fn name_of(text: &str) -> Option<i64> {
    nanos(decimal(text.trim().as_bytes())?, UNIT).filter(|name| (0..1 << 40).contains(name))
}

fn fits(head: &[u8]) -> bool {
    is_text(head)
        && contains(head, " (us):")
        && (contains(head, "Core:") || contains(head, "oslat"))
}

#[derive(Default)]
struct Table {
    cpus: Vec<Option<u32>>,
    /// The name of each bucket, and its counts.
    rows: Vec<(i64, Vec<u64>)>,
    stated: Vec<StatedFigures>,
    last_is_over: bool,
    in_ns: bool,
    bias: i64,
    length: i64,
    facts: Vec<(String, String)>,
    tool: Option<String>,
    left: LeftOut,
}

fn read(input: &mut Input, _: &Query) -> Result<Vec<Recording>, InputError> {
    let mut table = Table::default();
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        match text.split_once(':') {
            Some((name, values)) if !table.take(name.trim(), values) => {
                table.left.lose(&line);
            }
            Some(_) => {}
            None if text.starts_with("oslat V") => table.tool = Some(text.to_string()),
            None => table.take_bias(text),
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
            return match (name_of(bin), counts) {
                (Some(name), Some(counts))
                    if self.rows.len() < MOST_BINS as usize && !counts.is_empty() =>
                {
                    self.in_ns |= bin.contains('.');
                    self.last_is_over = values.contains("including overflows");
                    self.rows.push((name, counts));
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

    /// Takes `Global bias set to 2 (us)`, which is not in the counts.
    fn take_bias(&mut self, text: &str) {
        let bias = text.strip_prefix("Global bias set to ");
        let bias = bias.and_then(|rest| name_of(rest.split(' ').next()?));
        if let Some(bias) = bias {
            self.bias = bias;
            self.facts.push(("Bias".to_string(), Nanos(bias).to_string()));
        }
    }

    fn state(
        &mut self,
        values: impl Iterator<Item = Option<f64>>,
        set: impl Fn(&mut StatedFigures, Option<f64>),
    ) {
        for (thread, value) in values.enumerate().take(8192) {
            if self.stated.len() <= thread {
                self.stated.push(StatedFigures::default());
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
        let names: Vec<i64> = self.rows.iter().map(|row| row.0).collect();
        let buckets = Buckets::new(&names, self.in_ns, self.bias, None);
        recording.resolution_ns = Some(Nanos(buckets.unit_ns));
        let last = names.iter().filter_map(|name| buckets.bin(*name)).max()?;
        let end = if self.last_is_over { last } else { last + 1 };
        let scale = buckets.scale(end);
        for thread in 0..threads {
            let (mut bins, mut over) = (Bins::default(), 0u64);
            for (name, counts) in &self.rows {
                let (Some(count), Some(bin)) = (counts.get(thread), buckets.bin(*name)) else {
                    continue;
                };
                match bin >= end {
                    true => over = over.saturating_add(*count),
                    false => bins.push(bin, *count),
                }
            }
            let stated = self.stated.get(thread).copied().unwrap_or_default();
            let stated = StatedFigures { overflow: self.last_is_over.then_some(over), ..stated };
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
