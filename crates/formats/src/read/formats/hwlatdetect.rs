//! Output of hwlatdetect: its settings, a maximum, and the list of gaps above its threshold, which
//! may be empty.

use super::left_out::{LeftOut, is_other_text};
use super::{Format, Part, check_number, contains, head_lines, is_text, number_parts};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::lines::Line;
use crate::read::numbers::{printed, whole};
use crate::read::recording::{LatencySeries, Recording};
use crate::read::samples::UnitSamples;
use crate::read::stated_figures::{StatedFigures, add_summary, contradiction, note_summary};
use latlab_model::Nanos;
use latlab_model::import::ListedGaps;

pub const FORMAT: Format =
    Format { id: "hwlatdetect", title: "hwlatdetect", fits, has_value, read };

/// It counts in microseconds.
const UNIT: i64 = 1_000;
/// Upper limit for a gap.
const LONGEST: u64 = 1 << 40;
/// Statements other than figures.
const FACTS: [&str; 3] = ["detector", "CPU list", "Output File"];
/// Lines without a statement.
const REMARKS: [&str; 3] = ["parameters:", "Starting test", "report saved to"];

fn fits(head: &[u8]) -> bool {
    is_text(head)
        && head_lines(head).any(|line| line.starts_with(b"hwlatdetect:"))
        && ["Max Latency:", "inner:", "test duration"].iter().any(|mark| contains(head, mark))
}

fn has_value(line: &[u8]) -> bool {
    line.starts_with(b"Max Latency:") || (line.starts_with(b"ts: ") && contains(line, "inner:"))
}

/// A gap in the list: its length, and the number of gaps in its window.
struct Gap {
    length: u64,
    count: u64,
}

#[derive(Default)]
struct Test {
    first_line: u64,
    has_begun: bool,
    duration: Option<u64>,
    threshold: Option<u64>,
    window: Option<u64>,
    width: Option<u64>,
    pause: Option<u64>,
    /// The largest gap; zero if none was above the threshold.
    max: Option<u64>,
    recorded: Option<u64>,
    exceeding: Option<u64>,
    has_finished: bool,
    was_interrupted: bool,
    gaps: UnitSamples,
    lines: u64,
    listed: u64,
    largest: u64,
    smallest: Option<u64>,
    facts: Vec<(String, String)>,
    left: LeftOut,
}

fn read(input: &mut Input, _: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let mut parts = Vec::new();
    let mut test = Test { first_line: 1, ..Test::default() };
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        if text.starts_with("hwlatdetect:") && test.has_begun {
            check_number(&parts, line.number)?;
            let next = Test { first_line: line.number, ..Test::default() };
            parts.push(std::mem::replace(&mut test, next).part());
        }
        if !text.is_empty() && !test.take(text, &line) {
            test.left.pass_over(&line, may_hold_value(text));
        }
    }
    parts.push(test.part());
    Ok(number_parts(parts))
}

/// Whether an unrecognised line may be the remains of one with figures.
fn may_hold_value(text: &str) -> bool {
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let marks = ["inner", "outer", "ts:", "Latency", "Samples", "Sample", "duration"];
    marks.iter().any(|mark| text.contains(mark))
        || (has_digit && !is_other_text(text.as_bytes(), 1))
}

impl Gap {
    /// Parses `ts: 1408928107.286324, delta:1.5, inner:18, outer:17, cpu:3, count:2`; the time may
    /// have any form. Older versions print `1408928107.0286324000 18 17`.
    fn of_line(text: &str) -> Option<Gap> {
        let Some(rest) = text.strip_prefix("ts: ") else {
            let cells: Vec<&str> = text.split('\t').collect();
            let (time, lengths) = cells.split_first()?;
            let is_time =
                time.len() > 2 && time.bytes().all(|it| it.is_ascii_digit() || it == b'.');
            let lengths: Option<Vec<u64>> = lengths.iter().map(|cell| length(cell)).collect();
            let length = lengths.filter(|it| is_time && it.len() < 3)?.into_iter().max()?;
            return Some(Gap { length, count: 1 });
        };
        let figures = rest.find(", delta:").or_else(|| rest.find(", inner:"))?;
        let (mut inner, mut outer, mut count) = (None, None, 1);
        for figure in rest[figures..].strip_prefix(", ")?.split(", ") {
            let (name, value) = figure.split_once(':')?;
            match name {
                "inner" => inner = Some(length(value)?),
                "outer" => outer = Some(length(value)?),
                "count" => count = whole(value)?,
                "cpu" => drop(whole(value)?),
                // The first gap has no predecessor.
                "delta" if value == "nan" => {}
                "delta" => drop(printed(value.trim_start_matches('-'))?),
                _ => return None,
            }
        }
        Some(Gap { length: inner?.max(outer?), count })
    }
}

fn length(text: &str) -> Option<u64> {
    whole(text).filter(|length| *length < LONGEST)
}

impl Test {
    /// Takes a line; returns whether it could be read.
    fn take(&mut self, text: &str, line: &Line<'_>) -> bool {
        // The last figure of a line may be cut, but not if the unit follows it.
        let is_whole = line.is_whole || text.ends_with("us") || text.ends_with(" seconds");
        if !is_whole {
            return false;
        }
        if let Some(gap) = Gap::of_line(text) {
            return self.push(&gap);
        }
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.trim();
        let time = value.strip_suffix("us").and_then(length);
        let (field, value_of_it) = match name {
            "hwlatdetect" => {
                self.has_begun = true;
                let seconds = value.strip_prefix("test duration ");
                (&mut self.duration, seconds.and_then(|it| whole(it.strip_suffix(" seconds")?)))
            }
            "Latency threshold" => (&mut self.threshold, time),
            "Sample window" => (&mut self.window, time),
            "Sample width" => (&mut self.width, time),
            "Non-sampling period" => (&mut self.pause, time),
            "Max Latency" if value == "Below threshold" => (&mut self.max, Some(0)),
            "Max Latency" => (&mut self.max, time),
            "Samples recorded" => (&mut self.recorded, whole(value)),
            "Samples exceeding threshold" => (&mut self.exceeding, whole(value)),
            "MTBF" => return value.strip_suffix(" seconds").and_then(printed).is_some(),
            "SMIs during run" => {
                self.facts.push((name.to_string(), value.to_string()));
                return whole(value).is_some();
            }
            _ => return self.take_remark(name, value, text),
        };
        let was_read = value_of_it.is_some() && field.is_none();
        if was_read {
            *field = value_of_it;
        }
        was_read
    }

    fn take_remark(&mut self, name: &str, value: &str, text: &str) -> bool {
        self.has_finished |= text == "test finished";
        self.was_interrupted |= text == "interrupted";
        if FACTS.contains(&name) {
            self.facts.push((name.to_string(), value.to_string()));
        }
        let is_smi = text.contains(" SMIs occured on cpu ");
        let is_own = text == "test finished" || text == "interrupted" || FACTS.contains(&name);
        is_own || is_smi || REMARKS.iter().any(|remark| text.starts_with(remark))
    }

    fn push(&mut self, gap: &Gap) -> bool {
        let was_counted = self.gaps.push(gap.length as i64, UNIT).is_some();
        if was_counted {
            self.lines += 1;
            self.listed = self.listed.saturating_add(gap.count);
            self.largest = self.largest.max(gap.length);
            self.smallest = Some(self.smallest.map_or(gap.length, |least| least.min(gap.length)));
        }
        was_counted
    }

    fn part(mut self) -> Part {
        if !self.has_begun && self.lines == 0 && self.exceeding.is_none() {
            return Part::none(self.first_line, self.left);
        }
        let mut recording = Recording::new("hwlatdetect");
        recording.quantity = "time taken by hardware or firmware";
        recording.resolution_ns = Some(Nanos(UNIT));
        self.add_settings(&mut recording);
        let exceeding = self.exceeding.or(self.recorded).unwrap_or(0);
        let only_states = self.lines == 0 && exceeding > 0;
        if only_states {
            // Without the list, its largest gap is still stated.
            let max_ns = self.max.map(|max| max as i64 * UNIT);
            let stated =
                StatedFigures { count: Some(exceeding), max_ns, ..StatedFigures::default() };
            add_summary(&mut recording, &stated);
            note_summary(&mut recording);
            let listed = "0 in the list".to_string();
            let about = "Samples exceeding threshold";
            contradiction(&mut recording, 0, about, exceeding.to_string(), listed);
            if self.max == Some(0) {
                let (stated, counted) =
                    ("none above the threshold", format!("{exceeding} samples"));
                contradiction(&mut recording, 0, "Max Latency", stated.to_string(), counted);
            }
        } else {
            recording.series.push(match self.lines {
                0 => LatencySeries::default(),
                _ => self.gaps.series(UNIT),
            });
            self.compare_list(&mut recording);
        }
        self.report_absent(&mut recording);
        if self.listed > self.lines {
            let (gaps, windows) = (self.listed, self.lines);
            recording.note(format!(
                "Each of the {windows} lines is the largest gap of its window; there were {gaps} gaps."
            ));
        }
        self.left.report("lines", &mut recording);
        Part::one(self.first_line, recording)
    }

    /// The watched time, and the threshold from which gaps were listed.
    fn add_settings(&self, recording: &mut Recording) {
        let above_ns = self.threshold.map(|us| Nanos(us as i64 * UNIT));
        recording.gaps = Some(ListedGaps { above_ns });
        let settings = [
            (
                "Test duration",
                self.duration.map(|it| Nanos(it.min(1 << 32) as i64 * 1_000_000_000)),
            ),
            ("Latency threshold", above_ns),
            ("Sample window", self.window.map(|us| Nanos(us as i64 * UNIT))),
            ("Sample width", self.width.map(|us| Nanos(us as i64 * UNIT))),
        ];
        for (name, value) in settings {
            match value {
                Some(value) => recording.fact(name, value.to_string()),
                None => recording.lacks(format!("its setting '{name}' is not there")),
            }
        }
        for (name, text) in &self.facts {
            recording.fact(name, text.clone());
        }
        let [Some(duration), _, Some(window), Some(width)] = settings.map(|it| it.1) else {
            return;
        };
        if let Some(pause) = self.pause.map(|us| Nanos(us as i64 * UNIT))
            && pause != window - width
        {
            let (stated, between) = (pause.to_string(), (window - width).to_string());
            contradiction(recording, 0, "Non-sampling period", stated, between);
        }
        if window > Nanos::ZERO && width <= window && !self.was_interrupted {
            let share = width.0 as f64 / window.0 as f64;
            recording.length_ns = Nanos((duration.0 as f64 * share) as i64);
        }
    }

    /// Compares the list with the statements about it.
    fn compare_list(&self, recording: &mut Recording) {
        let pairs = [
            ("Samples recorded", self.recorded, self.lines),
            ("Samples exceeding threshold", self.exceeding, self.listed),
        ];
        for (about, stated, listed) in pairs {
            if let Some(stated) = stated.filter(|stated| *stated != listed) {
                let listed = format!("{listed} in the list");
                contradiction(recording, 0, about, stated.to_string(), listed);
            }
        }
        let time = |us: u64| Nanos(us as i64 * UNIT);
        match self.max {
            Some(max) if max > self.largest => recording.has_at_least("Max Latency", time(max)),
            Some(max) if max < self.largest => {
                let (stated, listed) = (time(max).to_string(), time(self.largest).to_string());
                contradiction(recording, 0, "Max Latency", stated, listed);
            }
            _ => {}
        }
        if let (Some(least), Some(threshold)) = (self.smallest, self.threshold)
            && least <= threshold
        {
            let (stated, listed) = (time(threshold).to_string(), time(least).to_string());
            contradiction(recording, 0, "Latency threshold", stated, listed);
        }
    }

    fn report_absent(&self, recording: &mut Recording) {
        if self.was_interrupted {
            recording.lacks("the test was interrupted");
        }
        let ends = [
            ("test finished", self.has_finished),
            ("Max Latency", self.max.is_some()),
            ("Samples recorded", self.recorded.is_some()),
            ("Samples exceeding threshold", self.exceeding.is_some()),
        ];
        for (name, _) in ends.into_iter().filter(|(_, is_there)| !is_there) {
            recording.lacks(format!("its line '{name}' is not there"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_of_all_versions_are_read_whole() {
        let length = |text: &str| Gap::of_line(text).map(|gap| (gap.length, gap.count));
        for (text, expected) in [
            ("ts: 1519674281.220664736, inner:17, outer:15", Some((17, 1))),
            ("ts: 1519674281.220664736, inner:17, outer:19, count:3", Some((19, 3))),
            ("ts: 12:30:01, 5 May, delta:nan, inner:17, outer:19, cpu:2", Some((19, 1))),
            ("ts: 1.2, delta:1.500000, inner:17, outer:9, cpu:2, count:2", Some((17, 2))),
            ("0000000025.0139452371\t13\t15", Some((15, 1))),
            ("0000000025.0139452371\t13", Some((13, 1))),
            ("ts: 1519674281.220664736, inner:17, outer:1x", None),
            ("ts: 1519674281.220664736, inner:17", None),
            ("ts: 1519674281.220664736, inner:17, outer:15 7", None),
            ("ts: 1519674281.220664736, inner:-5, outer:15", None),
            ("0000000025.0139452371\t13\t", None),
        ] {
            assert_eq!(length(text), expected, "{text}");
        }
    }
}
