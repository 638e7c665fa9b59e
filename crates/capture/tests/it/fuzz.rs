//! Every reader takes anything: no panic, no hang, no more than some memory.
//!
//! The inputs are captures with random damage, the same each time; `make fuzz` gives each reader a
//! minute of them. What fails is kept, and named.
//!
//! Invariant (captures): Any bytes are read without a panic, a hang or much memory.

use crate::common::*;
use crate::damage::Fuzz;
use latlab_capture::{Capture, Hysteresis, Threshold, open, survey};
use std::fs;
use std::path::Path;

/// Damaged files per reader, unless LATLAB_FUZZ_SECONDS is set.
const INPUTS: usize = 60;
const LARGEST: usize = 1 << 17;

/// What is inserted into damaged captures.
const WORDS: &[&[u8]] = &[
    b"9.9E37",
    b"****",
    b"1700000000.000001",
    b"IDLE",
    b"-1",
    b"1e308",
    b"nan",
    b"#99999999999999999999",
    b"9999-12-31T23:59:59.9",
    b"\n",
    b";",
    b",",
    b"$end",
    b"\"",
    b"$timescale",
    b"18446744073709551615",
    b"\xff\xff\xff\xff",
    b"\0",
    b"0",
    b"=",
];

const DELAYS: [i64; 4] = [12_000, 300_000, 1_000, 99_000];

#[test]
fn sessions_of_sigrok() {
    let seeds = [
        sigrok(&DELAYS),
        fs::read(fixture("uart_rts_1_excess_bytes.sr")).unwrap(),
        fs::read(fixture("100khz_clock_2logic_1analog.sr")).unwrap(),
        fs::read(fixture("no-samplerate.sr")).unwrap(),
    ];
    fuzz("sr", &seeds, ["in", "out"]);
}

/// Damage inside a member, which otherwise only its checksum would catch.
#[test]
fn metadata_of_sigrok() {
    // The second chunk of both kinds is missing.
    let text = "[global]\nversion=1\n[device 1]\ncapturefile=logic-1\ntotal probes=8\n\
        samplerate=1 MHz\nprobe1=in\nprobe4=out\nanalog9=A0\nunitsize=1\n";
    let pack = |text: &[u8]| {
        zipped(&[
            ("version".to_string(), b"2".to_vec()),
            ("metadata".to_string(), text.to_vec()),
            ("logic-1-1".to_string(), vec![0, 1, 9, 8, 0, 1]),
            ("logic-1-3".to_string(), vec![0, 1, 9, 8, 0, 1]),
            ("analog-1-9-1".to_string(), vec![0; 24]),
            ("analog-1-9-3".to_string(), vec![7; 24]),
        ])
    };
    fuzz_packed("metadata.sr", &[text.as_bytes().to_vec()], ["in", "out"], &pack);
}

#[test]
fn dumps() {
    let seeds = [
        vcd(&DELAYS).into_bytes(),
        fs::read(fixture("vectors-integers.vcd")).unwrap(),
        b"$timescale 1ns $end $var real 64 ! in $end $var reg 4 ? out $end $enddefinitions $end \
          #0 r0.5 ! b0000 ? #5 r2.5 ! b1x1z ? #9 r0.5 !"
            .to_vec(),
        b"$comment Acquisition with 2/8 channels at 24 MHz $end $timescale 1ns $end $var wire 1 ! \
          in $end $var wire 1 ? out $end $enddefinitions $end #0 0! 0? #42 1! #83 1? #125 0! 0?"
            .to_vec(),
    ];
    fuzz("vcd", &seeds, ["in", "out"]);
}

#[test]
fn tables() {
    let seeds = [
        saleae(&DELAYS).into_bytes(),
        fs::read(fixture("scope_3.csv")).unwrap(),
        fs::read(fixture("scope_7_1.csv")).unwrap(),
        b"X,Channel 0,Channel 1,Start,Increment\nSequence,VOLT,VOLT,-1e-3,1e-5\n0,0.1,0.2\n1,3,3\n"
            .to_vec(),
        b"Record Length,2500,,-0.1,0.02,\nSource,CH1,,-0.05,3.3,\n,,,0.0,0.02,\n".to_vec(),
        b"; Samplerate: 1 MHz\nChannel 0,Channel 1\n0,0\n1,0\n1,1\n".to_vec(),
        b"Zeit;A;B\n0,1;0,5;3,3\n0,2;3,5;0,3\n".to_vec(),
        b"Time,A,B,bus\n2026-11-22T10:20:30.5Z,0,0,0x1F\n2026-11-22T10:20:31+01:00,1,X,7F\n,,,\n"
            .to_vec(),
        b"# Sample rate: 2 MSa/s\nTime [s],Channel 0,Channel 1\n0,-Inf,8.4\n5e-7,9.9E37,START\n"
            .to_vec(),
        b"Time,Channel 0,Channel 1\n0.1,1.#INF,-1.#IND\n0.2,0,3.3\n0.3,3.3,1.#QNAN\n".to_vec(),
        b"0,000,0,1,1,5\n0,001,3,3,0,5\n".to_vec(),
    ];
    fuzz("csv", &seeds, ["Channel 0", "Channel 1"]);
}

#[test]
fn lists() {
    let seeds = [
        b"0\t9.1E-6\n1\t9.9E37\n2\t8.7E-6\n".to_vec(),
        b",n_secs_delay,\n0,0,\n1,86667,\n2,-1,\n3,-998971927,\n".to_vec(),
        b"#Mode:;3\n\ncounter;latency;delayTime\n0;38;5473\n1;10;4969\n".to_vec(),
        b"Latenz [us]\n1,25\n1,5\n2,75\n".to_vec(),
        b"Latency (ms)\n0.00125\n9.9E37\n-1\n".to_vec(),
        b"latency_ns\n48.1\nInf\n48.3\n,,\n".to_vec(),
    ];
    fuzz("list.csv", &seeds, ["a", "b"]);
}

#[test]
fn waveforms() {
    let seeds = [isf(&DELAYS, 0)[..6_000].to_vec(), fs::read(fixture("spectrum.isf")).unwrap()];
    fuzz("isf", &seeds, ["Ch1", "Ch2"]);
}

fn fuzz(kind: &str, seeds: &[Vec<u8>], channels: [&str; 2]) {
    fuzz_packed(kind, seeds, channels, &|bytes| bytes.to_vec());
}

fn fuzz_packed(
    kind: &str,
    seeds: &[Vec<u8>],
    channels: [&str; 2],
    pack: &dyn Fn(&[u8]) -> Vec<u8>,
) {
    let folder = tempfile::tempdir().unwrap();
    let read = |bytes: &[u8]| {
        read_all(&written(folder.path(), &format!("input.{kind}"), bytes), channels);
    };
    Fuzz { name: kind, inputs: INPUTS, words: WORDS, largest: LARGEST }.run(seeds, pack, &read);
}

/// Everything that can be done with a file; results are ignored.
fn read_all(path: &Path, channels: [&str; 2]) {
    let paths = [path.to_path_buf()];
    if let Ok(Capture::List(mut list)) = open(path, None) {
        while let Ok(Some(_)) = list.next_reading() {}
    }
    if let Ok(Some(survey)) = survey(&paths) {
        let rule = (Threshold::Share(0.5), Hysteresis::Share(0.1));
        drop(survey.read_edges(&paths, rule, 64));
    }
    drop(measured(path, &query(channels[0], channels[1])));
}
