//! Every reader takes anything: no panic, no hang, no more than some memory.
//!
//! The inputs are recordings with random damage, the same each time; `make fuzz` gives each reader a
//! minute instead of two seconds. What fails is kept, and named.
//!
//! Invariant (imports): Any bytes are read without a panic, a hang or much memory.

use crate::common::*;
use latlab_import::{Query, Unit, format_of_id};
use latlab_model::{Nanos, Plan};
use std::time::{Duration, Instant};

/// Seconds for each reader, where nobody says otherwise.
const SECONDS: u64 = 2;
/// More for a file of some kilobytes would grow with it.
const MOST_MEMORY: u64 = 64 << 20;
/// A file of some kilobytes is read in far less, on any machine.
const LONGEST: Duration = Duration::from_secs(20);
const LARGEST: usize = 1 << 16;

#[test]
fn cyclictest() {
    fuzz("cyclictest", &["ct24_h40.txt", "ct210_H40.txt", "ct24_v.txt", "ct24_q_summary.txt"]);
}

#[test]
fn json() {
    fuzz("json", &["ct24_json_h100.json", "jd_results.json", "oslat.json"]);
}

#[test]
fn rtla() {
    fuzz("rtla-hist", &["rtla_osnoise_hist.txt"]);
    fuzz("rtla-top", &["rtla_timerlat_top.txt"]);
}

#[test]
fn the_siblings() {
    fuzz("oslat", &["oslat.txt"]);
    fuzz("pairs", &["pmqtest.txt", "sigwaittest.txt"]);
    fuzz("stress-ng", &["sng_cyclic_clock_ns.txt"]);
    fuzz("xenomai", &["xenomai_latency_format.txt"]);
}

#[test]
fn samples() {
    fuzz("jitterdebugger-csv", &["jd_samples.csv"]);
    fuzz("jitterdebugger-raw", &["jd_samples.csv"]);
    fuzz("csv", &["jd_samples.csv"]);
    fuzz("hdr", &["hdr.hlog"]);
    fuzz("rteval", &["jd_results.json"]);
    fuzz("hwlatdetect", &["ct24_q_summary.txt"]);
}

fn fuzz(format: &'static str, seeds: &[&str]) {
    let seconds = std::env::var("LATLAB_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = Instant::now() + Duration::from_secs(seconds.unwrap_or(SECONDS));
    let mut random =
        Random(format.bytes().fold(7, |sum: u64, byte| sum.wrapping_mul(31) + u64::from(byte)));
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|name| fixture(name)).collect();
    seeds.iter().for_each(|seed| read_all(seed, format));
    let mut inputs = 0;
    while Instant::now() < end {
        let input = damaged(&seeds, &mut random);
        let began = Instant::now();
        let done = std::panic::catch_unwind(|| {
            allocation_counter::measure(|| read_all(&input, format)).bytes_max
        });
        let took = began.elapsed();
        if !matches!(done, Ok(bytes) if bytes < MOST_MEMORY) || took > LONGEST {
            let kept = std::env::temp_dir().join(format!("latlab-fuzz-failed.{format}"));
            std::fs::write(&kept, &input).unwrap();
            panic!("{}: {done:?} in {took:?}", kept.display());
        }
        inputs += 1;
    }
    eprintln!("{format}: {inputs} inputs");
}

/// Everything that can be done with a file; what comes of it must be sound, whatever it is.
fn read_all(bytes: &[u8], format: &str) {
    let named = Query {
        format: format_of_id(format),
        column: Some("1".to_string()),
        unit: Some(Unit::Microseconds),
    };
    let plan = Plan { deadline_ns: Some(Nanos(20_000)), ..Plan::default() };
    for query in [named, Query::default()] {
        for recording in try_read(bytes, &query).into_iter().flatten() {
            for series in &recording.series {
                assert_eq!(series.counts.binned(), series.counts.count, "{recording:?}");
                let (times, sum) = (i128::from(series.counts.summed()), series.counts.sum_ns);
                assert!(series.counts.min_ns.0 as i128 * times <= sum, "{recording:?}");
                if let Some(max) = series.counts.max() {
                    assert!(sum <= i128::from(max.0) * times, "{recording:?}");
                }
            }
            let messages = recording.messages(&plan, "x", "0");
            assert!(messages.iter().map(|one| one.encode().len()).max() < Some(16 << 20));
        }
    }
}

/// A recording with some damage: bits, bytes, stretches, numbers, or two recordings in one.
fn damaged(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut input = seeds[random.below(seeds.len())].clone();
    for _ in 0..1 + random.below(6) {
        let at = random.below(input.len().max(1)).min(input.len());
        let length = random.below(64).min(input.len() - at);
        match random.below(7) {
            0 if !input.is_empty() => {
                let at = at.min(input.len() - 1);
                input[at] ^= 1 << random.below(8);
            }
            1 => input.truncate(at),
            2 => drop(input.drain(at..at + length)),
            3 => {
                let piece = input[at..at + length].to_vec();
                let to = random.below(input.len() + 1);
                input.splice(to..to, piece);
            }
            4 => {
                let words: [&[u8]; 14] = [
                    b"9.9E37",
                    b"-1",
                    b"1e308",
                    b"nan",
                    b"\n",
                    b";",
                    b",",
                    b"\"",
                    b"# Histogram\n",
                    b"T: 0 (1) C: 5 Min: 9 Avg: 1 Max: 3\n",
                    b"18446744073709551615",
                    b"9223372036854775807",
                    b"\0",
                    b"999999",
                ];
                let word = words[random.below(words.len())];
                input.splice(at..at, word.iter().copied());
            }
            5 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len().max(1));
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            _ => {
                let end = (at + length).min(input.len());
                input[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8);
            }
        }
    }
    input.truncate(LARGEST);
    input
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end.max(1) as u64) as usize
    }
}
