//! Captures for tests: stored ones, and synthetic ones whose truth is known.

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use latlab_capture::{CaptureQuery, CaptureResult, Error, Response, ResponseClass, measure};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A capture in the repository.
pub fn fixture(name: &str) -> PathBuf {
    root().join("fixtures/captures").join(name)
}

/// A recording whose licence keeps it out of the repository, if it is present next to it.
pub fn recording(name: &str) -> Option<PathBuf> {
    let folders = ["../shared/data", "../../shared/data"].map(|folder| root().join(folder));
    let found = folders.into_iter().map(|folder| folder.join(name)).find(|path| path.exists());
    if found.is_none() {
        eprintln!("SKIPPED: {name} is not in ../shared/data");
    }
    found
}

/// The default query for two channels.
pub fn query(stimulus: &str, response: &str) -> CaptureQuery {
    CaptureQuery::between(stimulus, response)
}

/// The query for a list.
pub fn asked_of_list() -> CaptureQuery {
    CaptureQuery { stimulus: None, response: None, ..query("", "") }
}

/// The result for a capture, and its delays in picoseconds.
pub fn measured(path: &Path, asked: &CaptureQuery) -> Result<(CaptureResult, Vec<i64>), Error> {
    measured_of(&[path.to_path_buf()], asked)
}

/// The same for several files.
pub fn measured_of(
    paths: &[PathBuf],
    asked: &CaptureQuery,
) -> Result<(CaptureResult, Vec<i64>), Error> {
    let mut delays = Vec::new();
    let measured = measure::<Error>(paths, asked, |Response { class: fate, .. }| {
        if let ResponseClass::Answered(delay) = fate {
            delays.push(delay);
        }
        Ok(())
    })?;
    Ok((measured, delays))
}

/// Synthetic pairs: a stimulus each millisecond, and a response after each delay.
pub const PERIOD_NS: i64 = 1_000_000;

/// Stimuli and responses as changes of two wires: time in ns, wire, level.
pub fn changes(delays_ns: &[i64]) -> Vec<(i64, usize, bool)> {
    let mut changes = Vec::new();
    for (at, delay) in (1..).map(|number| number * PERIOD_NS).zip(delays_ns) {
        changes.push((at, 0, true));
        changes.push((at + PERIOD_NS / 2, 0, false));
        changes.push((at + delay, 1, true));
        changes.push((at + delay + PERIOD_NS / 4, 1, false));
    }
    changes.sort();
    changes
}

/// The levels of both wires at each multiple of a step, up to after the last change.
pub fn samples(delays_ns: &[i64], step_ns: i64) -> Vec<[bool; 2]> {
    let changes = changes(delays_ns);
    let end = changes.last().map_or(0, |change| change.0) + PERIOD_NS;
    let (mut levels, mut next, mut all) = ([false; 2], 0, Vec::new());
    for at in (0..end).step_by(step_ns as usize) {
        while next < changes.len() && changes[next].0 <= at {
            levels[changes[next].1] = changes[next].2;
            next += 1;
        }
        all.push(levels);
    }
    all
}

/// A dump of these changes.
pub fn vcd(delays_ns: &[i64]) -> String {
    let mut text = "$timescale 1 ns $end\n$scope module top $end\n$var wire 1 ! in $end\n\
        $var wire 1 \" out $end\n$upscope $end\n$enddefinitions $end\n$dumpvars\n0!\n0\"\n$end\n"
        .to_string();
    for (at, wire, level) in changes(delays_ns) {
        text += &format!("#{at}\n{}{}\n", u8::from(level), ["!", "\""][wire]);
    }
    text
}

/// A logic analyser's table with a row for each change.
pub fn saleae(delays_ns: &[i64]) -> String {
    let (mut text, mut levels) =
        ("Time [s],Channel 0,Channel 1\n0.000000000,0,0\n".to_string(), [0; 2]);
    for (at, wire, level) in changes(delays_ns) {
        levels[wire] = u8::from(level);
        text += &format!(
            "{}.{:09},{},{}\n",
            at / 1_000_000_000,
            at % 1_000_000_000,
            levels[0],
            levels[1]
        );
    }
    text
}

/// A session of sigrok with a sample each microsecond in members of some thousand.
pub fn sigrok(delays_ns: &[i64]) -> Vec<u8> {
    let samples: Vec<u8> = samples(delays_ns, 1_000)
        .iter()
        .map(|levels| u8::from(levels[0]) | u8::from(levels[1]) << 3)
        .collect();
    let metadata = "[global]\nsigrok version=0.5.2\n\n[device 1]\ncapturefile=logic-1\n\
        total probes=8\nsamplerate=1 MHz\ntotal analog=0\nprobe1=in\nprobe4=out\nunitsize=1\n";
    let mut members = vec![
        ("version".to_string(), b"2".to_vec()),
        ("metadata".to_string(), metadata.as_bytes().to_vec()),
    ];
    for (number, chunk) in (1..).zip(samples.chunks(7_001)) {
        members.push((format!("logic-1-{number}"), chunk.to_vec()));
    }
    // Archives list their members in any order.
    members.reverse();
    zipped(&members)
}

/// An archive of these members.
pub fn zipped(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let (mut archive, mut table) = (Vec::new(), Vec::new());
    for (name, bytes) in members {
        let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).unwrap();
        let packed = packed.finish().unwrap();
        let mut head = Vec::new();
        for word in [20_u16, 0, 8, 0, 0] {
            head.extend(word.to_le_bytes());
        }
        let mut checksum = Crc::new();
        checksum.update(bytes);
        head.extend(checksum.sum().to_le_bytes());
        head.extend((packed.len() as u32).to_le_bytes());
        head.extend((bytes.len() as u32).to_le_bytes());
        head.extend((name.len() as u16).to_le_bytes());
        head.extend(0_u16.to_le_bytes());
        let offset = archive.len() as u32;
        archive.extend(b"PK\x03\x04");
        archive.extend(&head);
        archive.extend(name.as_bytes());
        archive.extend(packed);
        table.extend(b"PK\x01\x02\x14\x00");
        table.extend(&head);
        table.extend([0; 10]);
        table.extend(offset.to_le_bytes());
        table.extend(name.as_bytes());
    }
    let offset = archive.len() as u32;
    archive.extend(&table);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend((members.len() as u16).to_le_bytes());
    archive.extend((members.len() as u16).to_le_bytes());
    archive.extend((table.len() as u32).to_le_bytes());
    archive.extend(offset.to_le_bytes());
    archive.extend(0_u16.to_le_bytes());
    archive
}

/// A waveform of one of the wires: 16-bit samples each microsecond, low 0.1 V and high 3.2 V.
pub fn isf(delays_ns: &[i64], wire: usize) -> Vec<u8> {
    let samples = samples(delays_ns, 1_000);
    let mut file = format!(
        ":WFMPRE:BYT_NR 2;BIT_NR 16;ENCDG BINARY;BN_FMT RI;BYT_OR MSB;WFID \"Ch{}, DC coupling; \
         2.0V/div\";NR_PT {};PT_FMT Y;XUNIT \"s\";XINCR 1.0000E-6;XZERO -5.0E-3;PT_OFF 0;YUNIT \
         \"V\";YMULT 1.0E-3;YOFF 100.0;YZERO 0.2;:CURVE #",
        wire + 1,
        samples.len()
    )
    .into_bytes();
    let length = (samples.len() * 2).to_string();
    file.extend(format!("{}{length}", length.len()).into_bytes());
    for levels in samples {
        file.extend((if levels[wire] { 3_100_i16 } else { 0 }).to_be_bytes());
    }
    file
}

/// Writes a file for a test.
pub fn written(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}
