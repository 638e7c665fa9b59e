//! Real recordings from other sources: each has the figures that were recomputed from its own bins.

use crate::common::*;
use latlab_formats::read::{ImportQuery, Recording};
use serde_json::Value;
use std::fs;

/// Manifest kinds that are recordings of latencies, not wire captures.
const KINDS: [&str; 8] =
    ["cyc-hist", "cyc-csv", "cyc-json", "cyc-verbose", "cyc-bins", "osadl-json", "jd-json", "rtla"];

fn list<T>(truth: &Value, key: &str, of: impl Fn(&Value) -> T) -> Option<Vec<T>> {
    match truth.get(key)? {
        Value::Array(values) => Some(values.iter().map(of).collect()),
        Value::Object(values) => Some(values.values().map(of).collect()),
        _ => None,
    }
}

fn whole(value: &Value) -> i64 {
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).unwrap_or(-1)
}

/// Invariant (imports): Counts, minima, maxima and means of real files are those of their own bins.
#[test]
fn real_files_have_the_figures_of_their_manifest() {
    let Some(folder) = recordings() else { return };
    let manifest = fs::read(folder.join("MANIFEST.json")).unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&manifest).unwrap();
    let mut checked = 0;
    for row in &rows {
        let (file, kind) = (row["file"].as_str().unwrap(), row["kind"].as_str().unwrap());
        if !KINDS.contains(&kind) {
            continue;
        }
        let bytes = fs::read(folder.join(file)).unwrap();
        let recordings = try_read(bytes, &ImportQuery::default())
            .unwrap_or_else(|error| panic!("{file}: {error}"));
        match kind {
            "rtla" => check_rtla(file, &recordings, &row["truth"]),
            "jd-json" => check_jitterdebugger(&recordings[0], &row["truth"]),
            _ => {
                assert_eq!(recordings.len(), 1, "{file}");
                check(file, &recordings[0], &row["truth"]);
            }
        }
        checked += 1;
    }
    assert!(checked >= 35, "only {checked} recordings were found");
}

fn check(file: &str, recording: &Recording, truth: &Value) {
    let all = |of: &dyn Fn(&latlab_formats::read::LatencySeries) -> i64| -> Vec<i64> {
        recording.series.iter().map(of).collect()
    };
    let binned = all(&|one| (one.counts.count - one.counts.overflow.count) as i64);
    let total = list(truth, "bin_total", whole).or_else(|| list(truth, "samples", whole));
    assert_eq!(Some(binned), total, "{file}: counts");
    let overflow = list(truth, "stated_overflow", whole);
    if let Some(overflow) = overflow {
        let threads = recording.series.len();
        assert_eq!(all(&|one| one.counts.overflow.count as i64), overflow[..threads], "{file}");
    }
    let min = list(truth, "bin_min", whole).or_else(|| list(truth, "min", whole));
    let min = min.or_else(|| list(truth, "stated_min", whole));
    if let Some(min) = min {
        assert_eq!(all(&|one| one.counts.min_ns.0 / 1_000), min, "{file}: minima");
    }
    let max = list(truth, "stated_max", whole).or_else(|| list(truth, "bin_max", whole));
    let max = max.or_else(|| list(truth, "max", whole)).expect("every row has maxima");
    let threads = recording.series.len();
    assert_eq!(all(&|one| one.counts.max_ns.0 / 1_000), max[..threads], "{file}: maxima");
    let mean = list(truth, "bin_avg", |it| it.as_f64().unwrap());
    let mean = mean.or_else(|| list(truth, "avg", |it| it.as_f64().unwrap()));
    let mean = mean.or_else(|| list(truth, "stated_avg", |it| it.as_f64().unwrap()));
    for (series, mean) in recording.series.iter().zip(mean.into_iter().flatten()) {
        let found = series.counts.mean_ns().unwrap() / 1e3;
        let allowed = if truth.get("bin_avg").is_none() { 0.006 } else { 0.000_6 };
        assert!((found - mean).abs() < allowed, "{file}: mean {found} and not {mean}");
    }
}

fn check_rtla(file: &str, recordings: &[Recording], truth: &Value) {
    let columns = truth["columns"].as_u64().unwrap() as usize;
    let kinds = recordings.len();
    let stated = |key: &str| list(truth, key, whole).unwrap();
    let (counts, min, max) = (stated("stated_count"), stated("stated_min"), stated("stated_max"));
    let known = counts.iter().filter(|count| **count > 0).count();
    let series: usize = recordings.iter().map(|one| one.series.len()).sum();
    assert!(series == columns || series == known, "{file}: {series} of {columns} columns");
    for (kind, recording) in recordings.iter().enumerate() {
        for (cpu, one) in recording.series.iter().enumerate() {
            // Columns of one CPU are adjacent.
            let width = if series == columns { kinds } else { columns };
            let at = cpu * width + kind;
            assert_eq!(one.counts.count as i64, counts[at], "{file}: count of column {at}");
            if counts[at] > 0 && file != "rtla/osnoise_hist_kernel_doc.txt" {
                let found = (one.counts.min_ns.0 / 1_000, one.counts.max_ns.0 / 1_000);
                assert_eq!(found, (min[at], max[at]), "{file}: column {at}");
            }
        }
    }
}

fn check_jitterdebugger(recording: &Recording, truth: &Value) {
    for (series, key) in recording.series.iter().zip(["cpu0", "cpu1"]) {
        let counts = &series.counts;
        let found = (counts.count as i64, counts.min_ns.0 / 1_000, counts.max_ns.0 / 1_000);
        let row = &truth[key];
        assert_eq!(found, (whole(&row[0]), whole(&row[1]), whole(&row[2])));
        assert!((counts.mean_ns().unwrap() / 1e3 - row[3].as_f64().unwrap()).abs() < 0.01);
    }
}

#[test]
fn oddities_of_real_files_are_named() {
    let Some(folder) = recordings() else { return };
    let read = |file: &str| one(fs::read(folder.join(file)).unwrap());
    for (file, named) in [
        (
            "chen116-kobe/output_b_overflow.txt",
            "The histogram ends at 400 us: 1 latency of 1.282 ms is known only as the maximum. The \
             mean of the bins excludes it",
        ),
        ("amrohendawi/output_8cpu_truncated.txt", "The file is incomplete: its footer"),
        ("lemariva/histogram_rtkernel_docker.csv", "does not say how many latencies lie beyond"),
        ("konchalas-rt-tests/log_rt_preempt_10h_bbb_busy.txt", "line 2016: '-->'"),
        ("spyroot/cyclictest_histogram_1t_h1000.txt", "line 1: 'cyclictest_histogram_1t"),
        ("osadl/r0s8.json", "states a maximum of 426 us"),
        ("karthikmohan14/output_1cpu_1000_mostly_overflow.txt", "the file states 651 us for all"),
    ] {
        let texts = texts(&read(file));
        assert!(texts.contains(named), "{file}: {texts}");
    }
    assert_eq!(codes(&read("cactus-rt/idle-cyclictest.log")), [""; 0]);
    assert_eq!(codes(&read("neurorust/probe-cyclictest-60s.json")), [""; 0]);
}
