//! Reports on self-interference.

use crate::common::{Fixture, histogram, plan, verdict};
use latlab_model::run::VerdictWord;
use latlab_model::self_interference::{
    LargestLatency, OwnThread, OwnThreadWork, RunSelfInterference,
};
use latlab_model::{Nanos, Run};
use latlab_report::{Style, show, summarise_in_lines};

const LARGEST: [i64; 3] = [55_000, 40_000, 17_900];

/// A run whose three largest latencies coincide with telemetry work, or do not.
fn run(affected: [bool; 3], measured: i64) -> Run {
    let mut fixture = Fixture::new(plan(), vec![histogram(LARGEST)]);
    let latency = |(latency, affected): (i64, bool)| LargestLatency {
        thread: 0,
        cpu: 0,
        latency_ns: Nanos(latency),
        release_ns: Nanos(latency),
        own_threads: affected.then_some(OwnThread::Telemetry).into_iter().collect(),
    };
    let without = LARGEST.into_iter().zip(affected).find(|(_, affected)| !affected);
    fixture.run.self_interference = Some(RunSelfInterference {
        threads: vec![OwnThreadWork {
            thread: OwnThread::Telemetry,
            allowed: [0].into_iter().collect(),
            stretches: 60,
            ran_ns: Nanos(12_345_000),
            longest_ns: Nanos(400_000),
            ran_on_measured_ns: Nanos(measured),
        }],
        lost: 0,
        largest: LARGEST.into_iter().zip(affected).map(latency).collect(),
        max_without_ns: without.map(|(latency, _)| Nanos(latency)),
    });
    fixture.run
}

fn shown(run: &Run) -> String {
    show(run, "", 160, Style { colour: false })
}

#[test]
fn a_maximum_in_the_work_of_an_own_thread_has_the_largest_without_beside_it() {
    let text = shown(&run([true, true, false], 12_345_000));
    let without = "at most 55 us (17.9 us without self-interference) in";
    assert!(text.lines().next().unwrap().contains(without), "{text}");
    let cost = "latlab's own threads ran for 12.345 ms, all of it on measured CPUs; 2 of the 3 largest \
                latencies overlap them.";
    assert!(text.contains(cost), "{text}");
    assert!(!shown(&run([false, true, false], 0)).contains("self-interference)"));
    let mut judged = run([true, true, false], 0);
    judged.asked.until.deadline_ns = Some(Nanos(100_000));
    verdict(&mut judged, VerdictWord::Pass, None);
    let first = summarise_in_lines(&judged, 160, Style { colour: false });
    assert!(
        first.contains("the largest took 55 us (17.9 us without self-interference)."),
        "{first}"
    );
}

#[test]
fn a_run_proves_that_its_own_threads_were_elsewhere() {
    let cost = "latlab's own threads ran for 12.345 ms, none of it on measured CPUs; none of the 3 \
                largest latencies overlaps them.";
    let text = shown(&run([false; 3], 0));
    assert!(text.contains(cost), "{text}");
    let without = Run { self_interference: None, ..run([false; 3], 0) };
    assert!(!shown(&without).contains("own threads"), "a run that does not say so");
}
