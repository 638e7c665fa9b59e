//! Tables of samples: CSV, TSV and similar, with one column of latencies or clock times.

mod cell;
mod layout;
mod names;
mod timestamps;

use super::left_out::{LeftOut, is_other_text};
use super::{Format, Part, has_none, is_text, number_parts};
use crate::read::bins::LARGEST_COUNT;
use crate::read::input::{ImportQuery, Input, InputError, InputUnit};
use crate::read::lines::Line;
use crate::read::recording::Recording;
use crate::read::samples::Samples;
use crate::read::stated_figures::contradiction;
use cell::{Cell, Thousands, thousands, unit_of_sign};
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;
use latlab_model::statements::states_loss;
use latlab_model::units::grouped;
use layout::Layout;
use layout::is_rule;
pub use layout::unit;
pub use names::stated_latency;
use names::stated_unit;
use std::collections::BTreeMap;
use timestamps::Timestamps;

pub const FORMAT: Format =
    Format { id: "csv", title: "table of samples", fits, has_value: has_none, read };

/// More threads than any machine has CPUs.
const MOST_THREADS: usize = 8192;
/// Words before a number that states how many rows there are.
const LENGTHS: [&str; 6] = ["iterations", "cycles", "loops", "samples", "rows", "record length"];
/// Larger values are clock times.
const LONGEST_LATENCY: Nanos = Nanos(1_000_000_000_000);

/// A table whose heading names latencies and their unit, above a row that has one.
fn fits(head: &[u8]) -> bool {
    is_text(head) && has_latencies(head, &ImportQuery::default())
}

/// Why a table is refused; `None` if the file does not look like one.
pub fn refusal(head: &[u8], query: &ImportQuery) -> Option<InputError> {
    Layout::refusal(&String::from_utf8_lossy(head), query)
}

/// Whether a table has this column.
pub fn has_column(head: &[u8], query: &ImportQuery) -> bool {
    has_latencies(head, query)
}

fn has_latencies(head: &[u8], query: &ImportQuery) -> bool {
    let text = String::from_utf8_lossy(head);
    Layout::of(&text, query).is_ok_and(|layout| {
        layout.heading_line.is_some() && {
            let behind = layout.heading_line.unwrap_or(0) as usize;
            let mut rows = text.lines().skip(behind).filter(|line| !is_empty(line)).take(50);
            rows.any(|row| layout.value(row).is_some())
        }
    })
}

fn is_empty(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with('#')
}

impl Layout {
    /// The value of a row.
    fn value(&self, row: &str) -> Option<i64> {
        let cell = self.cells(row).nth(self.latency)?;
        Cell::read(cell, self.comma)?.nanos(self.unit)
    }
}

fn read(input: &mut Input, query: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let head = input.plain_head();
    let mut table = Table::new(1, Layout::of(&String::from_utf8_lossy(&head), query)?, query);
    let mut parts = Vec::new();
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        if Some(line.number) == table.layout.heading_line {
            continue;
        }
        if table.is_before_heading(line.number) {
            table.take_setting(&line, &text);
        } else if is_empty(&text) {
            table.take_comment(&line, &text);
        } else if !table.take_row(&line, &text) {
            match table.next_heading(&line, &text, query) {
                Some(next) => {
                    let next = Table::new(line.number, next?, query);
                    parts.push(std::mem::replace(&mut table, next).part()?);
                }
                None => table.lose(&line, &text),
            }
        }
    }
    parts.push(table.part()?);
    Ok(number_parts(parts))
}

/// A table while it is read.
struct Table {
    first_line: u64,
    layout: Layout,
    threads: BTreeMap<String, Samples>,
    timestamps: Option<Timestamps>,
    rows: u64,
    has_first_cells: bool,
    stated_rows: Option<u64>,
    /// A largest latency stated by a comment or another column.
    stated_max: Option<i64>,
    cycles: Option<(u64, u64)>,
    /// Steps of the column of numbers.
    steps: NumberSteps,
    /// Rows that report losses: the first column that does, and their number.
    losses: Option<(usize, u64)>,
    cycles_differ: bool,
    units_differ: bool,
    notation: Notation,
    left: LeftOut,
    negative: LeftOut,
}

impl Table {
    fn new(first_line: u64, layout: Layout, query: &ImportQuery) -> Table {
        Table {
            first_line,
            layout,
            threads: BTreeMap::new(),
            timestamps: query.period.map(Timestamps::new),
            rows: 0,
            has_first_cells: false,
            stated_rows: None,
            stated_max: None,
            cycles: None,
            steps: NumberSteps::default(),
            losses: None,
            cycles_differ: false,
            units_differ: false,
            notation: Notation::default(),
            left: LeftOut::default(),
            negative: LeftOut::default(),
        }
    }

    fn is_before_heading(&self, line: u64) -> bool {
        self.layout.heading_line.is_some_and(|heading| line < heading)
    }

    /// Takes a line before the heading, usually a device setting.
    fn take_setting(&mut self, line: &Line<'_>, text: &str) {
        self.take_statement(text);
        if states_loss(text) {
            self.left.lose(line);
        } else if !is_empty(text) {
            self.left.pass_over(line, !is_other_text(line.bytes, 1));
        }
    }

    /// Takes a comment; one without words among the rows may be the remains of a row.
    fn take_comment(&mut self, line: &Line<'_>, text: &str) {
        self.take_statement(text);
        let comment = text.trim_start_matches('#').trim_start();
        let has_digit = comment.bytes().any(|byte| byte.is_ascii_digit());
        let is_code = text.starts_with('#') && !text.starts_with("# ") && !comment.contains(' ');
        if states_loss(text)
            || is_code
            || (self.rows > 0 && has_digit && !is_other_text(comment.as_bytes(), 1))
        {
            self.left.lose(line);
        }
    }

    /// Takes a stated number of rows; returns whether the line states one.
    fn take_length(&mut self, text: &str) -> bool {
        let plain = text.trim_start_matches(['#', ' ', '\t', '"', '(']).to_ascii_lowercase();
        // psql ends with `(3 rows)`.
        let number = match plain.trim_end().split_once(' ') {
            Some((number, "rows)" | "row)")) => Some(number),
            _ => LENGTHS.iter().find_map(|word| plain.strip_prefix(word)),
        };
        let number = number.map(|rest| rest.trim_matches(|c: char| " :=,;\t\"".contains(c)));
        let rows = number.and_then(|number| number.parse().ok());
        self.stated_rows = rows.or(self.stated_rows);
        rows.is_some()
    }

    /// Takes a statement about all rows.
    fn take_statement(&mut self, text: &str) {
        self.take_length(text);
        if self.timestamps.is_none() {
            self.stated_max = self.stated_max.max(stated_latency(text, self.layout.unit));
        }
        self.units_differ |= stated_unit(text).is_some_and(|unit| unit != self.layout.unit);
    }

    /// The layout of the table that begins with this line; `None` if it is a row.
    fn next_heading(
        &self,
        line: &Line<'_>,
        text: &str,
        query: &ImportQuery,
    ) -> Option<Result<Layout, InputError>> {
        // A row has a number where a heading has a name.
        let cell = self.layout.cells(text).nth(self.layout.latency)?;
        let is_name = cell.chars().next().is_some_and(char::is_alphabetic) && cell.len() > 2;
        if !is_name || self.layout.heading_line.is_none() {
            return None;
        }
        let next = Layout::below_heading(line.number, text, query)?;
        Some(next.map(|next| next.with_comma(self.layout.comma)))
    }

    /// Takes a row; returns whether it could be read.
    fn take_row(&mut self, line: &Line<'_>, text: &str) -> bool {
        let cells: Vec<&str> = self.layout.cells(text).collect();
        // A row that has lost its first cell may have lost more.
        let has_first = cells.first().is_some_and(|cell| !cell.is_empty()) || !self.has_first_cells;
        let is_row = line.is_whole
            && has_first
            && self.layout.fits(&cells)
            && self.layout.has_even_quotes(&cells);
        let Some(row) = is_row.then(|| self.read_row(&cells)).flatten() else { return false };
        self.has_first_cells |= self.rows == 0 && !cells[0].is_empty();
        self.notation.push(thousands(cells[self.layout.latency], self.layout.comma), line.number);
        match row.nanos < 0 && self.timestamps.is_none() {
            true => self.negative.lose(line),
            false => self.push(&row),
        }
        true
    }

    /// Counts a line that is not a row.
    fn lose(&mut self, line: &Line<'_>, text: &str) {
        let is_table = self.layout.cells(text).count() > 1;
        let text = text.trim();
        if is_rule(text) || (text.starts_with('(') && self.take_length(text)) {
            return;
        }
        let is_like_row = text.starts_with(|c: char| c == '"' || c.is_ascii_digit());
        // A short run of punctuation stands for a missing value, a long one is a rule.
        let is_sign = text.len() < 4 && text.bytes().all(|byte| byte.is_ascii_punctuation());
        let may_hold_value = is_table
            || states_loss(text)
            || is_like_row
            || is_sign
            || !is_other_text(line.bytes, 2);
        self.left.pass_over(line, may_hold_value);
    }

    fn read_row<'a>(&self, cells: &[&'a str]) -> Option<Row<'a>> {
        let layout = &self.layout;
        let cell = Cell::read(cells.get(layout.latency)?, layout.comma)?;
        let whole = |at: usize| {
            let cell =
                cells.get(at).filter(|cell| cell.bytes().all(|byte| byte.is_ascii_digit()))?;
            cell.parse::<u64>().ok()
        };
        let times = match layout.count {
            Some(at) => whole(at).filter(|times| *times < LARGEST_COUNT)?,
            None => 1,
        };
        let cycle = match layout.cycle {
            Some(at) => Some(whole(at)?),
            None => None,
        };
        let thread = layout.thread.and_then(|at| cells.get(at)).copied().unwrap_or_default();
        let has_room = self.threads.len() < MOST_THREADS || self.threads.contains_key(thread);
        let of_row = match layout.unit_of_row {
            Some(at) => Some(unit_of_sign(cells.get(at)?)?),
            None => None,
        };
        // If the heading names no unit, all cells must.
        let lacks_unit = !layout.has_unit && of_row.is_none() && cell.unit.is_none();
        let differs = lacks_unit || cell.unit.or(of_row).is_some_and(|unit| unit != layout.unit);
        let nanos = cell.nanos(of_row.unwrap_or(layout.unit))?;
        let number = layout.number.and_then(whole);
        let says_loss = |(at, cell): (usize, &&str)| match cell.parse::<f64>() {
            Ok(count) => count != 0.0 && layout.losses.contains(&at),
            Err(_) => states_loss(cell),
        };
        // Nearly all cells are numbers of other columns, which need no check.
        let may_say = |(at, cell): &(usize, &&str)| {
            let is_word = cell.bytes().any(|byte| byte.is_ascii_alphabetic());
            *at != layout.latency && (is_word || layout.losses.contains(at))
        };
        let mut asked = cells.iter().enumerate().filter(may_say);
        let loss = asked.find(|one| says_loss(*one)).map(|one| one.0);
        let largest = |(at, unit): &(usize, InputUnit)| {
            Cell::read(cells.get(*at)?, layout.comma)?.nanos(*unit)
        };
        let is_latency = self.timestamps.is_none();
        let largest = layout.largest.iter().filter(|_| is_latency).filter_map(largest).max();
        has_room.then_some(Row { nanos, times, cycle, thread, differs, largest, number, loss })
    }

    fn push(&mut self, row: &Row<'_>) {
        self.rows += 1;
        self.stated_max = self.stated_max.max(row.largest);
        if let Some(number) = row.number.filter(|_| self.layout.thread.is_none()) {
            self.steps.push(number);
        }
        if let Some(column) = row.loss {
            let (first, count) = self.losses.unwrap_or((column, 0));
            self.losses = Some((first, count + 1));
        }
        self.units_differ |= row.differs;
        if let Some(cycle) = row.cycle {
            let (first, last) = self.cycles.unwrap_or((cycle, cycle));
            self.cycles_differ |= self.cycles.is_some() && cycle != last + 1;
            self.cycles = Some((first, cycle));
        }
        match &mut self.timestamps {
            Some(timestamps) => timestamps.push(row.nanos),
            None => match self.threads.get_mut(row.thread) {
                Some(samples) => samples.push_times(row.nanos, row.times),
                None => {
                    let samples = self.threads.entry(row.thread.to_string()).or_default();
                    samples.push_times(row.nanos, row.times);
                }
            },
        }
    }

    fn part(mut self) -> Result<Part, InputError> {
        let first_line = self.first_line;
        let recordings = match self.timestamps.take() {
            Some(timestamps) => timestamps.recordings(),
            None => vec![self.samples()?],
        };
        let said = recordings.into_iter().map(|mut recording| {
            self.say(&mut recording);
            recording
        });
        Ok(Part::of(first_line, said.collect(), LeftOut::default()))
    }

    fn samples(&mut self) -> Result<Recording, InputError> {
        let mut recording = Recording::new(match self.layout.cycle {
            Some(_) => "rttest samples",
            None => "table of samples",
        });
        recording.quantity = "latency";
        for (thread, samples) in &mut self.threads {
            let series = samples.series();
            if !thread.is_empty() {
                recording.fact(&format!("Thread {}", recording.series.len()), thread.clone());
            }
            recording.series.push(series);
        }
        let smallest = recording.series.iter().map(|one| one.counts.min_ns).min();
        if let Some(smallest) = smallest.filter(|smallest| *smallest >= LONGEST_LATENCY) {
            return Err(InputError::Malformed(format!(
                "column '{}' has no latencies but times of a clock, the first {smallest}: give --period \
                 for the jitter of a loop, or another --column",
                self.layout.name
            )));
        }
        Ok(recording)
    }

    /// Adds the findings about the table.
    fn say(&self, recording: &mut Recording) {
        let Layout { name, unit, .. } = &self.layout;
        recording.fact("Column", format!("{name}, in {}", unit.as_str()));
        if let Some(count) = self.layout.name_of_count() {
            recording.note(format!(
                "Each line stands for as many latencies as its column '{count}' says."
            ));
        }
        if self.units_differ && !recording.series.is_empty() {
            let stated = unit.as_str().to_string();
            contradiction(
                recording,
                0,
                "Unit of the heading",
                stated,
                "another in cells".to_string(),
            );
        }
        if let Some((line, others)) =
            self.notation.contradiction().filter(|_| !recording.series.is_empty())
        {
            let stated = format!("parted in line {line}");
            contradiction(recording, 0, "Thousands", stated, others.to_string());
        }
        if let Some(stated) = self.stated_max {
            recording.has_at_least("Maximum", Nanos(stated));
        }
        if let Some(stated) = self.stated_rows.filter(|stated| *stated != self.rows) {
            let missing = format!("it states {stated} values and has {}", self.rows);
            recording.add(ImportFinding::ImportIncomplete { missing });
        }
        if let Some((first, last)) = self.cycles.filter(|_| self.cycles_differ) {
            let stated = format!("cycles {first} to {last}");
            contradiction(
                recording,
                0,
                "Cycles",
                stated,
                format!("{} rows, not one each", self.rows),
            );
        }
        if let Some((column, count)) = self.losses {
            let name = self.layout.name_of(column);
            recording
                .lacks(format!("its column '{name}' says so in {} of its rows", grouped(count)));
        }
        if let Some(missing) = self.steps.missing() {
            recording.lacks(missing);
        }
        self.negative.report("negative values", recording);
        self.left.report("lines", recording);
    }
}

/// The steps of a column that numbers the rows.
#[derive(Default)]
struct NumberSteps {
    last: Option<u64>,
    ones: u64,
    repeats: u64,
    others: u64,
    first_other: Option<(u64, u64)>,
}

impl NumberSteps {
    fn push(&mut self, number: u64) {
        let Some(last) = self.last.replace(number) else { return };
        match number.wrapping_sub(last) {
            1 => self.ones += 1,
            0 => self.repeats += 1,
            _ => {
                self.others += 1;
                self.first_other.get_or_insert((last, number));
            }
        }
    }

    /// The first gap or repeat; `None` if rows are not numbered one by one.
    fn missing(&self) -> Option<String> {
        let is_habit = self.others > self.ones || self.repeats > self.ones / 2;
        let repeated = (self.repeats > 0).then_some("a number comes twice".to_string());
        let step = self.first_other.map(|(last, next)| format!("number {next} follows {last}"));
        step.or(repeated).filter(|_| !is_habit)
    }
}

/// Number format of the column; a number in a different format is damaged.
#[derive(Default)]
struct Notation {
    first_parted: Option<u64>,
    first_parted_by_point: Option<u64>,
    has_plain: bool,
    has_whole: bool,
    has_decimals: bool,
}

impl Notation {
    fn push(&mut self, thousands: Thousands, line: u64) {
        match thousands {
            Thousands::Few => self.has_whole = true,
            Thousands::Plain => (self.has_plain, self.has_whole) = (true, true),
            Thousands::Parted => drop(self.first_parted.get_or_insert(line)),
            Thousands::PartedByPoint => drop(self.first_parted_by_point.get_or_insert(line)),
            Thousands::Decimals => self.has_decimals = true,
        }
    }

    /// The first line that separates its thousands, and what the others do.
    fn contradiction(&self) -> Option<(u64, &'static str)> {
        let parted = self.first_parted.filter(|_| self.has_plain);
        let by_point = self.first_parted_by_point.filter(|_| self.has_whole && !self.has_decimals);
        let others = "not parted in others";
        parted
            .map(|line| (line, others))
            .or_else(|| Some((by_point?, "decimals, which no other line has")))
    }
}

/// What is read of a row.
struct Row<'a> {
    nanos: i64,
    times: u64,
    cycle: Option<u64>,
    thread: &'a str,
    /// Whether the cell has a different unit than the heading.
    differs: bool,
    /// The largest latency of something, from the columns with these.
    largest: Option<i64>,
    /// Value of the number column.
    number: Option<u64>,
    /// The column that reports a loss.
    loss: Option<usize>,
}
