//! Output of `stress-ng --cyclic`: figures, and with `--cyclic-dist` a histogram of at most 250
//! bins.

use super::left_out::{LeftOut, is_other_text};
use super::{Format, Part, check_number, contains, head_lines, is_text, number_parts};
use crate::read::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::lines::Line;
use crate::read::numbers::{printed, whole};
use crate::read::recording::Recording;
use crate::read::stated_figures::{
    Scale, StatedFigures, add_bins, add_summary, contradiction, note_summary,
};
use latlab_model::Nanos;
use std::collections::BTreeMap;

pub const FORMAT: Format =
    Format { id: "stress-ng", title: "stress-ng cyclic", fits, has_value: is_of_stressor, read };

/// More instances than any machine has CPUs.
const MOST_INSTANCES: usize = 8192;
/// More percentiles than it prints.
const MOST_PERCENTILES: usize = 50;
/// Versions without the option `--cyclic-samples` keep this many latencies and silently drop
/// others.
const KEPT_SILENTLY: u64 = 10_000;
/// Lines of stress-ng that do not begin with the name of the stressor.
const REMARKS: [&str; 14] = [
    "setting to a ",
    "defaulting to a ",
    "dispatching hogs",
    "successful run completed",
    "unsuccessful run completed",
    "stressor ",
    "(secs)",
    "skipped:",
    "passed:",
    "failed:",
    "metrics untrustworthy:",
    "metrics-check:",
    "for a ",
    "disabled ",
];
/// Lines of stress-ng that are not results, although they may name the stressor.
const DEBUGGING: [&str; 3] = ["stress-ng: metrc:", "stress-ng: dbg:", "stress-ng: debug:"];
/// Lines of the stressor that say nothing about its latencies.
const OWN_REMARKS: [&str; 5] = [
    "latency percentiles:",
    "latency (ns)",
    "using method",
    "for best results, run just 1 instance",
    "timeout has not been set",
];

fn fits(head: &[u8]) -> bool {
    is_text(head) && head_lines(head).any(is_of_stressor)
}

fn is_of_stressor(line: &[u8]) -> bool {
    line.starts_with(b"cyclic: sched SCHED_")
        || (line.starts_with(b"stress-ng: ") && contains(line, "cyclic:"))
}

/// One instance of the stressor.
#[derive(Default)]
struct Instance {
    stated: StatedFigures,
    policy: String,
    width: i64,
    /// Number of printed bins, and of bins up to the largest latency.
    bins: Option<(u64, u64)>,
    rows: Vec<(u64, u64)>,
    /// Whether all further bins are empty.
    is_at_end: bool,
    has_hole: bool,
    percentiles: Vec<(String, u64)>,
    needed: Option<u64>,
}

#[derive(Default)]
struct Log {
    first_line: u64,
    instances: BTreeMap<String, Instance>,
    /// Number of started instances.
    started: Option<u64>,
    left: LeftOut,
}

fn read(input: &mut Input, _: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let mut parts = Vec::new();
    let mut log = Log { first_line: 1, ..Log::default() };
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        if log.ends_before(text) {
            check_number(&parts, line.number)?;
            let next = Log { first_line: line.number, ..Log::default() };
            parts.push(std::mem::replace(&mut log, next).part());
        }
        if !text.is_empty() && !log.take(text, &line) {
            log.left.pass_over(&line, may_hold_value(text));
        }
    }
    parts.push(log.part());
    Ok(number_parts(parts))
}

/// The log prefix, and the stressor's own words.
fn split(text: &str) -> Option<(&str, &str)> {
    let (head, said) = text.split_once("cyclic:")?;
    let is_own = head.is_empty() || head.ends_with(' ');
    is_own.then(|| (head, said.trim()))
}

/// The number of instances in `dispatching hogs: 4 cpu, 2 cyclic`.
fn started(text: &str) -> Option<u64> {
    let (_, hogs) = text.split_once("dispatching hogs: ")?;
    hogs.split(", ").find_map(|hog| whole(hog.trim().strip_suffix(" cyclic")?))
}

/// The process id in `stress-ng: info: [29270] `, which identifies an instance.
fn process(head: &str) -> String {
    head.split(['[', ']']).nth(1).unwrap_or_default().to_string()
}

/// Whether an unrecognised line may be the remains of one with figures.
fn may_hold_value(text: &str) -> bool {
    // Ignore the process id.
    let said = text.split_once("] ").map_or(text, |it| it.1);
    let has_digit = |cell: &&str| cell.bytes().any(|byte| byte.is_ascii_digit());
    let is_figure = |cell: &&str| has_digit(cell) && !cell.as_bytes()[0].is_ascii_alphabetic();
    let figures = said.split_ascii_whitespace().filter(is_figure).count();
    let has_mark = [" ns", "%:", "samples"].iter().any(|mark| said.contains(mark));
    let is_rest = figures > 1 && !is_other_text(said.as_bytes(), 2);
    has_digit(&said) && (has_mark || is_rest || !is_other_text(said.as_bytes(), 1))
}

impl Log {
    /// Whether this line starts another run.
    fn ends_before(&self, text: &str) -> bool {
        if self.instances.is_empty() {
            return false;
        }
        let is_begin = text.contains("dispatching hogs") || text.contains("setting to a ");
        let says_again = || {
            let (head, said) = split(text)?;
            let known = self.instances.get(&process(head))?;
            (said.starts_with("sched ") && known.stated.count.is_some()).then_some(())
        };
        is_begin || says_again().is_some()
    }

    /// Takes a line; returns whether it could be read.
    fn take(&mut self, text: &str, line: &Line<'_>) -> bool {
        if DEBUGGING.iter().any(|name| text.starts_with(name)) {
            return true;
        }
        let Some((head, said)) = split(text) else {
            self.started = started(text).or(self.started);
            return Log::is_remark(text);
        };
        // The last figure of a line may be cut, but not if the words after it are there.
        let is_whole =
            line.is_whole || ["samples", " ns", ":", ")"].iter().any(|it| said.ends_with(it));
        let process = process(head);
        let has_room =
            self.instances.len() < MOST_INSTANCES || self.instances.contains_key(&process);
        is_whole && has_room && self.instances.entry(process).or_default().take(said)
    }

    fn is_remark(text: &str) -> bool {
        let said = text.split_once("] ").map_or(text, |it| it.1);
        REMARKS.iter().any(|remark| said.trim_start().starts_with(remark))
    }

    fn part(self) -> Part {
        if !self.instances.values().any(Instance::says_any) {
            return Part::none(self.first_line, self.left);
        }
        let mut recording = Recording::new("stress-ng cyclic");
        recording.resolution_ns = Some(Nanos(1));
        for instance in self.instances.into_values().filter(Instance::says_any) {
            instance.add_to(&mut recording);
        }
        let with_figures = recording.series.len() as u64;
        if let Some(started) = self.started.filter(|started| *started > with_figures) {
            recording.lacks(format!("it has figures of {with_figures} of {started} instances"));
        }
        recording
            .note("stress-ng sleeps for a time from now on: late cycles delay all that follow.");
        self.left.report("lines", &mut recording);
        note_summary(&mut recording);
        Part::one(self.first_line, recording)
    }
}

impl Instance {
    /// Whether it has any figure; every process prints remarks.
    fn says_any(&self) -> bool {
        let StatedFigures { count, mean_ns, max_ns, .. } = self.stated;
        count.is_some() || mean_ns.is_some() || max_ns.is_some() || !self.rows.is_empty()
    }

    /// Takes a line of the stressor; returns whether it could be read.
    fn take(&mut self, said: &str) -> bool {
        if OWN_REMARKS.iter().any(|remark| said.starts_with(remark)) {
            return true;
        }
        let words: Vec<&str> = said.split_ascii_whitespace().collect();
        let time = |word: &str| whole(word).filter(|time| *time < 1 << 60).map(|time| time as i64);
        let count = |word: &str| whole(word).filter(|count| *count < LARGEST_COUNT);
        let taken = match words[..] {
            ["sched", policy, period, "ns", "delay,", samples, "samples"] => {
                let policy = policy.strip_prefix("SCHED_").and_then(|it| it.strip_suffix(':'));
                self.policy = policy.unwrap_or_default().to_lowercase();
                self.stated.count = count(samples);
                policy.and(whole(period)).and(self.stated.count).map(drop)
            }
            ["mean:", mean, "ns,", "mode:", mode, "ns"] => {
                self.stated.mean_ns = printed(mean);
                self.stated.mean_ns.and(whole(mode)).map(drop)
            }
            ["min:", min, "ns,", "max:", max, "ns,", "std.dev.", deviation] => {
                (self.stated.min_ns, self.stated.max_ns) = (time(min), time(max));
                self.stated.min_ns.and(self.stated.max_ns).and(printed(deviation)).map(drop)
            }
            ["latency", "distribution", width, "ns", "intervals):"] => {
                let width = width.strip_prefix('(').and_then(time);
                self.width = width.filter(|width| (1..1 << 40).contains(width)).unwrap_or(0);
                (self.width > 0).then_some(())
            }
            ["(for", "the", "first", printed, "buckets", "of", all] => {
                self.bins = whole(printed).zip(all.strip_suffix(')').and_then(whole));
                self.bins.map(drop)
            }
            ["Note:", "--cyclic-samples", "needed", "to", "be", needed, ..] => {
                self.needed = whole(needed);
                self.needed.map(drop)
            }
            [share, value, "ns"] if share.ends_with("%:") => self.take_percentile(share, value),
            ["..", ".."] => Some(()),
            ["..", "..", "(all", "zeros", "hereafter)"] => {
                self.is_at_end = true;
                Some(())
            }
            [start, frequency] => whole(start).zip(count(frequency)).and_then(|row| self.push(row)),
            _ => None,
        };
        taken.is_some()
    }

    fn take_percentile(&mut self, share: &str, value: &str) -> Option<()> {
        let share = share.strip_suffix(':')?;
        printed(share.strip_suffix('%')?)?;
        let value = whole(value).filter(|value| *value < 1 << 60)?;
        let has_room = self.percentiles.len() < MOST_PERCENTILES;
        has_room.then(|| self.percentiles.push((share.to_string(), value)))
    }

    /// Takes a row; rows follow each other without a gap, up to where all are empty.
    fn push(&mut self, row: (u64, u64)) -> Option<()> {
        let width = u64::try_from(self.width).ok().filter(|width| *width > 0)?;
        let due = self.rows.last().map_or(0, |last| last.0 + width);
        let is_next = row.0.is_multiple_of(width) && row.0 >= due;
        if !is_next || row.0 / width >= MOST_BINS || (self.is_at_end && row.1 > 0) {
            return None;
        }
        self.has_hole |= row.0 != due && !self.is_at_end;
        self.rows.push(row);
        Some(())
    }

    fn add_to(self, recording: &mut Recording) {
        let thread = recording.series.len();
        let absent = [
            ("sched", self.stated.count.is_some()),
            ("mean:", self.stated.mean_ns.is_some()),
            ("min:", self.stated.max_ns.is_some()),
        ];
        for (name, _) in absent.into_iter().filter(|(_, is_there)| !is_there) {
            recording.lacks(format!("the line '{name}' of an instance is not there"));
        }
        match self.rows.is_empty() {
            true => add_summary(recording, &self.stated),
            false => self.add_rows(recording),
        }
        if let Some(series) = recording.series.get_mut(thread) {
            series.policy = self.policy;
        }
        if let Some(largest) = self.percentiles.iter().map(|it| it.1).max() {
            recording.has_at_least_of(thread, "Percentile", Nanos(largest as i64));
        }
        for (share, value) in &self.percentiles {
            recording.fact(share, format!("{value} ns"));
        }
        let count = self.stated.count.unwrap_or(0);
        match self.needed {
            Some(needed) => recording.lacks(format!(
                "{count} of {needed} latencies were kept (option --cyclic-samples)"
            )),
            None if count == KEPT_SILENTLY => recording.lacks(format!(
                "stress-ng kept {count} latencies, and may have dropped others without a word"
            )),
            None => {}
        }
    }

    fn add_rows(&self, recording: &mut Recording) {
        let width = self.width as u64;
        let mut bins = Bins::default();
        self.rows.iter().for_each(|row| bins.push((row.0 / width) as u32, row.1));
        let printed = self.rows.last().map_or(0, |row| row.0 / width + 1);
        let (stated, all) = self.bins.unwrap_or((printed, u64::MAX));
        let is_whole = !self.has_hole && stated == printed && self.bins.is_some();
        if !is_whole {
            recording.lacks("rows of the histogram are not there");
        }
        let thread = recording.series.len();
        let binned = bins.total();
        // Latencies that the bins lack lie beyond the last bin only if all bins are there.
        let is_limited = all > stated;
        let overflow = self.stated.count.and_then(|count| count.checked_sub(binned));
        let figures = match is_whole {
            true => StatedFigures {
                binned: self.stated.count.filter(|_| !is_limited),
                count: self.stated.count.filter(|_| is_limited),
                overflow: overflow.filter(|_| is_limited),
                ..self.stated
            },
            false => StatedFigures { count: None, ..self.stated },
        };
        let scale = Scale {
            start_ns: 0,
            width_ns: self.width,
            bins: printed.max(1) as u32,
            unit_ns: 1,
            is_limited: is_limited || !is_whole,
        };
        add_bins(recording, bins, scale, &figures);
        // The number of bins up to the largest latency shows how large it is.
        let last = self.stated.max_ns.map(|max| max as u64 / width + 1);
        if let Some(last) = last.filter(|last| self.bins.is_some_and(|bins| bins.1 != *last)) {
            let (stated, counted) = (format!("{all} buckets"), format!("{last} up to its maximum"));
            contradiction(recording, thread, "Buckets", stated, counted);
        }
    }
}
