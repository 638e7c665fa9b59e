//! The stream: what the agent sends and what the journal holds, byte for byte.
//!
//! A frame is a header of 12 bytes, little endian: length of the payload (u32), kind (u32),
//! CRC-32C of length, kind and payload (u32); then the payload. Documents are JSON, so that a
//! later version can add a field; what comes every second is postcard, so that it is small.

mod reader;

pub use reader::{FOUND_PAYLOAD, Frame, FrameReader, ReadResult, skip_damage};

use crate::attach::{AttachReport, AttachedThread, PackedCycles};
use crate::edges::Edges;
use crate::flight::{KnownThread, RecordedSpike, RecorderReport, TraceFormats, TracePages};
use crate::guest::GuestStream;
use crate::histogram::Histogram;
use crate::legs::Legs;
use crate::load::{LoadBegin, LoadEnd, LoadLine, LoadSample};
use crate::machine::Machine;
use crate::own_work::OwnWork;
use crate::run::{AgentEnd, AppliedSetup, ClockReading, Finding, ThreadEnd};
use crate::samples::{FineSamples, Samples};
use crate::snapshot::Snapshot;
use crate::telemetry::{Reading, Series};
use crate::trace::PackedTrace;
use crate::{Nanos, Plan};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Version of the frames; the first frame of a stream carries it.
pub const STREAM_VERSION: u32 = 1;
/// Bytes in front of every payload.
pub const HEADER_BYTES: usize = 12;
/// A longer payload is taken for damage.
pub const LARGEST_PAYLOAD: usize = 16 << 20;

const _: () = assert!(HEADER_BYTES == 3 * size_of::<u32>());

/// First word of a stream, from whoever writes it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// [`STREAM_VERSION`] of the writer.
    pub stream: u32,
    /// Version of the program.
    pub latlab: String,
    /// Id of the run.
    pub id: String,
}

/// What one thread counted from `start_ns` on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// Number of the thread.
    pub thread: u32,
    /// First release counted here, on CLOCK_MONOTONIC.
    pub start_ns: Nanos,
    /// First release not counted here any more.
    pub end_ns: Nanos,
    /// The counts.
    pub counts: Histogram,
}

/// One large latency and its release.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Spike {
    /// The latency; first, so that spikes sort by it.
    pub latency_ns: Nanos,
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
}

/// Large latencies that are kept with their releases, for each thread.
pub const KEPT_SPIKES: usize = 4096;

/// Large latencies of one thread; its largest [`KEPT_SPIKES`] are always among them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Spikes {
    /// Number of the thread.
    pub thread: u32,
    /// The latencies.
    pub spikes: Vec<Spike>,
}

/// Why nothing can be measured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// Whether the plan itself is wrong (exit code 2) and not the machine (exit code 3).
    pub plan_is_wrong: bool,
    /// Whether any other run would be refused as well: another one holds the CPUs, or a right is
    /// missing.
    pub of_every_run: bool,
    /// One line: what is missing and what to do.
    pub text: String,
}

/// To the agent, in place of a plan: only look at the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SnapshotRequest;

/// Everything that travels in a frame.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// First word of a stream.
    Hello(Hello),
    /// The order: to the agent, and back in its stream.
    Plan(Plan),
    /// To the agent: end cleanly.
    Stop,
    /// The fingerprint.
    Machine(Machine),
    /// What was applied; the measuring begins.
    Prepared(AppliedSetup),
    /// What a thread counted.
    Interval(Interval),
    /// Large latencies.
    Spikes(Spikes),
    /// The clocks side by side.
    Clocks(ClockReading),
    /// Something the reader must know.
    Finding(Finding),
    /// A thread has ended.
    ThreadEnd(ThreadEnd),
    /// Everything is restored; last frame of a whole stream.
    End(AgentEnd),
    /// Nothing can be measured; last frame of such a stream.
    Refusal(Refusal),
    /// Every latency of a stretch of releases.
    Samples(Samples),
    /// The same from a source that tells picoseconds.
    FineSamples(FineSamples),
    /// The kernel files that the fingerprint and the doctor's word come from.
    Snapshot(Snapshot),
    /// To the agent: send the snapshot and end.
    Examine(SnapshotRequest),
    /// A series of telemetry, before its first reading.
    Series(Series),
    /// A reading of the telemetry.
    Reading(Reading),
    /// The legs of wake-ups.
    Legs(Legs),
    /// A load runs.
    LoadBegin(LoadBegin),
    /// What a load has taken so far.
    LoadSample(LoadSample),
    /// A figure that a load printed.
    LoadLine(LoadLine),
    /// A load has ended.
    LoadEnd(LoadEnd),
    /// What the kernel's trace says of the measuring threads.
    Trace(PackedTrace),
    /// When one of latlab's own threads worked.
    OwnWork(OwnWork),
    /// What the pin pair of a guest tells of its edges.
    Edges(Edges),
    /// How the pages of the flight recorder lie.
    TraceFormats(TraceFormats),
    /// Pages of the flight recorder.
    TracePages(TracePages),
    /// A spike that was recorded.
    RecordedSpike(RecordedSpike),
    /// What became of the spikes.
    RecorderReport(RecorderReport),
    /// Threads that ran around spikes.
    KnownThreads(Vec<KnownThread>),
    /// What a guest sent until it powered off, added by whoever conducted it.
    GuestStream(GuestStream),
    /// A thread of the program was found.
    AttachedThread(AttachedThread),
    /// Cycles of such a thread.
    Cycles(PackedCycles),
    /// What else is known of these threads by now.
    AttachReport(AttachReport),
}

macro_rules! kinds {
    ($($number:literal $variant:ident $codec:ident),+ $(,)?) => {
        impl Message {
            /// The whole frame: header and payload.
            pub fn encode(&self) -> Vec<u8> {
                let (kind, payload) = match self {
                    Message::Stop => (0, Vec::new()),
                    $(Message::$variant(content) => ($number, $codec::encode(content))),+
                };
                raw_frame(kind, &payload)
            }

            /// Kinds are numbered from 0 to this.
            const LAST_KIND: u32 = [$($number),+][[$($number),+].len() - 1];

            fn decode_payload(kind: u32, payload: &[u8]) -> Result<Message, Damage> {
                match kind {
                    0 => Ok(Message::Stop),
                    $($number => $codec::decode(payload).map(Message::$variant)),+,
                    kind => Err(Damage::UnknownKind(kind)),
                }
            }
        }
    };
}

kinds! {
    1 Hello json,
    2 Plan json,
    3 Machine json,
    4 Prepared json,
    5 Interval counted,
    6 Spikes packed,
    7 Clocks packed,
    8 Finding json,
    9 ThreadEnd json,
    10 End json,
    11 Refusal json,
    12 Samples packed,
    13 Snapshot json,
    14 Examine json,
    15 Series packed,
    16 Reading timed,
    17 Legs packed,
    18 LoadBegin json,
    19 LoadSample packed,
    20 LoadLine json,
    21 LoadEnd json,
    22 Trace packed,
    23 OwnWork packed,
    24 Edges packed,
    25 TraceFormats json,
    26 TracePages packed,
    27 RecordedSpike packed,
    28 RecorderReport packed,
    29 FineSamples packed,
    30 KnownThreads json,
    31 GuestStream json,
    32 AttachedThread json,
    33 Cycles packed,
    34 AttachReport json,
}

impl Message {
    /// The kinds of [`Message::Samples`], [`Message::Trace`], [`Message::TracePages`],
    /// [`Message::FineSamples`] and [`Message::Cycles`], known before a frame is read.
    const BULK: [u32; 5] = [12, 22, 26, 29, 33];
}

impl Message {
    /// What an agent receives: orders, and what its loads say.
    fn decode_for_agent(kind: u32, payload: &[u8]) -> Result<Message, Damage> {
        match kind {
            0 => Ok(Message::Stop),
            1 => json::decode(payload).map(Message::Hello),
            2 => json::decode(payload).map(Message::Plan),
            14 => json::decode(payload).map(Message::Examine),
            18 => json::decode(payload).map(Message::LoadBegin),
            19 => packed::decode(payload).map(Message::LoadSample),
            20 => json::decode(payload).map(Message::LoadLine),
            21 => json::decode(payload).map(Message::LoadEnd),
            23 => packed::decode(payload).map(Message::OwnWork),
            kind => Err(Damage::UnknownKind(kind)),
        }
    }
}

/// What is wrong with the bytes of a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The header's length is impossible.
    #[error("a frame has an impossible length of {0} bytes")]
    ImpossibleLength(u32),
    /// The checksum does not fit.
    #[error("wrong checksum")]
    Checksum,
    /// A kind of frame that this version does not know.
    #[error("unknown frame kind {0}: written by a newer latlab?")]
    UnknownKind(u32),
    /// The payload is not what its kind says.
    #[error("cannot read a frame: {0}")]
    Payload(String),
    /// The stream ends within a frame.
    #[error("the last frame is truncated")]
    CutOff,
}

fn raw_frame(kind: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    let mut frame = Vec::with_capacity(HEADER_BYTES + payload.len());
    frame.extend_from_slice(&length.to_le_bytes());
    frame.extend_from_slice(&kind.to_le_bytes());
    frame.extend_from_slice(&checksum_of(length, kind, payload).to_le_bytes());
    frame.extend_from_slice(payload);
    frame
}

fn checksum_of(length: u32, kind: u32, payload: &[u8]) -> u32 {
    let header = crc32c::crc32c(&length.to_le_bytes());
    let header = crc32c::crc32c_append(header, &kind.to_le_bytes());
    crc32c::crc32c_append(header, payload)
}

mod json {
    use super::*;

    pub fn encode<T: Serialize>(content: &T) -> Vec<u8> {
        serde_json::to_vec(content).expect("the stream's types have only text keys")
    }

    pub fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, Damage> {
        serde_json::from_slice(payload).map_err(|error| Damage::Payload(error.to_string()))
    }
}

mod packed {
    use super::*;

    pub fn encode<T: Serialize>(content: &T) -> Vec<u8> {
        postcard::to_allocvec(content).expect("the stream's types have known lengths")
    }

    pub fn decode<T: DeserializeOwned>(payload: &[u8]) -> Result<T, Damage> {
        postcard::from_bytes(payload).map_err(|error| Damage::Payload(error.to_string()))
    }
}

/// An interval, and behind it the edges of its bins where those are not latlab's own.
mod counted {
    use super::*;
    use crate::histogram::{BinLayout, Overflow};

    pub fn encode(interval: &Interval) -> Vec<u8> {
        let Histogram { layout, overflow, .. } = &interval.counts;
        if layout.is_standard() {
            return packed::encode(interval);
        }
        let counts = Histogram {
            layout: BinLayout::default(),
            overflow: Overflow::default(),
            ..interval.counts.clone()
        };
        let mut payload = packed::encode(&Interval { counts, ..*interval });
        payload.extend(packed::encode(&(layout, overflow)));
        payload
    }

    pub fn decode(payload: &[u8]) -> Result<Interval, Damage> {
        let damage = |error: postcard::Error| Damage::Payload(error.to_string());
        let (mut interval, edges): (Interval, _) =
            postcard::take_from_bytes(payload).map_err(damage)?;
        if !edges.is_empty() {
            (interval.counts.layout, interval.counts.overflow) =
                postcard::from_bytes(edges).map_err(damage)?;
        }
        Ok(interval)
    }
}

/// A reading, and behind it when its files were read.
mod timed {
    use super::*;

    pub fn encode(reading: &Reading) -> Vec<u8> {
        let mut payload = packed::encode(reading);
        if !reading.instants.is_empty() {
            payload.extend(packed::encode(&reading.instants));
        }
        payload
    }

    pub fn decode(payload: &[u8]) -> Result<Reading, Damage> {
        let damage = |error: postcard::Error| Damage::Payload(error.to_string());
        let (mut reading, instants): (Reading, _) =
            postcard::take_from_bytes(payload).map_err(damage)?;
        if !instants.is_empty() {
            reading.instants = packed::decode(instants)?;
        }
        Ok(reading)
    }
}
