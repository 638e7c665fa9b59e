//! The log that rt-app writes for each of its threads: a row a cycle, in microseconds, with the wake-up latency of its
//! timer in the last column.

use super::left_out::{LeftOut, is_other_text};
use super::{Format, Part, check_number, head_lines, is_text, number_parts};
use crate::read::input::{ImportQuery, Input, InputError};
use crate::read::recording::{LatencySeries, Recording};
use crate::read::samples::UnitSamples;
use latlab_model::Nanos;

pub const FORMAT: Format = Format {
    id: "rt-app",
    title: "log of a thread of rt-app",
    fits,
    has_value: |line| Row::of_line(line).is_some(),
    read,
};

/// The names of the columns, of which the first one's `#` is no part.
const COLUMNS: [&str; 11] = [
    "idx",
    "perf",
    "run",
    "period",
    "start",
    "end",
    "rel_st",
    "slack",
    "c_duration",
    "c_period",
    "wu_lat",
];
const UNIT: i64 = 1_000;

fn is_head(line: &[u8]) -> bool {
    let text = String::from_utf8_lossy(line);
    text.strip_prefix('#').is_some_and(|names| names.split_whitespace().eq(COLUMNS))
}

fn fits(head: &[u8]) -> bool {
    is_text(head) && head_lines(head).any(is_head)
}

/// A cycle: it is whole if its period is the time from its start to its end.
struct Row {
    start: i64,
    end: i64,
    /// The period asked for; 0 without a timer.
    period: i64,
    latency: i64,
}

impl Row {
    fn of_line(line: &[u8]) -> Option<Row> {
        let text = std::str::from_utf8(line).ok()?;
        let mut numbers = [0_i64; COLUMNS.len()];
        let mut cells = text.split_ascii_whitespace();
        for number in &mut numbers {
            *number = cells.next()?.parse().ok()?;
        }
        let [_, _, _, lasted, start, end, _, _, _, period, latency] = numbers;
        let adds_up = end.checked_sub(start) == Some(lasted) && lasted >= 0 && period >= 0;
        let is_row = cells.next().is_none() && adds_up && latency >= 0;
        is_row.then_some(Row { start, end, period, latency })
    }
}

#[derive(Default)]
struct Log {
    first_line: u64,
    policy: Option<String>,
    samples: UnitSamples,
    rows: u64,
    without_timer: u64,
    first: i64,
    last: Option<Row>,
    /// Distances between rows in which another one would have had room.
    gaps: u64,
    left: LeftOut,
}

fn read(input: &mut Input, _: &ImportQuery) -> Result<Vec<Recording>, InputError> {
    let (mut parts, mut log) = (Vec::new(), Log { first_line: 1, ..Log::default() });
    while let Some(line) = input.next_line() {
        let text = line.bytes.trim_ascii();
        let row = Row::of_line(text).filter(|_| line.is_whole);
        let is_other = is_head(text) && log.rows > 0
            || row.as_ref().zip(log.last.as_ref()).is_some_and(|(row, last)| row.start < last.end);
        if is_other {
            check_number(&parts, line.number)?;
            let next = Log { first_line: line.number, ..Log::default() };
            parts.push(std::mem::replace(&mut log, next).part());
        }
        let was_read = match row {
            Some(row) => log.take(row),
            None => text.is_empty() || is_head(text) || log.take_policy(text),
        };
        if !was_read {
            log.left.pass_over(&line, !is_other_text(text, 1));
        }
    }
    parts.push(log.part());
    Ok(number_parts(parts))
}

impl Log {
    fn take_policy(&mut self, text: &[u8]) -> bool {
        let text = String::from_utf8_lossy(text);
        let Some(policy) = text.strip_prefix("# Policy :") else { return false };
        self.policy = Some(policy.replace(" priority :", ",").trim().to_string());
        true
    }

    fn take(&mut self, row: Row) -> bool {
        let is_late = |last: &Row| row.period > 0 && row.start - last.end >= row.period;
        match &self.last {
            None => self.first = row.start,
            Some(last) => self.gaps += u64::from(is_late(last)),
        }
        let was_counted = match row.period {
            // Without a timer there is no release that the row could be late for.
            0 => {
                self.without_timer += 1;
                true
            }
            _ => self.samples.push(row.latency, UNIT).is_some(),
        };
        self.rows += 1;
        self.last = Some(row);
        was_counted
    }

    fn part(mut self) -> Part {
        let Some(last) = self.last.take().filter(|_| self.rows > self.without_timer) else {
            return Part::none(self.first_line, self.left);
        };
        let mut recording = Recording::new("rt-app log");
        recording.tool = Some("rt-app".to_string());
        recording.resolution_ns = Some(Nanos(UNIT));
        recording.length_ns = Nanos((last.end - self.first).saturating_mul(UNIT));
        let period_ns = Some(Nanos(last.period.saturating_mul(UNIT))).filter(|one| one.0 > 0);
        recording.series.push(LatencySeries { period_ns, ..self.samples.series(UNIT) });
        if let Some(policy) = self.policy {
            recording.fact("Policy", policy);
        }
        if self.gaps > 0 {
            recording.lacks(format!("between rows {} times a whole period is missing", self.gaps));
        }
        if self.without_timer > 0 {
            let text = format!("{} rows without a timer have no latency.", self.without_timer);
            recording.note(text);
        }
        self.left.report("lines", &mut recording);
        Part::one(self.first_line, recording)
    }
}
