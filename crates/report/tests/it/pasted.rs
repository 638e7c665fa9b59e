//! Printed remedies can be pasted into a shell: whatever names they contain, no part of a name is
//! executed.

use crate::cause_words::held_off_by;
use crate::finding;
use latlab_model::explanation::{CauseKind, RunCause};
use latlab_model::finding::Finding;
use latlab_model::plan::Policy;
use latlab_model::shell::{Line, latlab, pattern, word};
use latlab_report::{InWords, cause_remedy};
use proptest::prelude::*;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// A program that a malicious name would run.
const TRAP: &str = "trapped";

/// Runs each line in a shell that can start nothing but the trap, and returns the lines that did.
fn sprung(lines: &[Line]) -> Vec<&Line> {
    let folder = tempfile::tempdir().unwrap();
    let trap = folder.path().join(TRAP);
    fs::write(&trap, "#!/bin/sh\n: > \"$MARK\"\n").unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let mark = folder.path().join("mark");
    // A restricted shell writes no files, and starts nothing by path.
    let pasted =
        r#"for line; do eval "$line" >&2; [ -e "$MARK" ] && command printf '%s\0' "$line"; done"#;
    let shell = |lines: &[Line]| {
        let bash = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|bash| Path::new(bash).exists());
        Command::new(bash.expect("a shell that can be restricted"))
            .args(["--restricted", "-c", pasted, "shell"])
            .args(lines.iter().map(Line::as_str))
            .env_clear()
            .env("PATH", folder.path())
            .env("MARK", &mark)
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    shell(lines);
    if !mark.exists() {
        return Vec::new();
    }
    let springs = |line: &&Line| {
        let _ = fs::remove_file(&mark);
        shell(std::slice::from_ref(*line));
        mark.exists()
    };
    lines.iter().filter(springs).collect()
}

#[test]
fn the_trap_springs() {
    let line = Line::new("latlab show $(trapped)");
    assert_eq!(sprung(std::slice::from_ref(&line)), [&line]);
}

/// Any text that can occur in a name.
fn any_name() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec![
        "$(trapped)",
        "`trapped`",
        ";trapped;",
        "|trapped",
        "&trapped&",
        "\ntrapped\n",
        "trapped",
        "'",
        "\"",
        "\\",
        "$",
        "{file}",
        "{value}",
        " ",
        "irq/",
        "irq/7",
        "-",
        "--",
        "migration/",
        "kworker/",
        "NET_RX",
        "/",
        "<(trapped)",
        "#",
        "!",
        "%",
        "\u{202e}",
        "\t",
        "~",
        "*",
        "33 eth0",
        "latlab",
        "tuning ",
    ]);
    proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

fn causes(name: &str, process: Option<&str>) -> Vec<Line> {
    let policies = [None, Some(Policy::Fifo { priority: 90 })];
    let threads = [None, Some(7)];
    let priorities = [None, Some(4)];
    let mut lines = Vec::new();
    for kind in CauseKind::ALL {
        for (policy, (thread, kernel_priority)) in
            policies.iter().zip(threads.iter().copied().zip(priorities))
        {
            let process = process.map(str::to_string);
            let cause = RunCause { kernel_priority, thread, process, ..held_off_by(*kind, name) };
            lines.push(cause_remedy(&cause, *policy));
        }
    }
    lines
}

/// The document with all its texts but the code replaced by this one.
fn fill(value: &mut Value, text: &str) {
    match value {
        Value::String(old) => *old = text.to_string(),
        Value::Array(all) => all.iter_mut().for_each(|one| fill(one, text)),
        Value::Object(fields) => {
            fields
                .iter_mut()
                .filter(|(name, _)| *name != "code")
                .for_each(|(_, one)| fill(one, text));
        }
        _ => {}
    }
}

/// The remedies of all findings, except those that the text makes invalid.
fn findings(name: &str) -> Vec<Line> {
    let filled = finding::all().into_iter().filter_map(|kind| {
        let mut document = serde_json::to_value(Finding::new(kind)).unwrap();
        fill(&mut document, name);
        serde_json::from_value::<Finding>(document).ok()?.remedy()
    });
    filled.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Invariant (trust): A printed command that is pasted into a shell runs nothing of the names in it.
    #[test]
    fn nothing_of_a_name_is_run(name in any_name(), process in proptest::option::of(any_name())) {
        let mut lines = causes(&name, process.as_deref());
        lines.extend(findings(&name));
        lines.push(latlab("show", &name));
        lines.push(Line::filled(
            "echo {value} | tee {file}",
            &[("value", word(&name)), ("file", pattern(&format!("/sys/{name}")))],
        ));
        lines.extend(Line::reread(&format!("latlab {name}")));
        prop_assert!(lines.len() > 40);
        prop_assert_eq!(sprung(&lines), Vec::<&Line>::new());
    }
}
