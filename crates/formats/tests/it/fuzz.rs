//! Every reader accepts any input without a panic, hang or unbounded memory.
//!
//! The inputs are recordings with random but reproducible damage; `make fuzz` gives each reader a
//! minute. Failing inputs are kept and named.
//!
//! Invariant (imports): Any bytes are read without a panic, a hang or much memory.

use crate::common::*;
use crate::damage::Fuzz;
use crate::false_pass::prefixes::{RARE, USUAL, behind};
use crate::outputs::OUTPUTS;
use flate2::Compression;
use flate2::write::GzEncoder;
use latlab_formats::read::{ImportQuery, InputUnit, format_of_id};
use latlab_model::plan::Until;
use latlab_model::{Nanos, Plan};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;

/// Damaged files per reader, unless LATLAB_FUZZ_SECONDS is set.
const INPUTS: usize = 60;
const LARGEST: usize = 1 << 16;

/// Inserted into damaged recordings.
const WORDS: &[&[u8]] = &[
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

#[test]
fn tables() {
    let parquet = ["samples-polars.parquet", "samples-zstd-v2.parquet", "samples-gzip-v2.parquet"];
    fuzz("parquet", &parquet);
}

#[test]
fn packed() {
    let plain = fixture("ct24_h40.txt");
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&plain).unwrap();
    let zstd = compress_to_vec(&plain[..], CompressionLevel::Fastest);
    fuzz_bytes("packed", "cyclictest", &[gzip.finish().unwrap(), zstd]);
}

/// Text that looks like a part of a prefix, or ends one too early.
const PARTS: &[&[u8]] = &[
    b"12:00:00 ",
    b"2024-05-01T12:00:00.1234567Z ",
    b"[   12.345678] ",
    b"[",
    b"] ",
    b"May 01 12:00:00 box svc[88]: ",
    b"> ",
    b"# ",
    b"<6>",
    b"name | ",
    b"INFO: ",
    b"stdout F ",
    b"1714564800.123456 ",
    b"\x1b[32m",
    b"\x1b",
    b"\xc2\xa0",
    b"\r",
    b"\n",
];

/// Damaged outputs with intact prefixes, and outputs whose prefixes are damaged too.
#[test]
fn prefixes() {
    let outputs: Vec<Vec<u8>> = OUTPUTS.iter().map(|one| one.text.as_bytes().to_vec()).collect();
    let all: Vec<&&str> = USUAL.iter().chain(RARE).collect();
    let with =
        |prefix: &str, bytes: &[u8]| behind(prefix, &String::from_utf8_lossy(bytes)).into_bytes();
    let any = |bytes: &[u8]| {
        let sum = bytes.iter().fold(0usize, |sum, byte| sum.wrapping_mul(31) + usize::from(*byte));
        with(all[sum % all.len()], bytes)
    };
    let read = |bytes: &[u8]| read_all(bytes, "");
    let fuzz = |name| Fuzz { name, inputs: INPUTS, words: PARTS, largest: LARGEST };
    fuzz("prefixes").run(&outputs, &any, &read);
    let pairs = all.iter().zip(outputs.iter().cycle());
    let prefixed: Vec<Vec<u8>> = pairs.map(|(prefix, text)| with(prefix, text)).collect();
    fuzz("prefixed").run(&prefixed, &<[u8]>::to_vec, &read);
}

fn fuzz(format: &'static str, seeds: &[&str]) {
    let seeds: Vec<Vec<u8>> = seeds.iter().map(|name| fixture(name)).collect();
    fuzz_bytes(format, format, &seeds);
}

fn fuzz_bytes(name: &str, format: &str, seeds: &[Vec<u8>]) {
    let read = |bytes: &[u8]| read_all(bytes, format);
    Fuzz { name, inputs: INPUTS, words: WORDS, largest: LARGEST }.run(
        seeds,
        &<[u8]>::to_vec,
        &read,
    );
}

/// All operations on a file; any result must be consistent.
fn read_all(bytes: &[u8], format: &str) {
    let named = ImportQuery {
        format: format_of_id(format),
        column: Some("1".to_string()),
        unit: Some(InputUnit::Microseconds),
        period: None,
    };
    let plan = Plan {
        until: Until { deadline_ns: Some(Nanos(20_000)), ..Until::default() },
        ..Plan::default()
    };
    for query in [named, ImportQuery::default()] {
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
