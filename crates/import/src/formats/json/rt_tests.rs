//! The JSON of rt-tests: cyclictest, cyclicdeadline, oslat, signaltest, pmqtest and its kin.

use super::{bins, count, machine, number, text};
use crate::bins::{Bins, LARGEST_COUNT};
use crate::formats::left_out::LeftOut;
use crate::formats::oslat::{Buckets, name_of};
use crate::input::{Query, Unit};
use crate::numbers::nanos;
use crate::recording::{Recording, Series};
use crate::stated_figures::{
    Scale, StatedFigures, add_bins, add_summary, note_summary, note_unknown_overflow,
};
use latlab_model::Nanos;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// The recording of a document with an object of threads.
pub fn recording(document: &Object, query: &Query) -> Recording {
    // These two keys really end in a colon.
    let command = text(document, "cmdline:").or_else(|| text(document, "cmdline"));
    let version = text(document, "rt_test_version:").or_else(|| text(document, "rt_test_version"));
    let tool = command.as_deref().and_then(tool_of);
    let mut recording = Recording::new(title(tool));
    if tool == Some("oslat") {
        recording.quantity = "time taken from a busy loop";
    }
    recording.tool =
        version.map(|version| format!("rt-tests {version}")).or(tool.map(str::to_string));
    recording.recorded = text(document, "start_time");
    machine(document, &mut recording);
    let in_ns = count(document, "resolution_in_ns") == Some(1);
    let unit = query.unit.unwrap_or(if in_ns { Unit::Nanoseconds } else { Unit::Microseconds });
    recording.resolution_ns = Some(Nanos(unit.nanos()));
    let mut left = LeftOut::default();
    let mut threads: Vec<(u32, &Object)> = Vec::new();
    for (key, value) in document.get("thread").and_then(Value::as_object).into_iter().flatten() {
        match (key.parse(), value.as_object()) {
            (Ok(thread), Some(object)) => threads.push((thread, object)),
            _ => left.lose_item(key),
        }
    }
    threads.sort_by_key(|thread| thread.0);
    let interval = command.as_deref().and_then(interval_of);
    for (_, thread) in threads {
        match tool {
            Some("oslat") => add_oslat(&mut recording, thread, command.as_deref(), &mut left),
            _ => add_thread(&mut recording, thread, unit.nanos(), &mut left),
        }
        if let Some(series) = recording.series.last_mut() {
            describe(series, thread, command.as_deref(), interval);
        }
        let length = number(thread, "duration").and_then(|seconds| nanos(seconds, 1_000_000_000));
        let by_period = interval
            .and_then(|period| period.0.checked_mul(i64::try_from(count(thread, "cycles")?).ok()?));
        let length = Nanos(length.or(by_period).unwrap_or(0));
        recording.length_ns = recording.length_ns.max(length);
    }
    recording.command = command;
    left.report("entries", &mut recording);
    note_unknown_overflow(&mut recording);
    note_summary(&mut recording);
    recording
}

fn add_thread(recording: &mut Recording, thread: &Object, unit: i64, left: &mut LeftOut) {
    // pmqtest and its kin have the figures in the receiver of a pair.
    let figures = thread.get("receiver").and_then(Value::as_object).unwrap_or(thread);
    let whole = |key: &str| {
        number(figures, key).and_then(|value| nanos(value, unit)).filter(|value| *value >= 0)
    };
    let histogram = thread.get("histogram").and_then(Value::as_object);
    let (rows, end) = histogram.map(|histogram| bins(histogram, left)).unwrap_or_default();
    let sender = thread.get("sender").and_then(Value::as_object);
    let samples = count(figures, "cycles").or_else(|| count(figures, "samples"));
    let cycles = samples.or_else(|| count(sender?, "samples"));
    let stated = StatedFigures {
        count: cycles,
        min_ns: whole("min").filter(|_| cycles != Some(0)),
        mean_ns: number(figures, "avg").map(|mean| mean * unit as f64),
        max_ns: whole("max"),
        ..StatedFigures::default()
    };
    if histogram.is_none_or(Map::is_empty) {
        return add_summary(recording, &stated);
    }
    let scale =
        Scale { start_ns: 0, width_ns: unit, bins: end.max(1), unit_ns: unit, is_limited: true };
    add_bins(recording, rows, scale, &stated);
}

/// The buckets of oslat: the last has all from there on, where the maximum lies beyond it. With names in
/// nanoseconds the extremes are nanoseconds as well, and the mean is not.
fn add_oslat(
    recording: &mut Recording,
    thread: &Object,
    command: Option<&str>,
    left: &mut LeftOut,
) {
    let empty = Map::new();
    let histogram = thread.get("histogram").and_then(Value::as_object).unwrap_or(&empty);
    let mut rows: Vec<(i64, u64)> = Vec::new();
    for (key, value) in histogram {
        match (name_of(key), value.as_u64().filter(|count| *count < LARGEST_COUNT)) {
            (Some(name), Some(count)) => rows.push((name, count)),
            _ => left.lose_item(&format!("{key}: {value}")),
        }
    }
    rows.sort_unstable();
    let names: Vec<i64> = rows.iter().map(|row| row.0).collect();
    let asked = command.and_then(|command| option_of(command, &["-W", "--bucket-width"]));
    let width = asked.map_or(Some(1_000), |width| width.parse().ok());
    let in_ns = histogram.keys().any(|key| key.contains('.'));
    let buckets = Buckets::new(&names, in_ns, 0, width);
    recording.resolution_ns = Some(Nanos(buckets.unit_ns));
    let time = |key: &str| number(thread, key).and_then(|value| nanos(value, buckets.unit_ns));
    let max_ns = time("max").filter(|max| *max >= 0);
    let over = rows.pop_if(|row| max_ns.is_some_and(|max| max > row.0));
    let (mut bins, mut end) = (Bins::default(), 0);
    for (name, count) in &rows {
        match buckets.bin(*name) {
            Some(bin) => {
                bins.push(bin, *count);
                end = end.max(bin + 1);
            }
            None => left.lose_item(&format!("a bucket of {}", Nanos(*name))),
        }
    }
    let stated = StatedFigures {
        overflow: Some(over.map_or(0, |row| row.1)),
        min_ns: time("min").filter(|min| *min >= 0),
        mean_ns: number(thread, "avg").map(|mean| mean * 1e3),
        max_ns,
        ..StatedFigures::default()
    };
    let end = over.and_then(|row| buckets.bin(row.0)).unwrap_or(end);
    add_bins(recording, bins, buckets.scale(end.max(1)), &stated);
}

fn describe(series: &mut Series, thread: &Object, command: Option<&str>, interval: Option<Nanos>) {
    let of = |key: &str| thread.get(key).and_then(Value::as_object);
    let cpu = count(thread, "cpu").or_else(|| count(of("receiver")?, "cpu"));
    series.cpu = cpu.and_then(|cpu| u32::try_from(cpu).ok());
    series.period_ns = interval;
    let policy = command.and_then(|command| option_of(command, &["--policy"]));
    let priority = command.and_then(|command| option_of(command, &["-p", "--priority", "--prio"]));
    let priority = priority.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    series.policy = match (policy, priority) {
        (Some(policy), Some(priority)) => format!("{policy} {priority}"),
        (Some(policy), None) => policy,
        (None, Some(priority)) => format!("priority {priority}"),
        (None, None) => String::new(),
    };
}

/// The program of a command line.
fn tool_of(command: &str) -> Option<&str> {
    command.split(' ').next()?.rsplit('/').next().filter(|tool| !tool.is_empty())
}

fn title(tool: Option<&str>) -> &'static str {
    match tool {
        Some("cyclictest") => "cyclictest JSON",
        Some("cyclicdeadline") => "cyclicdeadline JSON",
        Some("oslat") => "oslat JSON",
        Some("signaltest") => "signaltest JSON",
        Some("pmqtest") => "pmqtest JSON",
        Some("ptsematest") => "ptsematest JSON",
        Some("svsematest") => "svsematest JSON",
        Some("sigwaittest") => "sigwaittest JSON",
        _ => "rt-tests JSON",
    }
}

/// The period of all threads, where the command line gives all of them the same.
fn interval_of(command: &str) -> Option<Nanos> {
    if tool_of(command) != Some("cyclictest") {
        return None;
    }
    let interval: i64 = option_of(command, &["-i", "--interval"])?.parse().ok()?;
    // With a histogram, and with -S, all threads have the same.
    let distance = option_of(command, &["-d", "--distance"]);
    let alike = distance.as_deref() == Some("0")
        || command.contains(" -h")
        || command.contains("--histo")
        || command.contains(" -S")
        || command.contains("--smp");
    (alike && (1..1 << 40).contains(&interval)).then(|| Nanos(interval * 1_000))
}

/// The value of an option: `-i1000`, `-i 1000`, `--interval=1000`.
fn option_of(command: &str, names: &[&str]) -> Option<String> {
    let mut words = command.split_ascii_whitespace();
    while let Some(word) = words.next() {
        for name in names {
            let Some(rest) = word.strip_prefix(name) else { continue };
            match (rest.strip_prefix('='), rest.is_empty(), name.starts_with("--")) {
                (Some(value), ..) => return Some(value.to_string()),
                (None, true, _) => return words.next().map(str::to_string),
                (None, false, false) => return Some(rest.to_string()),
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_in_all_their_forms() {
        let of = |command: &str| option_of(command, &["-i", "--interval"]);
        for command in ["c -i 200", "c -q -i200 -h 9", "c --interval=200", "c --interval 200"] {
            assert_eq!(of(command).as_deref(), Some("200"), "{command}");
        }
        assert_eq!(of("c --intervals=7"), None);
        assert_eq!(interval_of("/usr/bin/cyclictest -S -i 1000"), Some(Nanos(1_000_000)));
        assert_eq!(interval_of("cyclictest -t4 -i 1000"), None);
    }
}
