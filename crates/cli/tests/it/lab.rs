//! `latlab lab`: what a build cannot do is reported before anything is downloaded.

use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_latlab");

/// Runs `latlab lab` with an empty `PATH`, so that nothing can be downloaded.
fn lab(words: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(PROGRAM);
    command.arg("lab").args(words).env("PATH", folder.path()).env("XDG_CACHE_HOME", folder.path());
    command.current_dir(folder.path()).output().unwrap()
}

#[test]
fn a_build_without_agents_says_so_before_it_downloads() {
    if option_env!("LATLAB_AGENTS").is_some_and(|folder| !folder.is_empty()) {
        return;
    }
    let said = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let output = lab(&["fetch", "x86-64/rt", "arm64/rt"]);
    let text = said(&output);
    let first: Vec<&str> = text.lines().take(2).collect();
    assert!(first[0].contains("an agent for aarch64"), "{text}");
    assert!(first[1].contains("an agent for x86_64"), "{text}");
    let output = lab(&["stress-five"]);
    let text = said(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("an agent for x86_64"), "{text}");
    assert!(!text.contains("fetching"), "{text}");
}
