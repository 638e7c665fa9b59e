//! Frames with valid checksums and impossible content.

use jiff::Timestamp;
use latlab_digest::testing::SyntheticRun;
use latlab_digest::{RunBuilder, StreamEnd};
use latlab_model::breakdown::{Breakdown, BreakdownTally, Part};
use latlab_model::finding::{Finding, LossFinding};
use latlab_model::frame::{FrameReader, HEADER_BYTES, Message, ReadResult};
use latlab_model::load::{Load, LoadBegin, LoadLine, LoadSample};
use latlab_model::run::ThreadSetup;
use latlab_model::self_interference::{OwnThread, SelfInterference, WorkStretch};
use latlab_model::{Histogram, Nanos};
use serde_json::{Value, json};
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

/// Memory limit for a stream of some kilobytes: as much as an honest one of its size, and the bins.
const MEMORY: u64 = 24 << 20;

/// A stream with a message of each kind.
fn stream() -> Vec<Message> {
    let made_up = SyntheticRun {
        threads: 1,
        seconds: 2,
        period: Nanos(50_000_000),
        samples: true,
        breakdown: true,
        warmer: Some(900),
        ..SyntheticRun::default()
    };
    let mut messages = made_up.messages();
    let word = |word: &str| word.to_string();
    let load = Load::new("disk", "disk", "writes");
    for message in &mut messages {
        if let Message::Plan(plan) = message {
            plan.on.loads = vec![load.clone()];
        }
    }
    let at_ns = latlab_digest::testing::FIRST_RELEASE;
    let counts = || [5_000, 70_000].map(Nanos).into_iter().collect::<Histogram>();
    let more = [
        Message::LoadBegin(LoadBegin {
            load: 0,
            program: word("/bin/dd"),
            version: word("9"),
            placement: word("0"),
            started_ns: at_ns,
            shown_ns: Some(at_ns),
        }),
        Message::LoadSample(LoadSample {
            load: 0,
            at_ns,
            processes: 1,
            cpu_ns: Nanos(5),
            evidence: Some(7),
        }),
        Message::LoadLine(LoadLine { load: 0, at_ns, after_end: false, text: word("1 MB/s") }),
        Message::Breakdown(Breakdown {
            thread: 0,
            counts: vec![(Part::Irq, counts()), (Part::Thread, counts())],
            largest: Vec::new(),
            tally: BreakdownTally { traced: 2, known: 2, ..BreakdownTally::default() },
        }),
        Message::Finding(Finding::new(LossFinding::SpikesLost { count: 3 })),
        Message::SelfInterference(SelfInterference {
            thread: OwnThread::Telemetry,
            allowed: [0].into_iter().collect(),
            lost: 1,
            stretches: vec![WorkStretch {
                begin_ns: at_ns,
                length_ns: Nanos(50_000),
                ran_ns: Nanos(40_000),
                first_cpu: 0,
                last_cpu: 1,
            }],
        }),
    ];
    let end = messages.len() - 2;
    messages.splice(end..end, more);
    messages
}

/// A frame of any content, with its checksum.
fn frame(kind: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    let sum = crc32c::crc32c(&length.to_le_bytes());
    let sum = crc32c::crc32c_append(sum, &kind.to_le_bytes());
    let sum = crc32c::crc32c_append(sum, payload);
    [&length.to_le_bytes()[..], &kind.to_le_bytes(), &sum.to_le_bytes(), payload].concat()
}

/// Variants of this content, each with one impossible value.
fn hostile(payload: &[u8]) -> Vec<Vec<u8>> {
    match serde_json::from_slice(payload) {
        Ok(document) if payload.starts_with(b"{") => {
            let mut all = Vec::new();
            for number in 0..leaves(&document) {
                for value in impossible() {
                    let mut changed = document.clone();
                    replace(&mut changed, &mut { number }, &value);
                    all.push(serde_json::to_vec(&changed).unwrap());
                }
            }
            all
        }
        _ => {
            let step = (payload.len() / 16).max(1);
            let places = (0..payload.len()).filter(|place| *place < 16 || place % step == 0);
            places.flat_map(|place| changed_at(payload, place)).collect()
        }
    }
}

fn impossible() -> Vec<Value> {
    vec![
        json!(0),
        json!(-1),
        json!(u32::MAX),
        json!(i64::MAX),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1e308),
        json!(""),
        json!("9".repeat(3_000)),
        json!(null),
    ]
}

fn leaves(value: &Value) -> usize {
    match value {
        Value::Array(all) => all.iter().map(leaves).sum(),
        Value::Object(all) => all.values().map(leaves).sum(),
        _ => 1,
    }
}

/// Replaces the leaf with this number.
fn replace(value: &mut Value, number: &mut usize, new: &Value) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(|one| replace(one, number, new)),
        Value::Object(all) => all.values_mut().for_each(|one| replace(one, number, new)),
        leaf => {
            if *number == 0 {
                *leaf = new.clone();
            }
            *number = number.wrapping_sub(1);
        }
    }
}

/// Other bytes at a place, and the largest number possible there.
fn changed_at(payload: &[u8], place: usize) -> Vec<Vec<u8>> {
    let with = |new: &[u8], skipped: usize| {
        let rest = payload.get(place + skipped..).unwrap_or_default();
        [&payload[..place], new, rest].concat()
    };
    let largest = [&[0xff; 9][..], &[1]].concat();
    vec![
        with(&[0], 1),
        with(&[0x7f], 1),
        with(&[payload[place] ^ 1], 1),
        with(&[0xff, 0xff, 0xff, 0xff, 0x0f], 1),
        with(&largest, 1),
        with(&[&[0xfe][..], &[0xff; 8], &[1]].concat(), 1),
    ]
}

/// Makes a run of a stream as the store does.
fn digest(bytes: &[u8]) {
    let mut builder = RunBuilder::default();
    let mut frames = FrameReader::new(bytes);
    while let ReadResult::Frame(frame) = frames.next_frame().unwrap() {
        drop(builder.push(frame.message));
    }
    builder.last_rows();
    if let Ok(digest) = builder.finish("hostile", Timestamp::UNIX_EPOCH, StreamEnd::default()) {
        let run = serde_json::to_string(&digest.run).unwrap();
        drop(serde_json::from_str::<latlab_model::Run>(&run).unwrap());
    }
}

/// Invariant (losses): Frames with right checksums and impossible contents crash nothing and take no memory.
#[test]
fn impossible_contents_crash_nothing_and_take_no_memory() {
    let frames: Vec<Vec<u8>> = stream().iter().map(Message::encode).collect();
    // In the long form all of them; else a prime number, so that each value has its turn.
    let step = if std::env::var_os("LATLAB_LONG").is_some() { 1 } else { 7 };
    let mut failed = Vec::new();
    let mut tried = 0;
    for (place, original) in frames.iter().enumerate() {
        let kind = u32::from_le_bytes(original[4..8].try_into().unwrap());
        let same = |other: &Vec<u8>| other[4..8] == original[4..8];
        // The first of a kind, and the last.
        if frames[..place].iter().any(same) && frames[place + 1..].iter().any(same) {
            continue;
        }
        for payload in hostile(&original[HEADER_BYTES..]).into_iter().step_by(step) {
            let before = frames[..place].concat();
            let after = frames[place + 1..].concat();
            let bytes = [before, frame(kind, &payload), after].concat();
            tried += 1;
            let mut done = Ok(());
            let used = allocation_counter::measure(|| done = catch_unwind(|| digest(&bytes)));
            if done.is_err() || used.bytes_max > MEMORY {
                failed.push((kind, used.bytes_max, String::from_utf8_lossy(&payload).into_owned()));
            }
        }
    }
    println!("{tried} streams with one impossible value");
    let some: Vec<_> = failed.iter().take(20).collect();
    assert!(failed.is_empty(), "{} of {tried} streams: {some:#?}", failed.len());
    assert!(tried > 1_000 / step, "{tried}");
}

/// Invariant (losses): Frames with right checksums and impossible contents crash nothing and take no memory.
#[test]
fn a_stream_of_a_hundred_thousand_threads_is_refused_and_takes_no_memory() {
    let mut messages = stream();
    for message in &mut messages {
        if let Message::Prepared(prepared) = message {
            let one = prepared.threads[0].clone();
            let thread = |thread| ThreadSetup { thread, ..one.clone() };
            prepared.threads = (0..100_000).map(thread).collect();
        }
    }
    let mut refused = None;
    let used = allocation_counter::measure(|| {
        let mut builder = RunBuilder::default();
        messages.into_iter().for_each(|message| drop(builder.push(message)));
        let digest = builder.finish("hostile", Timestamp::UNIX_EPOCH, StreamEnd::default());
        refused = digest.err().map(|error| error.to_string());
    });
    assert_eq!(refused.unwrap(), "the stream has 100000 threads, more than 8192");
    assert!(used.bytes_max < MEMORY, "{} bytes", used.bytes_max);
}

/// Reproducible pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }
}

/// Makes one change to a stream that no agent would send.
fn disorder(frames: &mut Vec<Vec<u8>>, random: &mut Random) {
    let (place, other) = (random.below(frames.len()), random.below(frames.len()));
    let kind = |frame: &[u8]| u32::from_le_bytes(frame[4..8].try_into().unwrap());
    let payload = frames[place][HEADER_BYTES..].to_vec();
    match random.below(8) {
        0 => drop(frames.remove(place)),
        1 => frames.insert(other, frames[place].clone()),
        2 => frames.swap(place, other),
        3 => frames[place] = frame(kind(&frames[other]), &payload),
        _ => {
            let mut all = hostile(&payload);
            if !all.is_empty() {
                frames[place] =
                    frame(kind(&frames[place]), &all.swap_remove(random.below(all.len())));
            }
        }
    }
}

/// Some hundred, or as many as there is time for by `LATLAB_FUZZ_SECONDS`.
///
/// Invariant (losses): Frames with right checksums and impossible contents crash nothing and take no memory.
#[test]
fn disordered_streams_crash_nothing_and_take_no_memory() {
    let seconds = std::env::var("LATLAB_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok());
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let frames: Vec<Vec<u8>> = stream().iter().map(Message::encode).collect();
    let (mut random, mut tried) = (Random(20261123), 0);
    while end.map_or(tried < 300, |end| Instant::now() < end) {
        let mut changed = frames.clone();
        for _ in 0..=random.below(4) {
            disorder(&mut changed, &mut random);
        }
        let bytes = changed.concat();
        tried += 1;
        let mut done = Ok(());
        let used = allocation_counter::measure(|| done = catch_unwind(|| digest(&bytes)));
        assert!(done.is_ok() && used.bytes_max < MEMORY, "stream {tried}: {}", used.bytes_max);
    }
    println!("{tried} disordered streams");
}
