//! `latlab show --window` and `latlab verify` as a user types them, on stored runs of the fixtures.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The path of a stored run.
fn fixture(name: &str) -> PathBuf {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/schema-1/runs");
    let mut runs = std::fs::read_dir(runs).unwrap().map(|run| run.unwrap().path());
    runs.find(|run| run.to_string_lossy().ends_with(&format!("_{name}"))).unwrap()
}

/// The time of day in UTC this long after the start of the run with samples.
fn time_of_day(milliseconds: i64) -> String {
    let text = std::fs::read_to_string(fixture("sampled").join("run.json")).unwrap();
    let (_, started) = text.split_once("\"started\": \"").unwrap();
    let started: jiff::Timestamp = started.split_once('"').unwrap().0.parse().unwrap();
    let time = started + jiff::SignedDuration::from_millis(milliseconds);
    time.strftime("%H:%M:%S%.3f").to_string()
}

fn latlab(command: &str, run: &Path, flags: &str) -> Output {
    let mut latlab = Command::new(env!("CARGO_BIN_EXE_latlab"));
    // A folder that does not exist: there is nothing to recover.
    latlab.arg(command).arg(run).args(flags.split_whitespace()).args(["--out", "/nowhere"]);
    latlab.env("NO_COLOR", "1").output().unwrap()
}

fn shown(flags: &str) -> String {
    let output = latlab("show", &fixture("sampled"), flags);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_window_is_golden() {
    let window = format!("--window +1s..{}", time_of_day(1700));
    insta::assert_snapshot!("window-text", shown(&window));
    insta::assert_snapshot!("window-json", shown("--window +1s..+1.2s --format json"));
    let window = format!("--window {}..{}", time_of_day(900), time_of_day(904));
    insta::assert_snapshot!("window-csv", shown(&format!("{window} --format csv")));
}

#[test]
fn a_mistake_is_one_line_and_exit_code_2() {
    for (run, flags, expected) in [
        ("sampled", "--format csv", "needs --window"),
        ("plain", "--window ..", "latlab run --samples"),
        (
            "sampled",
            &format!("--window {}..{}", time_of_day(5000), time_of_day(6000)),
            "goes from 20",
        ),
        ("sampled", "--window 1s..2s", "'1s' is not a time"),
        ("sampled", "--window +1s", "has no '..'"),
        ("sampled", "--window +1..+2", "write 1us, 1ms, 1s"),
    ] {
        let output = latlab("show", &fixture(run), flags);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags}: {error}");
        assert!(error.contains(expected) && output.stdout.is_empty(), "{flags}: {error}");
        // The second line is clap's pointer to `--help`.
        let lines = error.lines().filter(|line| !line.is_empty()).count();
        assert!(lines == 1 || lines == 2 && error.contains("--help"), "{flags}: {error}");
    }
}

#[test]
fn the_fixtures_are_whole() {
    for run in ["plain", "sampled", "traced"] {
        let output = latlab("verify", &fixture(run), "");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(": ok, "), "{text}");
    }
}
