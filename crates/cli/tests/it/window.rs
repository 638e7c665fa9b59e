//! `latlab show --window` and `latlab verify` as a user types them, on a run of the fixtures.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixture(version: u32) -> PathBuf {
    let runs = format!("../../fixtures/schema-{version}/runs");
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join(runs);
    std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path()
}

fn latlab(command: &str, run: &Path, flags: &str) -> Output {
    let mut latlab = Command::new(env!("CARGO_BIN_EXE_latlab"));
    // Nothing is to be recovered, whatever lies in the folder of the test.
    latlab.arg(command).arg(run).args(flags.split_whitespace()).args(["--out", "/nowhere"]);
    latlab.env("NO_COLOR", "1").output().unwrap()
}

fn error_of(flags: &str) -> String {
    let output = latlab("show", &fixture(2), flags);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_window_is_golden() {
    insta::assert_snapshot!("window-text", error_of("--window +1s..19:27:09"));
    insta::assert_snapshot!("window-json", error_of("--window +1s..+1.2s --format json"));
    insta::assert_snapshot!(
        "window-csv",
        error_of("--window 19:27:08.1..19:27:08.104 --format csv")
    );
}

#[test]
fn a_mistake_is_one_line_and_exit_code_2() {
    for (version, flags, expected) in [
        (2, "--format csv", "needs --window"),
        (1, "--window ..", "latlab run --samples"),
        (2, "--window 12:00..13:00", "goes from 2026-11-21T19:27:07.235Z to"),
        (2, "--window 1s..2s", "'1s' is not a time"),
        (2, "--window +1s", "has no '..'"),
        (2, "--window +1..+2", "write 1us, 1ms, 1s"),
    ] {
        let output = latlab("show", &fixture(version), flags);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags}: {error}");
        assert!(error.contains(expected) && output.stdout.is_empty(), "{flags}: {error}");
        // The second is the word of the parser that there is a --help.
        let lines = error.lines().filter(|line| !line.is_empty()).count();
        assert!(lines == 1 || lines == 2 && error.contains("--help"), "{flags}: {error}");
    }
}

#[test]
fn the_fixtures_are_whole() {
    for version in [1, 2] {
        let output = latlab("verify", &fixture(version), "");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && text.contains(": ok, "), "{text}");
    }
}
