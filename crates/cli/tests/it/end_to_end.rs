//! The program as a user starts it: real threads, real signals, real folders.
//!
//! Nothing here asserts how large latencies are; every assertion holds on any machine.

use latlab_model::finding::ConditionFinding;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_latlab");

/// A folder for runs in which the program is started, without asking for privileges.
struct Bench(TempDir);

impl Bench {
    fn new() -> Bench {
        Bench(tempfile::tempdir().unwrap())
    }

    fn command(&self, flags: &str) -> Command {
        // The tests may have been started with signals ignored, as by `nohup`.
        let mut command = Command::new("env");
        command
            .args(["--default-signal", PROGRAM])
            .args(flags.split_whitespace())
            .current_dir(self.0.path())
            .env_remove("LATLAB_RUNS")
            .env("NO_COLOR", "1");
        command
    }

    fn output(&self, flags: &str) -> Output {
        self.command(flags).output().unwrap()
    }

    /// Measures and returns `run.json` and the exit code. Shares CPUs, since tests run in parallel.
    fn run(&self, flags: &str) -> (Value, i32) {
        let output = self.output(&format!("run --share --format json --quiet {flags}"));
        let text = String::from_utf8_lossy(&output.stderr);
        let run = serde_json::from_slice(&output.stdout);
        (run.unwrap_or_else(|error| panic!("{error}: {text}")), output.status.code().unwrap())
    }

    /// Starts a run in the background and waits until it measures.
    fn start(&self, flags: &str) -> Going {
        let child = self
            .command(&format!("run --share --format json --quiet {flags}"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let agent = wait_for("the agent to start", || agent_of(child.id()));
        // A thread gets its name once it is set up.
        wait_for("a measuring thread", || measuring_thread(agent));
        Going { child, agent }
    }

    /// Whether the journal of the current run holds intervals of this many seconds.
    fn intervals(&self, seconds: usize) -> Option<()> {
        let partial = self.folders().into_iter().find(|name| name.ends_with(".partial"))?;
        let journal = fs::read(self.0.path().join("runs").join(partial).join("journal")).ok()?;
        // One thread per CPU that this process may use.
        let threads = std::thread::available_parallelism().unwrap().get();
        let intervals = kinds(&journal).into_iter().filter(|kind| *kind == INTERVAL).count();
        (intervals >= seconds * threads).then_some(())
    }

    fn folders(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path().join("runs")).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }
}

/// The kind of a frame with the counts of one thread and one second.
const INTERVAL: u32 = 5;

/// The kinds of all complete frames in a journal.
fn kinds(mut journal: &[u8]) -> Vec<u32> {
    let mut kinds = Vec::new();
    while let Some((head, rest)) = journal.split_at_checked(12) {
        let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().unwrap());
        let Some(next) = rest.get(word(0) as usize..) else { break };
        kinds.push(word(4));
        journal = next;
    }
    kinds
}

/// A run in the background.
struct Going {
    child: Child,
    agent: u32,
}

impl Going {
    fn end(self) -> (Value, i32) {
        let output = self.child.wait_with_output().unwrap();
        let run = serde_json::from_slice(&output.stdout).unwrap();
        (run, output.status.code().unwrap())
    }
}

fn signal(name: &str, process: u32) {
    let status = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(status.unwrap().success());
}

/// Waits for a state. The minute only allows for a busy machine; it is no measurement.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("waited in vain for {what}");
}

fn agent_of(parent: u32) -> Option<u32> {
    let parent_line = format!("PPid:\t{parent}\n");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(|process: &u32| {
        let file = |name: &str| fs::read_to_string(format!("/proc/{process}/{name}"));
        file("status").is_ok_and(|status| status.contains(&parent_line))
            && file("cmdline").is_ok_and(|line| line.contains("\0agent\0"))
    })
}

fn measuring_thread(agent: u32) -> Option<PathBuf> {
    let threads = fs::read_dir(format!("/proc/{agent}/task")).ok()?.flatten();
    threads.map(|entry| entry.path()).find(|thread| {
        fs::read_to_string(thread.join("comm")).is_ok_and(|name| name.starts_with("latlab/"))
    })
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

fn threads(run: &Value) -> &Vec<Value> {
    run["threads"].as_array().unwrap()
}

fn codes(run: &Value) -> Vec<&str> {
    let findings = run["findings"].as_array().unwrap();
    let codes = findings.iter().map(|finding| finding["code"].as_str().unwrap());
    // Ignore findings about the machine's activity: tests run in parallel.
    let its_own = |code: &str| {
        let of_conditions = ConditionFinding::ROWS.iter().any(|row| row.code == code);
        of_conditions
            || ["cpus-shared", "frequent-overruns", "own-threads-in-largest"].contains(&code)
    };
    codes.filter(|code| !its_own(code)).collect()
}

const ORDINARY: &str = "--policy other --idle-states system";

#[test]
fn every_thread_runs_the_cycles_it_was_asked_for() {
    let bench = Bench::new();
    let (run, code) = bench
        .run(&format!("{ORDINARY} --cycles 250 --threads 5 --period-step 300us --warm-up 10ms"));
    assert_eq!(code, 0);
    assert_eq!(run["ended"], "finished");
    let periods: Vec<u64> =
        threads(&run).iter().map(|thread| number(&thread["setup"]["period_ns"])).collect();
    assert_eq!(periods, [997_000, 1_297_000, 1_597_000, 1_897_000, 2_197_000]);
    for thread in threads(&run) {
        assert_eq!(thread["summary"]["cycles"], 250);
        assert_eq!(thread["end"]["cycles"], 250);
        let (overruns, due) = (&thread["summary"]["overruns"], &thread["summary"]["releases"]);
        assert_eq!(number(overruns) + 250, number(due), "every release is accounted for");
    }
}

/// Invariant (kills): The program survives kills and stalls of its processes.
#[test]
fn a_stall_of_the_measuring_process_is_counted_release_by_release() {
    for (policy, counts_served) in [("skip", false), ("catch-up", true)] {
        let bench = Bench::new();
        let flags = format!("{ORDINARY} --for 4s -i 1ms --deadline 100ms --overruns {policy}");
        let going = bench.start(&format!("{flags} --warm-up 0s"));
        std::thread::sleep(Duration::from_millis(500));
        signal("STOP", going.agent);
        std::thread::sleep(Duration::from_millis(400));
        signal("CONT", going.agent);
        let (run, code) = going.end();
        assert_eq!(code, 1, "the deadline was missed");
        for thread in threads(&run) {
            let summary = &thread["summary"];
            let due = number(&summary["releases"]);
            assert_eq!(due, 4000, "{policy}: releases in 4 s at 1 ms");
            assert!(number(&summary["overruns"]) >= 350, "{policy}: {summary}");
            assert!(number(&summary["max_ns"]) >= 350_000_000, "{policy}: {summary}");
            // About 300 of the 400 releases during the stall were more than 100 ms late.
            assert!(number(&summary["misses"]) >= 250, "{policy}: {summary}");
            assert_eq!(number(&summary["cycles"]) == due, counts_served, "{policy}: {summary}");
        }
    }
}

#[test]
fn an_interrupt_ends_cleanly_and_keeps_what_there_is() {
    for (name, deadline, expected) in [("INT", "", 0), ("TERM", "--deadline 10s", 4)] {
        let bench = Bench::new();
        let going = bench.start(&format!("{ORDINARY} --for 1h --warm-up 0s {deadline}"));
        wait_for("an interval in the journal", || bench.intervals(1));
        signal(name, going.child.id());
        let (run, code) = going.end();
        assert_eq!((code, &run["ended"]), (expected, &Value::from("interrupted")));
        assert!(number(&run["total"]["cycles"]) > 0);
        assert!(codes(&run).iter().all(|code| *code != "stream-lost"));
        assert_eq!(bench.folders(), [run["id"].as_str().unwrap()], "nothing is left beside it");
    }
}

#[test]
fn an_interrupt_ends_a_sleep_of_hours() {
    let bench = Bench::new();
    let flags = format!("{ORDINARY} -i 10h --phase aligned --warm-up 0s --threads 1");
    let going = bench.start(&flags);
    // The first release is immediate, the second after ten hours.
    std::thread::sleep(Duration::from_secs(1));
    let asked = Instant::now();
    signal("INT", going.child.id());
    let (run, code) = going.end();
    assert!(asked.elapsed() < Duration::from_secs(9), "{:?}", asked.elapsed());
    assert_eq!((code, &run["ended"]), (0, &Value::from("interrupted")));
    assert_eq!(run["total"]["cycles"], 1);
}

#[test]
fn a_run_that_is_ended_in_its_warm_up_has_measured_nothing_and_leaves_nothing() {
    let bench = Bench::new();
    let going = bench.start(&format!("{ORDINARY} --for 1h --warm-up 1h"));
    signal("INT", going.child.id());
    let output = going.child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("nothing was measured") && text.lines().count() == 1, "{text}");
    assert_eq!(bench.folders(), Vec::<String>::new());
}

#[test]
fn a_killed_agent_leaves_a_run_that_says_so() {
    let bench = Bench::new();
    let going = bench.start(&format!("{ORDINARY} --for 1h --warm-up 0s"));
    wait_for("intervals of two seconds", || bench.intervals(2));
    signal("KILL", going.agent);
    let (run, code) = going.end();
    assert_eq!((code, &run["ended"]), (3, &Value::from("lost")));
    assert_eq!(run["recovered"], false, "the conductor lived");
    assert!(codes(&run).contains(&"stream-lost"));
    // What was drained before the kill is stored: all but the last second or so.
    assert!(number(&run["total"]["releases"]) >= 1000);
}

/// Invariant (kills): The program survives kills and stalls of its processes.
#[test]
fn a_killed_conductor_is_recovered_by_the_next_command_and_its_agent_ends() {
    let bench = Bench::new();
    let mut going = bench.start(&format!("{ORDINARY} --for 1h --warm-up 0s --name cut"));
    wait_for("intervals of two seconds", || bench.intervals(2));
    signal("KILL", going.child.id());
    going.child.wait().unwrap();
    wait_for("the agent to end", || measuring_thread(going.agent).is_none().then_some(()));
    assert!(bench.folders()[0].ends_with("_cut.partial"));
    let list = bench.output("list --format json");
    assert!(String::from_utf8_lossy(&list.stderr).contains("recovered"));
    let entries: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(entries[0]["state"], "finished");
    assert_eq!(entries[0]["recovered"], true);
    assert!(number(&entries[0]["total"]["cycles"]) > 0);
    assert!(!bench.folders()[0].starts_with('.'));
}

#[test]
fn a_latency_above_the_limit_ends_the_run() {
    let bench = Bench::new();
    let (run, code) = bench.run(&format!("{ORDINARY} --for 1h --stop-above 1us"));
    assert_eq!((code, &run["ended"]), (1, &Value::from("stop-above")));
    assert!(number(&run["total"]["max_ns"]) > 1_000);
}

#[test]
fn a_spike_starts_the_command_and_its_cost_is_counted() {
    let bench = Bench::new();
    let output = bench
        .command(&format!("run --share --format json -q {ORDINARY} --for 2500ms --warm-up 0s"))
        .args(["--spike-above", "1us", "--on-spike", "cat >>spikes.json; echo heard"])
        .output()
        .unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).expect("the stream stays clean");
    let hook = &run["agent"]["spike_hook"];
    // At most one start a second; every spike skipped in between is counted.
    assert!((1..=4).contains(&number(&hook["started"])), "{hook}");
    assert!(number(&hook["suppressed"]) > 100, "{hook}");
    assert_eq!(hook["failed"], 0);
    let told = fs::read_to_string(bench.0.path().join("spikes.json")).unwrap();
    for line in told.lines() {
        let spike: Value = serde_json::from_str(line).unwrap();
        assert!(number(&spike["latency_ns"]) > 1_000);
    }
    assert_eq!(told.lines().count() as u64, number(&hook["started"]));
}

#[test]
fn what_does_not_measure_stays_off_the_measured_cpus() {
    let allowed = fs::read_to_string("/proc/self/status").unwrap();
    let allowed = field_of(&allowed, "Cpus_allowed_list:").to_string();
    let Some((_, last)) = allowed.rsplit_once(['-', ',']) else {
        println!("SKIPPED: helpers beside a measured CPU: this machine has one CPU");
        return;
    };
    let bench = Bench::new();
    let going = bench.start(&format!("{ORDINARY} --for 1h --cpus {last} --warm-up 0s"));
    let stays_off = |process: u32| {
        let threads = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
        let mut states =
            threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
        states.all(|status| {
            let measures = field_of(&status, "Name:").starts_with("latlab/");
            measures == field_of(&status, "Cpus_allowed_list:").ends_with(last)
        })
    };
    // The conductor moves off once it knows which CPUs are measured.
    for process in [going.agent, going.child.id()] {
        wait_for("all but what measures to leave the CPU", || stays_off(process).then_some(()));
    }
    signal("INT", going.child.id());
    let _ = going.child.wait_with_output();
}

fn field_of<'a>(status: &'a str, name: &str) -> &'a str {
    status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim()
}

#[test]
fn mistakes_are_one_line_with_exit_code_2_and_leave_nothing() {
    let bench = Bench::new();
    for (flags, expected) in [
        ("run --cpus 4000", "is not online"),
        ("run --helpers-on 4000", "is not online"),
        ("run --policy deadline --cpus 0", "cannot be pinned"),
        ("run --policy fofo", "expected fifo, rr"),
        ("run --for 0s", "more than 0"),
        ("run --for 1s --period 2s", "no release would be due"),
        ("run --threads 0", "expected 1 to"),
        ("show nothing-like-this", "no run"),
        ("report last", "no run"),
    ] {
        let output = bench.output(flags);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags}: {text}");
        assert!(text.contains(expected), "{flags}: {text}");
        assert_eq!(text.lines().count(), 1, "{flags}: {text}");
        assert!(output.stdout.is_empty());
    }
    assert_eq!(bench.folders(), Vec::<String>::new());
}

#[test]
fn without_rights_the_remedy_is_one_line_and_exit_code_3() {
    let bench = Bench::new();
    let folder = bench.0.path().join("open");
    fs::create_dir(&folder).unwrap();
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    let mut command = match is_root {
        true => {
            // Root without capabilities, as in a container.
            let mut command = Command::new("setpriv");
            command.args(["--bounding-set=-all", "--inh-caps=-all", PROGRAM]);
            command
        }
        false => Command::new(PROGRAM),
    };
    let output =
        command.args(["run", "--share", "--for", "1s", "--out"]).arg(&folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(text.contains("--policy other"), "{text}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing half-written");
}

#[test]
fn other_mechanisms_and_clocks_account_for_every_release() {
    for flags in [
        "--mechanism timerfd",
        "--mechanism posix-timer",
        "--mechanism posix-timer --clock tai --overruns catch-up",
        "--mechanism timerfd --clock realtime --overruns catch-up",
        "--clock tai",
    ] {
        let bench = Bench::new();
        let (run, _) =
            bench.run(&format!("{ORDINARY} {flags} --for 500ms -i 500us --warm-up 50ms"));
        for thread in threads(&run) {
            let due = number(&thread["summary"]["releases"]);
            assert_eq!(due, 1000, "{flags}");
        }
    }
    let bench = Bench::new();
    let (run, _) = bench.run(&format!("{ORDINARY} --mechanism relative --cycles 100"));
    assert_eq!(run["total"]["overruns"], Value::Null, "relative sleep has no releases to miss");
    assert_eq!(run["total"]["underflow"], 0, "nothing of the warm-up is counted");
    assert_eq!(run["total"]["cycles"].as_u64(), Some(100 * threads(&run).len() as u64));
}

#[test]
fn the_commands_tell_the_same_of_a_run() {
    let bench = Bench::new();
    let (run, _) = bench.run(&format!("{ORDINARY} --cycles 200 --name same --note hello"));
    let id = run["id"].as_str().unwrap();
    for spec in ["last", id, "same", &format!("runs/{id}")] {
        let shown = bench.output(&format!("show {spec} --format json"));
        assert_eq!(serde_json::from_slice::<Value>(&shown.stdout).unwrap(), run, "{spec}");
    }
    let listed = bench.output("list");
    assert!(String::from_utf8_lossy(&listed.stdout).contains(id));
    let written = bench.output("report last -o page.html --format json");
    let told: Value = serde_json::from_slice(&written.stdout).unwrap();
    let page = fs::read_to_string(bench.0.path().join("page.html")).unwrap();
    assert_eq!(
        (told["bytes"].as_u64(), told["runs"][0].as_str()),
        (Some(page.len() as u64), Some(id))
    );
    assert!(page.contains("hello") && page.contains(id));
    let mut names = fs::read_dir(bench.0.path()).unwrap().map(|file| file.unwrap().file_name());
    assert!(!names.any(|name| name.to_string_lossy().starts_with(".page.html.")));
    let printed = bench.output("report last -o -");
    assert_eq!(printed.stdout, page.as_bytes());
    // A pipe or device is written into, never replaced: root has only one /dev/null.
    let pipe = bench.0.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    assert!(bench.output("report last -o pipe").status.success());
    assert_eq!(reader.join().unwrap(), page);
    assert!(!fs::metadata(&pipe).unwrap().is_file());
    let nowhere = bench.output("report last -o /nowhere/page.html");
    assert_eq!(nowhere.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("cannot write /nowhere/page.html"));
}

#[test]
fn texts_of_a_run_cannot_steer_the_terminal_or_the_page() {
    let bench = Bench::new();
    let flags = format!("run --share -q {ORDINARY} --cycles 50 --warm-up 0s --name evil");
    let mut refused = bench.command(&flags);
    refused.args(["--note", "red \u{1b}[31m"]);
    let refused = refused.output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr);
    assert_eq!((refused.status.code(), text.lines().count()), (Some(2), 1), "{text}");
    assert!(text.contains("a control character (U+001B)") && !text.contains('\u{1b}'), "{text}");
    let mut run = bench.command(&flags);
    run.args(["--note", "crimson <script>alert(1)</script>"]);
    assert!(run.output().unwrap().status.success());
    let text_of = |words: &str| String::from_utf8(bench.output(words).stdout).unwrap();
    let (text, page) = (text_of("show last --all"), text_of("report -o -"));
    assert!(text.contains("crimson <script>alert(1)"), "{text}");
    assert!(page.contains("crimson") && !page.contains("<script>alert"), "{page}");
}

#[test]
fn folders_that_are_no_runs_do_not_hide_those_that_are() {
    let bench = Bench::new();
    bench.run(&format!("{ORDINARY} --cycles 50 --name good"));
    let broken = bench.0.path().join("runs/20260101T000000Z_broken");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("run.json"), "{").unwrap();
    let pipe = bench.0.path().join("runs/20260102T000000Z_pipe");
    fs::create_dir(&pipe).unwrap();
    assert!(Command::new("mkfifo").arg(pipe.join("run.json")).status().unwrap().success());
    let listed = bench.output("list");
    let text = String::from_utf8_lossy(&listed.stdout);
    assert!(text.contains("_good") && text.contains("20260101T000000Z_broken: cannot be read"));
    assert!(text.contains("20260102T000000Z_pipe: cannot be read"));
    assert_eq!(listed.status.code(), Some(0));
}

/// Invariant (settings): Two latlabs do not measure the same CPUs without saying so.
#[test]
fn a_second_run_on_the_same_cpus_is_told_who_holds_them() {
    let bench = Bench::new();
    let going = bench.start(&format!("{ORDINARY} --for 60s"));
    let second = bench.output(&format!("run {ORDINARY} --for 1s"));
    let text = String::from_utf8(second.stderr).unwrap();
    assert_eq!((second.status.code(), text.lines().count()), (Some(3), 1), "{text}");
    // It names the command of the user, which may be that of another test.
    assert!(text.contains("measured by '") && text.contains("/latlab "), "{text}");
    assert!(!text.contains(" agent ") && text.contains("(process "), "{text}");
    assert!(text.contains("--share"), "{text}");
    let (beside, _) = bench.run(&format!("{ORDINARY} --for 1s"));
    assert!(beside["findings"].to_string().contains("cpus-shared"), "{}", beside["findings"]);
    signal("INT", going.child.id());
    assert_eq!(going.end().0["ended"], "interrupted");
}

/// Invariant (kills): A deleted folder, a closed terminal and a disk that is too small are handled.
#[test]
fn a_closed_terminal_ends_a_run_unless_it_is_to_keep_going() {
    let bench = Bench::new();
    for (flags, ended) in [("--for 1h", "interrupted"), ("--for 3s --keep-going", "finished")] {
        let going = bench.start(&format!("{ORDINARY} --warm-up 0s {flags}"));
        // A run that ends before its first cycle has measured nothing.
        wait_for("an interval", || bench.intervals(1));
        signal("HUP", going.child.id());
        signal("HUP", going.agent);
        assert_eq!(going.end().0["ended"], ended, "{flags}");
    }
}

/// Invariant (kills): A deleted folder, a closed terminal and a disk that is too small are handled.
#[test]
fn a_folder_that_is_deleted_during_the_run_comes_back_whole() {
    let bench = Bench::new();
    let going = bench.start(&format!("{ORDINARY} --cycles 4000 --samples"));
    fs::remove_dir_all(bench.0.path().join("runs")).unwrap();
    let (run, code) = going.end();
    // In a debug build, the loop may touch a page of the program for the first time.
    let mut codes = codes(&run);
    codes.retain(|code| *code != "page-faults");
    assert_eq!((codes, code), (vec!["folder-deleted"], 0));
    for thread in threads(&run) {
        assert_eq!(number(&thread["summary"]["cycles"]), 4000);
    }
    assert_eq!(number(&run["losses"]["samples"]), 0);
    assert_eq!(bench.folders(), [run["id"].as_str().unwrap()]);
}

/// Invariant (kills): A deleted folder, a closed terminal and a disk that is too small are handled.
#[test]
fn a_run_that_the_disk_cannot_hold_is_not_begun() {
    let bench = Bench::new();
    let output = bench.output("run --samples --period 1us --for 9000d");
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), text.lines().count()), (Some(3), 1), "{text}");
    assert!(text.contains("samples take up to") && text.contains("are free in"), "{text}");
    assert!(bench.folders().is_empty());
}

/// A harmless number that only root can change.
const KERNEL_FILE: &str = "/proc/sys/vm/stat_interval";

/// Invariant (undo): Every change is undone, after a kill too.
#[test]
fn a_kernel_file_is_put_back_by_the_end_and_after_a_kill_by_the_next_command() {
    let before = fs::read_to_string(KERNEL_FILE).unwrap();
    if fs::write(KERNEL_FILE, &before).is_err() {
        println!("SKIPPED: changing kernel files needs root");
        return;
    }
    let bench = Bench::new();
    let flags = format!("{ORDINARY} --set vm.stat_interval=7 --for");
    let (run, _) = bench.run(&format!("{flags} 1s"));
    let settings = run["applied"]["settings"].as_array().unwrap();
    let setting = settings.iter().find(|one| one["what"] == KERNEL_FILE).unwrap();
    assert_eq!((setting["applied"].as_str(), codes(&run)), (Some("7"), vec![]));
    assert_eq!(fs::read_to_string(KERNEL_FILE).unwrap(), before);

    let going = bench.start(&format!("{flags} 60s"));
    assert_eq!(fs::read_to_string(KERNEL_FILE).unwrap().trim(), "7");
    signal("KILL", going.agent);
    signal("KILL", going.child.id());
    going.child.wait_with_output().unwrap();
    // The end of the killed processes may become visible a moment later.
    wait_for("the next command to put it back", || {
        let output = bench.output("list");
        assert!(output.status.success());
        (fs::read_to_string(KERNEL_FILE).unwrap() == before).then_some(())
    });
    let output = bench.output("doctor --restore");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "Nothing to restore.\n");
}
