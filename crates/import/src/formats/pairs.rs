//! Tools that measure from one thread to another: pmqtest, ptsematest, svsematest and sigwaittest;
//! and hwlatdetect.

use super::left_out::LeftOut;
use super::{Format, contains, head_lines, is_text};
use crate::input::{Input, InputError, Query};
use crate::numbers::{decimal, nanos};
use crate::recording::Recording;
use crate::samples::UnitSamples;
use crate::stated_figures::{StatedFigures, add_summary, note_summary};
use latlab_model::Nanos;
use std::collections::BTreeMap;

pub const FORMAT: Format =
    Format { id: "pairs", title: "pmqtest, ptsematest, svsematest or sigwaittest", fits, read };
pub const HWLATDETECT: Format = Format {
    id: "hwlatdetect",
    title: "hwlatdetect",
    fits: fits_hwlatdetect,
    read: read_hwlatdetect,
};

/// These tools count in microseconds.
const UNIT: i64 = 1_000;

fn fits(head: &[u8]) -> bool {
    is_text(head)
        && head_lines(head)
            .any(|line| line.starts_with(b"#") && contains(line, " -> #") && contains(line, "Min "))
}

/// A pair of threads.
#[derive(Default)]
struct Pair {
    cycles: Option<u64>,
    cpu: Option<u32>,
    priority: Option<u64>,
    interval: Option<i64>,
    stated: StatedFigures,
}

/// The number behind a word that begins so: `P90`, `CPU0`, `Cycles 500`.
fn behind(text: &str, word: &str) -> Option<u64> {
    text.split([',', ';']).find_map(|part| part.trim().strip_prefix(word)?.trim().parse().ok())
}

fn read(input: &mut Input, _: &Query) -> Result<Vec<Recording>, InputError> {
    let (mut pairs, mut left): (BTreeMap<u32, Pair>, _) = (BTreeMap::new(), LeftOut::default());
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        if !text.starts_with('#') || pairs.len() > 8192 || !take(text, &mut pairs) {
            left.lose(&line);
        }
    }
    let mut recording = Recording::new("pmqtest, ptsematest, svsematest or sigwaittest");
    recording.quantity = "latency from one thread to another";
    recording.resolution_ns = Some(Nanos(UNIT));
    for pair in pairs.into_values() {
        // The number of latencies stands on another line, which may be missing.
        let count = pair.cycles.or(pair.stated.max_ns.map(|_| 1));
        if pair.cycles.is_none() {
            recording.note("The number of cycles of a pair is not in the file; it counts as 1.");
        }
        add_summary(&mut recording, &StatedFigures { count, ..pair.stated });
        if let Some(series) = recording.series.last_mut() {
            series.cpu = pair.cpu;
            series.policy = pair.priority.map(|one| format!("priority {one}")).unwrap_or_default();
            series.period_ns = pair.interval.and_then(|us| us.checked_mul(1_000)).map(Nanos);
        }
    }
    left.report("lines", &mut recording);
    note_summary(&mut recording);
    Ok(vec![recording])
}

/// Takes `#0: ID30510, P90, CPU0, I500; #1: ID30511, P90, CPU0, Cycles 500`, or
/// `#1 -> #0, Min 3, Cur 3, Avg 3, Max 39`.
fn take(text: &str, pairs: &mut BTreeMap<u32, Pair>) -> bool {
    if let Some((from, figures)) = text.split_once(" -> #") {
        let Ok(sender) = from.trim_start_matches('#').trim().parse() else { return false };
        let value = |word: &str| {
            let part = figures.split(',').find_map(|part| part.trim().strip_prefix(word));
            part.and_then(|number| decimal(number.trim().as_bytes())).filter(|it| *it >= 0.0)
        };
        let time = |word: &str| value(word).and_then(|value| nanos(value, UNIT));
        let stated = &mut pairs.entry(sender).or_default().stated;
        stated.min_ns = time("Min");
        stated.mean_ns = value("Avg").map(|mean| mean * UNIT as f64);
        stated.max_ns = time("Max");
        return stated.max_ns.is_some();
    }
    let Some((first, second)) = text.split_once(';') else { return false };
    let number = |half: &str| half.trim().strip_prefix('#')?.split(':').next()?.parse().ok();
    let Some(number) = number(second) else { return false };
    let pair: &mut Pair = pairs.entry(number).or_default();
    let half = |text: &'_ str| text.split_once(':').map_or(String::new(), |it| it.1.to_string());
    let (first, second) = (half(first), half(second));
    pair.cycles = behind(&second, "Cycles");
    pair.priority = behind(&first, "P");
    pair.interval = behind(&first, "I").and_then(|us| i64::try_from(us).ok());
    pair.cpu = behind(&first, "CPU").and_then(|cpu| u32::try_from(cpu).ok());
    true
}

fn fits_hwlatdetect(head: &[u8]) -> bool {
    is_text(head)
        && contains(head, "hwlatdetect:")
        && (contains(head, "Max Latency:") || contains(head, "inner:"))
}

/// Reads the list of gaps, `ts: 1408928107.286324, inner:18, outer:17`, or the maximum alone.
fn read_hwlatdetect(input: &mut Input, _: &Query) -> Result<Vec<Recording>, InputError> {
    let (mut samples, mut max, mut facts) = (UnitSamples::default(), None, Vec::new());
    let mut counted = None;
    while let Some(line) = input.next_line() {
        let text = String::from_utf8_lossy(line.bytes);
        let behind = |word: &str| {
            let at = text.find(word)? + word.len();
            let number = text[at..].trim_start();
            let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
            number[..end].parse::<i64>().ok().filter(|value| *value < 1 << 40)
        };
        if text.trim_start().starts_with("ts:") {
            if let Some(gap) = behind("inner:").max(behind("outer:")) {
                samples.push(gap, UNIT);
            }
        } else if text.contains("Max Latency:") {
            max = behind("Max Latency:");
        } else if text.contains("Samples exceeding threshold:") {
            counted = behind("Samples exceeding threshold:");
        } else if let Some((name, value)) = text.split_once(':') {
            let name = name.trim();
            if ["test duration", "Latency threshold", "Sample window", "Sample width"]
                .contains(&name)
            {
                facts.push((name.to_string(), value.trim().to_string()));
            }
        }
    }
    let mut recording = Recording::new("hwlatdetect");
    recording.quantity = "time taken by hardware or firmware";
    recording.resolution_ns = Some(Nanos(UNIT));
    facts.into_iter().for_each(|(name, text)| recording.fact(&name, text));
    let listed = samples.series(UNIT);
    if listed.counts.count > 0 {
        recording.series.push(listed);
    } else if let (Some(max), Some(count)) = (max, counted) {
        let count = u64::try_from(count).ok().filter(|count| *count > 0);
        add_summary(
            &mut recording,
            &StatedFigures { count, max_ns: Some(max * UNIT), ..StatedFigures::default() },
        );
        note_summary(&mut recording);
    }
    recording
        .note("hwlatdetect lists only gaps above its threshold; shorter ones are not counted.");
    Ok(vec![recording])
}
