//! `latlab plot` as a user starts it, on stored runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const KINDS: [&str; 5] = ["latency", "tail", "cdf", "ccdf", "cpus"];
const ALL_KINDS: [&str; 8] =
    ["latency", "tail", "cdf", "ccdf", "cpus", "flow", "heatmap", "telemetry"];

/// The path of a stored run.
fn stored(name: &str) -> PathBuf {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/schema-1/runs");
    let mut found = fs::read_dir(runs.canonicalize().unwrap()).unwrap();
    let is_named = |path: &PathBuf| path.to_string_lossy().ends_with(&format!("_{name}"));
    found.find_map(|entry| Some(entry.unwrap().path()).filter(is_named)).expect("a stored run")
}

/// Runs `latlab plot` in a folder.
fn plot(folder: &Path, runs: &[&Path], flags: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_latlab"))
        .arg("plot")
        .args(runs)
        .args(flags.split_whitespace())
        .current_dir(folder)
        .env_remove("LATLAB_RUNS")
        .output()
        .unwrap()
}

#[test]
fn every_kind_of_one_run_and_of_two_goes_to_a_file_and_to_standard_output() {
    let bench = tempfile::tempdir().unwrap();
    let (one, other) = (stored("plain"), stored("sampled"));
    for runs in [vec![one.as_path()], vec![one.as_path(), other.as_path()]] {
        for kind in KINDS {
            let flags = format!("--kind {kind} --width 400 --range 1us..200us");
            let written = plot(bench.path(), &runs, &format!("{flags} -o picture.svg"));
            assert!(written.status.success(), "{kind}: {written:?}");
            assert_eq!(String::from_utf8_lossy(&written.stdout), "picture.svg\n");
            let file = fs::read(bench.path().join("picture.svg")).unwrap();
            assert!(file.starts_with(b"<svg ") && file.ends_with(b"</svg>\n"), "{kind}");
            let printed = plot(bench.path(), &runs, &format!("{flags} -o -"));
            assert_eq!(printed.stdout, file, "{kind}");
        }
    }
}

#[test]
fn without_a_name_the_picture_lies_in_the_folder_of_the_first_run() {
    let bench = tempfile::tempdir().unwrap();
    let copy = bench.path().join("runs").join("first");
    fs::create_dir_all(&copy).unwrap();
    for file in fs::read_dir(stored("sampled")).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
    }
    let other = stored("plain");
    let drawn = plot(bench.path(), &[&copy, &other], "--kind tail");
    assert!(drawn.status.success(), "{drawn:?}");
    assert!(copy.join("tail.svg").exists());
    // Pictures in a run's folder do not invalidate the run.
    let drawn = plot(bench.path(), &[&copy], "");
    assert!(drawn.status.success() && copy.join("latency.svg").exists(), "{drawn:?}");
}

#[test]
fn mistakes_are_one_line() {
    let bench = tempfile::tempdir().unwrap();
    let run = stored("sampled");
    for (flags, expected) in [
        ("--kind pie", "possible values: latency, tail, cdf, ccdf, cpus"),
        ("--range 5us..4us", "ends less than 10 ns after"),
        ("-o nowhere/a.svg", "cannot write nowhere/a.svg"),
        ("no-such-run", "no-such-run"),
    ] {
        let refused = plot(bench.path(), &[&run], flags);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{flags}: {said}");
        assert_eq!(said.lines().count(), 1, "{flags}: {said}");
        assert!(said.contains(expected), "{flags}: {said}");
        assert!(refused.stdout.is_empty(), "{flags}");
    }
}

#[test]
fn a_png_is_asked_for_by_name_or_by_flag_and_has_the_pixels_asked_for() {
    let bench = tempfile::tempdir().unwrap();
    let run = stored("sampled");
    for kind in ALL_KINDS {
        let drawn = plot(bench.path(), &[&run], &format!("--kind {kind} --width 480 -o a.png"));
        assert!(drawn.status.success(), "{kind}: {drawn:?}");
        let file = fs::read(bench.path().join("a.png")).unwrap();
        assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n", "{kind}");
        assert_eq!(u32::from_be_bytes(file[16..20].try_into().unwrap()), 960, "{kind}");
    }
    let printed = plot(bench.path(), &[&run], "--width 480 --scale 0.5 --format png -o -");
    assert_eq!(u32::from_be_bytes(printed.stdout[16..20].try_into().unwrap()), 240);
    let refused = plot(bench.path(), &[&run], "--width 9000 --scale 9 -o big.png");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!((refused.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("too large for a PNG") && !bench.path().join("big.png").exists());
}

#[test]
fn a_window_of_a_run_with_samples_is_drawn_cycle_by_cycle() {
    let bench = tempfile::tempdir().unwrap();
    let with_samples = stored("sampled");
    let run: serde_json::Value =
        serde_json::from_slice(&fs::read(with_samples.join("run.json")).unwrap()).unwrap();
    let period = run["asked"]["method"]["releases"]["period_ns"].as_u64().unwrap();
    for kind in ["flow", "heatmap"] {
        let drawn = plot(
            bench.path(),
            &[&with_samples],
            &format!("--kind {kind} --window +100ms..+300ms -o {kind}.svg"),
        );
        assert!(drawn.status.success(), "{kind}: {drawn:?}");
    }
    let picture = fs::read_to_string(bench.path().join("flow.svg")).unwrap();
    let drawn: u64 = picture
        .split("data-samples=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().parse::<u64>().unwrap())
        .sum();
    // `latlab show` counts the same latencies in the window.
    let counted = Command::new(env!("CARGO_BIN_EXE_latlab"))
        .args(["show", "--window", "+100ms..+300ms", "--format", "json"])
        .arg(&with_samples)
        .output()
        .unwrap();
    let counted: serde_json::Value = serde_json::from_slice(&counted.stdout).unwrap();
    assert_eq!(Some(drawn), counted["total"]["cycles"].as_u64());
    assert!(drawn > 100_000_000 / period, "{drawn}");
    let density = fs::read_to_string(bench.path().join("heatmap.svg")).unwrap();
    assert!(density.replace('\u{a0}', " ").contains("drawn: 200 ms from +0.100 s on"));
}

#[test]
fn a_window_goes_with_pictures_over_time_only() {
    let bench = tempfile::tempdir().unwrap();
    for (flags, expected) in [
        ("--window +0s..+1s", "--window does not apply to --kind latency"),
        ("--kind flow --window +900s..", "the window does not overlap the run"),
        ("--kind flow --range 0..1ms", "--range does not apply to --kind flow"),
    ] {
        let refused = plot(bench.path(), &[&stored("sampled")], flags);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!((refused.status.code(), said.lines().count()), (Some(2), 1), "{flags}: {said}");
        assert!(said.contains(expected), "{flags}: {said}");
    }
}
