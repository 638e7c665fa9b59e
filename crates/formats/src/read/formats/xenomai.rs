//! Output of the `latency` programs of Xenomai, EVL and RTAI: a line of figures per second, and
//! with `-h` the histograms of Xenomai.

use super::left_out::{LeftOut, is_other_text};
use super::{Format, Part, contains, head_lines, is_text, number_parts};
use crate::read::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::lines::Line;
use crate::read::numbers::{decimal, nanos};
use crate::read::recording::{LatencySeries, Recording};
use crate::read::stated_figures::{
    Scale, StatedFigures, add_bins, add_summary, contradiction, note_summary,
};
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;

pub const FORMAT: Format = Format {
    id: "xenomai",
    title: "latency of Xenomai, EVL or RTAI",
    fits,
    has_value: has_cells,
    read,
};

/// Xenomai counts in microseconds with decimals, RTAI in nanoseconds.
const MICROSECONDS: i64 = 1_000;
const NANOSECONDS: i64 = 1;

/// Names of the columns that are read.
const COLUMNS: [(&str, Column); 8] = [
    ("lat min", Column::Min),
    ("lat avg", Column::Mean),
    ("lat max", Column::Max),
    ("overrun", Column::Overruns),
    ("lat best", Column::Best),
    ("lat worst", Column::Worst),
    ("ovl min", Column::Best),
    ("ovl max", Column::Worst),
];
/// The columns of older versions, which print no names.
const DEFAULT: [Column; 7] = [
    Column::Min,
    Column::Mean,
    Column::Max,
    Column::Overruns,
    Column::Other,
    Column::Best,
    Column::Worst,
];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Column {
    Min,
    Mean,
    Max,
    Overruns,
    /// The smallest of all seconds so far.
    Best,
    /// The largest of all seconds so far.
    Worst,
    Other,
}

fn fits(head: &[u8]) -> bool {
    is_text(head) && head_lines(head).any(has_cells)
}

fn has_cells(line: &[u8]) -> bool {
    ["RTD|", "RTS|", "RTT|"].iter().any(|start| line.starts_with(start.as_bytes()))
}

/// The figures of one second, or of all.
#[derive(Clone, Copy, Debug)]
struct Figures {
    min: f64,
    mean: f64,
    max: f64,
    best: Option<f64>,
    worst: Option<f64>,
    overruns: u64,
}

struct Screen {
    first_line: u64,
    columns: Vec<Column>,
    unit: i64,
    is_rtai: bool,
    lines: u64,
    min: Option<f64>,
    max: Option<f64>,
    means: f64,
    /// The largest latency in a column over all seconds.
    worst: Option<f64>,
    summary: Option<Figures>,
    seconds: Option<u64>,
    overruns: u64,
    period_us: Option<u64>,
    priority: Option<String>,
    last_head: Option<String>,
    rows: Vec<(u64, u64)>,
    left: LeftOut,
}

fn read(input: &mut Input, _: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let mut parts = Vec::new();
    let mut screen = Screen::new(1);
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        if text.starts_with("RTH|") && contains(text.as_bytes(), "ctx switches") {
            let text = "switchtest counts switches of threads; it has no latencies".to_string();
            return Err(InputError::Malformed(text));
        }
        if line.is_whole && screen.ends_before(text) {
            let next = screen.successor(line.number);
            parts.extend(std::mem::replace(&mut screen, next).part());
        }
        if !screen.take(text, line.is_whole) {
            screen.left.pass_over(&line, may_hold_value(&line));
        }
    }
    parts.extend(screen.part());
    Ok(number_parts(parts))
}

/// Whether an unrecognised line may be the remains of one with figures.
fn may_hold_value(line: &Line<'_>) -> bool {
    let has_digit = line.bytes.iter().any(u8::is_ascii_digit);
    let is_rest = line.bytes.starts_with(b"RTD") || line.bytes.starts_with(b"RTS");
    is_rest || (has_digit && (line.bytes.contains(&b'|') || !is_other_text(line.bytes, 1)))
}

/// The cells of a line; there is none after its last rule.
fn cells(text: &str) -> Vec<&str> {
    text.strip_suffix('|').unwrap_or(text).split('|').map(str::trim).collect()
}

impl Screen {
    fn new(first_line: u64) -> Screen {
        Screen {
            first_line,
            columns: Vec::new(),
            unit: MICROSECONDS,
            is_rtai: false,
            lines: 0,
            min: None,
            max: None,
            means: 0.0,
            worst: None,
            summary: None,
            seconds: None,
            overruns: 0,
            period_us: None,
            priority: None,
            last_head: None,
            rows: Vec::new(),
            left: LeftOut::default(),
        }
    }

    /// The screen of the next run; what its lines do not repeat carries over.
    fn successor(&self, first_line: u64) -> Screen {
        let (unit, is_rtai, columns) = (self.unit, self.is_rtai, self.columns.clone());
        Screen { unit, is_rtai, columns, ..Screen::new(first_line) }
    }

    /// Whether this line starts another run.
    fn ends_before(&self, text: &str) -> bool {
        if self.lines == 0 && self.summary.is_none() {
            return false;
        }
        match text.split('|').next().unwrap_or_default().trim() {
            "RTT" => {
                let time =
                    |head: &str| head.split('|').nth(1)?.split('(').next().map(str::to_string);
                let before = self.last_head.as_deref().and_then(time);
                self.summary.is_some() || before.is_some_and(|last| time(text) <= Some(last))
            }
            "RTD" => {
                let worst = self.figures(&cells(text)).and_then(|figures| figures.worst);
                let falls = worst.zip(self.worst).is_some_and(|(now, before)| now < before);
                self.summary.is_some() || falls
            }
            _ => {
                text.starts_with("== ")
                    || text.starts_with("RTAI Testsuite")
                    || text == "warming up..."
            }
        }
    }

    /// Takes a line; returns whether it was recognised.
    fn take(&mut self, text: &str, is_whole: bool) -> bool {
        let cells = cells(text);
        match cells[0] {
            "RTD" | "RTS" => match self.figures(&cells).filter(|_| is_whole) {
                Some(figures) => {
                    self.take_figures(figures, &cells);
                    true
                }
                None => false,
            },
            "RTT" => {
                self.last_head = Some(text.to_string());
                self.take_head(text);
                true
            }
            "RTH" => {
                self.columns = cells[1..].iter().map(|name| column(name)).collect();
                self.is_rtai |= contains(text.as_bytes(), "ovl m");
                true
            }
            "HSD" => is_whole && self.take_row(&cells),
            // The headings and figures of the histograms, and rules.
            "HSH" | "HSS" | "---" => true,
            _ if text.is_empty() => true,
            _ if text.starts_with("== All results in ") => {
                let unit = match text.trim_start_matches("== All results in ") {
                    "microseconds" => Some(MICROSECONDS),
                    "nanoseconds" => Some(NANOSECONDS),
                    "milliseconds" => Some(1_000 * MICROSECONDS),
                    _ => None,
                };
                self.unit = unit.unwrap_or(self.unit);
                unit.is_some()
            }
            _ if text.starts_with("== ") || text == "warming up..." => true,
            _ if text.starts_with("RTAI Testsuite") => {
                self.is_rtai = true;
                self.unit =
                    if text.contains("in nanoseconds") { NANOSECONDS } else { MICROSECONDS };
                true
            }
            _ => false,
        }
    }

    /// The figures of a line in which every cell is one.
    fn figures(&self, cells: &[&str]) -> Option<Figures> {
        // The columns of RTAI differ from version to version.
        if self.is_rtai && self.columns.is_empty() {
            return None;
        }
        let columns = if self.columns.is_empty() { &DEFAULT[..] } else { &self.columns };
        let mut cells: Vec<&str> = cells[1..].to_vec();
        // The last line has the duration in place of the extremes of all seconds.
        let has_time = cells.last().is_some_and(|last| last.contains(':'));
        if has_time {
            cells.pop();
        }
        let columns = if has_time { columns.get(..cells.len())? } else { columns };
        if columns.len() != cells.len() && !self.columns.is_empty() {
            return None;
        }
        let values: Option<Vec<f64>> = cells.iter().map(|cell| figure(cell)).collect();
        let values = values?;
        let of = |wanted: Column| {
            let at = columns.iter().position(|column| *column == wanted)?;
            values.get(at).copied()
        };
        let overruns = of(Column::Overruns).unwrap_or(0.0);
        Some(Figures {
            min: of(Column::Min)?,
            mean: of(Column::Mean)?,
            max: of(Column::Max)?,
            best: of(Column::Best),
            worst: of(Column::Worst),
            overruns: (overruns >= 0.0).then_some(overruns as u64)?,
        })
    }

    fn take_figures(&mut self, figures: Figures, cells: &[&str]) {
        self.overruns = self.overruns.max(figures.overruns);
        if cells[0] == "RTS" {
            self.summary = Some(figures);
            let time = cells.iter().rev().find(|cell| cell.contains(':'));
            self.seconds = time.and_then(|time| seconds(time.split('/').next()?));
            return;
        }
        self.lines += 1;
        self.means += figures.mean;
        let least = figures.best.map_or(figures.min, |best| best.min(figures.min));
        self.min = Some(self.min.map_or(least, |known| known.min(least)));
        self.max = Some(self.max.map_or(figures.max, |known| known.max(figures.max)));
        self.worst = figures.worst.into_iter().chain(self.worst).reduce(f64::max);
    }

    /// Takes `RTT| 00:00:01 (periodic user-mode task, 10000 us period, priority 99)`.
    fn take_head(&mut self, text: &str) {
        for part in text.trim_end_matches([')', '\r', ' ']).split(',').map(str::trim) {
            if let Some(period) = part.strip_suffix(" us period") {
                self.period_us =
                    period.trim().parse().ok().filter(|us| (1..=1_000_000).contains(us));
            }
            if let Some(priority) = part.strip_prefix("priority ") {
                self.priority = Some(format!("priority {}", priority.trim()));
            }
        }
    }

    /// Takes `HSD| avg| 2 - 3 | 10`: of all cycles, not of the extremes.
    fn take_row(&mut self, cells: &[&str]) -> bool {
        let [_, which, range, count, ..] = cells else { return false };
        let low = range.split('-').next().and_then(|low| low.trim().parse().ok());
        let (Some(low), Ok(count)) = (low, count.parse()) else { return false };
        let fits = low < MOST_BINS && count < LARGEST_COUNT && self.rows.len() < MOST_BINS as usize;
        match *which {
            "avg" if fits => self.rows.push((low, count)),
            "min" | "max" => {}
            _ => return false,
        }
        fits
    }

    /// The recording and the line at which it begins; `None` without figures.
    fn part(self) -> Option<Part> {
        let has_any = self.max.is_some() || self.summary.is_some() || !self.rows.is_empty();
        let first_line = self.first_line;
        Some(match has_any {
            true => Part::one(first_line, self.recording()),
            false => Part::none(first_line, self.left),
        })
    }

    fn recording(self) -> Recording {
        let unit = self.unit;
        let mut recording =
            Recording::new(if self.is_rtai { "RTAI latency" } else { "Xenomai latency" });
        recording.resolution_ns = Some(Nanos(1));
        let time = |value: f64| nanos(value, unit);
        let each = self.period_us.map(|period| 1_000_000 / period);
        let final_mean = self.summary.map(|summary| summary.mean);
        let mean = final_mean.unwrap_or(self.means / self.lines.max(1) as f64);
        let stated = StatedFigures {
            count: Some(self.lines.max(1).saturating_mul(each.unwrap_or(1))),
            min_ns: self.min.or(self.summary.map(|summary| summary.min)).and_then(time),
            mean_ns: Some(mean * unit as f64),
            max_ns: self.max.or(self.summary.map(|summary| summary.max)).and_then(time),
            ..StatedFigures::default()
        };
        if self.rows.is_empty() {
            add_summary(&mut recording, &stated);
            recording.note(match each {
                Some(each) => format!(
                    "Each of the {} lines stands for the {each} cycles of a second; the file states \
                     no count.",
                    self.lines
                ),
                None => "The file states no number of cycles; each line counts as one.".to_string(),
            });
        } else {
            let (mut bins, mut end) = (Bins::default(), 1);
            for (bin, count) in &self.rows {
                bins.push(*bin as u32, *count);
                end = end.max(*bin as u32 + 1);
            }
            let scale =
                Scale { start_ns: 0, width_ns: unit, bins: end, unit_ns: 1, is_limited: false };
            // Positions within the bins are unknown, but the last line has the mean of all.
            let mean_ns = stated.mean_ns.filter(|_| final_mean.is_some());
            let figures = StatedFigures { count: None, mean_ns, ..stated };
            add_bins(&mut recording, bins, scale, &figures);
        }
        self.compare(&mut recording);
        if let Some(series) = recording.series.last_mut() {
            series.policy = self.priority.clone().unwrap_or_default();
            series.period_ns = self.period_us.map(|period| Nanos(period as i64 * 1_000));
        }
        if self.overruns > 0 {
            recording.note(format!("The tool counted {} overruns.", self.overruns));
            let period = self.period_us.map(|period| Nanos(period as i64 * 1_000));
            let largest = recording.series.iter().map(LatencySeries::largest).max();
            // An overrun needs a thread that is late by a period.
            if let Some((period, largest)) = period.zip(largest).filter(|(most, max)| max < most) {
                let stated = format!("{} with a period of {period}", self.overruns);
                contradiction(
                    &mut recording,
                    0,
                    "Overruns",
                    stated,
                    format!("a maximum of {largest}"),
                );
            }
        }
        recording.length_ns =
            Nanos(i64::try_from(self.lines).unwrap_or(0).min(1 << 33) * 1_000_000_000);
        self.left.report("lines", &mut recording);
        note_summary(&mut recording);
        recording
    }

    /// Compares the lines of single seconds with the statements about all.
    fn compare(&self, recording: &mut Recording) {
        let time = |value: f64| nanos(value, self.unit).map(Nanos);
        for (about, of_all) in [
            ("Worst latency", self.worst),
            ("Maximum of the last line", self.summary.map(|summary| summary.max)),
        ] {
            if let Some(latency) = of_all.and_then(time)
                && latency > recording.series[0].largest()
            {
                recording.has_at_least_of(0, about, latency);
            }
        }
        let summary = self.summary.map(|summary| summary.max);
        if let Some((stated, seen)) = summary.zip(self.max).filter(|(stated, seen)| stated < seen) {
            let text = |value| time(value).unwrap_or_default().to_string();
            contradiction(recording, 0, "Maximum of the last line", text(stated), text(seen));
        }
        if let Some(seconds) = self.seconds.filter(|seconds| *seconds > self.lines) {
            let missing = format!("it took {seconds} s, and has lines of {} s", self.lines);
            recording.add(ImportFinding::ImportIncomplete { missing });
        }
    }
}

/// The column of this name, without the padding of rules.
fn column(name: &str) -> Column {
    let name = name.trim_matches(['-', ' ']).trim_end_matches('s');
    COLUMNS.iter().find(|known| known.0 == name).map_or(Column::Other, |known| known.1)
}

/// A figure with optional sign and decimals, and nothing else: no exponents, no words.
fn figure(cell: &str) -> Option<f64> {
    let is_plain = cell.bytes().all(|byte| byte.is_ascii_digit() || b"-.,".contains(&byte));
    decimal(cell.as_bytes()).filter(|_| is_plain)
}

/// The seconds of `00:01:30`.
fn seconds(time: &str) -> Option<u64> {
    time.trim().split(':').try_fold(0u64, |sum, part| Some(sum * 60 + part.parse::<u64>().ok()?))
}
