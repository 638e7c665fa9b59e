//! The "RT Dataset 1.0" of OSADL's pages: `latency.cores` has the indices of the bins first, then a
//! row for each CPU; the maxima stand apart, and the number of overflows is not in the file.

use super::{count, text};
use crate::bins::{Bins, LARGEST_COUNT, MOST_BINS};
use crate::formats::left_out::LeftOut;
use crate::input::{InputError, Unit};
use crate::recording::Recording;
use crate::stated_figures::{Scale, StatedFigures, add_bins, note_unknown_overflow};
use latlab_model::Nanos;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// The recording of a document with an object called `latency`.
pub fn recording(document: &Object) -> Result<Recording, InputError> {
    let latency = document.get("latency").and_then(Value::as_object);
    let cores = latency.and_then(|latency| latency.get("cores")?.as_array());
    let (Some(latency), Some(cores)) = (latency, cores) else {
        return Err(InputError::Malformed("the RT Dataset has no latency.cores".to_string()));
    };
    let mut recording = Recording::new("OSADL RT Dataset");
    conditions(document, &mut recording);
    let unit = unit(latency);
    recording.resolution_ns = Some(Nanos(unit));
    let rows: Vec<&Vec<Value>> = cores.iter().filter_map(Value::as_array).collect();
    let numbers = |row: &[Value]| row.iter().map(whole).collect::<Vec<_>>();
    let empty = Vec::new();
    let maxima = latency.get("maxima").and_then(Value::as_array).unwrap_or(&empty);
    // The indices are the first row, where there is one more than there are maxima.
    let first = rows.first().map(|row| numbers(row)).unwrap_or_default();
    let rising = first.iter().enumerate().all(|(at, index)| *index == Some(at as u64));
    let has_index = rows.len() == maxima.len() + 1 || (rising && first.len() > 2);
    let mut left = LeftOut::default();
    for (core, row) in rows.iter().skip(usize::from(has_index)).enumerate() {
        let (mut bins, mut end) = (Bins::default(), 1);
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
        let max = maxima.get(core).and_then(whole).and_then(|max| i64::try_from(max).ok());
        let max_ns = max.and_then(|max| max.checked_mul(unit));
        let stated = StatedFigures { max_ns, ..StatedFigures::default() };
        let scale =
            Scale { start_ns: 0, width_ns: unit, bins: end, unit_ns: unit, is_limited: true };
        add_bins(&mut recording, bins, scale, &stated);
        if let Some(series) = recording.series.last_mut() {
            series.cpu = Some(core as u32);
        }
    }
    left.report("entries", &mut recording);
    note_unknown_overflow(&mut recording);
    Ok(recording)
}

/// A number, also between quotes.
fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

fn unit(latency: &Object) -> i64 {
    match text(latency, "granularity").as_deref() {
        Some("nanoseconds") => Unit::Nanoseconds.nanos(),
        _ => Unit::Microseconds.nanos(),
    }
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
    let number = |key: &str| count(condition, key).or_else(|| text(condition, key)?.parse().ok());
    let (cycles, interval) = (number("cycles"), number("interval"));
    if let (Some(cycles), Some(interval)) = (cycles, interval) {
        recording.fact("Cycles asked for", cycles.to_string());
        recording.fact("Interval", format!("{interval} us"));
        let length = i64::try_from(cycles.saturating_mul(interval)).ok();
        recording.length_ns = Nanos(length.and_then(|us| us.checked_mul(1_000)).unwrap_or(0));
    }
}
