//! Reports on an attached program.

use crate::common::{Fixture, histogram, page, plan, verdict};
use latlab_model::attach::{
    ActivationCall, Arrivals, AttachedChain, AttachedRun, AttachedThread, AttachedThreadReport,
    AttachedThreadRun, CyclePart, CyclePartFigures, RhythmKind, ThreadWaker,
};
use latlab_model::explanation::{
    BlamePart, Cause, CauseKind, CpuBefore, SpikeBlame, TracedThread, WakePhase,
};
use latlab_model::nanos::{MICROSECOND, MILLISECOND};
use latlab_model::plan::{Attach, Method, Until, Who};
use latlab_model::run::{ThreadSetup, VerdictWord};
use latlab_model::{Bin, Nanos, Plan, Run};
use latlab_report::{Style, attached_threads, show, summarise_in_lines};

const PLAIN: Style = Style { colour: false };
/// Wide enough that no sentence wraps.
const WIDE: usize = 400;

fn thread(thread: u32, name: &str, misses: u64, is_judged: bool) -> AttachedThreadRun {
    let part = |part, max_ns| CyclePartFigures {
        part,
        quantiles: None,
        max_ns,
        bins: vec![Bin { low_ns: MICROSECOND * 10, high_ns: max_ns, count: 6_000 }],
    };
    AttachedThreadRun {
        found: AttachedThread {
            thread,
            thread_id: 50,
            name: name.to_string(),
            policy: "fifo 75".to_string(),
            cpus: "0-1".to_string(),
            activation: ActivationCall {
                call: "read".to_string(),
                descriptor: Some(7),
                file: Some("timerfd".to_string()),
                sleep: None,
            },
            ambiguous_with: None,
            rhythm: RhythmKind::Exact,
            period_ns: Some(MILLISECOND),
            deadline_ns: is_judged.then_some(MILLISECOND),
            deadline_is_assumed: true,
            setup: is_judged.then(|| ThreadSetup {
                thread,
                cpu: None,
                core_type: None,
                capacity: None,
                thread_id: Some(50),
                policy: "fifo 75".to_string(),
                period_ns: Some(MILLISECOND),
                first_release_ns: Nanos::ZERO,
            }),
        },
        misses,
        parts: vec![
            part(CyclePart::WakeUp, MICROSECOND * 90),
            part(CyclePart::Execution, MICROSECOND * 207),
            part(CyclePart::Preempted, Nanos::ZERO),
            part(CyclePart::Blocked, MICROSECOND * 3_150),
            part(CyclePart::Response, MICROSECOND * 3_448),
        ],
        longest: vec![long_cycle(thread)],
        arrivals: vec![
            Arrivals { window_ns: MILLISECOND, least: 0, most: 3 },
            Arrivals { window_ns: MILLISECOND * 10, least: 10, most: 10 },
        ],
        report: AttachedThreadReport {
            thread,
            cycles: 5_985,
            overruns: 3,
            wakers: vec![ThreadWaker { thread_id: 49, name: "sensor".to_string(), count: 5_900 }],
            late_by: vec![(CyclePart::WakeUp, 1), (CyclePart::Blocked, 7)],
            ..AttachedThreadReport::default()
        },
    }
}

/// A cycle that waited for a lock.
fn long_cycle(thread: u32) -> SpikeBlame {
    let part = |from, to, phase, kind, name: &str| BlamePart {
        from_ns: MICROSECOND * from,
        to_ns: MICROSECOND * to,
        phase,
        cause: Cause { kind, name: name.to_string() },
        thread: None,
        evidence: None,
        detail: None,
    };
    let lock = BlamePart {
        thread: Some(TracedThread {
            id: 51,
            kernel_priority: Some(120),
            known: None,
            started_by: None,
        }),
        ..part(298, 3_448, WakePhase::Work, CauseKind::Lock, "logger")
    };
    SpikeBlame {
        spike: 1,
        thread,
        cpu: Some(1),
        release_ns: Nanos(77),
        latency_ns: MICROSECOND * 3_448,
        parts: vec![
            part(0, 91, WakePhase::Waiting, CauseKind::WakeUp, ""),
            part(91, 298, WakePhase::Work, CauseKind::Execution, ""),
            lock.clone(),
        ],
        cause: Some(lock.cause.clone()),
        cause_ns: MICROSECOND * 3_150,
        longest: Some(lock),
        started: Vec::new(),
        reason: None,
        sentence: None,
        stolen: None,
        before: CpuBefore::default(),
        gap: None,
    }
}

fn fixture(threads: Vec<AttachedThreadRun>) -> Fixture {
    let plan = Plan {
        method: Method::Attach(Box::default()),
        who: Who { policy: None, ..plan().who },
        until: Until { deadline_ns: None, ..plan().until },
        ..plan()
    };
    let mut fixture = Fixture::new(plan, vec![histogram([30_000, 3_448_000])]);
    fixture.run.attached = Some(AttachedRun {
        program: "five (process 18103)".to_string(),
        threads,
        chains: vec![AttachedChain {
            threads: vec![0, 1],
            names: vec!["sensor".to_string(), "control".to_string()],
            count: 5_982,
            cycles: 5_999,
            quantiles: None,
            max_ns: MICROSECOND * 3_683,
            longest_release_ns: Nanos(77),
            bins: Vec::new(),
        }],
        without_rhythm: vec![("main".to_string(), 3)],
        events: 46_000,
        ..AttachedRun::default()
    });
    fixture
}

fn failed() -> Fixture {
    let threads = vec![thread(0, "control", 11, true), thread(1, "logger", 0, false)];
    let mut fixture = fixture(threads);
    verdict(&mut fixture.run, VerdictWord::Fail, None);
    fixture
}

fn lines(run: &Run) -> String {
    summarise_in_lines(run, WIDE, PLAIN)
}

#[test]
fn the_verdict_is_about_the_program_and_says_which_part_was_to_blame() {
    let text = lines(&failed().run);
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("FAIL: "), "{first}");
    for part in [
        "releases of control (fifo 75, every 1 ms) missed the 1 ms deadline (its period, since none",
        "the longest response took 3.448 ms: 3.15 ms of it waiting for a futex that logger (nice 0) held",
    ] {
        assert!(first.contains(part), "{part}: {first}");
    }
    assert!(text.contains("7 times it slept in its work, 1 time it began late, 3 releases passed"));
    assert!(text.contains("Not judged, with ordinary policies: logger."));
    assert!(text.contains("Without a rhythm: main (3 waits)."));
}

#[test]
fn every_thread_has_a_line_with_where_it_waits() {
    let text = show(&failed().run, "", WIDE, PLAIN);
    let line = text.lines().find(|line| line.starts_with("control")).unwrap();
    for cell in ["fifo 75", "read 7 (timerfd)", "sensor", "5 985", "3448.0"] {
        assert!(line.contains(cell), "{cell}: {line}");
    }
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    for cell in ["5 982", "5 999", "3683.0"] {
        assert!(line("sensor > control").contains(cell), "{text}");
    }
    let arrivals = text.lines().find(|line| line.contains("0-3") && line.contains(" 10"));
    assert!(arrivals.is_some_and(|line| line.starts_with("control")), "{text}");
    let list = attached_threads(&failed().run, WIDE, PLAIN);
    assert!(list.lines().count() == 5 && list.contains("read 7 (timerfd)"), "{list}");
}

#[test]
fn a_page_draws_the_times_and_the_longest_cycles() {
    let page = page(&failed());
    assert!(page.contains("Times of the cycles of control"));
    assert!(page.contains("a lock of logger"), "a part of its longest cycle");
    assert!(page.contains("deadline 1 ms"), "the deadline is a line");
    assert!(page.contains("control (thread 0): observed maximum"), "its curve has its name");
}

#[test]
fn a_program_without_cycles_is_said_to_have_none() {
    let mut fixture = fixture(Vec::new());
    fixture.run.verdict = None;
    assert!(lines(&fixture.run).starts_with("No cycle of five (process 18103) was found."));
    assert_eq!(fixture.run.asked.method.attach(), Some(&Attach::default()));
}
