//! A trace for Perfetto: the largest latencies as slices, the intervals and the telemetry as
//! counters.
//!
//! Times are on CLOCK_MONOTONIC, so that a kernel trace of the same time lines up.

use super::Format;
use crate::write::perfetto::{Slice, ThreadTracks, Trace, thread_name, time_note};
use crate::write::{Notes, Result, Source};
use latlab_digest::IntervalRow;
use latlab_model::telemetry::Series;
use latlab_model::units::counted;
use std::collections::BTreeMap;
use std::io::Write;

pub const FORMAT: Format =
    Format { id: "perfetto", title: "Perfetto trace", is_binary: true, write };

fn write(source: &Source<'_>, out: &mut (dyn Write + Send)) -> Result<Notes> {
    let run = source.run;
    let mut trace = Trace::begin(run, out)?;
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

/// Each large latency from its release to the wake-up.
fn spikes(source: &Source<'_>, trace: &mut Trace<'_>) -> Result<()> {
    let mut rows = source.tables.spikes()?;
    rows.sort_by_key(|row| (row.thread, row.spike.release_ns));
    let mut tracks = ThreadTracks::default();
    for row in rows {
        let (release, latency) = (row.spike.release_ns, row.spike.latency_ns);
        let span = (release, release + latency);
        let track = tracks.take(trace, source.run, row.thread, span, "largest latencies")?;
        let breakdown = row.breakdown.into_iter().flat_map(|breakdown| {
            [time_note("irq_ns", breakdown.irq_ns), time_note("thread_ns", breakdown.thread_ns)]
        });
        let notes: Vec<_> =
            [time_note("latency_ns", latency)].into_iter().chain(breakdown).collect();
        let name = latency.to_string();
        let slice = Slice { category: "latency", name: &name, notes: &notes };
        trace.begin_slice(track, release, &slice)?;
        trace.end_slice(track, release + latency)?;
    }
    Ok(())
}

/// The figures of an interval that are counters.
type Figure = (&'static str, &'static str, fn(&IntervalRow) -> Option<i64>);

const FIGURES: [Figure; 5] = [
    ("p50", "ns", |row| row.p50_ns.map(|time| time.0)),
    ("p99", "ns", |row| row.p99_ns.map(|time| time.0)),
    ("maximum", "ns", |row| row.max_ns.map(|time| time.0)),
    ("overruns", "count", |row| Some(row.overruns as i64)),
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
                        let name = format!("{}: {figure}", thread_name(source.run, row.thread));
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

/// Writes the telemetry; returns how many readings have no value.
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
