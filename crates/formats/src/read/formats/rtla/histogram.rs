//! Histograms of `rtla timerlat` and `rtla osnoise`.
//!
//! A timerlat histogram has two or three columns for each CPU: latency of the timer interrupt, of
//! the thread, and of the return to user space. The section `ALL:` adds no data; it must agree. A
//! histogram of osnoise counts the gaps of a busy loop, which may be none.

use super::{Columns, KINDS, NOISE, Remarks, command, duration, may_hold_value, option_of};
use crate::read::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::read::formats::left_out::LeftOut;
use crate::read::formats::{Format, Part, check_number, head_lines, is_text, number_parts};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::lines::Line;
use crate::read::numbers::{nanos, printed, whole};
use crate::read::recording::{LatencySeries, Recording};
use crate::read::stated_figures::{
    Scale, StatedFigures, add_bins, contradiction, note_unknown_overflow,
};
use latlab_model::Nanos;
use latlab_model::import::ListedGaps;

pub const FORMAT: Format =
    Format { id: "rtla-hist", title: "rtla histogram", fits, has_value: has_columns, read };

/// The lines below the rows; with `--no-summary` rtla prints only the first.
const FOOTER: [&str; 5] = ["over:", "count:", "min:", "avg:", "max:"];
const OVER: usize = 0;
/// With this few rows the bin width cannot be seen.
const FEW_ROWS: usize = 4;
/// The threshold of osnoise if its command line has none.
const DEFAULT_THRESHOLD_US: i64 = 1;
/// How long osnoise runs in each period, unless its command line says otherwise.
const DEFAULT_RUNTIME_US: u64 = 1_000_000;

fn words(line: &[u8]) -> impl Iterator<Item = &str> {
    std::str::from_utf8(line).unwrap_or_default().split_ascii_whitespace()
}

fn is_heading(line: &[u8]) -> bool {
    let mut words = words(line);
    let kind = |word: &str| KINDS.iter().any(|kind| word.starts_with(kind.0));
    words.next() == Some("Index") && words.next().is_none_or(kind)
}

fn is_title(line: &[u8]) -> bool {
    line.starts_with(b"# RTLA ") && line.ends_with(b"histogram")
}

/// Whether the columns have names but no index, as with `--no-index`.
fn is_heading_without_index(line: &[u8]) -> bool {
    let is_column = |word: &str| column(word).is_some();
    words(line).next().is_some() && words(line).all(is_column)
}

fn fits(head: &[u8]) -> bool {
    is_text(head) && head_lines(head).any(has_columns)
}

fn has_columns(line: &[u8]) -> bool {
    is_title(line)
        || (is_heading(line) && words(line).count() > 1)
        || is_heading_without_index(line)
}

/// A column with the figures below it.
struct Column {
    kind: usize,
    cpu: u32,
    bins: Bins,
    stated: StatedFigures,
}

/// The section of all CPUs together.
struct All {
    kinds: Vec<usize>,
    layout: Columns,
    figures: [Option<Vec<Option<f64>>>; FOOTER.len()],
}

struct Histogram {
    first_line: u64,
    unit: i64,
    title: &'static str,
    has_heading: bool,
    layout: Columns,
    columns: Vec<Column>,
    rows: Vec<u64>,
    figures: [bool; FOOTER.len()],
    /// Whether it says that nothing at all was seen.
    is_empty: bool,
    all: Option<All>,
    length: i64,
    remarks: Remarks,
    left: LeftOut,
}

fn read(input: &mut Input, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let unit = query.unit.map_or(1_000, |unit| unit.nanos());
    let (mut parts, mut histogram) = (Vec::new(), Histogram::new(1, unit));
    while let Some(line) = input.next_line() {
        let line = Line { bytes: line.bytes.trim_ascii(), ..line };
        if !histogram.has_heading && is_heading_without_index(line.bytes) {
            let text = "its rows have no index (option --no-index of rtla), so it is unknown which \
                        latencies they count";
            return Err(InputError::Malformed(text.to_string()));
        }
        if histogram.ends_before(line.bytes) {
            check_number(&parts, line.number)?;
            let next = Histogram::new(line.number, unit);
            parts.push(std::mem::replace(&mut histogram, next).part());
        }
        if !line.bytes.is_empty() && !histogram.take(&line) {
            let is_row = line.bytes[0].is_ascii_digit();
            histogram.left.pass_over(&line, is_row || may_hold_value(&line));
        }
    }
    parts.push(histogram.part());
    Ok(number_parts(parts))
}

impl Histogram {
    fn new(first_line: u64, unit: i64) -> Histogram {
        Histogram {
            first_line,
            unit,
            title: "rtla timerlat histogram",
            has_heading: false,
            layout: Columns::default(),
            columns: Vec::new(),
            rows: Vec::new(),
            figures: [false; FOOTER.len()],
            is_empty: false,
            all: None,
            length: 0,
            remarks: Remarks::default(),
            left: LeftOut::default(),
        }
    }

    /// Whether this line starts another histogram.
    fn ends_before(&self, line: &[u8]) -> bool {
        let is_command = || std::str::from_utf8(line).ok().and_then(command).is_some();
        let has_ended = self.figures[OVER];
        self.has_heading && (is_title(line) || is_heading(line) || (has_ended && is_command()))
    }

    /// Takes a line; returns whether it could be read.
    fn take(&mut self, line: &Line<'_>) -> bool {
        let Ok(text) = std::str::from_utf8(line.bytes) else { return false };
        let mut cells = text.split_ascii_whitespace();
        let first = cells.next().unwrap_or_default();
        let cells: Vec<&str> = cells.collect();
        if let Some(figure) = FOOTER.iter().position(|name| *name == first) {
            return match &mut self.all {
                Some(all) => all.take(figure, &cells, line),
                None => self.take_figures(figure, &cells, line),
            };
        }
        match first {
            "#" => self.take_comment(text),
            "Index" => self.take_heading(&cells, line),
            "ALL:" => self.take_all(&cells, line),
            _ if first.starts_with(|first: char| first.is_ascii_digit()) => {
                self.take_row(first, &cells, line) || self.remarks.take(text)
            }
            _ => self.remarks.take(text),
        }
    }

    fn take_comment(&mut self, text: &str) -> bool {
        match text {
            "# RTLA timerlat histogram" => {}
            "# RTLA osnoise histogram" => self.title = "rtla osnoise histogram",
            "# Time unit is microseconds (us)" => self.unit = 1_000,
            "# Time unit is nanoseconds (ns)" => self.unit = 1,
            _ => {
                let length = text.strip_prefix("# Duration:").and_then(duration);
                self.length = length.unwrap_or(self.length);
                return length.is_some();
            }
        }
        true
    }

    fn take_heading(&mut self, cells: &[&str], line: &Line<'_>) -> bool {
        let columns: Option<Vec<Column>> = cells.iter().map(|cell| column(cell)).collect();
        let is_new = |columns: &Vec<Column>| {
            let mut names: Vec<(usize, u32)> =
                columns.iter().map(|one| (one.kind, one.cpu)).collect();
            names.sort_unstable();
            names.windows(2).all(|pair| pair[0] != pair[1])
        };
        let Some(columns) = columns.filter(is_new).filter(|_| line.is_whole) else { return false };
        if columns.iter().any(|one| one.kind == NOISE) {
            self.title = "rtla osnoise histogram";
        }
        (self.has_heading, self.layout) = (true, layout("Index", cells, line));
        self.columns = columns;
        true
    }

    fn take_row(&mut self, index: &str, cells: &[&str], line: &Line<'_>) -> bool {
        let index = whole(index).filter(|index| {
            *index < MOST_BINS * 1_000 && self.rows.last().is_none_or(|last| last < index)
        });
        let counts: Option<Vec<u64>> = cells.iter().map(|cell| count(cell)).collect();
        let (Some(index), Some(counts)) = (index, counts) else { return false };
        let fits = counts.len() == self.columns.len()
            && !counts.is_empty()
            && !self.figures[OVER]
            && self.rows.len() < MOST_BINS as usize
            && self.layout.are_filled_by(line, 1, 0);
        if fits {
            let row = self.rows.len() as u32;
            self.rows.push(index);
            for (column, count) in self.columns.iter_mut().zip(counts) {
                column.bins.push(row, count);
            }
        }
        fits
    }

    /// Takes a line of the footer: a figure for each column.
    fn take_figures(&mut self, figure: usize, cells: &[&str], line: &Line<'_>) -> bool {
        if self.has_heading && self.columns.is_empty() && cells == ["0"] {
            self.figures[figure] = true;
            self.is_empty = true;
            return true;
        }
        let values = figures(figure, cells);
        let Some(values) = values.filter(|values| {
            values.len() == self.columns.len() && self.layout.are_filled_by(line, 1, 0)
        }) else {
            return false;
        };
        if std::mem::replace(&mut self.figures[figure], true) {
            return false;
        }
        let unit = self.unit;
        for (column, value) in self.columns.iter_mut().zip(values) {
            let time = value.and_then(|value| nanos(value, unit));
            let stated = &mut column.stated;
            match figure {
                OVER => stated.overflow = value.map(|value| value as u64),
                1 => stated.count = value.map(|value| value as u64),
                2 => stated.min_ns = time,
                3 => stated.mean_ns = value.map(|mean| mean * unit as f64),
                _ => stated.max_ns = time,
            }
        }
        true
    }

    fn take_all(&mut self, cells: &[&str], line: &Line<'_>) -> bool {
        let kind =
            |cell: &&str| KINDS.iter().position(|kind| kind.0.strip_suffix('-') == Some(*cell));
        let kinds: Option<Vec<usize>> = cells.iter().map(kind).collect();
        let Some(kinds) = kinds.filter(|_| self.all.is_none() && line.is_whole) else {
            return false;
        };
        let layout = layout("ALL:  ", cells, line);
        self.all = Some(All { kinds, layout, figures: Default::default() });
        true
    }

    /// The bin width: as requested, or the greatest common divisor of all indices.
    fn width(&self) -> u64 {
        let divisor = |mut a: u64, mut b: u64| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let common = self.rows.iter().copied().fold(0, divisor).max(1);
        let asked = self.asked("-b", "--bucket-size").filter(|asked| *asked > 0);
        match asked {
            Some(asked) if common % asked == 0 => asked,
            _ if self.rows.len() < FEW_ROWS && self.fits_width(1) => 1,
            _ => common,
        }
    }

    /// Whether minimum and maximum of each column lie in its first and last bins of this width.
    fn fits_width(&self, width: u64) -> bool {
        let is_in = |value: Option<i64>, row: Option<&(u32, u64)>| {
            let Some((value, row)) = value.zip(row) else { return true };
            let low = self.rows[row.0 as usize] as i64;
            (low..low + width as i64).contains(&(value / self.unit))
        };
        self.columns.iter().all(|column| {
            let rows = column.bins.clone().take();
            let all_are_binned = column.stated.overflow == Some(0);
            is_in(column.stated.min_ns, rows.first())
                && (!all_are_binned || is_in(column.stated.max_ns, rows.last()))
        })
    }

    fn asked(&self, short: &str, long: &str) -> Option<u64> {
        option_of(self.remarks.command.as_deref()?, short, long)
    }

    fn part(mut self) -> Part {
        let width = self.width();
        let kinds: Vec<usize> = (0..KINDS.len())
            .filter(|kind| self.columns.iter().any(|column| column.kind == *kind))
            .collect();
        let mut recordings: Vec<Recording> =
            kinds.into_iter().map(|kind| self.recording(kind, width)).collect();
        if self.is_empty {
            recordings.push(self.without_gaps());
        }
        Part::of(self.first_line, recordings, self.left)
    }

    fn recording(&mut self, kind: usize, width: u64) -> Recording {
        let of_kind: Vec<Column> = self.columns.extract_if(.., |one| one.kind == kind).collect();
        let end = self.rows.iter().map(|bin| bin / width + 1).max().unwrap_or(1);
        let scale = Scale {
            start_ns: 0,
            width_ns: self.unit.saturating_mul(width.min(1 << 40) as i64),
            bins: u32::try_from(end).unwrap_or(u32::MAX),
            unit_ns: self.unit,
            is_limited: true,
        };
        let mut recording = self.begin(kind);
        let stated: Vec<StatedFigures> = of_kind.iter().map(|one| one.stated).collect();
        for (thread, mut column) in of_kind.into_iter().enumerate() {
            let mut bins = Bins::default();
            for (row, count) in column.bins.take() {
                bins.push((self.rows[row as usize] / width) as u32, count);
            }
            add_bins(&mut recording, bins, scale, &column.stated);
            if let Some(series) = recording.series.last_mut() {
                series.cpu = Some(column.cpu);
            }
            self.check_absent(thread, &column.stated, &mut recording);
        }
        if self.rows.iter().any(|row| row % width != 0) {
            recording.lacks(format!("an index is no multiple of the distance {width}"));
        }
        self.report_footer(&mut recording);
        if let Some(all) = &self.all {
            all.compare(kind, &stated, self.unit, &mut recording);
        }
        match kind {
            NOISE => self.describe_gaps(&mut recording),
            // All CPUs have the same period.
            _ => recording.compare_cycles(true),
        }
        self.remarks.report(kind, self.unit, &mut recording);
        self.left.report("lines", &mut recording);
        note_unknown_overflow(&mut recording);
        recording
    }

    fn begin(&self, kind: usize) -> Recording {
        let (_, part, quantity) = KINDS[kind];
        let mut recording = Recording::new(self.title);
        recording.quantity = quantity;
        recording.part = Some(part.to_string()).filter(|_| kind != NOISE);
        recording.length_ns = Nanos(self.length);
        recording.resolution_ns = Some(Nanos(self.unit));
        recording
    }

    /// A column with latencies must have figures, not dashes.
    fn check_absent(&self, thread: usize, stated: &StatedFigures, recording: &mut Recording) {
        let count = stated.count.unwrap_or(0);
        let figures = [stated.min_ns.is_some(), stated.mean_ns.is_some(), stated.max_ns.is_some()];
        for (figure, is_there) in (2..).zip(figures) {
            if count > 0 && self.figures[figure] && !is_there {
                let latencies = format!("{count} latencies");
                contradiction(recording, thread, FOOTER[figure], "none".to_string(), latencies);
            }
        }
    }

    fn report_footer(&self, recording: &mut Recording) {
        let is_without_summary = self.figures[OVER]
            && !self.figures[1..].contains(&true)
            && self.remarks.command.as_ref().is_some_and(|it| it.contains("--no-summary"));
        let absent: Vec<&str> = FOOTER
            .iter()
            .zip(self.figures)
            .filter_map(|(name, is_there)| (!is_there).then_some(*name))
            .collect();
        if !absent.is_empty() && !is_without_summary {
            recording.lacks(format!("these lines of its end are not there: {}", absent.join(" ")));
        }
    }

    /// Notes the threshold from which gaps are listed, and how long they were watched for.
    fn describe_gaps(&self, recording: &mut Recording) {
        let threshold = self.asked("-T", "--threshold").map(|us| Nanos(us as i64 * 1_000));
        // What was counted was above the threshold.
        let counted = recording.series.iter().filter(|one| one.counts.count > 0);
        let smallest = counted.map(|one| one.counts.min_ns).min();
        let has_command = self.remarks.command.is_some();
        let default = Nanos(DEFAULT_THRESHOLD_US * 1_000);
        let above_ns = threshold.or(smallest).unwrap_or(default);
        recording.gaps = Some(ListedGaps { above_ns: Some(above_ns) });
        if threshold.or(smallest).is_none() && !has_command {
            recording.note(
                "The file does not say from which length on rtla counts gaps: taken as 1 us, as it is \
                 without option -T.",
            );
        }
        let period = self.asked("-p", "--period").unwrap_or(DEFAULT_RUNTIME_US);
        let runtime = self.asked("-r", "--runtime").unwrap_or(DEFAULT_RUNTIME_US).min(period);
        let share = runtime as f64 / period.max(1) as f64;
        recording.length_ns = Nanos((self.length as f64 * share) as i64);
        if !has_command {
            recording.note(
                "The file does not say for which part of each period rtla watched (options -r and -p); \
                 its default, all of it, was assumed.",
            );
        }
    }

    /// The recording of a time without a gap.
    fn without_gaps(&mut self) -> Recording {
        let mut recording = self.begin(NOISE);
        recording.series.push(LatencySeries::default());
        self.report_footer(&mut recording);
        self.describe_gaps(&mut recording);
        self.remarks.report(NOISE, self.unit, &mut recording);
        self.left.report("lines", &mut recording);
        recording
    }
}

impl All {
    fn take(&mut self, figure: usize, cells: &[&str], line: &Line<'_>) -> bool {
        let values = figures(figure, cells).filter(|values| {
            values.len() == self.kinds.len() && self.layout.are_filled_by(line, 1, 0)
        });
        let is_new = self.figures[figure].is_none() && figure != OVER;
        let was_read = values.is_some() && is_new;
        if was_read {
            self.figures[figure] = values;
        }
        was_read
    }

    /// Compares the section with the figures of its columns.
    fn compare(&self, kind: usize, stated: &[StatedFigures], unit: i64, recording: &mut Recording) {
        let Some(at) = self.kinds.iter().position(|one| *one == kind) else {
            return recording.lacks(format!("the section 'ALL:' has no {}", KINDS[kind].0));
        };
        if self.figures[1..].iter().any(Option::is_none) {
            recording.lacks("the section 'ALL:' is not whole");
        }
        let figure = |figure: usize| self.figures[figure].as_ref().and_then(|it| it[at]);
        let count = figure(1).map(|count| count as u64);
        let counted = stated.iter().map(|one| one.count).sum::<Option<u64>>();
        if let Some((count, counted)) = count.zip(counted).filter(|(all, sum)| all != sum) {
            let (about, sum) = ("Number of all latencies", format!("{counted} in the columns"));
            contradiction(recording, 0, about, count.to_string(), sum);
        }
        let time = |value: Option<f64>| value.and_then(|value| nanos(value, unit)).map(Nanos);
        let largest = stated.iter().filter_map(|one| one.max_ns).max().map(Nanos);
        let smallest = stated.iter().filter_map(|one| one.min_ns).min().map(Nanos);
        if let Some(max) = time(figure(4)) {
            recording.has_at_least("Maximum of all CPUs", max);
        }
        let pairs = [
            ("Minimum of all CPUs", time(figure(2)), smallest),
            ("Maximum of all CPUs", time(figure(4)).filter(|max| Some(*max) < largest), largest),
        ];
        for (about, all, column) in pairs {
            if let Some((all, column)) = all.zip(column).filter(|(all, column)| all != column) {
                contradiction(recording, 0, about, all.to_string(), column.to_string());
            }
        }
    }
}

/// The layout of columns with these names, each as wide as a figure and its blank.
fn layout(first: &str, names: &[&str], line: &Line<'_>) -> Columns {
    let width = first.len().max("over: ".len()) + "        0".len();
    let mut printed = first.to_string();
    for (at, name) in names.iter().enumerate() {
        let end = width + at * "        0 ".len();
        printed += &format!("{name:>width$}", width = end - printed.len());
    }
    let words: Vec<usize> = (1..=names.len()).collect();
    Columns::of(line.bytes, &printed, &words)
}

/// A plausible count.
fn count(cell: &str) -> Option<u64> {
    whole(cell).filter(|count| *count < LARGEST_COUNT)
}

/// The figures of a footer line, with dashes if nothing was counted.
fn figures(figure: usize, cells: &[&str]) -> Option<Vec<Option<f64>>> {
    let value = |cell: &&str| match (figure, *cell) {
        (2.., "-") => Some(None),
        (3, cell) => printed(cell).map(Some),
        (_, cell) => count(cell).map(|value| Some(value as f64)),
    };
    cells.iter().map(value).collect()
}

/// A column from its heading: `Thr-003`.
fn column(heading: &str) -> Option<Column> {
    let kind = KINDS.iter().position(|kind| heading.starts_with(kind.0))?;
    let number = &heading[KINDS[kind].0.len()..];
    let is_number = number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    let cpu = number.parse().ok().filter(|_| is_number)?;
    Some(Column { kind, cpu, bins: Bins::default(), stated: StatedFigures::default() })
}
