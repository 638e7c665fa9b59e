//! Runs with a known, injected cause: what is named first, and what is advised first.

use crate::stored::store;
use latlab_digest::testing::{FIRST_RELEASE, SyntheticRun, thread_end};
use latlab_model::explanation::{
    BlamePart, Cause, CauseKind, CpuBefore, RunExplanation, SpikeBlame, TracedThread, WakePhase,
};
use latlab_model::flight::SpikeTally;
use latlab_model::frame::{Message, Spike, Spikes};
use latlab_model::nanos::{MICROSECOND, SECOND};
use latlab_model::plan::{Method, Policy, Spin, Who};
use latlab_model::snapshot::Content;
use latlab_model::telemetry::{Reading, Series, metric};
use latlab_model::{Histogram, Nanos, Plan, Run, Snapshot};
use latlab_report::stored::LoadedRun;
use latlab_report::{Style, summarise};
use latlab_store::Store;
use latlab_trace::CauseTable;
use std::fs;
use std::path::Path;

const SECONDS: u32 = 20;
/// Cycles per second, without the injected ones.
const CYCLES: usize = 1_000;
/// An undisturbed wake-up.
const USUAL: Nanos = Nanos(2_100);
/// The second of the injected event.
const THEN: u32 = 7;

/// A machine from `fixtures/roots`, with some of its files replaced.
fn machine(name: &str, others: &[(&str, &str)]) -> Snapshot {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/roots");
    let json = fs::read(folder.join(format!("{name}.json"))).unwrap();
    let mut machine = Snapshot::from_json(&json).unwrap();
    for (file, text) in others {
        machine.files.insert(file.to_string(), Content::Text(text.to_string()));
    }
    machine
}

/// A counter or a gauge, and its value by second.
struct Planted {
    metric: &'static str,
    subject: &'static str,
    value: fn(u32) -> i64,
}

/// A run of a thread on CPU 0 of the machine with this telemetry, and one late wake-up in the
/// middle of each of these seconds.
fn run(snapshot: Snapshot, deadline: Nanos, late: &[(u32, Nanos)], told: &[Planted]) -> Run {
    let synthetic = SyntheticRun {
        threads: 1,
        seconds: SECONDS,
        deadline: Some(deadline),
        ..SyntheticRun::default()
    };
    let mut messages = Vec::new();
    for message in synthetic.messages() {
        match message {
            Message::Interval(mut interval) => {
                let second = ((interval.start_ns - FIRST_RELEASE).0 / SECOND.0) as u32;
                let latencies: Vec<Nanos> = late
                    .iter()
                    .filter(|(then, _)| *then == second)
                    .map(|(_, late)| *late)
                    .collect();
                let usual = std::iter::repeat_n(USUAL, CYCLES);
                interval.counts = Histogram {
                    misses: latencies.iter().filter(|late| **late > deadline).count() as u64,
                    ..usual.chain(latencies.iter().copied()).collect()
                };
                messages.push(Message::Interval(interval));
                let release_ns = FIRST_RELEASE + SECOND * second.into() + Nanos(SECOND.0 / 2);
                let spike = |latency_ns| Spike { latency_ns, release_ns };
                let spikes = latencies.into_iter().map(spike).collect();
                messages.push(Message::Spikes(Spikes { thread: 0, spikes }));
                messages.push(reading(second, told));
            }
            Message::Spikes(_) => {}
            Message::Plan(plan) => {
                let policy = Some(Policy::Fifo { priority: 90 });
                messages.push(Message::Plan(Plan { who: Who { policy, ..plan.who }, ..plan }));
            }
            Message::Machine(_) => {
                messages.push(Message::Machine(latlab_doctor::machine(&snapshot)));
            }
            Message::ThreadEnd(_) => {
                let cycles = CYCLES * SECONDS as usize + late.len();
                messages.push(Message::ThreadEnd(thread_end(0, cycles as u64, 0)));
            }
            Message::Prepared(_) => {
                messages.push(message);
                messages.push(Message::Snapshot(snapshot.clone()));
                messages.extend(told.iter().zip(0..).map(series));
            }
            other => messages.push(other),
        }
    }
    let root = tempfile::tempdir().unwrap();
    let stored = store(&Store::new(root.path()), "20261121T160501Z_planted", messages);
    LoadedRun::read(&stored.path).unwrap().run
}

fn series((one, number): (&Planted, u32)) -> Message {
    Message::Series(Series {
        number,
        metric: one.metric.to_string(),
        subject: one.subject.to_string(),
        unit: "1".to_string(),
        counter: true,
        steady: true,
    })
}

fn reading(second: u32, told: &[Planted]) -> Message {
    let values = told.iter().zip(0..).map(|(one, number)| (number, Some((one.value)(second))));
    Message::Reading(Reading {
        at_ns: FIRST_RELEASE + SECOND * second.into(),
        sequence: second.into(),
        whole: true,
        values: values.collect(),
        earlier: Vec::new(),
        instants: Vec::new(),
    })
}

fn shown(run: &Run) -> String {
    summarise(run, "", 200, Style { colour: false })
}

/// A counter of a single event at [`THEN`].
fn once(second: u32) -> i64 {
    i64::from(second > THEN)
}

fn us(count: i64) -> Nanos {
    MICROSECOND * count
}

/// The first entry of the list under this heading, and the first advice; empty if there is none.
fn first(run: &Run, head: &str) -> (String, String) {
    let text = shown(run);
    let mut lines = text.lines();
    let cause = lines.by_ref().find(|line| line.starts_with(head)).and_then(|_| lines.next());
    let cause = cause.unwrap_or_default().trim_start().trim_start_matches("warning ").to_string();
    let advice = text.lines().find_map(|line| line.strip_prefix("Try first "));
    (cause, advice.unwrap_or_default().to_string())
}

/// Panics if the first cause or the first advice is another one.
fn expect(run: &Run, cause: &str, advice: &str) {
    let found = first(run, "Possible causes");
    assert!(found.0.starts_with(cause), "{}", shown(run));
    assert_eq!(found.1, advice, "{}", shown(run));
}

const EXPLAIN: &str =
    "[explain]: Measure again with `--explain`, which names what delays the thread.";

/// A real-time kernel with RT throttling; later ones have a fair server instead.
fn realtime() -> Snapshot {
    machine(
        "debian-12-rt-amd64",
        &[
            ("proc/sys/kernel/sched_rt_runtime_us", "950000"),
            ("proc/sys/kernel/sched_rt_period_us", "1000000"),
        ],
    )
}

#[test]
fn six_microseconds_on_a_real_time_kernel_are_not_blamed_on_its_settings() {
    let run = run(realtime(), us(5), &[(THEN, us(6))], &[]);
    expect(&run, "", EXPLAIN);
    assert!(!shown(&run).contains("throttl"), "{}", shown(&run));
}

#[test]
fn milliseconds_under_a_kernel_that_does_not_preempt_are_blamed_on_that() {
    let files = [("sys/kernel/debug/sched/preempt", "(none) voluntary full")];
    let run =
        run(machine("debian-6.12-amd64", &files), us(100), &[(3, us(800)), (THEN, us(2_600))], &[]);
    expect(
        &run,
        "The kernel is not PREEMPT_RT; its preemption model is 'none'",
        "[preempt-mode]: echo full | tee /sys/kernel/debug/sched/preempt",
    );
}

#[test]
fn gaps_of_a_thread_that_never_sleeps_are_not_blamed_on_the_preemption_model() {
    let files = [("sys/kernel/debug/sched/preempt", "(none) voluntary full")];
    let machine = machine("debian-6.12-amd64", &files);
    let mut run = run(machine, us(100), &[(THEN, us(2_600))], &[]);
    run.asked.method = Method::Spin(Spin::default());
    let text = shown(&run);
    assert!(text.contains("[not-realtime]") && !text.contains("[preempt-mode]"), "{text}");
}

#[test]
fn a_time_of_smaller_latencies_is_no_cause() {
    let busy = |second: u32| if second > THEN { 100 } else { 0 };
    let planted = |subject, value| Planted { metric: metric::CPU_TIME, subject, value };
    let time = [
        planted("cpu0 user", busy),
        planted("cpu0 idle", |second| {
            i64::from(second) * 100 - if second > THEN { 100 } else { 0 }
        }),
    ];
    let late = |second: u32| (second, us(110));
    // A load change covers one of the largest latencies, but none above the rest.
    let mut all: Vec<(u32, Nanos)> = (2..10).map(late).collect();
    all.retain(|(second, _)| *second != THEN);
    all.push((THEN, us(101)));
    let run = run(realtime(), us(100), &all, &time);
    assert!(run.findings.iter().any(|one| one.code() == "load-changed"), "{:?}", run.findings);
    assert_eq!(
        first(&run, "Possible causes"),
        (String::new(), EXPLAIN.to_string()),
        "{}",
        shown(&run)
    );
}

#[test]
fn a_throttled_period_asks_for_the_thread_that_never_sleeps() {
    let log = Planted { metric: metric::KERNEL_EVENTS, subject: "rt-throttling", value: once };
    let run = run(realtime(), us(100), &[(THEN, us(49_800))], &[log]);
    expect(
        &run,
        "The kernel log reported 'rt-throttling' 1 time",
        "[kernel-event]: Find the real-time thread that never sleeps: `ps -eLo \
         pid,tid,cls,rtprio,pcpu,comm`.",
    );
    assert!(shown(&run).contains("[rt-throttling]"), "{}", shown(&run));
}

/// A thread of priority 95 that occupies CPU 0 for a while.
fn hog() -> [Planted; 4] {
    let planted = |metric, value| Planted { metric, subject: "hog/4711", value };
    [
        planted(metric::THREAD_CPU, |second| once(second) * 231_000_000),
        planted(metric::THREAD_PLACE, |_| 0),
        planted(metric::THREAD_POLICY, |_| 1),
        planted(metric::THREAD_PRIORITY, |_| 95),
    ]
}

#[test]
fn a_thread_of_a_higher_priority_is_blamed_for_what_it_took() {
    let run = run(realtime(), us(100), &[(2, us(130)), (THEN, us(231_000))], &hog());
    expect(
        &run,
        "Threads of the same or a higher priority ran on CPU 0: 'hog' (4711, fifo 95)",
        "[competing-thread]: Move them away (`taskset -cp CPUS 4711`) or lower their priority (`chrt -o \
         -p 0 4711`).",
    );
}

/// A spike that its trace pages explain.
fn explained(kind: CauseKind, name: &str, took: Nanos, priority: i32) -> SpikeBlame {
    let cause = Cause { kind, name: name.to_string() };
    let thread =
        TracedThread { id: 4711, kernel_priority: Some(priority), known: None, started_by: None };
    let part = BlamePart {
        from_ns: Nanos::ZERO,
        to_ns: took,
        phase: WakePhase::Waiting,
        cause: cause.clone(),
        thread: Some(thread).filter(|_| !name.is_empty()),
        evidence: None,
        detail: None,
    };
    SpikeBlame {
        spike: 1,
        thread: 0,
        cpu: Some(0),
        release_ns: FIRST_RELEASE,
        latency_ns: took,
        parts: vec![part.clone()],
        cause: Some(cause),
        cause_ns: took,
        longest: Some(part),
        started: Vec::new(),
        reason: None,
        sentence: None,
        stolen: None,
        before: CpuBefore::default(),
        gap: None,
    }
}

/// The run with spikes of these causes.
fn with_causes(run: Run, spikes: &[SpikeBlame]) -> Run {
    let mut table = CauseTable::default();
    spikes.iter().for_each(|spike| table.push(spike));
    let number = spikes.len() as u64;
    let explanation = RunExplanation {
        spikes: SpikeTally { seen: number, stored: number, ..SpikeTally::default() },
        explained: table.explained(),
        causes: table.causes(FIRST_RELEASE),
        ..RunExplanation::default()
    };
    Run { explanation: Some(explanation), ..run }
}

#[test]
fn what_took_most_stands_before_what_came_often() {
    let run = run(realtime(), us(100), &[(2, us(130)), (THEN, us(231_000))], &hog());
    let mut spikes = vec![explained(CauseKind::WakeUp, "", us(78), 0); 7];
    spikes.push(explained(CauseKind::Thread, "hog", us(231_000), 4));
    let run = with_causes(run, &spikes);
    let (cause, advice) = first(&run, "Causes of 8 recorded spikes");
    assert!(cause.contains("hog") && cause.contains("231 ms"), "{}", shown(&run));
    assert!(advice.ends_with(": chrt --fifo --pid 89 4711"), "{}", shown(&run));
}

#[test]
fn a_gap_that_the_firmware_counted_is_not_blamed_on_the_program_below() {
    let counter = Planted { metric: metric::SMI, subject: "", value: once };
    let run = run(realtime(), us(100), &[(THEN, us(310))], &[counter]);
    let cause = "The firmware stopped all CPUs for 1 system-management interrupt";
    let advice = "[smi]: Check the firmware settings: legacy USB, power management.";
    expect(&run, cause, advice);
    let run = with_causes(run, &[explained(CauseKind::InterruptsOff, "cc1", us(308), 120)]);
    expect(&run, cause, advice);
    let run = with_causes(run, &[explained(CauseKind::Thread, "cc1", us(308), 120)]);
    assert!(first(&run, "Possible causes").1.contains("taskset"), "{}", shown(&run));
}

#[test]
fn stolen_time_is_blamed_before_the_settings_of_the_guest() {
    let planted = |subject, value| Planted { metric: metric::CPU_TIME, subject, value };
    let time = [
        planted("cpu0 steal", |second| once(second) * 40),
        planted("cpu0 idle", |second| i64::from(second) * 100 - once(second) * 40),
        planted("cpu0 user", |_| 0),
    ];
    let run = run(machine("firecracker-guest", &[]), us(100), &[(THEN, us(4_000))], &time);
    expect(
        &run,
        "The hypervisor took 2.1 % of CPU 0",
        "[steal]: Measure on bare metal, or give the guest dedicated CPUs.",
    );
}
