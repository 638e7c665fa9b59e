//! The latencies of a run as a text histogram: log count over log latency. Every latency is
//! visible, even one among a hundred million; negative ones are mentioned in words.

use crate::document::table::wrapped;
use crate::figures::{LatencyBound, SaidLatency, maximum_of};
use crate::pictures::curve::OpenStretch;
use crate::pictures::deadline::DeadlineMark;
use crate::terms;
use crate::units::{four_digits, grouped};
use latlab_model::{Bin, Nanos, Run, ThreadBins};
use std::ops::Range;

/// Columns of the labels of the vertical axis.
const MARGIN: usize = 7;
/// Wider charts are no easier to read.
const WIDEST: usize = 100;
/// With fewer columns the chart is illegible.
const NARROWEST: usize = 40;
/// The count at the lower edge, below one so that a count of one is visible.
const LOWEST: f64 = 0.4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Glyphs {
    /// Block elements in eighths, and box-drawing lines.
    Unicode,
    Ascii,
}

impl Glyphs {
    /// A character filled to this many eighths.
    fn block(self, eighths: usize) -> char {
        let all = match self {
            Glyphs::Unicode => [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            Glyphs::Ascii => [' ', '.', '.', ':', ':', ':', '#', '#', '#'],
        };
        all[eighths.min(8)]
    }

    fn deadline(self) -> char {
        match self {
            Glyphs::Unicode => '┊',
            Glyphs::Ascii => '!',
        }
    }

    /// Fills the range of latencies of unknown size.
    fn hatch(self) -> char {
        match self {
            Glyphs::Unicode => '░',
            Glyphs::Ascii => '/',
        }
    }

    /// Plain row, labelled row, corner, axis, tick, and maximum.
    fn lines(self) -> [char; 6] {
        match self {
            Glyphs::Unicode => ['│', '┤', '└', '─', '┬', '▲'],
            Glyphs::Ascii => ['|', '+', '+', '-', '+', '^'],
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PictureSize {
    /// Columns, at least 60.
    pub width: usize,
    /// Lines above the axis.
    pub rows: usize,
}

impl PictureSize {
    /// As part of a full report.
    pub fn full(width: usize) -> PictureSize {
        PictureSize { width, rows: 8 }
    }

    /// Leaves room for the whole answer of a run on 24 lines.
    pub fn brief(run: &Run, width: usize) -> PictureSize {
        // A narrow terminal wraps more text, and intervals take an extra line.
        let intervals = run.statistics.as_ref().is_some_and(|of| !of.quantiles.is_empty());
        PictureSize { width, rows: if width < 100 { 3 } else { 4 } - usize::from(intervals) }
    }
}

/// All latencies of the run with the deadline; empty if there are none.
pub fn histogram(run: &Run, bins: &[ThreadBins], size: PictureSize, glyphs: Glyphs) -> String {
    let all_rows = || bins.iter().flat_map(|thread| &thread.bins).filter(|bin| bin.count > 0);
    let all = || all_rows().filter(|bin| bin.has_end());
    let open = open_of(all_rows(), run.total.max_ns);
    let highest = all().map(|bin| bin.high_ns).max().max(open.map(|open| open.from));
    let Some(highest) = highest else { return String::new() };
    if size.width < NARROWEST {
        let said = format!("No chart of the latencies: it needs {NARROWEST} columns.");
        return wrapped(&said, size.width, 0) + "\n";
    }
    if let Some(SaidLatency { ns, bound: LatencyBound::Below }) = maximum_of(run) {
        let resolution = Nanos(ns.ceil() as i64);
        let said =
            format!("No chart of the latencies: all are below the resolution, {resolution}.");
        return wrapped(&said, size.width, 0) + "\n";
    }
    let width = size.width.min(WIDEST);
    let max = run.total.max_ns.unwrap_or(highest);
    let below = all().filter(|bin| bin.low_ns < Nanos::ZERO);
    let below = below.fold(0u64, |sum, bin| sum.saturating_add(bin.count));
    let deadline = run.asked.until.deadline_ns;
    let near = deadline.filter(|deadline| DeadlineMark::is_near(*deadline, max));
    let end = near.map_or(max, |deadline| deadline.max(max));
    let axis = Axis::new(all(), end, width - MARGIN - 1);
    let columns = axis.columns(all());
    let hatched = open.map(|open| {
        let to = open.to.map_or(axis.to, |to| to.0 as f64);
        axis.column(open.from.0 as f64)..axis.column(to) + 1
    });
    let deadline_words = match (deadline, near) {
        (Some(deadline), Some(_)) => format!("; {} deadline {deadline}", glyphs.deadline()),
        (Some(deadline), None) => format!("; deadline {deadline} off the chart"),
        (None, _) => String::new(),
    };
    let titles = terms::of_run(run).titles;
    let title = format!("{titles} by size, both axes logarithmic{deadline_words}:");
    let mut text = wrapped(&title, width, 0) + "\n";
    let line = near.map(|deadline| (axis.column(deadline.0 as f64), glyphs.deadline()));
    text += &rows(&columns, size.rows, line, hatched.unwrap_or_default(), glyphs);
    text += &axis.feet(glyphs);
    if run.total.max_ns.is_some() {
        let at_least = if run.total.max_is_at_least { "at least " } else { "" };
        text += &axis.maximum(max, at_least, glyphs);
    }
    if let Some(open) = open {
        let words = open.words(terms::of_run(run));
        let line = format!("{} {words}, of unknown size", glyphs.hatch());
        text += &format!("{}\n", wrapped(&line, size.width, 2));
    }
    if below > 0 {
        let were = if below == 1 { "latency was" } else { "latencies were" };
        text += &format!("{} {were} below zero and not drawn.\n", grouped(below));
    }
    text
}

/// The range of latencies whose individual sizes are unknown.
fn open_of<'a>(rows: impl Iterator<Item = &'a Bin>, max: Option<Nanos>) -> Option<OpenStretch> {
    let open: Vec<&Bin> = rows.filter(|bin| !bin.has_end()).collect();
    let from = open.iter().map(|bin| bin.low_ns).min()?;
    let count = open.iter().fold(0, |sum: u64, bin| sum.saturating_add(bin.count));
    Some(OpenStretch { from, to: max, count })
}

/// The latency axis, with a column for each step.
struct Axis {
    from: f64,
    to: f64,
    columns: usize,
}

impl Axis {
    fn new<'a>(bins: impl Iterator<Item = &'a Bin>, end: Nanos, columns: usize) -> Axis {
        let low = |bin: &Bin| match bin.low_ns.0 {
            ..=0 => bin.high_ns.0 as f64 / 2.0,
            low => low as f64,
        };
        let lowest = bins.map(low).filter(|low| *low > 0.0).fold(f64::INFINITY, f64::min);
        let end = (end.0 as f64).max(1.0);
        let from = round(lowest.min(end).max(1.0), false);
        Axis { from, to: round((end * 1.02).max(from * 10.0), true), columns }
    }

    fn place(&self, latency: f64) -> f64 {
        let share = (latency.clamp(self.from, self.to) / self.from).ln();
        share / (self.to / self.from).ln() * self.columns as f64
    }

    fn column(&self, latency: f64) -> usize {
        (self.place(latency) as usize).min(self.columns - 1)
    }

    /// The count of each column; a bin wider than a column is spread over several.
    fn columns<'a>(&self, bins: impl Iterator<Item = &'a Bin>) -> Vec<f64> {
        let mut columns = vec![0.0; self.columns];
        for bin in bins.filter(|bin| bin.low_ns >= Nanos::ZERO) {
            let (low, high) = (bin.low_ns.0 as f64, bin.high_ns.0 as f64);
            let (start, end) = (self.place(low), self.place(high).max(self.place(low) + 1e-9));
            for (index, column) in columns.iter_mut().enumerate().skip(self.column(low)) {
                let inside = end.min(index as f64 + 1.0) - start.max(index as f64);
                if inside <= 0.0 && index > self.column(low) {
                    break;
                }
                *column += bin.count as f64 * (inside / (end - start)).clamp(1e-9, 1.0);
            }
        }
        columns
    }

    /// Labelled latencies: powers of ten first, then whatever fits between.
    fn ticks(&self) -> Vec<(usize, String)> {
        let decades = (self.to / self.from).log10();
        let every = (10.0 * decades / self.columns as f64).ceil().max(1.0) as i32;
        let first = self.from.log10().floor() as i32;
        let powers = || first..=self.to.log10().ceil() as i32;
        let tens = powers().filter(|power| power % every == 0).map(|power| (1.0, power));
        let between = powers().flat_map(|power| [(2.0, power), (5.0, power)]);
        let between = between.filter(|_| every == 1);
        let mut taken: Vec<(usize, String)> = Vec::new();
        for (digit, power) in tens.chain(between) {
            let at = digit * 10f64.powi(power);
            if at < self.from * 0.999 || at > self.to * 1.001 {
                continue;
            }
            let (column, name) = (self.column(at), name(at));
            let apart = |(other, words): &(usize, String)| {
                column.abs_diff(*other) > (name.len() + words.len()) / 2 + 2
            };
            if taken.iter().all(apart) {
                taken.push((column, name));
            }
        }
        taken
    }

    fn feet(&self, glyphs: Glyphs) -> String {
        let [_, _, corner, line, tick, _] = glyphs.lines();
        let mut axis = vec![line; self.columns];
        let mut names = vec![' '; MARGIN + 1 + self.columns];
        for (column, name) in self.ticks() {
            axis[column] = tick;
            let from = (MARGIN + 1 + column).saturating_sub(name.chars().count() / 2);
            let from = from.min(names.len() - name.chars().count());
            names.splice(from..from + name.chars().count(), name.chars());
        }
        let (axis, names): (String, String) = (axis.iter().collect(), names.iter().collect());
        format!("{:MARGIN$}{corner}{axis}\n{}\n", "", names.trim_end())
    }

    /// The observed maximum below its column; its text is on the side that has room, or below.
    fn maximum(&self, max: Nanos, at_least: &str, glyphs: Glyphs) -> String {
        let [.., mark] = glyphs.lines();
        let column = MARGIN + 1 + self.column(max.0 as f64);
        let words = format!("observed maximum {at_least}{}", four_digits(max));
        let length = words.chars().count();
        if column > length {
            format!("{:>column$} {mark}\n", words, column = column - 1)
        } else if column + 2 + length <= MARGIN + 1 + self.columns {
            format!("{:column$}{mark} {words}\n", "")
        } else {
            format!("{:column$}{mark}\n{words}\n", "")
        }
    }
}

/// The next number of 1, 2 or 5 times a power of ten.
fn round(value: f64, up: bool) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let digit = value / power;
    let digits = [1.0, 2.0, 5.0, 10.0];
    let found = match up {
        true => digits.iter().find(|wanted| **wanted >= digit * 0.999_999),
        false => digits.iter().rev().find(|wanted| **wanted <= digit * 1.000_001),
    };
    found.unwrap_or(&1.0) * power
}

fn name(latency: f64) -> String {
    let (unit, scale) = match latency {
        ..999.0 => ("ns", 1.0),
        ..999e3 => ("us", 1e3),
        ..999e6 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    format!("{} {unit}", grouped((latency / scale).round() as u64))
}

/// The lines of the histogram, labelled with powers of ten.
fn rows(
    columns: &[f64],
    rows: usize,
    deadline: Option<(usize, char)>,
    hatched: Range<usize>,
    glyphs: Glyphs,
) -> String {
    let [side, numbered, ..] = glyphs.lines();
    let largest = columns.iter().copied().fold(1.0, f64::max);
    let top = largest.log10().ceil().max(1.0);
    let level = |count: f64| {
        let height = (count.log10() - LOWEST.log10()) / (top - LOWEST.log10());
        ((height * (8 * rows) as f64).round() as usize).clamp(1, 8 * rows)
    };
    let step = if top <= 4.0 { 1 } else { (top as usize).div_ceil(4) };
    let numbers =
        (0..=top as usize).step_by(step).map(|power| (level(10f64.powi(power as i32)), power));
    let numbers: Vec<(usize, usize)> =
        numbers.map(|(level, power)| ((level - 1) / 8, power)).collect();
    let mut text = String::new();
    for row in (0..rows).rev() {
        let power = numbers.iter().rev().find(|(at, _)| *at == row).map(|(_, power)| *power);
        let (beside, line) =
            (power.map(count).unwrap_or_default(), power.map_or(side, |_| numbered));
        let block = |count: &f64| match *count > 0.0 {
            true => glyphs.block(level(*count).saturating_sub(8 * row)),
            false => ' ',
        };
        let mut blocks: Vec<char> = columns.iter().map(block).collect();
        if row == 0 {
            let free = blocks.iter_mut().enumerate().filter(|(at, _)| hatched.contains(at));
            free.filter(|(_, block)| **block == ' ').for_each(|(_, block)| *block = glyphs.hatch());
        }
        if let Some((column, line)) = deadline.filter(|(column, _)| blocks[*column] == ' ') {
            blocks[column] = line;
        }
        let blocks: String = blocks.into_iter().collect();
        text += &format!("{beside:>MARGIN$}{line}{}\n", blocks.trim_end());
    }
    text
}

fn count(power: usize) -> String {
    match power {
        0..=4 => format!("{} ", grouped(10u64.pow(power as u32))),
        _ => format!("10^{power} "),
    }
}
