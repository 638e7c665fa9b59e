//! A capture that was cut, or of which a line, a row or a block was damaged, removed or moved, is never
//! read as a clean one with fewer answers or a smaller maximum.
//!
//! Invariant (captures): No damage of a line leaves a clean capture with fewer or shorter responses.

use crate::common::*;
use latlab_capture::{CaptureQuery, CaptureResult};
use std::path::{Path, PathBuf};

/// Mutations of each capture, unless LATLAB_MUTATIONS is set.
const ROUNDS: usize = 8;
const DELAYS: [i64; 14] = [
    12_000, 48_000, 240_000, 31_000, 99_000, 17_000, 150_000, 62_000, 300_000, 25_000, 83_000,
    44_000, 110_000, 36_000,
];

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}

/// A capture whose stimuli are all answered.
struct Whole {
    name: &'static str,
    bytes: Vec<u8>,
    query: CaptureQuery,
    /// Lines before its rows.
    head: usize,
    /// Changes that mutations cannot reveal, such as the number of a sample that is in no cell.
    tolerance_ps: i64,
}

impl Whole {
    fn new(name: &'static str, text: impl Into<Vec<u8>>, of: (&str, &str)) -> Whole {
        let query = if of.0.is_empty() { asked_of_list() } else { query(of.0, of.1) };
        Whole { name, bytes: text.into(), query, head: 1, tolerance_ps: 0 }
    }
}

impl Whole {
    /// A capture that ends at a line end, or begins at a later row, is a whole one.
    fn is_part(&self, bytes: &[u8]) -> bool {
        let lines = lines_of(&self.bytes);
        let head = lines[..self.head.min(lines.len())].concat();
        let ends_early = self.bytes.starts_with(bytes) && bytes.ends_with(b"\n");
        ends_early || bytes.strip_prefix(&head[..]).is_some_and(|rows| self.bytes.ends_with(rows))
    }
}

/// Rows of samples each 10 us.
fn sampled(row: &dyn Fn(usize, f64, f64) -> String) -> String {
    let level = |high: bool| if high { 3.3 } else { 0.02 };
    let noise = |at: usize| (at * 7_919 % 13) as f64 * 0.004;
    let samples = samples(&DELAYS, 10_000);
    let rows = samples.iter().enumerate();
    rows.map(|(at, [a, b])| row(at, level(*a) + noise(at), level(*b) + noise(at + 5))).collect()
}

fn texts() -> Vec<Whole> {
    let seconds = |at: usize| at as f64 * 1e-5;
    let bits = |a: f64, b: f64| (u8::from(a > 1.0), u8::from(b > 1.0));
    let oscilloscope = sampled(&|at, a, b| format!("{:.6},{a:.3},{b:.3}\n", seconds(at)));
    let german = sampled(&|at, a, b| format!("{:.6};{a:.3};{b:.3}\n", seconds(at)));
    let units = sampled(&|at, a, b| format!("{:.1} us;{a:.3} V;{b:.3} V\n", seconds(at) * 1e6));
    let logic =
        sampled(&|at, a, b| format!("{:.6},{},{}\n", seconds(at), bits(a, b).0, bits(a, b).1));
    let counted = sampled(&|at, a, b| format!("{at},{a:.3},{b:.3},,\n"));
    let exponents = sampled(&|at, a, b| format!("{:+.6E},{a:+.4E},{b:+.4E}\n", seconds(at)));
    let plain = sampled(&|_, a, b| format!("{},{}\n", bits(a, b).0, bits(a, b).1));
    // A list that counts from 0 may as well begin with 1, so a missing first row does not show.
    let list: String = (1..)
        .zip(DELAYS)
        .map(|(at, delay): (u32, i64)| format!("{at};{}\n", delay / 1_000))
        .collect();
    let rigol = "X,CH1,CH2,Start,Increment,\nSequence,VOLT,VOLT,-1.0e-03,1.0e-05,\n";
    vec![
        Whole::new("dump", vcd(&DELAYS), ("in", "out")),
        Whole::new("changes", saleae(&DELAYS), ("Channel 0", "Channel 1")),
        Whole::new("volts", format!("Time [s],A,B\n{oscilloscope}"), ("A", "B")),
        Whole::new("german", format!("Zeit;A;B\n{}", german.replace('.', ",")), ("A", "B")),
        Whole::new("units", format!("Time;A;B\n{units}"), ("A", "B")),
        Whole::new("logic", format!("Time [s],A,B\n{logic}"), ("A", "B")),
        Whole { head: 2, ..Whole::new("rigol", format!("{rigol}{counted}"), ("CH1", "CH2")) },
        Whole {
            head: 2,
            ..Whole::new(
                "agilent",
                format!("x-axis,1,2\nsecond,Volt,Volt\n{exponents}"),
                ("1", "2"),
            )
        },
        Whole {
            // A missing row moves those after it by a sample, which nothing shows.
            tolerance_ps: 10_000_000,
            head: 2,
            ..Whole::new("sigrok", format!("; Samplerate: 100 kHz\nA,B\n{plain}"), ("A", "B"))
        },
        Whole::new("list", format!("number;latency (us)\n{list}"), ("", "")),
    ]
}

fn rounds() -> usize {
    let asked = std::env::var("LATLAB_MUTATIONS").ok().and_then(|text| text.parse().ok());
    asked.unwrap_or(ROUNDS)
}

/// A result without a remark that forbids a pass, and without a miss.
fn is_clean(result: &CaptureResult) -> bool {
    let counts = &result.counts;
    result.losses.is_empty()
        && result.missing_chunks.is_empty()
        && !result.wires.iter().any(|wire| wire.is_in_doubt())
        && counts.missing + counts.late + counts.censored + counts.impossible == 0
}

fn read(paths: &[PathBuf], query: &CaptureQuery) -> Option<CaptureResult> {
    measured_of(paths, query).ok().map(|(result, _)| result)
}

/// Whether a result reports less than the whole capture, without a remark.
fn is_falsely_good(result: &CaptureResult, whole: &CaptureResult, tolerance_ps: i64) -> bool {
    let max = |result: &CaptureResult| result.figures.max_ps().unwrap_or(0);
    is_clean(result)
        && (result.counts.answered < whole.counts.answered
            || max(result) + tolerance_ps < max(whole))
}

fn lines_of(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// One mutation, and its description.
fn mutated(bytes: &[u8], random: &mut Random) -> (Vec<u8>, String) {
    let mut lines = lines_of(bytes);
    let (at, other) = (random.below(lines.len()), random.below(lines.len()));
    let place = random.below(lines[at].len().saturating_sub(1));
    let what = match random.below(8) {
        0 => {
            lines.remove(at);
            format!("line {} removed", at + 1)
        }
        1 => {
            let line = lines.remove(at);
            lines.insert(other.min(lines.len()), line);
            format!("line {} moved to {}", at + 1, other + 1)
        }
        2 => {
            lines.insert(other, lines[at].clone());
            format!("line {} also at {}", at + 1, other + 1)
        }
        3 => {
            lines[at][place] = b'x';
            format!("an x in line {}", at + 1)
        }
        4 => {
            lines[at].remove(place);
            format!("a byte less in line {}", at + 1)
        }
        5 => {
            lines[at].truncate(place);
            lines[at].push(b'\n');
            format!("line {} cut at {place}", at + 1)
        }
        6 => {
            let end = lines[at].len() - 1;
            lines[at].remove(end);
            format!("no end of line {}", at + 1)
        }
        _ => {
            let until = bytes.len() - 1 - random.below(bytes.len() - 1);
            // Cut at a line end it is another, shorter capture, unless it states its length.
            let until = if bytes[until - 1] == b'\n' { until + 1 } else { until };
            return (bytes[..until].to_vec(), format!("cut at byte {until}"));
        }
    };
    (lines.concat(), what)
}

fn check(folder: &Path, whole: &Whole, mutations: impl Iterator<Item = (Vec<u8>, String)>) {
    let path = written(folder, whole.name, &whole.bytes);
    let good = read(std::slice::from_ref(&path), &whole.query).unwrap();
    assert!(is_clean(&good), "{}: {:?} {:?}", whole.name, good.losses, good.counts);
    assert_eq!(good.counts.answered, good.counts.stimuli);
    for (bytes, what) in mutations {
        if whole.is_part(&bytes) {
            continue;
        }
        let path = written(folder, "mutated", &bytes);
        let Some(result) = read(&[path], &whole.query) else { continue };
        assert!(
            !is_falsely_good(&result, &good, whole.tolerance_ps),
            "{}, {what}: {:?}, {:?}",
            whole.name,
            result.counts,
            result.figures.max_ps()
        );
    }
}

#[test]
fn texts_with_a_line_that_is_damaged_cut_or_moved() {
    let folder = tempfile::tempdir().unwrap();
    for (seed, whole) in (1..).zip(texts()) {
        let mut random = Random(seed * 0x9E37_79B9);
        let mutations = (0..rounds()).map(|_| mutated(&whole.bytes, &mut random));
        check(folder.path(), &whole, mutations);
    }
}

#[test]
fn stated_lengths_show_a_cut_at_the_end_of_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let rows = sampled(&|at, a, b| format!("{:.6},{a:.3},{b:.3}\n", at as f64 * 1e-5));
    let text = format!("Record Length,{}\nTime [s],A,B\n{rows}", rows.lines().count());
    let good = Whole::new("stated", text, ("A", "B"));
    let path = written(folder.path(), "stated", &good.bytes);
    let whole = read(&[path], &good.query).unwrap();
    let lines = lines_of(&good.bytes);
    let mut random = Random(77);
    for _ in 0..40 {
        let until = 1 + random.below(lines.len() - 1);
        let path = written(folder.path(), "cut", lines[..until].concat());
        let Some(result) = read(&[path], &good.query) else { continue };
        assert!(!is_falsely_good(&result, &whole, 0), "{until} lines");
    }
}

#[test]
fn sessions_with_a_block_that_is_damaged_or_missing() {
    let folder = tempfile::tempdir().unwrap();
    let whole = Whole::new("session.sr", sigrok(&DELAYS), ("in", "out"));
    let mut random = Random(5);
    let mutations: Vec<(Vec<u8>, String)> = (0..rounds())
        .map(|round| {
            let mut bytes = whole.bytes.clone();
            let at = random.below(bytes.len());
            match round % 3 {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << random.below(8),
                _ => {
                    let end = (at + 1 + random.below(400)).min(bytes.len());
                    bytes.drain(at..end);
                }
            }
            (bytes, format!("round {round} at byte {at}"))
        })
        .collect();
    check(folder.path(), &whole, mutations.into_iter());
    let metadata = "[device 1]\ncapturefile=logic-1\nsamplerate=1 MHz\nprobe1=in\nprobe2=out\n\
        unitsize=1\n";
    let all: Vec<u8> =
        samples(&DELAYS, 1_000).iter().map(|[a, b]| u8::from(*a) | u8::from(*b) << 1).collect();
    let mut members = vec![
        ("version".to_string(), b"2".to_vec()),
        ("metadata".to_string(), metadata.as_bytes().to_vec()),
    ];
    let blocks = (1..).zip(all.chunks(1_500));
    members.extend(blocks.map(|(number, block)| (format!("logic-1-{number}"), block.to_vec())));
    let whole = Whole::new("blocks.sr", zipped(&members), ("in", "out"));
    // The last one is the end of the capture, as far as a session states.
    let without = (0..members.len() - 1).map(|at| {
        let mut members = members.clone();
        let (name, _) = members.remove(at);
        (zipped(&members), format!("without {name}"))
    });
    check(folder.path(), &whole, without);
    let doubled = (2..members.len()).map(|at| {
        let mut members = members.clone();
        members.push(members[at].clone());
        (zipped(&members), format!("{} twice", members[at].0))
    });
    check(folder.path(), &whole, doubled);
}

#[test]
fn waveforms_that_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let files = [isf(&DELAYS, 0), isf(&DELAYS, 1)];
    let path = |name: &str, bytes: &[u8]| written(folder.path(), name, bytes);
    let query = query("Ch1", "Ch2");
    let whole = read(&[path("a.isf", &files[0]), path("b.isf", &files[1])], &query).unwrap();
    assert!(is_clean(&whole), "{:?}", whole.losses);
    let mut random = Random(3);
    for round in 0..rounds() {
        let mut cut = files.clone();
        let which = round % 2;
        let length = random.below(cut[which].len());
        cut[which].truncate(length);
        if round % 3 == 0 {
            cut[1 - which].truncate(length);
        }
        let paths = [path("c.isf", &cut[0]), path("d.isf", &cut[1])];
        let Some(result) = read(&paths, &query) else { continue };
        assert!(!is_falsely_good(&result, &whole, 0), "file {which} cut at {length}");
    }
}
