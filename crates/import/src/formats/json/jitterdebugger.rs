//! `results.json` of jitterdebugger. Its histogram ends at 1 ms; what is longer it drops.

use super::{bins, count, machine, number};
use crate::formats::left_out::LeftOut;
use crate::input::Query;
use crate::numbers::nanos;
use crate::recording::Recording;
use crate::stated_figures::{
    Scale, StatedFigures, add_bins, add_summary, note_summary, note_unknown_overflow,
};
use latlab_model::Nanos;
use serde_json::{Map, Value};

/// Where the histogram ends.
const END_NS: i64 = 1_000_000;

/// The recording of a document with an object of threads called `cpu`.
pub fn recording(document: &Map<String, Value>, query: &Query) -> Recording {
    let mut recording = Recording::new("jitterdebugger results");
    let version = count(document, "version");
    recording.tool = version.map(|version| format!("jitterdebugger, format {version}"));
    machine(document, &mut recording);
    let system = document.get("sysinfo").and_then(Value::as_object);
    let resolution = system.and_then(|system| count(system, "resolution_in_ns"));
    let told = resolution.filter(|unit| (1..=1_000_000).contains(unit)).map(|unit| unit as i64);
    let unit = query.unit.map(|unit| unit.nanos()).or(told).unwrap_or(1_000);
    recording.resolution_ns = Some(Nanos(unit));
    let mut left = LeftOut::default();
    let mut threads: Vec<(u32, &Map<String, Value>)> = Vec::new();
    for (key, value) in document.get("cpu").and_then(Value::as_object).into_iter().flatten() {
        match (key.parse(), value.as_object()) {
            (Ok(thread), Some(object)) => threads.push((thread, object)),
            _ => left.lose_item(key),
        }
    }
    threads.sort_by_key(|thread| thread.0);
    for (_, thread) in threads {
        let whole = |key: &str| {
            number(thread, key).and_then(|value| nanos(value, unit)).filter(|value| *value >= 0)
        };
        let stated = StatedFigures {
            count: count(thread, "count"),
            min_ns: whole("min"),
            mean_ns: number(thread, "avg").map(|mean| mean * unit as f64),
            max_ns: whole("max"),
            ..StatedFigures::default()
        };
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
    left.report("entries", &mut recording);
    note_unknown_overflow(&mut recording);
    note_summary(&mut recording);
    recording
}
