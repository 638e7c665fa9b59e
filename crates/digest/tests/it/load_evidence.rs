//! Figures from recorded outputs, and the judgement of loads.

use latlab_digest::load::{
    BUILTIN_LOADS, Definition, LoadRecord, MeasuredTime, RateReader, resolve,
};
use latlab_model::Nanos;
use latlab_model::load::{
    ExitStatus, Load, LoadBegin, LoadEnd, LoadLine, LoadRun, LoadSample, LostCpus, LostPriority,
};
use latlab_model::run::Finding;

fn load(words: &str) -> Load {
    let name = latlab_digest::load::name_of(words);
    let (_, text) = BUILTIN_LOADS.iter().find(|(known, _)| *known == name).expect("a shipped one");
    resolve(words, &Definition::parse(name, text).unwrap(), None).unwrap()
}

/// Name, subject, unit, count and last value of each figure in a recorded output.
fn figures(words: &str, output: &str) -> Vec<String> {
    let mut reader = RateReader::new(&load(words).rates);
    output.lines().for_each(|line| drop(reader.read(line, false)));
    let rates = reader.rates().into_iter();
    let of = |of: Option<String>| of.map(|of| format!(" of {of}")).unwrap_or_default();
    rates.map(|r| format!("{}{} {}x {} {}", r.name, of(r.of), r.count, r.last, r.unit)).collect()
}

#[test]
fn the_figures_of_real_outputs_are_found() {
    assert_eq!(
        figures("hackbench", include_str!("outputs/hackbench-2.4.txt")),
        ["time of a pass 1x 0.011 s"]
    );
    assert_eq!(
        figures("stressapptest", include_str!("outputs/stressapptest-1.0.6.txt")),
        [
            "rate of Memory Copy 1x 1115.11 MB/s",
            "rate of Net Copy 1x 244.02 MB/s",
            "rate of all 1x 1231.4 MB/s",
        ]
    );
    assert_eq!(
        figures("stress-ng,stressors=x", include_str!("outputs/stress-ng-0.15.06.txt")),
        ["operations of cpu 1x 434.18 1/s", "operations of vm 1x 6593.41 1/s"]
    );
    assert_eq!(
        figures("fio", include_str!("outputs/fio-3.33.txt"))[0],
        "accesses of read 3x 11900 1/s"
    );
    assert_eq!(
        figures("iperf3", include_str!("outputs/iperf-3.12.txt")),
        ["bit rate of 5 4x 14000000000 bit/s"]
    );
    assert_eq!(
        figures("cyclictest", include_str!("outputs/cyclictest-2.4.txt")),
        ["observed maximum of 0 1x 153 us"]
    );
}

const SECOND: i64 = 1_000_000_000;
const WINDOW: MeasuredTime =
    MeasuredTime { from: Nanos(2 * SECOND), to: Nanos(12 * SECOND), whole: true };

/// Ten seconds of hackbench, each with this percentage of a CPU, and these switches per second.
fn gathered(shares: &[i64], switches: u64) -> LoadRecord {
    gathered_of("hackbench", shares, switches)
}

fn gathered_of(words: &str, shares: &[i64], switches: u64) -> LoadRecord {
    let mut gathered = LoadRecord::new(&load(words));
    gathered.begin(LoadBegin {
        load: 0,
        program: "/usr/bin/hackbench".into(),
        version: "hackbench V 2.40\nUsage:".into(),
        placement: String::new(),
        started_ns: Nanos(SECOND / 2),
        shown_ns: Some(Nanos(SECOND)),
    });
    let (mut cpu, mut evidence) = (0, 7_000);
    for (second, share) in (1..).zip(std::iter::once(&0).chain(shares)) {
        cpu += share * SECOND / 100;
        evidence += switches;
        let (at_ns, cpu_ns) = (Nanos(second * SECOND), Nanos(cpu));
        let evidence = Some(evidence);
        gathered.sample(LoadSample { load: 0, at_ns, processes: 9, cpu_ns, evidence });
    }
    gathered
}

fn end(at: i64, by_itself: bool, code: i32) -> LoadEnd {
    LoadEnd {
        load: 0,
        ended_ns: Nanos(at * SECOND),
        by_itself,
        status: ExitStatus { code: Some(code), signal: None },
        restarts: 3,
        gap_ns: Nanos(5_000),
        killed: 0,
        left: 0,
        placement: String::new(),
        lost_cpus: None,
        lost_priority: None,
        output_bytes: 100,
        lines_dropped: 0,
        last_lines: vec!["fork() failed".into(), "".into()],
    }
}

fn judge(mut gathered: LoadRecord, end: Option<LoadEnd>) -> (LoadRun, Vec<Finding>) {
    end.into_iter().for_each(|end| gathered.end(end));
    gathered.finish(&WINDOW)
}

fn codes(judged: &(LoadRun, Vec<Finding>)) -> Vec<&str> {
    let warned = ["load-not-ended", "load-paused"];
    assert!(judged.1.iter().all(|one| one.invalidates() || warned.contains(&one.code())));
    judged.1.iter().map(|one| one.code()).collect()
}

#[test]
fn a_load_that_ran_all_the_time_has_its_figures_and_no_findings() {
    let mut ran = gathered(&[150; 12], 9_000);
    for (at, text) in [(3, "Time: 1.5"), (4, "Time: 2.5"), (5, "Sending"), (13, "Time: 0.1")] {
        let (at_ns, after_end) = (Nanos(at * SECOND), at > 12);
        ran.line(&LoadLine { load: 0, at_ns, after_end, text: text.into() });
    }
    let judged = judge(ran, Some(end(13, false, 0)));
    assert_eq!(codes(&judged), [""; 0]);
    let run = judged.0;
    assert_eq!(run.version.as_deref(), Some("2.40"));
    let share = run.cpu_share.unwrap();
    assert_eq!((share.min, share.mean, share.max), (1.5, 1.5, 1.5));
    let evidence = run.evidence.unwrap();
    assert_eq!((evidence.per_second.mean, evidence.unit.as_str()), (9_000.0, "1/s"));
    assert_eq!((run.rates[0].count, run.rates[0].mean), (2, 2.0));
    assert_eq!((run.restarts, run.gap_ns), (3, Nanos(5_000)));
}

#[test]
fn a_command_that_stood_still_is_told() {
    let told = |shares: [i64; 12]| {
        let ran = gathered_of("command,run=true", &shares, 0);
        judge(ran, Some(end(13, false, 0))).1
    };
    let mut shares = [90; 12];
    shares[5..8].fill(0);
    let findings = told(shares);
    assert_eq!(findings[0].code(), "load-paused");
    let paused = serde_json::to_value(&findings[0]).unwrap();
    let times = (paused["idle_ns"].as_i64(), paused["watched_ns"].as_i64());
    assert_eq!(times, (Some(3_000_000_000), Some(10_000_000_000)));
    assert_eq!(told([0; 12]), [], "one that never took any only waits");
    shares[6] = 90;
    assert_eq!(told(shares), [], "a short rest");
}

#[test]
fn what_went_wrong_is_told_and_invalidates() {
    let ran = || gathered(&[150; 12], 9_000);
    let died = judge(gathered(&[150; 5], 9_000), Some(end(6, true, 1)));
    assert_eq!(codes(&died), ["load-died"]);
    let death = &serde_json::to_value(&died.1[0]).unwrap()["death"];
    assert_eq!(death["early_ns"].as_i64(), Some(6_000_000_000));
    assert!(death["last_line"].as_str().unwrap().contains("fork() failed"), "{death}");
    assert!(died.0.cpu_share.unwrap().mean < 0.8, "the time behind its end counts");
    assert_eq!(codes(&judge(ran(), Some(end(6, true, 0)))), ["load-ended-early"]);
    assert_eq!(codes(&judge(ran(), None)), ["load-died"], "who watched it was killed");
    assert_eq!(
        codes(&judge(gathered(&[5; 12], 9_000), Some(end(13, false, 0)))),
        ["load-too-weak"]
    );
    let mut paused = [150; 12];
    paused[4..8].fill(0);
    assert_eq!(
        codes(&judge(gathered(&paused, 9_000), Some(end(13, false, 0)))),
        ["load-too-weak"],
        "stopped for four of ten seconds"
    );
    assert_eq!(codes(&judge(gathered(&[150; 12], 3), Some(end(13, false, 0)))), ["load-too-weak"]);
    let left = LoadEnd { left: 2, ..end(13, false, 0) };
    assert_eq!(codes(&judge(ran(), Some(left))), ["load-not-ended"]);
    let never = judge(LoadRecord::new(&load("hackbench")), None);
    assert_eq!(codes(&never), ["load-died"]);
    let moved = LoadEnd { placement: "0-3".into(), ..end(13, false, 0) };
    let moved = judge(ran(), Some(moved));
    assert_eq!((moved.1[0].code(), moved.0.placement.as_str()), ("load-elsewhere", "0-3"));
}

/// Invariant (settings): A load whose threads are given a lower priority while it is measured forbids a pass.
#[test]
fn a_lower_priority_of_a_load_is_told() {
    let lowered = |previous: i64, at: i64| {
        let lost_priority = Some(LostPriority {
            at_ns: Nanos(at * SECOND),
            previous_ns: Nanos(previous * SECOND),
            held: "other 0".into(),
            now: "idle 0".into(),
        });
        let end = LoadEnd { lost_priority, ..end(13, false, 0) };
        judge(gathered(&[150; 12], 9_000), Some(end)).1
    };
    let [finding] = &lowered(4, 5)[..] else { panic!("one finding") };
    assert_eq!(finding.code(), "load-lost-priority");
    assert!(finding.forbids_pass());
    assert_eq!(lowered(59, 60), [], "after the last cycle");
}

/// Invariant (settings): CPUs that a load loses while it is measured are told, whichever look finds them lost.
#[test]
fn cpus_that_a_load_loses_between_two_looks_are_told() {
    let confined = |previous: Option<i64>, at: i64| {
        let (lost, left) = ("0".parse().unwrap(), "1".parse().unwrap());
        let (at_ns, previous_ns) = (Nanos(at * SECOND), previous.map(|at| Nanos(at * SECOND)));
        let lost_cpus = Some(LostCpus { at_ns, previous_ns, lost, left });
        let (_, findings) =
            judge(gathered(&[150; 12], 9_000), Some(LoadEnd { lost_cpus, ..end(13, false, 0) }));
        findings.iter().map(|found| (found.code().to_owned(), found.at_ns)).collect::<Vec<_>>()
    };
    let told_at = |at| [("load-lost-cpus".to_owned(), Some(at))];
    assert_eq!(confined(Some(4), 5), told_at(Nanos(5 * SECOND)));
    assert_eq!(confined(None, 5), told_at(Nanos(5 * SECOND)), "a stream of before");
    assert_eq!(confined(Some(5), 60), told_at(WINDOW.to), "seen at the end only");
    assert_eq!(confined(Some(59), 60), [], "after the last cycle");
    assert_eq!(confined(None, 60), [], "after the last cycle, in a stream of before");
}

#[test]
fn a_load_that_comes_late_is_told() {
    for shown_ns in [None, Some(Nanos(3 * SECOND))] {
        let mut late = LoadRecord::new(&load("command,run=true"));
        late.begin(LoadBegin {
            load: 0,
            program: "/bin/sh".into(),
            version: String::new(),
            placement: "0".into(),
            started_ns: Nanos(SECOND),
            shown_ns,
        });
        assert_eq!(codes(&judge(late, Some(end(13, false, 0)))), ["load-started-late"]);
    }
}

#[test]
fn a_stream_that_broke_off_says_nothing_of_the_end() {
    let broken = MeasuredTime { whole: false, ..WINDOW };
    let (_, findings) = gathered(&[150; 12], 9_000).finish(&broken);
    assert_eq!(findings, []);
}
