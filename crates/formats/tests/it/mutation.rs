//! For any file that passes: cutting it, or damaging or interleaving any of its lines with a value,
//! never leaves a pass with a smaller maximum.
//!
//! Invariant (imports): No damage of a line makes a worse recording pass.

use crate::cases::query_of;
use crate::common::*;
use crate::outputs::{OUTPUTS, Output};
use crate::verdict::*;
use latlab_formats::read::ImportQuery;
use latlab_model::Nanos;
use std::collections::HashSet;

/// Fixtures whose lines are damaged, and whether a lost digit shows in them.
const FIXTURES: &[(&str, bool)] = &[
    ("ct10_H40.txt", true),
    ("ct10_h40.txt", true),
    ("ct10_v.txt", true),
    ("ct210_H40.txt", true),
    ("ct210_h40.txt", true),
    ("ct24_H20.txt", true),
    ("ct24_default_live.txt", true),
    ("ct24_fifo.txt", true),
    ("ct24_h40.txt", true),
    ("ct24_histfile.txt", true),
    ("ct24_q_N.txt", true),
    ("ct24_q_summary.txt", true),
    ("ct24_snapshot_p.txt", true),
    ("ct24_spike40.txt", true),
    ("ct24_v.txt", true),
    ("cyclicdeadline.txt", true),
    ("jd_samples.csv", false),
    ("jd_stdout.txt", true),
    ("oslat.txt", true),
    ("pmqtest.txt", true),
    ("ptsematest.txt", true),
    ("rtla_osnoise_hist.txt", true),
    ("rtla_timerlat_top.txt", true),
    ("signaltest.txt", true),
    ("sigwaittest.txt", true),
    ("sng_cyclic_clock_ns.txt", true),
    ("sng_cyclic_metrics.txt", true),
    ("svsematest.txt", true),
    ("xenomai_latency_format.txt", true),
    ("ct24_json_h100.json", false),
    ("ct24_json_nohist.json", false),
    ("hdr.hlog", false),
    ("jd_results.json", false),
    ("oslat.json", false),
];

/// Damage that no reader can see, and why.
const LIMITS: &[(&str, Damage, &str)] =
    &[("list", Split, "two numbers below each other are two latencies")];

/// Attempts per kind of damage to a small output, and to a fixture; LATLAB_LONG multiplies them.
const TRIES: usize = 15;
const TRIES_OF_FIXTURE: usize = 3;
const TIMES_OF_LONG: usize = 28;

const MESSAGES: [&[u8]; 2] =
    [b"[   12.345678] usb 1-1: new device\n", b"INFO: task kworker/0:1 blocked for 120 s\n"];
const LETTERS: &[u8] = b"xZ#?:;|-_' \t\"\0";
/// Characters that turn a number of free width into a different valid one.
const LETTERS_OF_NUMBERS: &[u8] = b"eE.,+";
/// The remains of a line are noticed only if longer than this.
const LEAST_REST: usize = 3;

/// A reproducible random generator.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }
}

/// A kind of damage to one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Damage {
    ReplacedByte,
    DeletedByte,
    InsertedByte,
    Halved,
    JoinedWithNext,
    SplitByMessage,
    OverwrittenByMessage,
    MixedWithNext,
    Split,
    Duplicated,
}

use Damage::*;

const ALL: [Damage; 10] = [
    ReplacedByte,
    DeletedByte,
    InsertedByte,
    Halved,
    JoinedWithNext,
    SplitByMessage,
    OverwrittenByMessage,
    MixedWithNext,
    Split,
    Duplicated,
];

impl Damage {
    /// The damaged line with its newline, and how many lines it replaces; `None` if it would be
    /// intact, empty, or have a number that is not recognisably different.
    fn of(
        self,
        line: &[u8],
        next: &[u8],
        tells_lost_digits: bool,
        numbers: &mut Numbers,
    ) -> Option<(Vec<u8>, usize)> {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let place = numbers.below(text.len());
        let (before, after) = text.split_at(place);
        let byte = *after.first()?;
        let letters = match tells_lost_digits {
            true => [LETTERS, LETTERS_OF_NUMBERS].concat(),
            false => LETTERS.to_vec(),
        };
        let letter = letters[numbers.below(letters.len())];
        let is_in_number = byte.is_ascii_digit() || before.last().is_some_and(u8::is_ascii_digit);
        let message = MESSAGES[numbers.below(MESSAGES.len())];
        let one = |parts: &[&[u8]]| Some((parts.concat(), 1));
        match self {
            DeletedByte | Halved if is_in_number && !tells_lost_digits => None,
            Halved | OverwrittenByMessage if before.trim_ascii().len() < LEAST_REST => None,
            // With a blank in place of its first digit, a number is a different valid one.
            ReplacedByte if is_in_number && letter.is_ascii_whitespace() => None,
            ReplacedByte if byte != letter => one(&[before, &[letter], &after[1..], b"\n"]),
            ReplacedByte => None,
            DeletedByte => one(&[before, &after[1..], b"\n"]),
            InsertedByte => one(&[before, &[letter], after, b"\n"]),
            Halved => one(&[before, b"\n"]),
            JoinedWithNext if next.is_empty() => None,
            JoinedWithNext => Some(([text, next].concat(), 2)),
            SplitByMessage => one(&[before, message, after, b"\n"]),
            OverwrittenByMessage => one(&[before, message]),
            MixedWithNext if next.is_empty() => None,
            MixedWithNext => {
                let (first, rest) = next.split_at(numbers.below(next.len()));
                Some(([before, first, after, rest].concat(), 2))
            }
            Split => one(&[before, b"\n", after, b"\n"]),
            Duplicated => one(&[line, line]),
        }
    }
}

/// A file, how it is read, and its result while undamaged.
struct Whole<'a> {
    name: &'a str,
    text: &'a [u8],
    query: ImportQuery,
    deadline: Nanos,
    largest: Nanos,
    tells_lost_digits: bool,
}

impl Whole<'_> {
    /// The file with the smallest deadline that it passes; `None` if it contradicts itself already.
    fn new<'a>(
        name: &'a str,
        text: &'a [u8],
        command: &str,
        tells_lost_digits: bool,
    ) -> Option<Whole<'a>> {
        let query = query_of(command).0;
        let read = read_text(text, &query);
        let (_, largest) = judge(&read, Nanos(i64::MAX / 4));
        // A histogram decides it only at the end of a bin.
        let mut deadlines =
            [0, 1_000, 2_000, 10_000, 100_000].map(|more| largest + Nanos(more)).into_iter();
        let deadline = deadlines.find(|deadline| judge(&read, *deadline).0 == Word::Pass);
        let Some(deadline) = deadline else {
            let texts = read.map(|all| all.iter().map(texts).collect::<Vec<_>>());
            eprintln!("{name} does not pass as it is: {texts:?}");
            return None;
        };
        Some(Whole { name, text, query, deadline, largest, tells_lost_digits })
    }

    /// The same for one of the small outputs, all of which pass.
    fn of(output: &Output) -> Whole<'_> {
        let Output { name, text, command, tells_lost_digits } = *output;
        let whole = Whole::new(name, text.as_bytes(), command, tells_lost_digits);
        whole.unwrap_or_else(|| panic!("{name} does not pass"))
    }

    /// The verdict of a file at the deadline, and its counts.
    fn figures(&self, text: &[u8]) -> (Word, Vec<(u64, Nanos)>) {
        let read = read_text(text, &self.query);
        let word = judge(&read, self.deadline).0;
        let series = read.iter().flatten().flat_map(|one| &one.series);
        (word, series.map(|one| (one.counts.count, one.largest())).collect())
    }

    /// The lines without which the result would differ.
    fn lines_with_values(&self, lines: &[&[u8]]) -> Vec<usize> {
        let whole = self.figures(self.text);
        let without = |at: &usize| [lines[..*at].concat(), lines[at + 1..].concat()].concat();
        (0..lines.len()).filter(|at| self.figures(&without(at)) != whole).collect()
    }

    /// What is wrong with a damaged file: it passes with less.
    fn flaw(&self, damaged: &[u8]) -> Option<String> {
        let (word, now) = judge(&read_text(damaged, &self.query), self.deadline);
        let is_flaw = word == Word::Pass && now < self.largest;
        is_flaw.then(|| format!("passes with {now} instead of {}", self.largest))
    }

    /// Cuts the file within each of its lines with a value.
    fn cuts(&self, found: &mut Vec<String>) {
        let lines: Vec<&[u8]> = self.text.split_inclusive(|byte| *byte == b'\n').collect();
        for at in self.lines_with_values(&lines) {
            let before = lines[..at].concat();
            let flaw = (1..lines[at].len() - 1).find_map(|place| {
                let text = &lines[at][..place];
                if text.trim_ascii().is_empty() {
                    return None;
                }
                let flaw = self.flaw(&[&before[..], text].concat())?;
                Some(format!("cut behind {:?}: {flaw}", String::from_utf8_lossy(text)))
            });
            found.extend(flaw.map(|flaw| format!("{}, line {}: {flaw}", self.name, at + 1)));
        }
    }

    fn damages(&self, tries: usize, found: &mut Vec<String>) {
        let is_long = std::env::var_os("LATLAB_LONG").is_some();
        let tries = if is_long { tries * TIMES_OF_LONG } else { tries };
        let lines: Vec<&[u8]> = self.text.split_inclusive(|byte| *byte == b'\n').collect();
        let with = self.lines_with_values(&lines);
        let mut numbers = Numbers(self.name.bytes().map(u64::from).sum());
        let is_limit =
            |damage: &Damage| LIMITS.iter().any(|limit| (limit.0, limit.1) == (self.name, *damage));
        for damage in ALL.iter().filter(|damage| !is_limit(damage)) {
            let mut tried = HashSet::new();
            let flaw = (0..tries).find_map(|_| {
                let at = with[numbers.below(with.len())];
                let next = lines.get(at + 1).copied().unwrap_or_default();
                let (changed, number) =
                    damage.of(lines[at], next, self.tells_lost_digits, &mut numbers)?;
                if !tried.insert((at, changed.clone())) {
                    return None;
                }
                let (before, behind) = (lines[..at].concat(), lines[at + number..].concat());
                let flaw = self.flaw(&[before, changed.clone(), behind].concat())?;
                let [before, after] = [lines[at], &changed].map(String::from_utf8_lossy);
                let at = at + 1;
                Some(format!("{at}: {flaw}\n    before {before:?}\n    after  {after:?}"))
            });
            found.extend(flaw.map(|flaw| format!("{}, {damage:?}, line {flaw}", self.name)));
        }
    }
}

/// Fails with all flaws that were found, the first of each kind for each file.
fn assert_none(found: &[String]) {
    assert!(
        found.is_empty(),
        "{} of them:\n{}",
        found.len(),
        found[..found.len().min(100)].join("\n")
    );
}

#[test]
fn no_damage_makes_a_worse_output_pass() {
    let mut found = Vec::new();
    for output in OUTPUTS {
        Whole::of(output).damages(TRIES, &mut found);
    }
    assert_none(&found);
}

#[test]
fn no_cut_makes_a_worse_output_pass() {
    let mut found = Vec::new();
    for output in OUTPUTS {
        Whole::of(output).cuts(&mut found);
    }
    assert_none(&found);
}

#[test]
fn no_damage_makes_a_worse_recording_pass() {
    let (mut found, mut passing) = (Vec::new(), 0);
    for (name, tells_lost_digits) in FIXTURES {
        let text = fixture(name);
        if let Some(whole) = Whole::new(name, &text, "", *tells_lost_digits) {
            whole.damages(TRIES_OF_FIXTURE, &mut found);
            passing += 1;
        }
    }
    assert!(passing >= 30, "only {passing} fixtures pass as they are");
    assert_none(&found);
}
