//! Tools that measure from one thread to another: pmqtest, ptsematest, svsematest and sigwaittest.

use super::left_out::{LeftOut, LostOnScreen, is_of_shell, is_other_text};
use super::{Format, Part, check_number, contains, head_lines, is_text, number_parts};
use crate::read::bins::LARGEST_COUNT;
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::lines::Line;
use crate::read::numbers::Cursor;
use crate::read::recording::Recording;
use crate::read::stated_figures::{StatedFigures, add_summary, note_summary};
use latlab_model::Nanos;
use std::collections::BTreeMap;

pub const FORMAT: Format = Format {
    id: "pairs",
    title: "pmqtest, ptsematest, svsematest or sigwaittest",
    fits,
    has_value: has_figures,
    read,
};

/// These tools count in microseconds.
const UNIT: i64 = 1_000;
/// More pairs than any machine has CPUs.
const MOST_PAIRS: usize = 8192;
/// Width of the figures, which are right-aligned.
const WIDTH: usize = 4;

fn fits(head: &[u8]) -> bool {
    is_text(head) && head_lines(head).any(has_figures)
}

fn has_figures(line: &[u8]) -> bool {
    line.starts_with(b"#")
        && line.get(1).is_some_and(u8::is_ascii_digit)
        && contains(line, " -> #")
        && contains(line, "Min ")
}

/// A line of threads: `#0: ID30510, P90, CPU0, I500; #1: ID30511, P90, CPU0, TO 0, Cycles 500`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Threads {
    sender: u64,
    processes: (u64, u64),
    priority: u64,
    cpu: Option<u32>,
    interval: u64,
    timeouts: u64,
    cycles: u64,
}

/// A line of figures: `#1 -> #0, Min 3, Cur 3, Avg 3, Max 39`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Figures {
    sender: u64,
    min: u64,
    current: u64,
    mean: u64,
    max: u64,
}

impl Threads {
    /// The whole line must match.
    fn of_line(line: &Line<'_>) -> Option<Threads> {
        let mut cursor = Cursor::new(line.bytes);
        let receiver = number_behind(&mut cursor, b"#")?;
        let process = number_behind(&mut cursor, b": ID")?;
        let priority = number_behind(&mut cursor, b", P")?;
        let cpu = cpu(&mut cursor)?;
        let interval = number_behind(&mut cursor, b", I")?;
        let sender = number_behind(&mut cursor, b"; #")?;
        let other = number_behind(&mut cursor, b": ID")?;
        number_behind(&mut cursor, b", P")?;
        self::cpu(&mut cursor)?;
        let timeouts = match cursor.rest().starts_with(b", TO ") {
            true => number_behind(&mut cursor, b", TO ")?,
            false => 0,
        };
        let cycles = number_behind(&mut cursor, b", Cycles ")?;
        let is_whole = line.is_whole && cursor.rest().is_empty() && cycles < LARGEST_COUNT;
        (is_whole && sender == receiver + 1).then_some(Threads {
            sender,
            processes: (process, other),
            priority,
            cpu,
            interval,
            timeouts,
            cycles,
        })
    }

    /// Whether a later line may be from the same threads.
    fn go_on_as(&self, later: &Threads) -> bool {
        self.processes == later.processes && self.cycles <= later.cycles
    }
}

impl Figures {
    /// The whole line must match.
    fn of_line(line: &Line<'_>) -> Option<Figures> {
        let mut cursor = Cursor::new(line.bytes);
        let sender = number_behind(&mut cursor, b"#")?;
        let receiver = number_behind(&mut cursor, b" -> #")?;
        let mut figure = |name: &[u8]| {
            cursor.take(name).then_some(())?;
            let width = cursor.rest().len();
            cursor.skip_blanks();
            let is_padded = width > cursor.rest().len();
            let value = cursor.unsigned().filter(|value| *value < 1 << 40)?;
            let width = width - cursor.rest().len();
            (width >= WIDTH).then_some((value, is_padded && width == WIDTH))
        };
        let (min, current, mean) = (figure(b", Min ")?, figure(b", Cur ")?, figure(b", Avg ")?);
        let (max, is_padded) = figure(b", Max ")?;
        let is_whole = (line.is_whole || is_padded) && cursor.rest().is_empty();
        (is_whole && sender == receiver + 1).then_some(Figures {
            sender,
            min: min.0,
            current: current.0,
            mean: mean.0,
            max,
        })
    }

    /// Whether a later line may be from the same threads: extremes only grow.
    fn go_on_as(&self, later: &Figures) -> bool {
        later.min <= self.min && later.max >= self.max
    }
}

fn number_behind(cursor: &mut Cursor<'_>, text: &[u8]) -> Option<u64> {
    cursor.take(text).then_some(())?;
    cursor.unsigned().filter(|number| *number < 1 << 40)
}

/// The CPU of a thread; -1 if it may run on any.
fn cpu(cursor: &mut Cursor<'_>) -> Option<Option<u32>> {
    cursor.take(b", CPU").then_some(())?;
    let cpu = cursor.signed()?;
    Some(u32::try_from(cpu).ok())
}

/// The pairs of one run, as last drawn.
#[derive(Default)]
struct Screen {
    first_line: u64,
    threads: BTreeMap<u64, Threads>,
    figures: BTreeMap<u64, Figures>,
    /// Line number of each sender's last figures.
    last_drawn: BTreeMap<u64, u64>,
    lost: LostOnScreen,
    left: LeftOut,
}

fn read(input: &mut Input, _: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let mut parts = Vec::new();
    let mut screen = Screen { first_line: 1, ..Screen::default() };
    while let Some(line) = input.next_line() {
        let line = Line { bytes: line.bytes.trim_ascii(), ..line };
        if line.bytes.is_empty() {
            continue;
        }
        let (threads, figures) = (Threads::of_line(&line), Figures::of_line(&line));
        if screen.ends_before(threads.as_ref(), figures.as_ref()) {
            check_number(&parts, line.number)?;
            let next = Screen { first_line: line.number, ..Screen::default() };
            parts.push(std::mem::replace(&mut screen, next).part());
        }
        screen.take(threads, figures, &line);
    }
    parts.push(screen.part());
    Ok(number_parts(parts))
}

/// Whether an unrecognised line may be the remains of one with figures.
fn may_hold_value(line: &[u8]) -> bool {
    let has_digit = line.iter().any(u8::is_ascii_digit);
    let marks = ["->", "Min", "Max", "Cur", "Avg", "Cycles", ": ID"];
    let is_of_table = line[0] == b'#' && line.get(1).is_some_and(u8::is_ascii_digit);
    let has_mark = marks.iter().any(|mark| contains(line, mark));
    has_digit && !is_of_shell(line) && (is_of_table || has_mark || !is_other_text(line, 1))
}

impl Screen {
    /// Whether a line starts another run.
    fn ends_before(&self, threads: Option<&Threads>, figures: Option<&Figures>) -> bool {
        let known = threads.and_then(|one| Some((self.threads.get(&one.sender)?, one)));
        let drawn = figures.and_then(|one| Some((self.figures.get(&one.sender)?, one)));
        known.is_some_and(|(known, one)| !known.go_on_as(one))
            || drawn.is_some_and(|(known, one)| !known.go_on_as(one))
    }

    fn take(&mut self, threads: Option<Threads>, figures: Option<Figures>, line: &Line<'_>) {
        let has_room = self.threads.len() < MOST_PAIRS && self.figures.len() < MOST_PAIRS;
        match (threads, figures) {
            (Some(one), _) if has_room => drop(self.threads.insert(one.sender, one)),
            (_, Some(one)) if has_room => {
                self.figures.insert(one.sender, one);
                self.last_drawn.insert(one.sender, line.number);
            }
            _ if may_hold_value(line.bytes) && line.bytes.starts_with(b"#") => {
                self.lost.push(line.number, line.bytes);
            }
            _ => self.left.pass_over(line, may_hold_value(line.bytes)),
        }
    }

    fn part(mut self) -> Part {
        // Thread lines precede an equal number of figure lines.
        let first = self.last_drawn.values().min().copied().unwrap_or(0);
        let replaced_before =
            first.saturating_sub(self.threads.len().max(self.figures.len()) as u64);
        self.lost.report(|number, _| number < replaced_before, &mut self.left);
        if self.figures.is_empty() {
            return Part::none(self.first_line, self.left);
        }
        let mut recording = Recording::new("pmqtest, ptsematest, svsematest or sigwaittest");
        recording.quantity = "latency from one thread to another";
        recording.resolution_ns = Some(Nanos(UNIT));
        for (sender, figures) in &self.figures {
            self.add(self.threads.get(sender), figures, &mut recording);
        }
        let last = self.figures.keys().chain(self.threads.keys()).max().copied().unwrap_or(0);
        let absent = (1..=last).step_by(2).filter(|sender| !self.figures.contains_key(sender));
        let absent = absent.take(MOST_PAIRS).count();
        if absent > 0 {
            recording.lacks(format!("{absent} of {} pairs have no figures", last.div_ceil(2)));
        }
        let counted =
            self.figures.keys().filter(|sender| self.threads.contains_key(sender)).count();
        if counted > 0 && counted < self.figures.len() {
            let (all, without) = (self.figures.len(), self.figures.len() - counted);
            recording.lacks(format!("{without} of {all} pairs have no number of cycles"));
        }
        // The tools sleep between cycles, so only threads with the same pause have equal numbers of
        // cycles.
        let mut intervals = self.threads.values().map(|one| one.interval);
        let first = intervals.next();
        if intervals.all(|interval| Some(interval) == first) {
            recording.compare_cycles(false);
        }
        self.left.report("lines", &mut recording);
        note_summary(&mut recording);
        Part::one(self.first_line, recording)
    }

    fn add(&self, threads: Option<&Threads>, figures: &Figures, recording: &mut Recording) {
        let time = |value: u64| value as i64 * UNIT;
        let stated = StatedFigures {
            // The number of latencies is on another line, which may be missing.
            count: Some(threads.map_or(1, |threads| threads.cycles)),
            min_ns: Some(time(figures.min)),
            mean_ns: Some(time(figures.mean) as f64),
            max_ns: Some(time(figures.max)),
            ..StatedFigures::default()
        };
        let thread = recording.series.len();
        add_summary(recording, &stated);
        recording.has_at_least_of(thread, "Last latency", Nanos(time(figures.current)));
        let Some(threads) = threads else {
            return recording
                .note("The number of cycles of a pair is not in the file; it counts as 1.");
        };
        if threads.timeouts > 0 {
            let timeouts = threads.timeouts;
            recording.lacks(format!("pair {thread} gave up waiting {timeouts} times (TO)"));
        }
        let series = &mut recording.series[thread];
        series.cpu = threads.cpu;
        series.policy = format!("priority {}", threads.priority);
        series.period_ns = threads.interval.try_into().ok().map(|us: i64| Nanos(us * UNIT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whole_or_not_at_all() {
        let line =
            |text: &'static str, is_whole| Line { number: 1, bytes: text.as_bytes(), is_whole };
        let of = |text: &'static str| Figures::of_line(&line(text, true));
        let text = "#1 -> #0, Min    3, Cur    3, Avg    3, Max   39";
        assert_eq!(of(text).map(|one| one.max), Some(39));
        assert_eq!(Figures::of_line(&line(text, false)), of(text), "a padded figure is whole");
        let cut = "#1 -> #0, Min    3, Cur    3, Avg    3, Max    3";
        assert!(Figures::of_line(&line(&cut[..cut.len() - 1], false)).is_none());
        let wide = "#1 -> #0, Min    3, Cur    3, Avg    3, Max 1039";
        assert!(Figures::of_line(&line(wide, false)).is_none(), "it may have a fifth digit");
        for text in [
            "#1 -> #0, Min    3, Cur    3, Avg    3, Max   3x",
            "#1 -> #0, Min    3, Cur    3, Avg    3, Max   39 7",
            "#1 -> #0, Min    3, Cur    3, Max   39",
            "#1 -> #2, Min    3, Cur    3, Avg    3, Max   39",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
        let threads = "#0: ID30510, P90, CPU-1, I500; #1: ID30511, P90, CPU0, TO 0, Cycles 500";
        let threads = Threads::of_line(&line(threads, true)).unwrap();
        assert_eq!((threads.cpu, threads.cycles, threads.interval), (None, 500, 500));
    }
}
