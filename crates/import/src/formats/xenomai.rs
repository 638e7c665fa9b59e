//! What Xenomai's `latency` prints: a line of figures for each second, and with `-h` histograms.

use super::left_out::LeftOut;
use super::{Format, head_lines, is_text};
use crate::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::input::{Input, InputError, Query};
use crate::numbers::{decimal, nanos};
use crate::recording::Recording;
use crate::stated_figures::{Scale, StatedFigures, add_bins, add_summary, note_summary};
use latlab_model::Nanos;

pub const FORMAT: Format = Format { id: "xenomai", title: "Xenomai latency", fits, read };

/// It counts in microseconds, with decimals.
const UNIT: i64 = 1_000;

fn fits(head: &[u8]) -> bool {
    let starts = ["RTD|", "RTS|", "RTT|"];
    is_text(head)
        && head_lines(head)
            .any(|line| starts.iter().any(|start| line.starts_with(start.as_bytes())))
}

#[derive(Default)]
struct Screen {
    lines: u64,
    min: Option<f64>,
    max: Option<f64>,
    means: f64,
    final_mean: Option<f64>,
    overruns: u64,
    period_us: Option<u64>,
    priority: Option<String>,
    rows: Vec<(u64, u64)>,
    left: LeftOut,
}

fn read(input: &mut Input, _: &Query) -> Result<Vec<Recording>, InputError> {
    let mut screen = Screen::default();
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let cells: Vec<&str> = text.trim().split('|').map(str::trim).collect();
        let taken = match cells[0] {
            "RTD" | "RTS" => screen.take_figures(&cells),
            "RTT" => {
                screen.take_head(&text);
                true
            }
            "HSD" => screen.take_row(&cells),
            _ => true,
        };
        if !taken {
            screen.left.lose(&line);
        }
    }
    Ok(vec![screen.recording()])
}

impl Screen {
    fn take_figures(&mut self, cells: &[&str]) -> bool {
        let figures: Vec<f64> =
            cells.iter().skip(1).map_while(|cell| decimal(cell.as_bytes())).collect();
        let [min, mean, max, ..] = figures[..] else { return false };
        let keep = |known: Option<f64>, value: f64, better: fn(f64, f64) -> f64| {
            Some(known.map_or(value, |known| better(known, value)))
        };
        self.min = keep(self.min, min, f64::min);
        self.max = keep(self.max, max, f64::max);
        match cells[0] {
            "RTS" => self.final_mean = Some(mean),
            _ => {
                self.lines += 1;
                self.means += mean;
            }
        }
        if let Some(overruns) = figures.get(3) {
            self.overruns = self.overruns.max(*overruns as u64);
        }
        true
    }

    /// Takes `RTT|  00:00:01  (periodic user-mode task, 10000 us period, priority 99)`.
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

    /// Takes `HSD|    avg|         2 -  3 |        10`: of all cycles, not of the extremes.
    fn take_row(&mut self, cells: &[&str]) -> bool {
        let [_, which, range, count, ..] = cells else { return false };
        if *which != "avg" {
            return true;
        }
        let low = range.split('-').next().and_then(|low| low.trim().parse().ok());
        let (Some(low), Ok(count)) = (low, count.parse()) else { return false };
        let fits = low < MOST_BINS && count < LARGEST_COUNT && self.rows.len() < MOST_BINS as usize;
        if fits {
            self.rows.push((low, count));
        }
        fits
    }

    fn recording(self) -> Recording {
        let mut recording = Recording::new("Xenomai latency");
        recording.resolution_ns = Some(Nanos(1));
        let time = |value: f64| nanos(value, UNIT);
        let each = self.period_us.map(|period| 1_000_000 / period);
        let mean = self.final_mean.unwrap_or(self.means / self.lines.max(1) as f64);
        let stated = StatedFigures {
            count: Some(self.lines.max(1).saturating_mul(each.unwrap_or(1))),
            min_ns: self.min.and_then(time),
            mean_ns: Some(mean * UNIT as f64),
            max_ns: self.max.and_then(time),
            ..StatedFigures::default()
        };
        if self.rows.is_empty() && self.max.is_some() {
            add_summary(&mut recording, &stated);
            recording.note(match each {
                Some(each) => format!(
                    "Each of the {} lines stands for the {each} cycles of a second; the file states \
                     no count.",
                    self.lines
                ),
                None => "The file states no number of cycles; each line counts as one.".to_string(),
            });
        } else if !self.rows.is_empty() {
            let (mut bins, mut end) = (Bins::default(), 1);
            for (bin, count) in &self.rows {
                bins.push(*bin as u32, *count);
                end = end.max(*bin as u32 + 1);
            }
            let scale =
                Scale { start_ns: 0, width_ns: UNIT, bins: end, unit_ns: 1, is_limited: false };
            // The bins do not say where in them a latency lies, but the last line has the mean of all.
            let mean_ns = stated.mean_ns.filter(|_| self.final_mean.is_some());
            let figures = StatedFigures { count: None, mean_ns, ..stated };
            add_bins(&mut recording, bins, scale, &figures);
        }
        if let Some(series) = recording.series.last_mut() {
            series.policy = self.priority.clone().unwrap_or_default();
            series.period_ns = self.period_us.map(|period| Nanos(period as i64 * 1_000));
        }
        if self.overruns > 0 {
            recording.note(format!("The tool counted {} overruns.", self.overruns));
        }
        recording.length_ns =
            Nanos(i64::try_from(self.lines).unwrap_or(0).min(1 << 33) * 1_000_000_000);
        self.left.report("lines", &mut recording);
        note_summary(&mut recording);
        recording
    }
}
