//! Every command that turns stored runs into output, over every fixture: what it prints, and its exit code.
//! After a change on purpose: `INSTA_UPDATE=always cargo test -p latlab --test it golden`, and read the difference.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Outputs up to this many lines are kept whole; of longer ones the ends are, with a checksum.
const WHOLE: usize = 60;
/// Lines that are kept at the start and at the end of a long output.
const ENDS: (usize, usize) = (15, 4);

/// A folder of runs, and what was typed there with the answers.
struct Session {
    folder: TempDir,
    transcript: String,
}

impl Session {
    fn new() -> Session {
        let folder = tempfile::tempdir().expect("a folder for the runs");
        fs::create_dir(folder.path().join("runs")).expect("a folder of runs");
        std::os::unix::fs::symlink(fixtures(), folder.path().join("fixtures"))
            .expect("a link to the fixtures");
        Session { folder, transcript: String::new() }
    }

    fn with_fixtures() -> Session {
        let session = Session::new();
        for run in children(&fixtures().join("schema-1/runs")) {
            let copy = session.path("runs").join(run.file_name().expect("a name"));
            fs::create_dir(&copy).expect("a run");
            for file in children(&run) {
                fs::copy(&file, copy.join(file.file_name().expect("a name"))).expect("a copy");
            }
        }
        session
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file of the session");
    }

    /// Stores runs of 5000 readings with a long tail around `scale` us, whose scales vary by `percent`; returns their
    /// names, which differ, so that no id depends on how many runs were stored within a second.
    fn readings(&self, name: &str, runs: u32, scale: f64, percent: f64) -> String {
        let mut names = Vec::new();
        for run in 0..runs {
            let varied = percent / 100.0 * (f64::from((run * 7) % 5) - 2.0) / 2.0;
            let scale = scale * (1.0 + varied);
            let reading = |at: u32| {
                let tail = 1.0 - 0.3 * (1.0 - (f64::from(at) + 0.5) / 5000.0).ln();
                format!("{}\t{:.9}\n", at + 1, scale * tail / 1e6)
            };
            self.write("readings.txt", &(0..5000).map(reading).collect::<String>());
            let words =
                format!("respond --from readings.txt --unit s --deadline 1ms --name {name}{run}");
            assert_eq!(self.answer(&words).0, Some(0), "{words}");
            names.push(format!("{name}{run}"));
        }
        names.join(" ")
    }

    /// Runs a command line; returns the exit code, and what was printed with the complaints behind it.
    fn answer(&self, words: &str) -> (Option<i32>, String) {
        let mut latlab = Command::new(env!("CARGO_BIN_EXE_latlab"));
        latlab.args(words.split_whitespace()).current_dir(self.folder.path());
        latlab.env_clear().env("LATLAB_RUNS", "runs");
        latlab.envs([
            ("COLUMNS", "120"),
            ("NO_COLOR", "1"),
            ("TZ", "UTC"),
            ("PATH", "/usr/bin:/bin"),
        ]);
        let output = latlab.output().expect("the program starts");
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            let _ = writeln!(text, "! {line}");
        }
        (output.status.code(), text)
    }

    /// Types command lines, one a line.
    fn types(&mut self, commands: &str) -> &mut Session {
        for words in commands.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (code, text) = self.answer(words);
            let text = without_times(&text);
            let _ = write!(self.transcript, "$ latlab {words}\n{}", shortened(&text));
            if code != Some(0) {
                let _ = writeln!(self.transcript, "[exit code {}]", code.unwrap_or(-1));
            }
            self.transcript.push('\n');
        }
        self
    }
}

fn fixtures() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::canonicalize(root.join("fixtures")).expect("the fixtures")
}

/// What is in a folder, by name.
fn children(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// A text in which all times, such as `20261129T165632Z` and `2026-11-29T16:56:32.067Z`, are `TIME`, and all seeds that
/// were drawn are `SEED`.
fn without_times(text: &str) -> String {
    let is_of_time = |letter: char| letter.is_ascii_digit() || "-:.TZ".contains(letter);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|letter: char| letter.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = from.find(|letter| !is_of_time(letter)).unwrap_or(from.len());
        let word = &from[..end];
        let digits = word.chars().filter(char::is_ascii_digit).count();
        out.push_str(match word {
            _ if word.contains('T') && digits >= 14 => "TIME",
            _ if digits == word.len() && digits >= 18 => "SEED",
            _ => word,
        });
        rest = &from[end..];
    }
    out + rest
}

/// A long text by its ends and a checksum.
fn shortened(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= WHOLE {
        return lines.iter().map(|line| format!("{line}\n")).collect();
    }
    let (first, rest) = lines.split_at(ENDS.0);
    let (middle, last) = rest.split_at(rest.len() - ENDS.1);
    let sum =
        middle.iter().flat_map(|line| line.bytes()).fold(0xcbf2_9ce4_8422_2325_u64, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
    let mut out: String = first.iter().map(|line| format!("{line}\n")).collect();
    let _ = writeln!(out, "[{} lines, {sum:016x}]", middle.len());
    out.extend(last.iter().map(|line| format!("{line}\n")));
    out
}

#[test]
fn stored_runs() {
    let mut session = Session::with_fixtures();
    session.types(
        "list
         list --format json
         show plain
         show plain --all
         show sampled --all
         show traced --all
         show traced --format json
         show plain sampled
         explain traced
         verify --all
         trend --by run plain sampled
         compare plain -- sampled
         show none
         show plain --limit 0.1/h
         report none
         report plain -o missing/page.html
         explain plain",
    );
    insta::assert_snapshot!(session.transcript);
}

#[test]
fn exports() {
    let mut session = Session::with_fixtures();
    for format in [
        "cyclictest",
        "cyclictest-json",
        "osadl",
        "jitterdebugger",
        "hdr",
        "prometheus",
        "openmetrics",
        "openmetrics-native",
        "csv",
        "ktap",
        "junit",
        "lava",
    ] {
        session.types(&format!("export sampled --to {format}"));
    }
    session.types(
        "export sampled --to csv --table histogram
         export sampled --to cyclictest --bins 20
         export plain --to csv
         export plain --to none
         export plain --to csv -o missing/none.csv",
    );
    insta::assert_snapshot!(session.transcript);
}

fn imports(folder: &str) -> String {
    let mut session = Session::new();
    for file in children(&fixtures().join(folder)) {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        // A unique name, since those of equal stems would depend on the second.
        let stored = name.replace('.', "-");
        session.types(&format!("import fixtures/{folder}/{name} --name {stored} --deadline 1ms"));
    }
    session.types("verify --all\n list");
    session.transcript
}

#[test]
fn recordings() {
    insta::assert_snapshot!(imports("recordings"));
}

#[test]
fn odd_recordings() {
    insta::assert_snapshot!(imports("field"));
}

#[test]
fn verdicts_of_imports() {
    let mut session = Session::new();
    session.write("rows.csv", &{
        let text =
            fs::read_to_string(fixtures().join("recordings/ct24_h40.txt")).expect("a recording");
        text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    });
    session.write(
        "timerlat.txt",
        "# RTLA timerlat histogram\n# Time unit is microseconds (us)\n# Duration:   0 00:00:01\n\
         Index   IRQ-000   Thr-000\n0          1000         0\n3             0       900\n\
         5             0       100\nover:         0         0\ncount:     1000      1000\n\
         min:          0         3\navg:          0         3\nmax:          0         5\n",
    );
    session.types(
        "import fixtures/recordings/ct24_h40.txt --deadline 20us
         import fixtures/recordings/ct24_q_summary.txt --deadline 10ms
         import rows.csv --deadline 50us
         import timerlat.txt
         show timerlat-irq --all
         plot ct24_h40 ct24_q_summary --kind ccdf -o plot.svg
         report timerlat-irq timerlat-thread -o both.html
         report ct24_h40 -o page.html
         import none.txt fixtures/recordings/ct24_v.txt",
    );
    insta::assert_snapshot!(session.transcript);
}

#[cfg_attr(not(feature = "pins"), ignore = "its runs are made of readings")]
#[test]
fn comparisons() {
    let mut session = Session::new();
    let base = session.readings("base", 5, 100.0, 1.0);
    let same = session.readings("same", 5, 100.0, 1.0);
    let slower = session.readings("slower", 5, 130.0, 1.0);
    let near = session.readings("near", 5, 104.2, 1.0);
    let noisy = session.readings("noisy", 5, 101.0, 40.0);
    session.types(&format!(
        "compare --gate {base} -- {same}
         compare --gate {base} -- {slower}
         compare {base} -- {slower}
         compare --gate {slower} -- {base}
         compare --gate {base} -- {near}
         compare --gate --margin 10% {base} -- {near}
         compare --gate {base} -- {noisy}
         compare --gate {base} -- slower0
         compare --gate {base} -- {base}
         compare {base} -- {same} --gate
         compare {base} -- unknown
         compare --margin 5 {base} -- {same}
         compare --limit 0.1 {base} -- {same}
         compare --limit 0.1/h {base} -- {same}
         compare --format markdown {base} -- {slower}
         compare --format junit {base} -- {slower}
         compare --format json {base} -- {slower}
         show {base} {slower}"
    ));
    insta::assert_snapshot!(session.transcript);
}

#[cfg_attr(not(feature = "pins"), ignore = "its runs are made of readings")]
#[test]
fn trends() {
    let mut session = Session::new();
    // Sixteen builds of which the second half is slower, a run each.
    let old = session.readings("old", 8, 100.0, 2.0);
    let slow = session.readings("slow", 8, 130.0, 2.0);
    session.types(&format!(
        "trend --gate --by run {old} {slow}
         trend --gate --by run {old}
         trend --gate --by run --margin 50% {old} {slow}
         trend --by run --since 2999-01-01 {old} {slow}
         trend --by run --since yesterday {old}
         trend --by run --format json {old} {slow}
         trend --by run --format junit {old} {slow}
         trend --by name --format markdown {old} {slow}"
    ));
    insta::assert_snapshot!(session.transcript);
}

#[test]
fn sheets_and_plans() {
    let mut session = Session::new();
    session.write(
        "wrong.toml",
        "repeats = 0\norder = \"abab\"\n[defaults]\npriod = \"200us\"\nfor = \"10s\"\n[[scenario]]\n\
         name = \"idle\"\ndeadline = 125\n[[scenario]]\nname = \"load\"\nmechanism = \"nanosleap\"\n\
         out = \"elsewhere\"\n",
    );
    session.write(
        "effects.toml",
        "[defaults]\nfor = \"1s\"\nset = \"/proc/sys/vm/stat_interval=10\"\ntune = \"rt-throttling=off\"\n\
         on-spike = \"logger late\"\nspike-above = \"1ms\"\n[[scenario]]\nname = \"own\"\n\
         load = \"command,run=sleep 9\"\n",
    );
    session.types(
        "run wrong.toml
         run effects.toml --dry-run
         run quick --period 1ms
         plan --deadline 125us --limit 0.1/h
         plan --limit 1/h
         plan --limit 1/week --confidence 99% --format json
         plan --limit 0.1",
    );
    assert_eq!(children(&session.path("runs")), [] as [PathBuf; 0], "nothing was begun");
    insta::assert_snapshot!(session.transcript);
}
