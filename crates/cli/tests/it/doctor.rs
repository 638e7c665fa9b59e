//! `latlab doctor` as a user starts it: on this machine, on prepared ones, and on what is not a
//! machine.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const GOVERNOR: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

/// A temporary folder in which the program is started.
struct Bench(TempDir);

impl Bench {
    fn new() -> Bench {
        Bench(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `latlab doctor` with these flags.
    fn doctor(&self, flags: &str) -> Output {
        self.latlab(&format!("doctor {flags}"))
    }

    /// Runs `latlab` with these words.
    fn latlab(&self, words: &str) -> Output {
        Command::new(env!("CARGO_BIN_EXE_latlab"))
            .args(words.split_whitespace())
            .current_dir(self.path())
            .env_remove("LATLAB_RUNS")
            .env("NO_COLOR", "1")
            .output()
            .unwrap()
    }

    fn text(&self, flags: &str) -> String {
        let output = self.doctor(flags);
        assert!(output.status.success(), "{flags}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, flags: &str) -> Value {
        serde_json::from_str(&self.text(&format!("{flags} --format json"))).unwrap()
    }

    fn code(&self, flags: &str) -> i32 {
        self.doctor(flags).status.code().unwrap()
    }

    /// The one line printed for a mistake.
    fn refusal(&self, flags: &str) -> String {
        let output = self.doctor(flags);
        assert_eq!(output.status.code(), Some(2), "{flags}: {output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(text.lines().count(), 1, "{flags}: {text}");
        text
    }

    fn plant(&self, file: &str, text: &str) {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn codes(found: &Value) -> Vec<&str> {
    found["findings"].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect()
}

#[test]
fn this_machine_is_examined() {
    let bench = Bench::new();
    let found = bench.json("");
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert_eq!(found["machine"]["kernel"], kernel.trim());
    assert!(!found["machine"]["cpus_online"].as_str().unwrap().is_empty());
    let text = bench.text("");
    assert!(text.contains(kernel.trim()), "{text}");
    for code in codes(&found) {
        assert!(text.contains(&format!("  {code}: ")), "{code} is missing in {text}");
    }
    for line in text.lines().filter(|line| !line.contains("    do  ") && !line.contains("  undo")) {
        assert!(line.chars().count() <= 120, "{line}");
    }
    assert!(fs::read_dir(bench.path()).unwrap().next().is_none(), "nothing is written");
}

#[test]
fn a_folder_that_looks_like_a_root_is_examined_and_a_weight_decides() {
    let bench = Bench::new();
    bench.plant(&format!("root/{GOVERNOR}"), "powersave\n");
    bench.plant("root/proc/sys/kernel/osrelease", "6.1.0\n");
    let found = bench.json("--root root --only governor");
    assert_eq!(codes(&found), ["governor"]);
    assert_eq!(found["findings"][0]["value"], "powersave");
    let text = bench.text("--root root --only governor");
    assert!(text.contains("\n    do    echo performance | tee /sys/"), "{text}");
    assert!(text.contains("\n    undo  echo powersave | tee /sys/"), "{text}");
    assert_eq!(bench.code("--root root --only governor"), 0);
    assert_eq!(bench.code("--root root --only governor --fail-on info"), 1);
    assert_eq!(bench.code("--root root --only governor --fail-on warning"), 1);
    assert_eq!(bench.code("--root root --only governor --fail-on error"), 0);
    assert_eq!(bench.code("--root root --only governor --ignore governor --fail-on info"), 0);
    let text = bench.text("--root root --ignore governor");
    assert!(text.contains("1 finding was left out by --only or --ignore"), "{text}");
}

/// Invariant (doctor): What is no machine is refused in one line.
#[test]
fn what_is_no_machine_is_refused_in_one_line() {
    let bench = Bench::new();
    bench.plant("cut.json", "{\n  \"snapshot\": 1,\n  \"files\": {\n    \"proc/cmdline\": \"qui");
    bench.plant("list.json", "[]");
    bench.plant("newer.json", "{\"snapshot\": 99, \"files\": {}}");
    bench.plant("empty/readme", "nothing");
    for (flags, expected) in [
        ("nowhere", "no run 'nowhere' in runs"),
        ("last", "no run 'last' in runs"),
        ("cut.json", "--root examines a snapshot file"),
        ("--against nowhere", "no run 'nowhere' in runs"),
        ("--root nowhere", "cannot read nowhere: No such file"),
        ("--root cut.json", "cut.json: line 4 is not part of a snapshot: EOF"),
        ("--root list.json", "list.json: line 1 is not part of a snapshot"),
        ("--root newer.json", "newer.json: it has version 99, and this latlab reads version 1"),
        ("--against newer.json", "use the latlab that wrote it"),
        ("--root empty", "empty does not look like a root folder"),
        ("--only governer", "did you mean governor?"),
        ("--ignore governor,nonsense", "unknown code 'nonsense'"),
        ("--fail-on fatal", "info, warning, error"),
        ("--list --restore", "cannot be used with"),
        ("--root empty last", "cannot be used with"),
        ("--save nowhere/a.json --root newer.json", "use the latlab that wrote it"),
    ] {
        let text = bench.refusal(flags);
        assert!(text.contains(expected), "{flags}: {text}");
    }
}

#[test]
fn the_catalogue_holds_every_code() {
    let bench = Bench::new();
    let (text, all) = (bench.text("--list"), bench.json("--list"));
    let listed: Vec<&str> =
        all.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
    let known: Vec<&str> = latlab_doctor::catalogue().map(|check| check.code).collect();
    assert_eq!(listed, known);
    for code in known {
        assert!(text.contains(&format!("  {code} ")), "{code} is missing in {text}");
    }
}

#[test]
fn a_machine_is_kept_and_compared_with() {
    let bench = Bench::new();
    bench.plant(&format!("root/{GOVERNOR}"), "performance\n");
    bench.plant("root/proc/sys/kernel/osrelease", "6.1.0\n");
    bench.plant("root/boot/config-6.1.0", "CONFIG_HZ=250\nCONFIG_SND=m\n");
    bench.text("--root root --save before.json");
    let kept = bench.text("--root root --save -");
    assert_eq!(kept, fs::read_to_string(bench.path().join("before.json")).unwrap());
    let same = "--root root --against before.json --fail-on info";
    assert!(bench.text(same).starts_with("No changes from before.json to root."));

    bench.plant(&format!("root/{GOVERNOR}"), "powersave\n");
    bench.plant("root/boot/config-6.1.0", "CONFIG_HZ=1000\nCONFIG_SND=y\n");
    let flags = "--root root --against before.json";
    let text = bench.text(flags);
    assert!(text.contains("cpufreq/scaling_governor (0): performance -> powersave"), "{text}");
    assert!(text.contains("    HZ: 250 -> 1000\n"), "{text}");
    assert!(text.contains("counted only: drivers 1"), "{text}");
    let changed = bench.json(flags);
    assert_eq!(changed["config"][1]["options"][0]["what"], "SND");
    assert!(changed["appeared"].as_array().unwrap().iter().any(|one| one["code"] == "governor"));
    let only = format!("{flags} --only governor --fail-on");
    assert_eq!(bench.code(&format!("{only} warning")), 1);
    assert_eq!(bench.code(&format!("{only} error")), 0);
    assert_eq!(bench.code(&format!("{flags} --ignore governor --fail-on info")), 1);
    let back = "--root before.json --against root --only governor --fail-on warning";
    assert_eq!(bench.code(back), 0, "what went is no reason to fail");
}

#[test]
fn a_run_is_examined_anew_and_differs_from_itself_in_nothing() {
    let bench = Bench::new();
    let measured = Command::new(env!("CARGO_BIN_EXE_latlab"))
        .args("run --share --quiet --policy other --idle-states system --threads 1".split(' '))
        .args("--cycles 50 --warm-up 0 --name short".split(' '))
        .current_dir(bench.path())
        .env_remove("LATLAB_RUNS")
        .output()
        .unwrap();
    assert!(measured.status.success(), "{measured:?}");
    let found = bench.json("last");
    let folder = fs::read_dir(bench.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    let run: Value = serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    assert_eq!(run["doctor"], found["findings"]);
    assert_eq!(run["machine"]["kernel"], found["machine"]["kernel"]);
    assert!(bench.text("short").starts_with("Machine of run 2"));
    let nothing = bench.text("short --against last --fail-on info");
    assert!(nothing.starts_with("No changes from 2"), "{nothing}");
    let path = folder.display();
    assert!(
        bench.text(&format!("{path} --against {path}/snapshot.json")).starts_with("No changes")
    );
    let hint = bench.refusal(&format!("--root {path}"));
    assert!(hint.contains("is a run folder: use `latlab doctor"), "{hint}");
    // The agent is another process at another time, so compare only what cannot change.
    let now = bench.json("--against last");
    let facts = now["machine"].as_array().unwrap().iter();
    assert!(!facts.map(|one| one["what"].as_str().unwrap()).any(|what| what.starts_with("kernel")));
}

#[test]
fn a_run_without_kernel_files_says_so() {
    let bench = Bench::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recordings/ct24_h40.txt");
    let imported = bench.latlab(&format!("import {} --name imported", file.display()));
    assert!(imported.status.success(), "{imported:?}");
    let text = bench.refusal("imported");
    assert!(text.contains("has no snapshot.json"), "{text}");
}
