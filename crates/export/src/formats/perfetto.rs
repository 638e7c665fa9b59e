//! A trace for Perfetto: the largest latencies as slices, the intervals and the telemetry as counters.
//!
//! Times are those of CLOCK_MONOTONIC, so that a trace of the kernel of the same time fits to it.

use super::Format;
use crate::protobuf::ProtoMessage;
use crate::{Notes, Result, Source};
use latlab_digest::{IntervalRow, SpikeRow};
use latlab_model::Nanos;
use latlab_model::run::ClockReading;
use latlab_model::telemetry::Series;
use latlab_model::units::counted;
use std::collections::BTreeMap;
use std::io::{self, Write};

pub const FORMAT: Format =
    Format { id: "perfetto", title: "Perfetto trace", is_binary: true, write };

/// Clocks by the numbers of Perfetto.
const REALTIME: u64 = 1;
const MONOTONIC: u64 = 3;
const BOOTTIME: u64 = 6;
/// All packets are of one writer.
const SEQUENCE: u64 = 1;
/// The track of the run, above all others.
const RUN_TRACK: u64 = 1;

/// Kinds of events.
const SLICE_BEGIN: u64 = 1;
const SLICE_END: u64 = 2;
const COUNTER: u64 = 4;

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    let run = source.run;
    let mut trace = Trace { out, next_track: RUN_TRACK + 1, clock: MONOTONIC };
    match run.clocks {
        Some((first, last)) => {
            trace.clocks(first)?;
            trace.clocks(last)?;
        }
        // Of an imported file nobody knows the clocks.
        None => trace.clock = BOOTTIME,
    }
    let process = ProtoMessage::default().number(1, 1).text(6, &format!("latlab {}", run.id));
    let track = ProtoMessage::default().number(1, RUN_TRACK).message(3, &process);
    trace.packet(&ProtoMessage::default().message(60, &track))?;
    let mut notes = Notes::new();
    spikes(source, &mut trace)?;
    intervals(source, &mut trace)?;
    let lost = telemetry(source, &mut trace)?;
    if lost > 0 {
        notes.push(format!(
            "{} not in the trace: a counter has no mark for a value that is absent",
            counted(lost, "reading without a value is", "readings without a value are")
        ));
    }
    if run.total.cycles > 0 {
        notes.push(
            "only the largest latencies and the figures of each interval are in the trace"
                .to_string(),
        );
    }
    Ok(notes)
}

/// The trace as it is written.
struct Trace<'a> {
    out: &'a mut (dyn Write + Send),
    next_track: u64,
    clock: u64,
}

impl Trace<'_> {
    fn packet(&mut self, packet: &ProtoMessage) -> io::Result<()> {
        let packet = packet.clone().number(10, SEQUENCE);
        self.out.write_all(ProtoMessage::default().message(1, &packet).as_bytes())
    }

    /// The clocks side by side.
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
    fn track(&mut self, name: &str, unit: Option<&str>) -> io::Result<u64> {
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

    fn value(&mut self, track: u64, at: Nanos, value: i64) -> io::Result<()> {
        let event = ProtoMessage::default().number(9, COUNTER).number(11, track);
        self.event(at, &event.number(30, value as u64))
    }
}

/// Each large latency from its release to the wake-up. Where a thread serves several releases late, its
/// slices overlap, and each has a track that is free.
fn spikes(source: &Source<'_>, trace: &mut Trace<'_>) -> Result<()> {
    let mut rows = source.tables.spikes()?;
    rows.sort_by_key(|row| (row.thread, row.spike.release_ns));
    let mut tracks: Vec<(u32, u64, Nanos)> = Vec::new();
    for row in rows {
        let release = row.spike.release_ns;
        let end = release + row.spike.latency_ns;
        let free = tracks.iter_mut().find(|one| one.0 == row.thread && one.2 <= release);
        let track = match free {
            Some(track) => {
                track.2 = end;
                track.1
            }
            None => {
                let track = trace
                    .track(&format!("{}: largest latencies", name(source, row.thread)), None)?;
                tracks.push((row.thread, track, end));
                track
            }
        };
        slice(trace, track, &row)?;
    }
    Ok(())
}

fn slice(trace: &mut Trace<'_>, track: u64, row: &SpikeRow) -> io::Result<()> {
    let (release, latency) = (row.spike.release_ns, row.spike.latency_ns);
    let annotation =
        |name: &str, time: Nanos| ProtoMessage::default().text(10, name).number(4, time.0 as u64);
    let mut begin = ProtoMessage::default()
        .number(9, SLICE_BEGIN)
        .number(11, track)
        .text(22, "latency")
        .text(23, &latency.to_string())
        .message(4, &annotation("latency_ns", latency));
    if let Some(legs) = row.legs {
        begin = begin
            .message(4, &annotation("irq_ns", legs.irq_ns))
            .message(4, &annotation("thread_ns", legs.thread_ns));
    }
    trace.event(release, &begin)?;
    let end = ProtoMessage::default().number(9, SLICE_END).number(11, track);
    trace.event(release + latency, &end)
}

/// The figures of an interval that are counters.
type Figure = (&'static str, &'static str, fn(&IntervalRow) -> Option<i64>);

const FIGURES: [Figure; 5] = [
    ("p50", "ns", |row| row.p50_ns.map(|time| time.0)),
    ("p99", "ns", |row| row.p99_ns.map(|time| time.0)),
    ("maximum", "ns", |row| row.max_ns.map(|time| time.0)),
    ("missed releases", "count", |row| Some(row.missed as i64)),
    ("deadline misses", "count", |row| Some(row.misses as i64)),
];

fn intervals(source: &Source<'_>, trace: &mut Trace<'_>) -> Result<()> {
    let mut tracks: BTreeMap<(u32, usize), u64> = BTreeMap::new();
    for rows in source.tables.intervals()? {
        for row in rows? {
            for (number, (figure, unit, value)) in FIGURES.iter().enumerate() {
                let Some(value) = value(&row) else { continue };
                let track = match tracks.get(&(row.thread, number)) {
                    Some(track) => *track,
                    None => {
                        let name = format!("{}: {figure}", name(source, row.thread));
                        let track = trace.track(&name, Some(unit))?;
                        tracks.insert((row.thread, number), track);
                        track
                    }
                };
                trace.value(track, row.start_ns, value)?;
            }
        }
    }
    Ok(())
}

/// Writes the telemetry; gives back how many readings have no value.
fn telemetry(source: &Source<'_>, trace: &mut Trace<'_>) -> Result<u64> {
    let (mut tracks, mut lost): (BTreeMap<(String, String), u64>, _) = (BTreeMap::new(), 0);
    for rows in source.tables.telemetry()?.into_iter().flatten() {
        for row in rows? {
            let Some(value) = row.value else {
                lost += 1;
                continue;
            };
            let Series { metric, subject, unit, .. } = &*row.series;
            let key = (metric.clone(), subject.clone());
            let track = match tracks.get(&key) {
                Some(track) => *track,
                None => {
                    let name = format!("{metric} {subject}");
                    let track = trace.track(name.trim_end(), Some(unit))?;
                    tracks.insert(key, track);
                    track
                }
            };
            trace.value(track, row.time_ns, value)?;
        }
    }
    Ok(lost)
}

fn name(source: &Source<'_>, thread: u32) -> String {
    match super::csv::cpu_of(&source.run.threads, thread) {
        Some(cpu) => format!("thread {thread} (CPU {cpu})"),
        None => format!("thread {thread}"),
    }
}
