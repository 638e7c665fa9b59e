//! `rtla timerlat` and `rtla osnoise`: histograms, and the table of `top`.
//!
//! Each kind of latency becomes a separate recording, because their sum would count every cycle
//! several times.

mod histogram;
mod top;

pub use histogram::FORMAT as HISTOGRAM;
pub use top::FORMAT as TOP;

use super::contains;
use super::left_out::is_other_text;
use crate::read::lines::Line;
use crate::read::numbers::{nanos, printed, whole};
use crate::read::recording::Recording;
use latlab_model::Nanos;

/// Column prefixes, each with the name of its recording and what it measures.
const KINDS: [(&str, &str, &str); 4] = [
    ("IRQ-", "irq", "latency of the timer interrupt"),
    ("Thr-", "thread", "wake-up latency"),
    ("Usr-", "user", "latency up to user space"),
    ("CPU-", "noise", "time taken from a busy loop"),
];
/// Indices into [`KINDS`].
const IRQ: usize = 0;
const THREAD: usize = 1;
const NOISE: usize = 3;

/// Messages of rtla other than tables, such as why it stopped.
const REMARKS: &[&str] = &[
    "rtla timerlat hit stop tracing",
    "rtla osnoise hit stop tracing",
    "timerlat hit stop tracing",
    "osnoise hit stop tracing",
    "Saving trace to",
    "saving trace to",
    "## CPU",
    "IRQ handler delay",
    "Previous IRQ interference",
    "Timerlat IRQ duration",
    "Blocking thread",
    "NMI interference",
    "IRQ interference",
    "Softirq interference",
    "Thread interference",
    "The system has exit from idle latency",
    "-> ",
    "=> ",
];
/// Latencies named by the analysis of a stop, and their kinds.
const NAMED: [(&str, usize); 3] =
    [("Thread latency", THREAD), ("IRQ latency", IRQ), ("Max timerlat IRQ latency from idle", IRQ)];

/// What the lines around a table say about its recording.
#[derive(Default)]
struct Remarks {
    command: Option<String>,
    /// The largest latency of each kind named by the analysis of a stop.
    named: [Option<i64>; KINDS.len()],
    missed_events: Option<String>,
}

impl Remarks {
    /// Takes a line outside a table; returns whether it is one of rtla's own.
    fn take(&mut self, text: &str) -> bool {
        if let Some(command) = command(text) {
            self.command = Some(command.to_string());
            return true;
        }
        if text.ends_with("events missed, results might not be accurate") {
            self.missed_events = Some(text.to_string());
            return true;
        }
        if let Some((name, kind)) = NAMED.iter().find(|named| text.starts_with(named.0)) {
            let latency = latency(&text[name.len()..]);
            self.named[*kind] = self.named[*kind].max(latency);
            return latency.is_some();
        }
        REMARKS.iter().any(|remark| text.starts_with(remark))
    }

    /// Adds these statements to a recording.
    fn report(&self, kind: usize, unit: i64, recording: &mut Recording) {
        recording.command = self.command.clone();
        if let Some(missed) = &self.missed_events {
            recording.lacks(format!("rtla says '{missed}'"));
        }
        if let Some(named) = self.named[kind] {
            // The table truncates to its unit.
            recording.has_at_least("Latency that stopped it", Nanos(named - named % unit));
        }
    }
}

/// The command line in a line with a prompt.
fn command(text: &str) -> Option<&str> {
    let is_one = ["timerlat hist", "timerlat top", "osnoise hist", "osnoise top", "rtla hwnoise"]
        .iter()
        .find_map(|mode| text.find(mode))?;
    Some(&text[text.find("rtla ").filter(|at| *at < is_one).unwrap_or(is_one)..])
}

/// The value of an option of a command line: `-b 10`, `-b10`, `--bucket-size=10`.
fn option_of(command: &str, short: &str, long: &str) -> Option<u64> {
    let mut words = command.split_ascii_whitespace();
    while let Some(word) = words.next() {
        if word == short || word == long {
            return whole(words.next()?);
        }
        let joined = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
        let glued = word.strip_prefix(short).filter(|_| !word.starts_with("--"));
        if let Some(value) = joined.or(glued).and_then(whole) {
            return Some(value);
        }
    }
    None
}

/// The latency in `: 41.96 us (100%)`, in nanoseconds.
fn latency(text: &str) -> Option<i64> {
    let mut words = text.strip_prefix(':')?.split_ascii_whitespace();
    let value = printed(words.next()?)?;
    words.next().filter(|unit| *unit == "us")?;
    nanos(value, 1_000)
}

/// A time like `0 00:10:00` (days, hours, minutes, seconds) in nanoseconds.
fn duration(text: &str) -> Option<i64> {
    let mut words = text.split_ascii_whitespace();
    let days = whole(words.next()?).filter(|days| *days < 36_500)?;
    let mut parts = words.next()?.split(':').map(|part| {
        let digits = part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u64>().ok().filter(|_| digits)
    });
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let is_end = parts.next().is_none() && words.next().is_none();
    let seconds = ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
    is_end.then_some(seconds as i64 * 1_000_000_000)
}

/// Whether an unrecognised line may be the remains of one with figures: most of its cells are
/// numbers, or it is not text.
fn may_hold_value(line: &Line<'_>) -> bool {
    let is_figure = |cell: &&[u8]| {
        let has_digit = cell.iter().any(u8::is_ascii_digit);
        (has_digit && !cell[0].is_ascii_alphabetic()) || *cell == b"-"
    };
    let cells = || {
        let cells = line.bytes.split(|byte| byte.is_ascii_whitespace() || *byte == b'|');
        cells.filter(|cell| !cell.is_empty())
    };
    let (figures, all) = (cells().filter(is_figure).count(), cells().count());
    let marks = ["RTLA", "unit", "seconds", "Duration"];
    let is_comment =
        line.bytes.starts_with(b"#") && marks.iter().any(|it| contains(line.bytes, it));
    let names = ["over:", "count:", "min:", "avg:", "max:", "ALL"];
    let is_of_table = names.iter().any(|name| line.bytes.starts_with(name.as_bytes()));
    let may_be_rest = figures * 2 >= all.max(2) || !is_other_text(line.bytes, 1);
    is_comment || is_of_table || (may_be_rest && !is_other_text(line.bytes, 2))
}

/// The columns of a table, as its heading shows them. Cells are right-aligned, so one that has lost
/// a digit ends before its column.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Columns {
    /// End positions of the cells with figures; empty if the blanks between them were changed.
    ends: Vec<usize>,
}

/// The widest figure that fits its column; after a wider one all others are shifted right.
const WIDEST: usize = 9;

impl Columns {
    /// The columns of these words in a heading printed by rtla; empty if the heading was modified.
    fn of(heading: &[u8], printed: &str, words: &[usize]) -> Columns {
        if heading.trim_ascii_end() != printed.as_bytes() {
            return Columns::default();
        }
        let ends: Vec<usize> = cells(heading).map(|cell| cell.1).collect();
        Columns { ends: words.iter().filter_map(|word| ends.get(*word).copied()).collect() }
    }

    /// Whether the cells of a line, after `others` other cells, end at their columns, or all of
    /// them earlier by the `taken_off` characters that a log has stripped from the start of the
    /// line.
    fn are_filled_by(&self, line: &Line<'_>, others: usize, taken_off: usize) -> bool {
        if self.ends.is_empty() {
            return line.is_whole;
        }
        let mut figures = cells(line.bytes).skip(others);
        let mut further = 0;
        let fits = self.ends.iter().all(|column| {
            let Some((width, end)) = figures.next() else { return false };
            let due = (column + further).saturating_sub(taken_off);
            if width > WIDEST {
                further += end.saturating_sub(due);
            }
            end == due || (width > WIDEST && end > due)
        });
        fits && !line.bytes.contains(&b'\t')
    }
}

/// The cells of a line: length and end of each.
fn cells(line: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    line.split(|byte| byte.is_ascii_whitespace() || *byte == b'|').filter_map(move |cell| {
        let end = at + cell.len();
        at = end + 1;
        (!cell.is_empty()).then_some((cell.len(), end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_table_is_read() {
        assert_eq!(duration("   0 00:10:01"), Some(601_000_000_000));
        assert_eq!((duration("0 00:10"), duration("x 00:10:00")), (None, None));
        assert_eq!(latency(":     41.96 us (100%)"), Some(41_960));
        assert_eq!((latency(": 4x us"), latency(": 41.96")), (None, None));
        let prompt = "[root@cs9 rtla]# ./rtla timerlat hist -T 1 -b10";
        assert_eq!(command(prompt), Some("rtla timerlat hist -T 1 -b10"));
        assert_eq!(option_of(prompt, "-T", "--thread"), Some(1));
        assert_eq!(option_of(prompt, "-b", "--bucket-size"), Some(10));
        assert_eq!(command("rtla timerlat hit stop tracing"), None);
    }

    #[test]
    fn a_cell_that_has_lost_a_digit_ends_before_its_column() {
        let line =
            |bytes: &'static str| Line { number: 1, bytes: bytes.as_bytes(), is_whole: true };
        let heading = "Index   IRQ-001   Thr-001";
        let columns = Columns::of(heading.as_bytes(), heading, &[1, 2]);
        for row in [
            "max:          7       941 ",
            "max:          7       941",
            "0     1234567890       941 ",
        ] {
            assert!(columns.are_filled_by(&line(row), 1, 0), "{row}");
        }
        for row in
            ["max:          7       94 ", "max:         7       941 ", "max:          7      94  "]
        {
            assert!(!columns.are_filled_by(&line(row), 1, 0), "{row}");
        }
        let other = Columns::of(b"Index IRQ-001 Thr-001", heading, &[1, 2]);
        assert!(
            other.are_filled_by(&line("max: 7 94"), 1, 0),
            "of another layout nothing is known"
        );
    }

    #[test]
    fn text_of_the_analysis_holds_no_value() {
        let may = |bytes: &[u8]| may_hold_value(&Line { number: 1, bytes, is_whole: true });
        for line in ["objtool:49256                 3.79 us", "[...]", "$ cat trace"] {
            assert!(!may(line.as_bytes()), "{line}");
        }
        for line in ["mxx: 12 14", "x", "12 14x", "0 #12 | 1 - 3", "# RTLA timexlat"] {
            assert!(may(line.as_bytes()), "{line}");
        }
    }
}
