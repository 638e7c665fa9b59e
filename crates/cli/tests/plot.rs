//! `latlab plot` as a user starts it, with stored runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const KINDS: [&str; 5] = ["latency", "tail", "cdf", "ccdf", "cpus"];

/// The path of a stored run of a version of the schema.
fn stored(schema: u32) -> PathBuf {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../fixtures/schema-{schema}/runs"))
        .canonicalize()
        .unwrap();
    let mut found = fs::read_dir(runs).unwrap().map(|entry| entry.unwrap().path());
    found.find(|path| path.join("run.json").exists()).expect("a stored run")
}

/// Output of `latlab plot` with these flags, started in a folder.
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
    let (one, other) = (stored(1), stored(3));
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
    for file in fs::read_dir(stored(3)).unwrap().map(|entry| entry.unwrap().path()) {
        fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
    }
    let other = stored(1);
    let drawn = plot(bench.path(), &[&copy, &other], "--kind tail");
    assert!(drawn.status.success(), "{drawn:?}");
    assert!(copy.join("tail.svg").exists());
    // What is derived harms no run.
    let drawn = plot(bench.path(), &[&copy], "");
    assert!(drawn.status.success() && copy.join("latency.svg").exists(), "{drawn:?}");
}

#[test]
fn mistakes_are_one_line() {
    let bench = tempfile::tempdir().unwrap();
    let run = stored(3);
    for (flags, expected) in [
        ("--kind pie", "possible values: latency, tail, cdf, ccdf, cpus"),
        ("--range 5us..4us", "ends less than 1 us after"),
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
fn a_png_is_not_made_of_something_else() {
    let bench = tempfile::tempdir().unwrap();
    let refused = plot(bench.path(), &[&stored(3)], "-o a.png");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("no PNG yet") && said.lines().count() == 1, "{said}");
    assert!(!bench.path().join("a.png").exists());
}
