//! `results.json` of jitterdebugger. Its histogram ends at 1 ms; longer latencies are dropped.

use super::{bins, count, machine, number, threads, time};
use crate::read::formats::left_out::LeftOut;
use crate::read::input::ImportQuery;
use crate::read::recording::Recording;
use crate::read::stated_figures::{
    Scale, StatedFigures, add_bins, add_summary, note_summary, note_unknown_overflow,
};
use latlab_model::Nanos;
use serde_json::{Map, Value};

/// End of the histogram.
const END_NS: i64 = 1_000_000;

/// The recording of a document with an object of threads called `cpu`.
pub fn recording(
    document: &Map<String, Value>,
    query: &ImportQuery,
    mut left: LeftOut,
) -> Recording {
    let mut recording = Recording::new("jitterdebugger results");
    let version = document.get("version").and_then(Value::as_u64);
    recording.tool = version.map(|version| format!("jitterdebugger, format {version}"));
    machine(document, &mut recording);
    let unit = query.unit.map(|unit| unit.nanos()).or_else(|| resolution(document, &mut left));
    let unit = unit.unwrap_or(1_000);
    recording.resolution_ns = Some(Nanos(unit));
    for thread in threads(document.get("cpu"), None, &mut left, &mut recording) {
        let stated = StatedFigures {
            count: count(thread, "count", &mut left),
            min_ns: time(thread, "min", unit, &mut left),
            mean_ns: number(thread, "avg", &mut left).map(|mean| mean * unit as f64),
            max_ns: time(thread, "max", unit, &mut left),
            ..StatedFigures::default()
        };
        if stated.count.is_none() || stated.max_ns.is_none() {
            let number = recording.series.len();
            recording.lacks(format!("thread {number} has no count or no maximum"));
        }
        match thread.get("histogram").and_then(Value::as_object) {
            Some(histogram) if !histogram.is_empty() => {
                let (rows, end) = bins(histogram, &mut left);
                let number = u32::try_from(END_NS / unit).unwrap_or(1).max(end);
                let scale = Scale {
                    start_ns: 0,
                    width_ns: unit,
                    bins: number,
                    unit_ns: unit,
                    is_limited: true,
                };
                add_bins(&mut recording, rows, scale, &stated);
            }
            _ => add_summary(&mut recording, &stated),
        }
    }
    // All threads have the same period.
    recording.compare_cycles(true);
    left.report("entries", &mut recording);
    note_unknown_overflow(&mut recording);
    note_summary(&mut recording);
    recording
}

/// The unit stated by the document; an invalid one counts as lost.
fn resolution(document: &Map<String, Value>, left: &mut LeftOut) -> Option<i64> {
    let unit = document.get("sysinfo")?.get("resolution_in_ns")?;
    let known = unit.as_i64().filter(|unit| (1..=1_000_000).contains(unit));
    if known.is_none() {
        left.lose_item(&format!("resolution_in_ns: {unit}"));
    }
    known
}
