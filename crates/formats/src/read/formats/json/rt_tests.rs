//! The JSON of rt-tests: cyclictest, cyclicdeadline, oslat, signaltest, pmqtest and related tools.

use super::{bins, count, machine, number, text, threads, time};
use crate::read::bins::{Bins, LARGEST_COUNT};
use crate::read::formats::left_out::LeftOut;
use crate::read::formats::oslat::{Buckets, name_of};
use crate::read::input::{ImportQuery, InputUnit};
use crate::read::recording::{LatencySeries, Recording};
use crate::read::stated_figures::{
    Scale, StatedFigures, add_bins, add_summary, note_summary, note_unknown_overflow,
};
use latlab_model::Nanos;
use serde_json::{Map, Value};

type Object = Map<String, Value>;

/// The recording of a document with an object of threads.
pub fn recording(document: &Object, query: &ImportQuery, mut left: LeftOut) -> Recording {
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
    let in_ns = match document.get("resolution_in_ns").map(|flag| (flag, flag.as_u64())) {
        Some((_, Some(flag @ (0 | 1)))) => flag == 1,
        Some((other, _)) => {
            left.lose_item(&format!("resolution_in_ns: {other}"));
            false
        }
        None => false,
    };
    let unit =
        query.unit.unwrap_or(if in_ns { InputUnit::Nanoseconds } else { InputUnit::Microseconds });
    recording.resolution_ns = Some(Nanos(unit.nanos()));
    let code = document.get("return_code");
    if let Some(code) = code.filter(|code| code.as_u64() != Some(0)) {
        recording.lacks(format!("the tool ended with return code {code}"));
    }
    let announced = count(document, "num_threads", &mut left);
    let threads = threads(document.get("thread"), announced, &mut left, &mut recording);
    let periods = command.as_deref().and_then(periods_of);
    let mut durations = Vec::new();
    for (number, thread) in (0..).zip(threads) {
        let period = periods.map(|(first, step): (i64, i64)| Nanos(first + number * step));
        match tool {
            Some("oslat") => add_oslat(&mut recording, thread, command.as_deref(), &mut left),
            _ => add_thread(&mut recording, thread, unit.nanos(), &mut left),
        }
        if let Some(series) = recording.series.last_mut() {
            describe(series, thread, command.as_deref(), period);
        }
        let length = time(thread, "duration", 1_000_000_000, &mut left);
        let cycles = thread.get("cycles").and_then(Value::as_i64);
        let by_period = period.and_then(|period| period.0.checked_mul(cycles?));
        durations.push(length.unwrap_or(0));
        let length = Nanos(length.or(by_period).unwrap_or(0));
        recording.length_ns = recording.length_ns.max(length);
    }
    compare_durations(&durations, &mut recording);
    if tool == Some("cyclictest") {
        // With a histogram all threads have the same period.
        recording.compare_cycles(!recording.is_summary());
    }
    if let Some(command) = command.as_deref() {
        compare_with_asked(command, tool, &mut recording);
    }
    recording.command = command;
    left.report("entries", &mut recording);
    note_unknown_overflow(&mut recording);
    note_summary(&mut recording);
    recording
}

/// Reports threads that were watched for less time than others.
fn compare_durations(durations: &[i64], recording: &mut Recording) {
    let longest = durations.iter().copied().max().unwrap_or(0);
    for (thread, watched) in durations.iter().enumerate() {
        if is_short(*watched, longest) {
            let [watched, longest] = [*watched, longest].map(Nanos);
            recording
                .lacks(format!("thread {thread} was watched for {watched}, others for {longest}"));
        }
    }
}

/// Whether a value is less than nine tenths of what it should be.
fn is_short(value: i64, due: i64) -> bool {
    i128::from(value) * 10 < i128::from(due) * 9
}

/// Compares cycles and length with what the command line asks for, and notes the clock that it
/// names.
fn compare_with_asked(command: &str, tool: Option<&str>, recording: &mut Recording) {
    let asked = option_of(command, &["-D", "--duration"]).and_then(|text| seconds_of(&text));
    let asked = asked.and_then(|seconds| seconds.checked_mul(1_000_000_000));
    let length = recording.length_ns;
    if let Some(asked) = asked.filter(|asked| length > Nanos::ZERO && is_short(length.0, *asked)) {
        recording.lacks(format!("it ran for {length}, {} were asked for", Nanos(asked)));
    }
    if tool != Some("cyclictest") {
        return;
    }
    let loops = option_of(command, &["-l", "--loops"]).and_then(|loops| loops.parse::<i64>().ok());
    let most = recording.series.iter().map(|one| one.counts.count as i64).max().unwrap_or(0);
    if let Some(loops) = loops.filter(|loops| is_short(most, *loops)) {
        recording.lacks(format!("its longest thread has {most} of {loops} cycles"));
    }
    if let Some(clock) = option_of(command, &["-c", "--clock"]) {
        recording.fact(
            "Clock",
            match clock.as_str() {
                "0" => "monotonic".to_string(),
                "1" => "realtime".to_string(),
                // Newer versions have names for all clocks, including auxiliary ones.
                _ => clock,
            },
        );
    }
}

/// A length like `90`, `10m`, `2h` or `1d`.
fn seconds_of(text: &str) -> Option<i64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let seconds = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "M" => 60,
        "h" | "H" => 3_600,
        "d" | "D" => 86_400,
        _ => return None,
    };
    digits.parse::<i64>().ok()?.checked_mul(seconds)
}

fn add_thread(recording: &mut Recording, thread: &Object, unit: i64, left: &mut LeftOut) {
    // pmqtest and related tools have the figures in the receiver of a pair.
    let figures = thread.get("receiver").and_then(Value::as_object).unwrap_or(thread);
    let histogram = thread.get("histogram").and_then(Value::as_object);
    let (rows, end) = histogram.map(|histogram| bins(histogram, left)).unwrap_or_default();
    let sender = thread.get("sender").and_then(Value::as_object);
    let samples = count(figures, "cycles", left).or_else(|| count(figures, "samples", left));
    let cycles = samples.or_else(|| count(sender?, "samples", left));
    let stated = StatedFigures {
        count: cycles,
        min_ns: time(figures, "min", unit, left).filter(|_| cycles != Some(0)),
        mean_ns: number(figures, "avg", left).map(|mean| mean * unit as f64),
        max_ns: time(figures, "max", unit, left),
        overflow: figures.get("overflow").and(count(figures, "overflow", left)),
        ..StatedFigures::default()
    };
    if cycles != Some(0) && (cycles.is_none() || stated.max_ns.is_none()) {
        let number = recording.series.len();
        recording.lacks(format!("thread {number} has no number of cycles or no maximum"));
    }
    if histogram.is_none_or(Map::is_empty) {
        return add_summary(recording, &stated);
    }
    let scale =
        Scale { start_ns: 0, width_ns: unit, bins: end.max(1), unit_ns: unit, is_limited: true };
    add_bins(recording, rows, scale, &stated);
}

/// The buckets of oslat: the last one has everything above if the maximum lies beyond it. If names
/// are in nanoseconds, so are the extremes, but not the mean.
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
    let max_ns = time(thread, "max", buckets.unit_ns, left);
    if max_ns.is_none() {
        recording.lacks(format!("thread {} has no maximum", recording.series.len()));
    }
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
        min_ns: time(thread, "min", buckets.unit_ns, left),
        mean_ns: number(thread, "avg", left).map(|mean| mean * 1e3),
        max_ns,
        ..StatedFigures::default()
    };
    let end = over.and_then(|row| buckets.bin(row.0)).unwrap_or(end);
    add_bins(recording, bins, buckets.scale(end.max(1)), &stated);
}

fn describe(
    series: &mut LatencySeries,
    thread: &Object,
    command: Option<&str>,
    period: Option<Nanos>,
) {
    let of = |key: &str| thread.get(key).and_then(Value::as_object);
    let cpu = |object: &Object| object.get("cpu").and_then(Value::as_u64);
    let cpu = cpu(thread).or_else(|| cpu(of("receiver")?));
    series.cpu = cpu.and_then(|cpu| u32::try_from(cpu).ok());
    series.period_ns = period;
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

/// The period of the first thread, and the increment for each further one.
fn periods_of(command: &str) -> Option<(i64, i64)> {
    let is_period = |us: &i64| (0..1 << 40).contains(us);
    if tool_of(command) != Some("cyclictest") {
        return None;
    }
    let interval: i64 = option_of(command, &["-i", "--interval"])?.parse().ok()?;
    let has_histogram = command.contains(" -h") || command.contains("--histo");
    let distance = match option_of(command, &["-d", "--distance"]) {
        Some(distance) => distance.parse().ok()?,
        // With a histogram all threads have the same period unless requested otherwise.
        None if has_histogram => 0,
        None => 500,
    };
    let known = interval > 0 && is_period(&interval) && is_period(&distance);
    known.then_some((interval * 1_000, distance * 1_000))
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
        let periods =
            |command: &str| periods_of(command).map(|(us, step)| (us / 1_000, step / 1_000));
        assert_eq!(periods("/usr/bin/cyclictest -S -i 1000"), Some((1_000, 500)));
        assert_eq!(periods("cyclictest -S -i 1000 -h 400"), Some((1_000, 0)));
        assert_eq!(periods("cyclictest -t4 -d 0 -i 200"), Some((200, 0)));
        assert_eq!((periods("cyclictest -t4"), periods("pmqtest -i 200")), (None, None));
        assert_eq!(
            (seconds_of("2h"), seconds_of("90"), seconds_of("x")),
            (Some(7_200), Some(90), None)
        );
    }
}
