//! Paths that do not exist, or that are something other than what a command reads or writes.

use std::process::Command;

/// A mistyped name must look neither like an intact folder nor like one without runs.
#[test]
fn a_path_of_something_else_is_one_line_that_says_so() {
    for (words, code, expected) in [
        (&["verify", "--all", "--out", "/nowhere"][..], 2, "/nowhere is not a folder"),
        (
            &["list", "--out", "Cargo.toml"],
            2,
            "cannot read Cargo.toml: Not a directory (os error 20)",
        ),
        (
            &["run", "--for", "1s", "--out", "Cargo.toml"],
            3,
            "cannot create Cargo.toml: not a directory",
        ),
        (&["show", "./src"], 2, "./src is not the folder of a run: it has no run.json"),
        (
            &[
                "export",
                "sampled",
                "--out",
                "../../fixtures/schema-1/runs",
                "--to",
                "csv",
                "-o",
                "/nowhere/x",
            ],
            2,
            "cannot write /nowhere/x: No such file or directory (os error 2)",
        ),
        (
            &["run", "--for", "1s", "--loads", "/nowhere"],
            2,
            "--loads /nowhere: No such file or directory (os error 2)",
        ),
    ] {
        let mut latlab = Command::new(env!("CARGO_BIN_EXE_latlab"));
        let latlab = latlab.args(words).current_dir(env!("CARGO_MANIFEST_DIR"));
        let output = latlab.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(error.trim_end(), format!("latlab: {expected}"), "{words:?}");
        assert_eq!(output.status.code(), Some(code), "{words:?}");
    }
}
