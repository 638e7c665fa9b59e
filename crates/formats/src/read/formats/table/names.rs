//! The meaning of column names, and of lines of text around a table: latencies, figures about them,
//! units.

use super::cell::{Cell, Comma, unit_of_sign};
use crate::read::input::InputUnit;
use std::iter;

/// Names of columns with latencies.
pub const LATENCIES: [&str; 5] = ["latency", "lat", "delay", "jitter", "response"];
/// Words in names of columns that hold figures about latencies, not latencies.
const STATISTICS: [&str; 11] = [
    "avg",
    "average",
    "mean",
    "median",
    "min",
    "std",
    "stddev",
    "typ",
    "typical",
    "rms",
    "percentile",
];
/// Words for the largest of several.
const LARGEST: [&str; 5] = ["max", "maximum", "worst", "largest", "peak"];
/// Words that may be between such a word and its number.
const BESIDE: [&str; 2] = ["case", "value"];
/// Names of columns with the unit of their row.
pub const UNITS: [&str; 3] = ["unit", "units", "einheit"];
/// Names of columns with the number of their row.
pub const NUMBERS: [&str; 9] =
    ["seq", "sequence", "n", "nr", "no", "index", "idx", "iteration", "sample"];
/// Names of columns with clock times.
pub const TIMESTAMPS: [&str; 5] = ["timestamp", "timestamps", "time", "ts", "t"];
/// Names of columns that identify threads.
pub const THREADS: [&str; 3] = ["thread", "cpu", "core"];
/// Names of columns with the number of latencies that a line stands for.
pub const COUNTS: [&str; 6] = ["count", "counts", "frequency", "occurrences", "hits", "samples"];

/// The words of a name in lower case: `latency_us`, `Latency [us]` and `latencyUs` have two.
fn words(name: &str) -> Vec<String> {
    // A character in an old encoding has become the replacement character.
    let name = name.replace(['µ', 'μ', '\u{fffd}'], "u");
    let letters: Vec<char> = name.chars().collect();
    let before = iter::once(' ').chain(letters.iter().copied());
    let is_begin =
        |before: char, letter: &char| before.is_ascii_lowercase() && letter.is_ascii_uppercase();
    let parted: String = before
        .zip(&letters)
        .flat_map(|(before, letter)| {
            is_begin(before, letter).then_some(' ').into_iter().chain([letter.to_ascii_lowercase()])
        })
        .collect();
    let words = parted.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_string).collect()
}

/// The unit that a name ends with, or has before a word for the largest: `latency_us`, `Latency
/// [ns]`, `us_max`.
pub fn unit_of(name: &str) -> Option<InputUnit> {
    let words = words(name);
    let last = words.iter().rfind(|word| !LARGEST.contains(&&word[..]))?;
    unit_of_sign(last)
}

/// Whether a word names a figure about latencies: `mean`, `p99`, `q50`.
fn is_statistic(word: &str) -> bool {
    let of_percent = word.strip_prefix(['p', 'q']).filter(|rest| !rest.is_empty());
    STATISTICS.contains(&word)
        || of_percent.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The columns whose names have one of these words.
pub fn named(names: &[String], known: &[&str]) -> Vec<usize> {
    let is_known = |name: &str| {
        let words = words(name);
        words.iter().any(|word| known.contains(&&word[..]))
            && !words.iter().any(|word| is_statistic(word))
    };
    (0..names.len()).filter(|at| is_known(&names[*at])).collect()
}

/// The only one of these columns; columns of their maxima do not count.
pub fn only(names: &[String], known: &[&str]) -> Option<usize> {
    let named = named(names, known);
    let is_largest = |at: &&usize| is_of_largest(&names[**at]);
    match named[..] {
        [one] => Some(one),
        _ => {
            let mut others = named.iter().filter(|at| !is_largest(at));
            let first = others.next()?;
            others.next().is_none().then_some(*first)
        }
    }
}

/// Whether a column has the largest latencies of something: `max_us`, `Latency max`.
pub fn is_of_largest(name: &str) -> bool {
    let words = words(name);
    let is_largest = |word: &str| LARGEST.contains(&word);
    words.iter().any(|word| is_largest(word))
        && words.iter().all(|word| {
            is_largest(word) || LATENCIES.contains(&&word[..]) || unit_of_sign(word).is_some()
        })
}

/// A latency stated by a line of text, so that the maximum is at least this: `max latency: 150 us`,
/// `p99 = 150`.
pub fn stated_latency(text: &str, unit: InputUnit) -> Option<i64> {
    let parts = [' ', '\t', '=', ':', ',', ';', '(', ')', '[', ']', '"', '*', '|'];
    let tokens: Vec<&str> = text.split(parts).filter(|token| !token.is_empty()).collect();
    let is_figure = |word: &String| {
        let is_spread = ["std", "stddev", "rms"].contains(&&word[..]);
        LARGEST.contains(&&word[..]) || (is_statistic(word) && !is_spread)
    };
    let belongs = |word: &String| {
        LATENCIES.contains(&&word[..])
            || word == "latencies"
            || BESIDE.contains(&&word[..])
            || unit_of_sign(word).is_some()
    };
    // The decimals of `p99.9` are a separate token.
    let is_name = |token: &&str| {
        let words = words(token);
        let whole = token.strip_prefix('p').is_some_and(|rest| rest.parse::<f64>().is_ok());
        whole || (!words.is_empty() && words.iter().all(|word| is_figure(word) || belongs(word)))
    };
    let names_figure = |token: &&str| {
        is_name(token) && (token.starts_with('p') || words(token).iter().any(is_figure))
    };
    let first = tokens.iter().position(names_figure)?;
    let at = first + tokens[first..].iter().take_while(|token| is_name(token)).count();
    let number = tokens.get(at)?;
    let behind = tokens.get(at + 1).and_then(|sign| unit_of_sign(sign));
    let in_name = tokens[first..at].iter().rev().find_map(|token| unit_of(token));
    Cell::read(number, Comma::Thousands)?.nanos(behind.or(in_name).unwrap_or(unit))
}

/// A unit stated by a line of text for all values: `all values in ms`, `unit: ms`.
pub fn stated_unit(text: &str) -> Option<InputUnit> {
    let words = words(text);
    let is_before = |word: &String| UNITS.contains(&&word[..]) || word == "in";
    words.windows(2).filter(|pair| is_before(&pair[0])).find_map(|pair| unit_of_sign(&pair[1]))
}

pub fn is_named(name: &str, known: &[&str]) -> bool {
    known.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stand_at_the_end_of_a_name() {
        for (name, unit) in [
            ("latency_us", Some(InputUnit::Microseconds)),
            ("Latency [ns]", Some(InputUnit::Nanoseconds)),
            ("delay (µs)", Some(InputUnit::Microseconds)),
            ("response milliseconds", Some(InputUnit::Milliseconds)),
            ("latency", None),
            ("bus", None),
            ("latency_usec", Some(InputUnit::Microseconds)),
            ("latencyMicros", Some(InputUnit::Microseconds)),
            ("latencyUs", Some(InputUnit::Microseconds)),
            ("latency_us_max", Some(InputUnit::Microseconds)),
        ] {
            assert_eq!(unit_of(name), unit, "{name}");
        }
    }
}
