//! Tables of samples: CSV, TSV and the like, with one column of latencies.

use super::left_out::LeftOut;
use super::{Format, head_lines, is_text};
use crate::bins::LARGEST_COUNT;
use crate::input::{Input, InputError, Query, Unit};
use crate::numbers::{decimal, nanos};
use crate::recording::Recording;
use crate::samples::Samples;
use std::collections::BTreeMap;

pub const FORMAT: Format = Format { id: "csv", title: "table of samples", fits, read };

/// Names of columns with latencies.
const LATENCIES: [&str; 5] = ["latency", "lat", "delay", "jitter", "response"];
/// Names of columns that keep threads apart.
const THREADS: [&str; 3] = ["thread", "cpu", "core"];
/// Names of columns that say how many latencies a line stands for.
const COUNTS: [&str; 6] = ["count", "counts", "frequency", "occurrences", "hits", "samples"];
/// More threads than any machine has CPUs.
const MOST_THREADS: usize = 8192;

/// A table whose heading names latencies and their unit.
fn fits(head: &[u8]) -> bool {
    let Some(line) = head_lines(head).find(|line| !line.is_empty() && line[0] != b'#') else {
        return false;
    };
    let text = String::from_utf8_lossy(line);
    is_text(head) && Heading::of(&text).latency_column().is_some_and(|(_, unit)| unit.is_some())
}

/// Whether the first line of a table names this column.
pub fn has_column(head: &[u8], column: &str) -> bool {
    let first = head_lines(head).find(|line| !line.is_empty() && line[0] != b'#');
    let text = first.map(String::from_utf8_lossy).unwrap_or_default();
    Heading::of(&text).names.iter().any(|name| name == column)
}

/// The first line of a table.
struct Heading {
    delimiter: char,
    names: Vec<String>,
}

impl Heading {
    fn of(line: &str) -> Heading {
        let count = |delimiter: char| line.matches(delimiter).count();
        let delimiter =
            ['\t', ';', '|', ','].into_iter().find(|one| count(*one) > 0).unwrap_or(' ');
        Heading { delimiter, names: cells(line, delimiter).map(str::to_string).collect() }
    }

    /// The only column that its name makes one of latencies, and its unit.
    fn latency_column(&self) -> Option<(usize, Option<Unit>)> {
        let is_latency = |name: &String| {
            let name = name.to_ascii_lowercase();
            name.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| LATENCIES.contains(&word))
        };
        let mut columns = self.names.iter().enumerate().filter(|(_, name)| is_latency(name));
        let (at, name) = columns.next()?;
        columns.next().is_none().then(|| (at, unit_of(name)))
    }

    fn column_of(&self, known: &[&str]) -> Option<usize> {
        self.names.iter().position(|name| known.contains(&name.to_ascii_lowercase().as_str()))
    }
}

/// The cells of a line without quotes. A delimiter between quotes is a letter of its cell.
fn cells(line: &str, delimiter: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    line.split(move |letter| {
        is_quoted ^= letter == '"';
        letter == delimiter && !is_quoted
    })
    .filter(move |cell| delimiter != ' ' || !cell.is_empty())
    .map(|cell| cell.trim().trim_matches('"'))
}

/// The unit at the end of a name: `latency_us`, `Latency [ns]`, `delay (ms)`.
pub fn unit_of(name: &str) -> Option<Unit> {
    let name = name.replace(['µ', 'μ'], "u").to_ascii_lowercase();
    let word = name.split(|c: char| !c.is_ascii_alphanumeric()).rfind(|word| !word.is_empty())?;
    let long =
        [("nanoseconds", "ns"), ("microseconds", "us"), ("milliseconds", "ms"), ("seconds", "s")];
    let word = long.iter().find(|pair| pair.0 == word).map_or(word, |pair| pair.1);
    Unit::ALL.iter().copied().find(|unit| unit.as_str() == word)
}

/// Which column is read, and how.
struct Columns {
    delimiter: char,
    latency: usize,
    thread: Option<usize>,
    count: Option<usize>,
    count_name: Option<String>,
    unit: Unit,
    name: String,
    has_heading: bool,
}

impl Columns {
    fn of(first: &str, query: &Query) -> Result<Columns, InputError> {
        let Heading { delimiter, names } = Heading::of(first);
        let heading = Heading { delimiter, names };
        let has_heading = heading.names.iter().any(|name| {
            name.chars().any(char::is_alphabetic) && decimal(name.as_bytes()).is_none()
        });
        let names = &heading.names;
        let latency = match &query.column {
            Some(asked) => {
                let by_name = names.iter().position(|name| has_heading && name == asked);
                let number = || asked.parse::<usize>().ok()?.checked_sub(1);
                by_name.or_else(|| number().filter(|at| *at < names.len())).ok_or_else(|| {
                    let known = names.join(", ");
                    InputError::Malformed(format!(
                        "no column '{asked}'; the first line has: {known}"
                    ))
                })?
            }
            None if names.len() == 1 => 0,
            None => heading.latency_column().map(|found| found.0).ok_or_else(|| {
                let known = names.join(", ");
                InputError::Malformed(format!(
                    "name the column with --column; the first line has: {known}"
                ))
            })?,
        };
        let name = if has_heading { names[latency].clone() } else { (latency + 1).to_string() };
        let unit = query.unit.or(unit_of(&name)).ok_or_else(|| {
            InputError::Malformed(format!(
                "name the unit of column '{name}' with --unit: s, ms, us, ns"
            ))
        })?;
        let other = |known| heading.column_of(known).filter(|at| has_heading && *at != latency);
        // In front of the latencies it is more likely the number of the line.
        let (thread, count) = (other(&THREADS), other(&COUNTS).filter(|at| *at > latency));
        let count_name = count.map(|at| names[at].clone());
        Ok(Columns { delimiter, latency, thread, count, count_name, unit, name, has_heading })
    }

    /// The number in a cell. Between commas another comma can only part thousands.
    fn number(&self, cell: &str) -> Option<f64> {
        let mut groups = cell.trim_start_matches('-').split(',');
        let is_group = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
        let starts =
            groups.next().is_some_and(|first| is_group(first) && (1..4).contains(&first.len()));
        match self.delimiter == ',' && cell.contains(',') {
            true if starts && groups.all(|group| group.len() == 3 && is_group(group)) => {
                decimal(cell.replace(',', "").as_bytes())
            }
            _ => decimal(cell.as_bytes()),
        }
    }
}

fn read(input: &mut Input, query: &Query) -> Result<Vec<Recording>, InputError> {
    let mut columns: Option<Columns> = None;
    let mut threads: BTreeMap<String, Samples> = BTreeMap::new();
    let (mut left, mut negative) = (LeftOut::default(), LeftOut::default());
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() || text.starts_with('#') {
            continue;
        }
        let known = match &columns {
            Some(known) => known,
            None => {
                let known = columns.insert(Columns::of(text, query)?);
                if known.has_heading {
                    continue;
                }
                &*known
            }
        };
        let cells: Vec<&str> = cells(text, known.delimiter).collect();
        let value = cells.get(known.latency).and_then(|cell| known.number(cell));
        let times = match known.count {
            Some(at) => cells.get(at).and_then(|cell| cell.parse().ok()),
            None => Some(1u64),
        };
        let times = times.filter(|times| *times < LARGEST_COUNT);
        let thread = known.thread.and_then(|at| cells.get(at)).copied().unwrap_or_default();
        let room = threads.len() < MOST_THREADS || threads.contains_key(thread);
        match value.and_then(|value| nanos(value, known.unit.nanos())).zip(times) {
            Some((latency, times)) if latency >= 0 && room => {
                threads.entry(thread.to_string()).or_default().push_times(latency, times)
            }
            Some((latency, _)) if latency < 0 => negative.lose(&line),
            _ => left.lose(&line),
        }
    }
    let mut recording = Recording::new("table of samples");
    recording.quantity = "latency";
    if let Some(known) = columns {
        recording.fact("Column", format!("{}, in {}", known.name, known.unit.as_str()));
        if let Some(count) = known.count_name {
            recording.note(format!(
                "Each line stands for as many latencies as its column '{count}' says."
            ));
        }
    }
    for (thread, samples) in &mut threads {
        let mut series = samples.series();
        series.cpu = None;
        if !thread.is_empty() {
            recording.fact(&format!("Thread {}", recording.series.len()), thread.clone());
        }
        recording.series.push(series);
    }
    negative.report("negative values", &mut recording);
    left.report("lines", &mut recording);
    Ok(vec![recording])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stand_at_the_end_of_a_name() {
        for (name, unit) in [
            ("latency_us", Some(Unit::Microseconds)),
            ("Latency [ns]", Some(Unit::Nanoseconds)),
            ("delay (µs)", Some(Unit::Microseconds)),
            ("response milliseconds", Some(Unit::Milliseconds)),
            ("latency", None),
            ("bus", None),
        ] {
            assert_eq!(unit_of(name), unit, "{name}");
        }
    }

    #[test]
    fn a_delimiter_between_quotes_is_a_letter() {
        let row: Vec<&str> = cells("\"a, b\",\"12,5\", 7 ,\"\"", ',').collect();
        assert_eq!(row, ["a, b", "12,5", "7", ""]);
        let row: Vec<&str> = cells("x  \"y z\" 3", ' ').collect();
        assert_eq!(row, ["x", "y z", "3"]);
    }

    #[test]
    fn only_a_named_column_is_taken_for_latencies() {
        assert!(fits(b"time,cpu,latency_ns\n1,0,5\n"));
        assert!(!fits(b"time,cpu,latency\n1,0,5\n"), "without a unit");
        assert!(!fits(b"lat_us,delay_us\n1,0\n"), "which of the two?");
        assert!(!fits(b"1,2,3\n"));
    }
}
