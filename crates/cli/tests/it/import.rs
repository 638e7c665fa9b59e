//! `latlab import` of several files: output and exit code.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Writes a histogram of cyclictest with these rows.
fn histogram(folder: &Path, name: &str, rows: &[(u32, u32)]) {
    let row = |number: u32| {
        let count = rows.iter().find(|one| one.0 == number).map_or(0, |one| one.1);
        format!("{number:06} {count:06}\n")
    };
    let total: u32 = rows.iter().map(|one| one.1).sum();
    let (least, most) = (rows[0].0, rows[rows.len() - 1].0);
    let text = format!(
        "# Histogram\n{}# Total: {total:09}\n# Min Latencies: {least:05}\n# Avg Latencies: {least:05}\n\
         # Max Latencies: {most:05}\n# Histogram Overflows: 00000\n\
         # Histogram Overflow at cycle number:\n# Thread 0:\n\n",
        (0..400).map(row).collect::<String>()
    );
    fs::write(folder.join(name), text).unwrap();
}

fn import(folder: &Path, words: &[&str]) -> Output {
    let mut latlab = Command::new(env!("CARGO_BIN_EXE_latlab"));
    latlab.arg("import").args(words).args(["--out", "runs"]).current_dir(folder).output().unwrap()
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_missed_deadline_outweighs_what_is_open_or_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    histogram(folder, "good.txt", &[(12, 900), (30, 9)]);
    histogram(folder, "late.txt", &[(12, 900), (300, 9)]);
    histogram(folder, "open.txt", &[(12, 900), (99, 9)]);
    fs::write(folder.join("notes.txt"), "no recording\n").unwrap();
    let code = |words: &[&str]| {
        import(folder, &[words, &["--deadline", "99500ns"]].concat()).status.code()
    };
    assert_eq!(code(&["good.txt"]), Some(0));
    assert_eq!(code(&["good.txt", "open.txt"]), Some(4));
    assert_eq!(code(&["open.txt", "late.txt"]), Some(1));
    assert_eq!(code(&["late.txt", "open.txt", "notes.txt"]), Some(1));
    assert_eq!(code(&["open.txt", "notes.txt"]), Some(2));
    let table = import(folder, &["good.txt", "open.txt", "--deadline", "99500ns"]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    for word in ["verdict", "pass", "inconclusive", "the file does not say whether"] {
        assert!(table.contains(word), "{word} in\n{table}");
    }
}

/// Correlated latencies carry less information than the same number of independent ones. The order
/// of a file's lines shows the correlation.
#[test]
fn the_order_of_lines_widens_intervals() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (mut state, mut level) = (1_u64, 0.0);
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1_u32 << 31)
    };
    let walk: Vec<f64> = (0..20_000)
        .map(|_| {
            level = 0.95 * level + uniform() - 0.5;
            50.0 + 5.0 * level
        })
        .collect();
    let mixed: Vec<f64> = (0..walk.len()).map(|at| walk[at * 7_919 % walk.len()]).collect();
    let latencies_per_event = |name: &str, latencies: &[f64]| {
        let line = |(cycle, latency): (usize, &f64)| format!("{:8}:{cycle:8}:{latency:8.0}\n", 0);
        let log: String = latencies.iter().enumerate().map(line).collect();
        let file = format!("{name}.txt");
        fs::write(folder.join(&file), log).unwrap();
        assert!(import(folder, &[&file]).status.success());
        let mut latlab = Command::new(env!("CARGO_BIN_EXE_latlab"));
        latlab.args(["show", name, "--format", "json", "--out", "runs"]).current_dir(folder);
        let run: serde_json::Value =
            serde_json::from_slice(&latlab.output().unwrap().stdout).unwrap();
        let median = &run["statistics"]["quantiles"][0];
        median["per_event"].as_f64().unwrap()
    };
    let (ordered, mixed) =
        (latencies_per_event("walk", &walk), latencies_per_event("mixed", &mixed));
    assert!(ordered > 4.0 * mixed, "{ordered} {mixed}");
}

#[test]
fn a_folder_has_one_line_for_each_kind_of_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let logs = folder.join("logs");
    fs::create_dir(&logs).unwrap();
    histogram(&logs, "good.txt", &[(12, 900)]);
    for name in ["a.md", "b.md", "c.md"] {
        fs::write(logs.join(name), "nothing\n").unwrap();
    }
    fs::write(logs.join("empty"), "").unwrap();
    for name in ["one.sr", "two.sr"] {
        fs::write(logs.join(name), "PK\u{3}\u{4}").unwrap();
    }
    let output = import(folder, &["logs"]);
    let error = error_of(&output);
    assert_eq!(output.status.code(), Some(2), "{error}");
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 3, "{error}");
    assert!(lines[0].contains("3 files, the first is logs/a.md: no known recording"), "{error}");
    assert!(lines[1].contains("logs/empty: the file is empty"), "{error}");
    let capture =
        "2 files, the first is logs/one.sr: read it with `latlab respond --from FILE.sr --look`";
    assert!(lines[2].contains(capture), "{error}");
    // Each named file gets its own line.
    let named = error_of(&import(folder, &["logs/a.md", "logs/b.md"]));
    assert_eq!(named.lines().count(), 2, "{named}");
}

#[test]
fn a_capture_names_the_command_that_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (name, command) in [
        ("board.sr", "latlab respond --from board.sr --look"),
        ("a b.vcd", "latlab respond --from 'a b.vcd' --look"),
        ("ch1.ISF", "latlab respond --from ch1.ISF --look"),
        ("pi_c.out", "latlab respond --from pi_c.out`"),
    ] {
        fs::write(folder.join(name), "nothing\n").unwrap();
        let error = error_of(&import(folder, &[name]));
        assert!(error.contains(command), "{error}");
    }
}
