//! The stream: what the agent sends and the journal holds, byte for byte.
//!
//! A frame is a header of 12 bytes, little endian: length of the payload (u32), kind (u32), CRC-32C
//! of length, kind and payload (u32); then the payload. Documents are JSON, so that a later version
//! can add a field; what is sent every second is postcard, to keep it small.

mod reader;

pub use reader::{FOUND_PAYLOAD, Frame, FrameReader, RawFrame, ReadResult, skip_damage};

use crate::attach::{AttachReport, AttachedThread, LongCycle, PackedCycles};
use crate::breakdown::Breakdown;
use crate::call_site::CallStack;
use crate::edges::Edges;
use crate::flight::{KnownThread, RecordedSpike, RecorderReport, TraceFormats, TracePages};
use crate::guest::GuestMeasurement;
use crate::histogram::Histogram;
use crate::load::{LoadBegin, LoadEnd, LoadLine, LoadSample};
use crate::machine::Machine;
use crate::run::{AgentEnd, AppliedSetup, ClockReading, Finding, ThreadEnd};
use crate::samples::{FineSamples, Samples};
use crate::self_interference::SelfInterference;
use crate::snapshot::Snapshot;
use crate::telemetry::{Reading, Series};
use crate::trace::PackedTrace;
use crate::{Nanos, Plan};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Version of the frames, sent in the first frame of a stream.
pub const STREAM_VERSION: u32 = 1;
/// Length of the header before each payload.
pub const HEADER_BYTES: usize = 12;
/// A longer payload is treated as damage.
pub const LARGEST_PAYLOAD: usize = 16 << 20;

const _: () = assert!(HEADER_BYTES == 3 * size_of::<u32>());

/// First frame of a stream in either direction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// [`STREAM_VERSION`] of the writer.
    pub stream: u32,
    /// Version of the program.
    pub latlab: String,
    /// Run id.
    pub id: String,
}

/// One thread's counts over a stretch of time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Interval {
    /// Number of the thread.
    pub thread: u32,
    /// First release counted, on CLOCK_MONOTONIC.
    pub start_ns: Nanos,
    /// First release no longer counted, on CLOCK_MONOTONIC.
    pub end_ns: Nanos,
    /// Latencies of these releases.
    pub counts: Histogram,
}

/// A large latency and its release.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Spike {
    /// The latency; the first field, so that spikes sort by it.
    pub latency_ns: Nanos,
    /// Release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
}

/// Number of large latencies per thread that are kept with their releases.
pub const KEPT_SPIKES: usize = 4096;

/// Large latencies of one thread, always including its largest [`KEPT_SPIKES`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Spikes {
    /// Number of the thread.
    pub thread: u32,
    /// Large latencies with their releases.
    pub spikes: Vec<Spike>,
}

/// Why the agent refuses to measure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// Whether the plan is wrong (exit code 2) rather than the machine (exit code 3).
    pub plan_is_wrong: bool,
    /// Whether any other run would be refused too: another run has locked the CPUs, or a permission
    /// is missing.
    pub of_every_run: bool,
    /// One line: what is missing and what to do.
    pub text: String,
}

/// Sent to the agent instead of a plan: only take a snapshot of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SnapshotRequest;

/// Payload of a frame.
#[derive(Clone, PartialEq, Debug)]
pub enum Message {
    /// First frame of a stream.
    Hello(Hello),
    /// The plan: sent to the agent, and echoed in its stream.
    Plan(Plan),
    /// To the agent: stop cleanly.
    Stop,
    /// The machine's fingerprint.
    Machine(Machine),
    /// What was applied; the measurement begins.
    Prepared(AppliedSetup),
    /// A thread's counts.
    Interval(Interval),
    /// Large latencies.
    Spikes(Spikes),
    /// All clocks read together.
    Clocks(ClockReading),
    /// A finding.
    Finding(Finding),
    /// A thread has ended.
    ThreadEnd(ThreadEnd),
    /// Everything is restored; last frame of a complete stream.
    End(AgentEnd),
    /// The agent refuses to measure; last frame of such a stream.
    Refusal(Refusal),
    /// Every latency of a stretch of releases.
    Samples(Samples),
    /// Samples from a source with picosecond resolution.
    FineSamples(FineSamples),
    /// The kernel files behind the fingerprint and the doctor's diagnoses.
    Snapshot(Snapshot),
    /// To the agent: send a snapshot and exit.
    Examine(SnapshotRequest),
    /// Announces a telemetry series before its first reading.
    Series(Series),
    /// A telemetry reading.
    Reading(Reading),
    /// The breakdown of wake-ups.
    Breakdown(Breakdown),
    /// A load has started.
    LoadBegin(LoadBegin),
    /// CPU time and counters of a load so far.
    LoadSample(LoadSample),
    /// A line with a figure printed by a load.
    LoadLine(LoadLine),
    /// A load has ended.
    LoadEnd(LoadEnd),
    /// Trace events of the measuring threads.
    Trace(PackedTrace),
    /// When one of latlab's own threads ran.
    SelfInterference(SelfInterference),
    /// Edges and answers of a guest's pin pair.
    Edges(Edges),
    /// Formats of the flight recorder's pages.
    TraceFormats(TraceFormats),
    /// Trace pages of the flight recorder.
    TracePages(TracePages),
    /// A recorded spike.
    RecordedSpike(RecordedSpike),
    /// Outcome of the spikes so far.
    RecorderReport(RecorderReport),
    /// Threads that ran around spikes.
    KnownThreads(Vec<KnownThread>),
    /// Checksum of what a guest measured until it powered off; added by the conductor.
    GuestMeasurement(GuestMeasurement),
    /// A thread of the attached program was found.
    AttachedThread(AttachedThread),
    /// Cycles of an attached thread.
    Cycles(PackedCycles),
    /// What else is known of the attached threads so far.
    AttachReport(AttachReport),
    /// One of the longest cycles of an attached thread.
    LongCycle(LongCycle),
    /// The stack of an attached thread at a call site.
    CallStack(CallStack),
}

/// What else is true of a kind of message.
#[derive(PartialEq)]
enum Mark {
    /// Part of what is measured, without the run's id or name.
    Measured,
    /// Most of the bytes of a stream that has it; can be skipped without decoding.
    Bulk,
}

/// The kinds of messages: number, variant, codec, marks.
macro_rules! kinds {
    ($($number:literal $variant:ident $codec:ident $($mark:ident)*),+ $(,)?) => {
        impl Message {
            /// Encodes the whole frame: header and payload.
            pub fn encode(&self) -> Vec<u8> {
                let (kind, payload) = match self {
                    Message::Stop => (0, Vec::new()),
                    $(Message::$variant(content) => ($number, $codec::encode(content))),+
                };
                raw_frame(kind, &payload)
            }

            /// Kinds are numbered from 0 to this.
            const LAST_KIND: u32 = [$($number),+][[$($number),+].len() - 1];

            /// Whether messages of this kind have this mark.
            fn has_mark(kind: u32, mark: Mark) -> bool {
                let marks: &[Mark] = match kind {
                    $($number => &[$(Mark::$mark),*],)+
                    _ => &[],
                };
                marks.contains(&mark)
            }

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
    5 Interval counted Measured,
    6 Spikes packed Measured,
    7 Clocks packed,
    8 Finding json,
    9 ThreadEnd json Measured,
    10 End json Measured,
    11 Refusal json,
    12 Samples packed Measured Bulk,
    13 Snapshot json,
    14 Examine json,
    15 Series packed,
    16 Reading timed,
    17 Breakdown packed Measured,
    18 LoadBegin json,
    19 LoadSample packed,
    20 LoadLine json,
    21 LoadEnd json,
    22 Trace packed Bulk,
    23 SelfInterference packed,
    24 Edges packed Measured,
    25 TraceFormats json,
    26 TracePages packed Bulk,
    27 RecordedSpike json,
    28 RecorderReport packed,
    29 FineSamples packed Measured Bulk,
    30 KnownThreads json,
    31 GuestMeasurement json,
    32 AttachedThread json,
    33 Cycles packed Bulk,
    34 AttachReport json,
    35 LongCycle json,
    36 CallStack packed,
}

impl Message {
    /// Decodes what an agent receives: orders, and messages of its loads.
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
            23 => packed::decode(payload).map(Message::SelfInterference),
            kind => Err(Damage::UnknownKind(kind)),
        }
    }
}

/// Damage in a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The length in the header is impossible.
    #[error("a frame has an impossible length of {0} bytes")]
    ImpossibleLength(u32),
    /// The checksum does not match.
    #[error("wrong checksum")]
    Checksum,
    /// This version does not know the kind of frame.
    #[error("unknown frame kind {0}: written by a newer latlab?")]
    UnknownKind(u32),
    /// The payload does not match its kind.
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

/// An interval, followed by the edges of its bins unless they are latlab's own.
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

/// A reading, followed by the times at which its files were read.
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
