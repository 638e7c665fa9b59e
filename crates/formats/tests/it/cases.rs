//! Tables of inputs: a text, the command that reads it, and the expected result.

use crate::common::*;
use crate::verdict::*;
use latlab_formats::read::{ImportQuery, InputError, InputUnit, Recording, format_of_id};
use latlab_model::Nanos;

/// The deadline if the command has none.
const DEADLINE: Nanos = Nanos(100_000);

/// One input.
pub struct Case {
    name: String,
    command: &'static str,
    expected: &'static str,
    input: Vec<u8>,
}

/// An input with the options of `latlab import`, and the expected result:
///
/// * words of the verdict, `pass`, `fail`, `inconclusive` or `refused`, also `not pass`, separated
///   by ` or `;
/// * after a colon the maxima in us, separated by a comma for threads and by a slash for
///   recordings;
/// * after semicolons `n=15` for the number of latencies, `says=TEXT` for a text in the findings or
///   in the error, `silent=TEXT` for one that must not occur.
pub fn case(
    name: impl Into<String>,
    command: &'static str,
    expected: &'static str,
    input: impl Into<Vec<u8>>,
) -> Case {
    Case { name: name.into(), command, expected, input: input.into() }
}

/// Reads all of them; a panic lists each with an unexpected result.
pub fn check(cases: Vec<Case>) {
    let number = cases.len();
    let failed: Vec<String> = cases.iter().filter_map(Case::failure).collect();
    let all = failed.join("\n");
    assert!(failed.is_empty(), "{} of {number} inputs:\n{all}", failed.len());
}

/// The options of a command.
pub fn query_of(command: &str) -> (ImportQuery, Nanos) {
    let (mut query, mut deadline) = (ImportQuery::default(), DEADLINE);
    let mut words = command.split_ascii_whitespace();
    while let (Some(option), Some(value)) = (words.next(), words.next()) {
        match option {
            "--as" => query.format = format_of_id(value),
            "--column" => query.column = Some(value.to_string()),
            "--unit" => {
                query.unit = InputUnit::ALL.iter().copied().find(|one| one.as_str() == value)
            }
            "--period" => query.period = Some(time(value)),
            "--deadline" => deadline = time(value),
            _ => panic!("no option {option}"),
        }
    }
    (query, deadline)
}

fn time(text: &str) -> Nanos {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = InputUnit::ALL.iter().find(|one| one.as_str() == &text[digits.len()..]).unwrap();
    Nanos(digits.parse::<i64>().unwrap() * unit.nanos())
}

impl Case {
    /// The same with other options.
    pub fn with_deadline(self, command: &'static str) -> Case {
        Case { command, ..self }
    }

    /// How the result differs from what was expected.
    fn failure(&self) -> Option<String> {
        let (query, deadline) = query_of(self.command);
        let read = try_read(self.input.clone(), &query);
        let word = judge(&read, deadline).0;
        let found = format!("{word:?}").to_lowercase();
        let mut parts = self.expected.split("; ");
        let (words, maxima) = match parts.next()?.split_once(": ") {
            Some((words, maxima)) => (words, Some(maxima)),
            None => (self.expected.split("; ").next()?, None),
        };
        let fits = words.split(" or ").any(|one| match one {
            "not pass" => word != Word::Pass,
            one => one == found,
        });
        let fits = fits && parts.all(|part| holds(part, &read));
        let fits = fits && maxima.is_none_or(|maxima| read.is_err() || maxima == maxima_of(&read));
        let said = said(&read);
        (!fits).then(|| {
            let found = format!("{found}: {}; n={}", maxima_of(&read), count_of(&read));
            let Case { name, expected, .. } = self;
            format!(
                "* {name}: expected '{expected}', got '{found}'\n    {}",
                said.replace('\n', "\n    ")
            )
        })
    }
}

fn holds(part: &str, read: &Result<Vec<Recording>, InputError>) -> bool {
    match part.split_once('=') {
        Some(("n", count)) => read.is_err() || count == count_of(read).to_string(),
        Some(("says", text)) => said(read).contains(text),
        Some(("silent", text)) => !said(read).contains(text),
        _ => panic!("no expectation: {part}"),
    }
}

fn count_of(read: &Result<Vec<Recording>, InputError>) -> u64 {
    read.iter().flatten().map(Recording::count).sum()
}

fn said(read: &Result<Vec<Recording>, InputError>) -> String {
    match read {
        Ok(recordings) => recordings.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Err(error) => error.to_string(),
    }
}

/// The largest latency of each thread in microseconds; a dash for a thread without any.
fn maxima_of(read: &Result<Vec<Recording>, InputError>) -> String {
    let of_thread =
        |one: &latlab_formats::read::LatencySeries| match (one.counts.count, one.stated_max_ns) {
            (0, None) => "-".to_string(),
            _ => (one.largest().0 as f64 / 1e3).to_string(),
        };
    let of_one = |one: &Recording| one.series.iter().map(of_thread).collect::<Vec<_>>().join(", ");
    read.iter().flatten().map(of_one).collect::<Vec<_>>().join(" / ")
}
