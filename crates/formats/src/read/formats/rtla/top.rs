//! The table of `rtla timerlat top`, `rtla osnoise top` and `rtla hwnoise`: a row per CPU, redrawn
//! until the end.

use super::{Columns, KINDS, Remarks, command, duration, may_hold_value};
use crate::read::bins::LARGEST_COUNT;
use crate::read::formats::left_out::{LeftOut, LostOnScreen, is_of_shell};
use crate::read::formats::{Format, Part, check_number, head_lines, is_text, number_parts};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::lines::Line;
use crate::read::numbers::{nanos, printed, whole};
use crate::read::recording::Recording;
use crate::read::stated_figures::{StatedFigures, add_summary, contradiction, note_summary};
use latlab_model::Nanos;
use std::collections::BTreeMap;

pub const FORMAT: Format =
    Format { id: "rtla-top", title: "rtla top", fits, has_value: is_heading, read };

/// More CPUs than any machine has.
const MOST_CPUS: usize = 8192;
/// Position of the mark before the count in a row.
const MARK_AT: usize = 4;
/// The columns of osnoise with figures, and those that count causes, of which hwnoise lacks the
/// last ones.
const FIGURES: usize = 7;
const COUNTS: [&str; 5] = ["HW", "NMI", "IRQ", "Softirq", "Thread"];

fn fits(head: &[u8]) -> bool {
    is_text(head) && head_lines(head).any(is_heading)
}

fn is_heading(line: &[u8]) -> bool {
    Table::of_heading(line).is_some()
}

/// The column headings, as rtla prints them.
const CELLS: &str = "      cur       min       avg       max";
const NOISE: &str = "CPU Period       Runtime        Noise  % CPU Aval   Max Noise   Max Single";

/// What the heading of the columns says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Table {
    /// Number of kinds of latency, each with four columns.
    Timerlat(usize),
    /// Number of columns.
    Noise(usize),
}

impl Table {
    /// End positions of the cells with figures in a heading.
    fn layout(self, heading: &[u8]) -> Columns {
        let printed = match self {
            Table::Timerlat(kinds) => ["CPU COUNT     "]
                .into_iter()
                .chain(vec![CELLS; kinds])
                .collect::<Vec<_>>()
                .join(" |"),
            Table::Noise(columns) => {
                let counts = COUNTS[..columns - FIGURES].iter().map(|name| format!("{name:>13}"));
                format!("{NOISE}{}", counts.collect::<String>()).replacen(
                    "           HW",
                    "         HW",
                    1,
                )
            }
        };
        let words: Vec<usize> = match self {
            Table::Timerlat(kinds) => (2..2 + 4 * kinds).collect(),
            // Some names are of two or three words.
            Table::Noise(columns) => [2, 3, 6, 8, 10, 11, 12, 13, 14, 15][..columns - 2].to_vec(),
        };
        Columns::of(heading, &printed, &words)
    }

    fn of_heading(line: &[u8]) -> Option<Table> {
        let text = std::str::from_utf8(line).ok()?;
        let columns: Vec<&str> = text.split_ascii_whitespace().collect();
        match columns[..] {
            ["CPU", "COUNT", "|", ref rest @ ..] => {
                let kinds = rest.split(|cell| *cell == "|");
                let names = ["cur", "min", "avg", "max"];
                kinds.clone().all(|kind| kind == names).then_some(Table::Timerlat(kinds.count()))
            }
            [
                "CPU",
                "Period",
                "Runtime",
                "Noise",
                "%",
                "CPU",
                "Aval",
                "Max",
                "Noise",
                "Max",
                "Single",
                ref rest @ ..,
            ] => COUNTS.starts_with(rest).then_some(Table::Noise(FIGURES + rest.len())),
            _ => None,
        }
    }
}

/// The figures of a CPU.
struct Row {
    line: u64,
    count: u64,
    /// Current, minimum, mean and maximum of each kind; `None` if nothing was seen.
    latencies: Vec<Option<[u64; 4]>>,
    /// Run time, noise of all periods, largest of a period, longest gap.
    noise: [u64; 4],
    /// The largest of each kind on this or an earlier screen.
    largest: Vec<u64>,
}

/// The row of all CPUs together.
struct All {
    line: u64,
    /// The count of interrupts, and how many of its last digits were cut off.
    count: (u64, u32),
    /// Minimum and maximum of each kind.
    extremes: Vec<Option<(u64, u64)>>,
}

#[derive(Default)]
struct Screen {
    first_line: u64,
    unit: i64,
    table: Option<Table>,
    layout: Columns,
    /// The line of the last heading.
    drawn_at: u64,
    length: i64,
    rows: BTreeMap<u32, Row>,
    all: Option<All>,
    remarks: Remarks,
    lost: LostOnScreen,
    left: LeftOut,
}

fn read(input: &mut Input, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let unit = query.unit.map_or(1_000, |unit| unit.nanos());
    let mut parts = Vec::new();
    let mut screen = Screen { first_line: 1, unit, ..Screen::default() };
    while let Some(line) = input.next_line() {
        let line = Line { bytes: line.bytes.trim_ascii_end(), ..line };
        let text = String::from_utf8_lossy(line.bytes.trim_ascii_start());
        if screen.ends_before(&text, &line) {
            check_number(&parts, line.number)?;
            let next = screen.successor(line.number);
            parts.push(std::mem::replace(&mut screen, next).part());
        }
        if !text.is_empty() && !screen.take(&text, &line) {
            screen.pass_over(&line);
        }
    }
    parts.push(screen.part());
    Ok(number_parts(parts))
}

impl Screen {
    /// Whether this line starts another run: its time or a count decreases, or the columns differ.
    fn ends_before(&self, text: &str, line: &Line<'_>) -> bool {
        if self.rows.is_empty() {
            return false;
        }
        let is_shorter = |text: &str| time(text).is_some_and(|time| time.length < self.length);
        let is_other = |table: Option<Table>| table.is_some() && table != self.table;
        is_shorter(text)
            || command(text).is_some()
            || is_other(Table::of_heading(line.bytes))
            || self.row(text, line).is_some_and(|(cpu, row)| {
                self.rows.get(&cpu).is_some_and(|known| row.count < known.count)
            })
    }

    /// The next screen; what its first lines have said about the columns carries over.
    fn successor(&self, first_line: u64) -> Screen {
        let layout = self.layout.clone();
        let Screen { unit, table, drawn_at, .. } = *self;
        Screen { first_line, unit, table, layout, drawn_at, ..Screen::default() }
    }

    /// Takes a line; returns whether it could be read.
    fn take(&mut self, text: &str, line: &Line<'_>) -> bool {
        if let Some(table) = Table::of_heading(line.bytes).filter(|_| line.is_whole) {
            (self.table, self.layout) = (Some(table), table.layout(line.bytes));
            self.drawn_at = line.number;
            return true;
        }
        if let Some(time) = time(text) {
            (self.length, self.unit) = (time.length, time.unit);
            return true;
        }
        if let Some((cpu, row)) = self.row(text, line) {
            return self.insert(cpu, row);
        }
        if let Some(rest) = text.strip_prefix("ALL ") {
            self.all = self.all_of(rest, line);
            return self.all.is_some();
        }
        let titles = ["Timer Latency", "Operating System Noise", "Hardware-related Noise"];
        let is_rule = text.bytes().all(|byte| b"-|".contains(&byte));
        is_rule || titles.contains(&text) || self.remarks.take(text)
    }

    /// The row of a CPU; `None` if any cell is damaged, missing or extra.
    fn row(&self, text: &str, line: &Line<'_>) -> Option<(u32, Row)> {
        // The mark before the left-aligned count shows whether blanks are missing.
        let mark = line.bytes.iter().position(|byte| *byte == b'#')?;
        if !self.layout.are_filled_by(line, 2, MARK_AT.checked_sub(mark)?) {
            return None;
        }
        let (cpu, row) = match self.table? {
            Table::Timerlat(kinds) => {
                let mut groups = text.split('|');
                let (cpu, count) = key(groups.next()?)?;
                let latencies: Vec<Option<[u64; 4]>> = groups.map(group).collect::<Option<_>>()?;
                let largest = latencies.iter().map(|it| it.map_or(0, |it| it[0].max(it[3])));
                let largest = largest.collect();
                let is_whole = latencies.len() == kinds;
                let row = Row { line: line.number, count, latencies, noise: [0; 4], largest };
                (cpu, Some(row).filter(|_| is_whole)?)
            }
            Table::Noise(columns) => {
                let cells: Vec<&str> = text.split_ascii_whitespace().collect();
                let (cpu, count) = key(&cells.get(..2)?.join(" "))?;
                let [runtime, noise, share, largest, single, ref counts @ ..] = cells[2..] else {
                    return None;
                };
                printed(share)?;
                counts.iter().map(|cell| whole(cell)).collect::<Option<Vec<u64>>>()?;
                let noise = [whole(runtime)?, whole(noise)?, whole(largest)?, whole(single)?];
                let largest = vec![noise[2].max(noise[3])];
                let row = Row { line: line.number, count, latencies: Vec::new(), noise, largest };
                (cpu, Some(row).filter(|_| cells.len() == columns)?)
            }
        };
        (row.count < LARGEST_COUNT).then_some((cpu, row))
    }

    /// Replaces the row of an earlier screen; the largest of all screens is kept.
    fn insert(&mut self, cpu: u32, mut row: Row) -> bool {
        if self.rows.len() >= MOST_CPUS && !self.rows.contains_key(&cpu) {
            return false;
        }
        if let Some(known) = self.rows.get(&cpu) {
            for (largest, earlier) in row.largest.iter_mut().zip(&known.largest) {
                *largest = (*largest).max(*earlier);
            }
        }
        self.rows.insert(cpu, row);
        true
    }

    /// Takes `#58634 e0 | 0 1 54 | 2 4 57` of all CPUs.
    fn all_of(&self, text: &str, line: &Line<'_>) -> Option<All> {
        let Some(Table::Timerlat(kinds)) = self.table else { return None };
        let mut groups = text.trim_end_matches([' ', '|']).split('|');
        let mut words = groups.next()?.split_ascii_whitespace();
        let count = whole(words.next()?.strip_prefix('#')?)?;
        let digits = whole(words.next()?.strip_prefix('e')?).filter(|digits| *digits < 19)?;
        let extremes = groups.map(|group| {
            let cells: Vec<&str> = group.split_ascii_whitespace().collect();
            match cells[..] {
                [min, mean, max] if min != "-" => {
                    whole(mean)?;
                    Some(Some((whole(min)?, whole(max)?)))
                }
                _ => cells.iter().all(|cell| *cell == "-").then_some(None),
            }
        });
        let extremes: Vec<Option<(u64, u64)>> = extremes.collect::<Option<_>>()?;
        let is_whole = words.next().is_none() && extremes.len() == kinds && line.is_whole;
        is_whole.then_some(All { line: line.number, count: (count, digits as u32), extremes })
    }

    /// Counts a line that could not be read; one with figures may be replaced by the next screen.
    fn pass_over(&mut self, line: &Line<'_>) {
        let is_row = line.bytes.trim_ascii_start().first().is_some_and(u8::is_ascii_digit);
        let may_hold = !is_of_shell(line.bytes)
            && (is_row || line.bytes.contains(&b'|') || may_hold_value(line));
        match may_hold && self.table.is_some() {
            true => self.lost.push(line.number, line.bytes),
            false => self.left.pass_over(line, may_hold),
        }
    }

    fn part(mut self) -> Part {
        // What was lost is replaced if all rows have been redrawn since.
        let first_row = self.rows.values().map(|row| row.line).min().unwrap_or(0);
        let replaced_before = first_row.min(self.drawn_at);
        self.lost.report(|number, _| number <= replaced_before, &mut self.left);
        let recordings = match self.table {
            _ if self.rows.is_empty() => Vec::new(),
            Some(Table::Timerlat(kinds)) => (0..kinds).map(|kind| self.recording(kind)).collect(),
            Some(Table::Noise(_)) => vec![self.noise()],
            None => Vec::new(),
        };
        Part::of(self.first_line, recordings, self.left)
    }

    fn begin(&self, format: &'static str) -> Recording {
        let mut recording = Recording::new(format);
        recording.length_ns = Nanos(self.length);
        recording.resolution_ns = Some(Nanos(self.unit));
        recording
    }

    fn end(&self, kind: usize, recording: &mut Recording) {
        for (thread, (cpu, row)) in self.rows.iter().enumerate() {
            recording.series[thread].cpu = Some(*cpu);
            let largest = row.largest.get(if row.noise == [0; 4] { kind } else { 0 });
            let shown = largest.and_then(|largest| nanos(*largest as f64, self.unit));
            if let Some(shown) = shown.map(Nanos) {
                recording.has_at_least_of(thread, "Largest on any screen", shown);
            }
        }
        self.remarks.report(kind, self.unit, recording);
        self.left.report("lines", recording);
        note_summary(recording);
    }

    /// The figures of one kind.
    fn recording(&self, kind: usize) -> Recording {
        let mut recording = self.begin("rtla timerlat top");
        (recording.part, recording.quantity) = (Some(KINDS[kind].1.to_string()), KINDS[kind].2);
        for row in self.rows.values() {
            let figures = row.latencies[kind];
            let time = |at: usize| nanos(figures?[at] as f64, self.unit);
            let stated = StatedFigures {
                count: figures.map(|_| row.count),
                min_ns: time(1),
                mean_ns: figures.map(|figures| figures[2] as f64 * self.unit as f64),
                max_ns: time(3),
                ..StatedFigures::default()
            };
            add_summary(&mut recording, &stated);
        }
        // All CPUs have the same period.
        recording.compare_cycles(true);
        self.compare_all(kind, &mut recording);
        self.end(kind, &mut recording);
        recording
    }

    /// Compares the row of all CPUs with those above it.
    fn compare_all(&self, kind: usize, recording: &mut Recording) {
        let is_last = |all: &&All| self.rows.values().all(|row| row.line < all.line);
        let Some(all) = self.all.as_ref().filter(is_last) else { return };
        let counted: u64 = self.rows.values().map(|row| row.count).sum();
        let (count, digits) = all.count;
        if counted / 10u64.pow(digits) != count {
            let (stated, counted) =
                (format!("{count} e{digits}"), format!("{counted} in the rows"));
            contradiction(recording, 0, "Number of all latencies", stated, counted);
        }
        let time = |value: u64| Nanos(nanos(value as f64, self.unit).unwrap_or(i64::MAX));
        let seen = self.rows.values().filter_map(|row| row.latencies[kind]);
        let seen = seen.map(|it| (it[1], it[3])).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        let Some((all, seen)) = all.extremes[kind].zip(seen) else { return };
        recording.has_at_least("Maximum of all CPUs", time(all.1));
        let pairs = [
            ("Minimum of all CPUs", all.0, seen.0, all.0 != seen.0),
            ("Maximum of all CPUs", all.1, seen.1, all.1 < seen.1),
        ];
        for (about, all, seen, differs) in pairs {
            if differs {
                contradiction(recording, 0, about, time(all).to_string(), time(seen).to_string());
            }
        }
    }

    /// The noise of each CPU in a period.
    fn noise(&self) -> Recording {
        let mut recording = self.begin("rtla osnoise top");
        recording.quantity = "noise in a period";
        for row in self.rows.values() {
            let [_, noise, largest, _] = row.noise;
            let stated = StatedFigures {
                count: Some(row.count).filter(|count| *count > 0),
                mean_ns: Some(noise as f64 / row.count.max(1) as f64 * self.unit as f64),
                max_ns: nanos(largest as f64, self.unit),
                ..StatedFigures::default()
            };
            add_summary(&mut recording, &stated);
        }
        recording.compare_cycles(true);
        self.end(super::NOISE, &mut recording);
        recording
    }
}

/// The line above the columns: how long it ran, and the unit.
struct Time {
    length: i64,
    unit: i64,
}

/// Parses ` 0 00:00:59 | IRQ Timer Latency (us) | …` or `duration: 0 00:01:00 | time is in us`.
fn time(text: &str) -> Option<Time> {
    let (clock, rest) = text.split_once('|')?;
    let length = duration(clock.strip_prefix("duration:").unwrap_or(clock))?;
    let unit = match rest {
        rest if rest.trim() == "time is in us" => 1_000,
        rest if rest.contains("Latency (us)") && !rest.contains("(ns)") => 1_000,
        rest if rest.contains("Latency (ns)") && !rest.contains("(us)") => 1,
        _ => return None,
    };
    Some(Time { length, unit })
}

/// The CPU and the count of ` 0 #58634`.
fn key(text: &str) -> Option<(u32, u64)> {
    let mut words = text.split_ascii_whitespace();
    let cpu = whole(words.next()?)?.try_into().ok()?;
    let count = whole(words.next()?.strip_prefix('#')?)?;
    words.next().is_none().then_some((cpu, count))
}

/// Four figures, or a dash in place of each.
fn group(text: &str) -> Option<Option<[u64; 4]>> {
    let cells: Vec<&str> = text.split_ascii_whitespace().collect();
    let cells: [&str; 4] = cells.try_into().ok()?;
    if cells == ["-"; 4] {
        return Some(None);
    }
    let values: Vec<u64> = cells.iter().map(|cell| whole(cell)).collect::<Option<_>>()?;
    Some(values.try_into().ok())
}
