//! The "RT Dataset 1.0" of OSADL's pages: `latency.cores` has the bin indices first, then a row per
//! CPU; the maxima are separate, and the number of overflows is not in the file.

use super::text;
use crate::read::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::read::formats::left_out::LeftOut;
use crate::read::input::{InputError, InputUnit};
use crate::read::recording::Recording;
use crate::read::stated_figures::{Scale, StatedFigures, add_bins, note_unknown_overflow};
use latlab_model::Nanos;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// The recording of a document with an object called `latency`.
pub fn recording(document: &Object, mut left: LeftOut) -> Result<Recording, InputError> {
    let latency = document.get("latency").and_then(Value::as_object);
    let cores = latency.and_then(|latency| latency.get("cores")?.as_array());
    let (Some(latency), Some(cores)) = (latency, cores) else {
        return Err(InputError::Malformed("the RT Dataset has no latency.cores".to_string()));
    };
    let mut recording = Recording::new("OSADL RT Dataset");
    conditions(document, &mut recording);
    let unit = unit(latency, &mut left);
    recording.resolution_ns = Some(Nanos(unit));
    let rows: Vec<&Vec<Value>> = cores.iter().filter_map(Value::as_array).collect();
    (rows.len()..cores.len()).for_each(|_| left.lose_item("a core that is no list"));
    let empty = Vec::new();
    let maxima = latency.get("maxima").and_then(Value::as_array).unwrap_or(&empty);
    // The first row holds the indices if there is one more row than maxima.
    let first: Vec<Option<u64>> =
        rows.first().map(|row| row.iter().map(whole).collect()).unwrap_or_default();
    let rising = first.iter().enumerate().all(|(at, index)| *index == Some(at as u64));
    let has_index = rows.len() == maxima.len() + 1 || (rising && first.len() > 2);
    let cores = &rows[usize::from(has_index).min(rows.len())..];
    if cores.len() != maxima.len() {
        recording.lacks(format!("it has {} cores and {} maxima", cores.len(), maxima.len()));
    }
    for (core, row) in cores.iter().enumerate() {
        let (mut bins, mut end) = (Bins::default(), 1);
        if row.len() != first.len() {
            recording.lacks(format!("core {core} has {} of {} bins", row.len(), first.len()));
        }
        for (at, value) in row.iter().enumerate() {
            let bin = if has_index { first.get(at).copied().flatten() } else { Some(at as u64) };
            match (bin.filter(|bin| *bin < MOST_BINS), whole(value)) {
                (Some(bin), Some(count)) if count < LARGEST_COUNT => {
                    bins.push(bin as u32, count);
                    end = end.max(bin as u32 + 1);
                }
                _ => left.lose_item(&value.to_string()),
            }
        }
        let max = maxima.get(core);
        let max_ns = max.and_then(whole).and_then(|max| i64::try_from(max).ok()?.checked_mul(unit));
        if let Some(max) = max.filter(|_| max_ns.is_none()) {
            left.lose_item(&format!("the maximum {max}"));
        }
        let stated = StatedFigures { max_ns, ..StatedFigures::default() };
        let scale =
            Scale { start_ns: 0, width_ns: unit, bins: end, unit_ns: unit, is_limited: true };
        add_bins(&mut recording, bins, scale, &stated);
        if let Some(series) = recording.series.get_mut(core) {
            series.cpu = Some(core as u32);
        }
    }
    recording.compare_cycles(true);
    left.report("entries", &mut recording);
    note_unknown_overflow(&mut recording);
    Ok(recording)
}

/// A number, possibly in quotes.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| crate::read::numbers::whole(value.as_str()?.trim()))
}

/// The unit stated by the document; an invalid one counts as lost.
fn unit(latency: &Object, left: &mut LeftOut) -> i64 {
    match text(latency, "granularity").as_deref() {
        Some("nanoseconds") => return InputUnit::Nanoseconds.nanos(),
        Some("microseconds") | None => {}
        Some(other) => left.lose_item(&format!("granularity: {other}")),
    }
    InputUnit::Microseconds.nanos()
}

fn conditions(document: &Object, recording: &mut Recording) {
    let object = |key: &str| document.get(key).and_then(Value::as_object);
    if let Some(times) = object("timestamps") {
        recording.recorded = text(times, "origin");
    }
    if let Some(system) = object("system") {
        recording.machine.hostname = text(system, "hostname");
    }
    if let Some(processor) = object("processor") {
        let words = ["vendor", "type"].iter().filter_map(|key| text(processor, key));
        let name = words.collect::<Vec<_>>().join(" ");
        recording.machine.cpu_model = Some(name).filter(|name| !name.is_empty());
    }
    if let Some(kernel) = object("kernel") {
        recording.machine.kernel = text(kernel, "version").unwrap_or_default();
        recording.machine.command_line = text(kernel, "cmdline");
    }
    let Some(condition) = object("condition") else { return };
    recording.command = text(condition, "cyclictest");
    if let Some(load) = text(condition, "load") {
        recording.fact("Load", load);
    }
    let number = |key: &str| condition.get(key).and_then(whole);
    let (cycles, interval) = (number("cycles"), number("interval"));
    if let (Some(cycles), Some(interval)) = (cycles, interval) {
        recording.fact("Cycles asked for", cycles.to_string());
        recording.fact("Interval", format!("{interval} us"));
        let length = i64::try_from(cycles.saturating_mul(interval)).ok();
        recording.length_ns = Nanos(length.and_then(|us| us.checked_mul(1_000)).unwrap_or(0));
    }
}
