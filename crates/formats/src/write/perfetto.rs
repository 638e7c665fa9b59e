//! Writes a Perfetto trace: packets of tracks, slices and counters.

use crate::write::protobuf::ProtoMessage;
use latlab_model::run::ClockReading;
use latlab_model::{Nanos, Run};
use std::io::{self, Write};

/// Perfetto's clock ids.
const REALTIME: u64 = 1;
const MONOTONIC: u64 = 3;
const BOOTTIME: u64 = 6;
/// All packets are from one writer.
const SEQUENCE: u64 = 1;
/// The track of the run, above all others.
const RUN_TRACK: u64 = 1;

/// Event types.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const COUNTER: u64 = 4;

pub struct Trace<'a> {
    out: &'a mut (dyn Write + Send),
    next_track: u64,
    clock: u64,
}

impl<'a> Trace<'a> {
    /// Writes the clocks and the track of a run.
    pub fn begin(run: &Run, out: &'a mut (dyn Write + Send)) -> io::Result<Trace<'a>> {
        let mut trace = Trace { out, next_track: RUN_TRACK + 1, clock: MONOTONIC };
        match run.clocks {
            Some((first, last)) => {
                trace.clocks(first)?;
                trace.clocks(last)?;
            }
            // The clocks of an imported file are unknown.
            None => trace.clock = BOOTTIME,
        }
        let process = ProtoMessage::default().number(1, 1).text(6, &format!("latlab {}", run.id));
        let track = ProtoMessage::default().number(1, RUN_TRACK).message(3, &process);
        trace.packet(&ProtoMessage::default().message(60, &track))?;
        Ok(trace)
    }

    fn packet(&mut self, packet: &ProtoMessage) -> io::Result<()> {
        let packet = packet.clone().number(10, SEQUENCE);
        self.out.write_all(ProtoMessage::default().message(1, &packet).as_bytes())
    }

    /// A snapshot of all clocks.
    fn clocks(&mut self, reading: ClockReading) -> io::Result<()> {
        let clock =
            |id, time: Nanos| ProtoMessage::default().number(1, id).number(2, time.0 as u64);
        let snapshot = ProtoMessage::default()
            .message(1, &clock(MONOTONIC, reading.monotonic_ns))
            .message(1, &clock(BOOTTIME, reading.boottime_ns))
            .message(1, &clock(REALTIME, reading.realtime_ns))
            .number(2, MONOTONIC);
        self.packet(&ProtoMessage::default().message(6, &snapshot))
    }

    /// A track below that of the run, for slices, or for a counter with a unit.
    pub fn track(&mut self, name: &str, unit: Option<&str>) -> io::Result<u64> {
        let uuid = self.next_track;
        self.next_track += 1;
        let track = ProtoMessage::default().number(1, uuid).text(2, name).number(5, RUN_TRACK);
        let track = match unit {
            Some(unit) => track.message(8, &ProtoMessage::default().text(6, unit)),
            None => track,
        };
        self.packet(&ProtoMessage::default().message(60, &track))?;
        Ok(uuid)
    }

    fn event(&mut self, at: Nanos, event: &ProtoMessage) -> io::Result<()> {
        let packet = ProtoMessage::default()
            .number(8, at.0.max(0) as u64)
            .number(58, self.clock)
            .message(11, event);
        self.packet(&packet)
    }

    /// A value of a counter.
    pub fn value(&mut self, track: u64, at: Nanos, value: i64) -> io::Result<()> {
        let event = ProtoMessage::default().number(9, COUNTER).number(11, track);
        self.event(at, &event.number(30, value as u64))
    }

    /// Begins a slice, within the open one of its track.
    pub fn begin_slice(&mut self, track: u64, at: Nanos, slice: &Slice<'_>) -> io::Result<()> {
        let begin = ProtoMessage::default()
            .number(9, SLICE_BEGIN)
            .number(11, track)
            .text(22, slice.category)
            .text(23, slice.name);
        let begin = slice.notes.iter().fold(begin, |event, note| event.message(4, note));
        self.event(at, &begin)
    }

    /// Ends the innermost slice of a track.
    pub fn end_slice(&mut self, track: u64, at: Nanos) -> io::Result<()> {
        self.event(at, &ProtoMessage::default().number(9, SLICE_END).number(11, track))
    }
}

/// Content of a slice.
pub struct Slice<'a> {
    pub category: &'a str,
    pub name: &'a str,
    /// Debug annotations.
    pub notes: &'a [ProtoMessage],
}

/// A time as an annotation of a slice.
pub fn time_note(name: &str, time: Nanos) -> ProtoMessage {
    number_note(name, time.0)
}

/// A whole number as an annotation of a slice.
pub fn number_note(name: &str, value: i64) -> ProtoMessage {
    ProtoMessage::default().text(10, name).number(4, value as u64)
}

/// A text as an annotation of a slice.
pub fn text_note(name: &str, text: &str) -> ProtoMessage {
    ProtoMessage::default().text(10, name).text(6, text)
}

/// The tracks of the measuring threads. If a thread serves several releases late, its slices
/// overlap, and each gets a free track.
#[derive(Default)]
pub struct ThreadTracks(Vec<(u32, u64, Nanos)>);

impl ThreadTracks {
    /// The track for a slice from `begin` to `end`; slices of a thread must be ordered by their
    /// start.
    pub fn take(
        &mut self,
        trace: &mut Trace<'_>,
        run: &Run,
        thread: u32,
        (begin, end): (Nanos, Nanos),
        what: &str,
    ) -> io::Result<u64> {
        let free = self.0.iter_mut().find(|(of, _, until)| *of == thread && *until <= begin);
        if let Some((_, track, until)) = free {
            *until = end;
            return Ok(*track);
        }
        let track = trace.track(&format!("{}: {what}", thread_name(run, thread)), None)?;
        self.0.push((thread, track, end));
        Ok(track)
    }
}

/// A thread with its CPU.
pub fn thread_name(run: &Run, thread: u32) -> String {
    match crate::write::formats::cpu_of(&run.threads, thread) {
        Some(cpu) => format!("thread {thread} (CPU {cpu})"),
        None => format!("thread {thread}"),
    }
}
