//! Self-interference: the work of latlab's own threads during the largest latencies.

use jiff::Timestamp;
use latlab_digest::testing::{FIRST_RELEASE, SyntheticRun};
use latlab_digest::{RunBuilder, StreamEnd};
use latlab_model::finding::Severity;
use latlab_model::frame::{Message, Spike, Spikes};
use latlab_model::self_interference::{OwnThread, SelfInterference, WorkStretch};
use latlab_model::{Nanos, Run};

const MILLISECOND: i64 = 1_000_000;

/// A stretch that begins `after` nanoseconds after the first release, and runs for its whole
/// length.
fn stretch(after: i64, length: i64, cpu: u32) -> WorkStretch {
    WorkStretch {
        begin_ns: FIRST_RELEASE + Nanos(after),
        length_ns: Nanos(length),
        ran_ns: Nanos(length),
        first_cpu: cpu,
        last_cpu: cpu,
    }
}

fn work(thread: OwnThread, stretches: Vec<WorkStretch>) -> Message {
    let allowed = [0, 1].into_iter().collect();
    Message::SelfInterference(SelfInterference { thread, allowed, lost: 0, stretches })
}

/// A spike of thread 1, on CPU 1, far larger than all others of the run.
fn spike(after: i64, latency: i64) -> Message {
    let spike = Spike { latency_ns: Nanos(latency), release_ns: FIRST_RELEASE + Nanos(after) };
    Message::Spikes(Spikes { thread: 1, spikes: vec![spike] })
}

/// A run of two threads on CPU 0 and 1 whose stream has these messages before its end.
fn run(helpers_on: &str, more: Vec<Message>) -> Run {
    // Every latency is among the spikes.
    let made_up = SyntheticRun { slower: Nanos(25_000), ..SyntheticRun::default() };
    let mut messages = made_up.messages();
    let end = messages.len() - 3;
    messages.splice(end..end, more);
    let mut builder = RunBuilder::default();
    for mut message in messages {
        if let Message::Prepared(prepared) = &mut message {
            prepared.helpers_on = helpers_on.to_string();
        }
        builder.push(message);
    }
    builder.finish("one", Timestamp::UNIX_EPOCH, StreamEnd::default()).unwrap().run
}

const LARGE: i64 = 200_000;

/// Invariant (conditions): A run says which of its largest latencies lie in the work of latlab's own threads.
#[test]
fn a_latency_in_the_work_of_an_own_thread_is_named() {
    let telemetry = |stretches| work(OwnThread::Telemetry, stretches);
    let before = stretch(7 * MILLISECOND - 50_000, 60_000, 1);
    let meanwhile = stretch(9 * MILLISECOND + 100_000, 30_000, 1);
    for in_order in [true, false] {
        let mut more = vec![
            // By size, only the second and the third of these are affected.
            spike(5 * MILLISECOND, 4 * LARGE),
            spike(7 * MILLISECOND, 3 * LARGE),
            spike(9 * MILLISECOND, 2 * LARGE),
            spike(11 * MILLISECOND, LARGE + 1),
        ];
        let works = telemetry(vec![
            before,
            meanwhile,
            // On another CPU, and at another time.
            stretch(5 * MILLISECOND, 60_000, 0),
            stretch(12 * MILLISECOND, 60_000, 1),
        ]);
        let at = if in_order { more.len() } else { 0 };
        more.insert(at, works);
        let run = run("0-1", more);
        let self_interference = run.self_interference.unwrap();
        let largest: Vec<(i64, usize)> = self_interference.largest[..4]
            .iter()
            .map(|one| (one.latency_ns.0, one.own_threads.len()))
            .collect();
        assert_eq!(largest, [(4 * LARGE, 0), (3 * LARGE, 1), (2 * LARGE, 1), (LARGE + 1, 0)]);
        assert_eq!((self_interference.largest.len(), self_interference.affected()), (20, 2));
        assert_eq!(self_interference.max_without_ns, Some(Nanos(4 * LARGE)));
        let [finding] = &run.findings[..] else { panic!("{:?}", run.findings) };
        assert_eq!(finding.code(), "own-threads-in-largest");
        assert_eq!(finding.severity(), Severity::Info, "the maximum is not affected");
        let told = serde_json::to_value(finding).unwrap();
        assert_eq!((told["affected"].as_u64(), told["compared"].as_u64()), (Some(2), Some(20)));
    }
}

#[test]
fn an_affected_maximum_is_a_warning_with_the_largest_without() {
    let more = vec![
        work(OwnThread::Drainer, vec![stretch(0, 60_000, 1)]),
        spike(10_000, 3 * LARGE),
        spike(7 * MILLISECOND, 2 * LARGE),
    ];
    let run = run("0-1", more);
    let [finding] = &run.findings[..] else { panic!("{:?}", run.findings) };
    assert_eq!(finding.severity(), Severity::Warning);
    let told = serde_json::to_value(finding).unwrap();
    let maxima = (told["max_without_ns"].as_i64(), told["max_ns"].as_i64());
    assert_eq!(maxima, (Some(400_000), Some(600_000)));
}

/// While the agent is stopped the conductor keeps working on all CPUs, a little every 50 ms.
#[test]
fn work_that_is_a_small_part_of_a_latency_did_not_make_it() {
    let polls = |each| (0..20).map(|poll| stretch(poll * 50 * MILLISECOND, each, 1)).collect();
    let affected = |each| {
        let work = work(OwnThread::Conductor, polls(each));
        run("0-1", vec![work, spike(10_000, 1000 * MILLISECOND)])
            .self_interference
            .unwrap()
            .affects_maximum()
    };
    assert!(!affected(200_000));
    assert!(affected(5 * MILLISECOND));
}

#[test]
fn a_thread_that_waits_for_a_disk_has_no_cpu() {
    let waiting = WorkStretch { ran_ns: Nanos(20_000), ..stretch(0, 5 * MILLISECOND, 1) };
    let more = vec![work(OwnThread::Disk, vec![waiting]), spike(MILLISECOND, LARGE)];
    let self_interference = run("0-1", more).self_interference.unwrap();
    assert_eq!(self_interference.affected(), 0);
    assert_eq!(self_interference.ran_on_measured(), Nanos(20_000), "its CPU time counts");
}

#[test]
fn threads_that_stray_to_measured_cpus_are_a_finding() {
    let apart = |cpu| {
        let more = vec![work(OwnThread::Journal, vec![stretch(0, 40_000, cpu)])];
        run("2", more)
    };
    let strayed = apart(1);
    let [finding] = &strayed.findings[..] else { panic!("{:?}", strayed.findings) };
    assert_eq!(finding.code(), "own-threads-on-measured-cpus");
    assert_eq!(serde_json::to_value(finding).unwrap()["ran_ns"], 40_000);
    let placed = apart(2);
    assert!(placed.findings.is_empty(), "{:?}", placed.findings);
    let self_interference = placed.self_interference.unwrap();
    assert_eq!(self_interference.ran_on_measured(), Nanos::ZERO);
    assert_eq!(self_interference.threads[0].ran_ns, Nanos(40_000));
}

#[test]
fn work_before_the_first_release_is_no_work_of_the_run() {
    let more = vec![work(OwnThread::Journal, vec![stretch(-MILLISECOND, 40_000, 1)])];
    let self_interference = run("2", more).self_interference.unwrap();
    assert_eq!(
        (self_interference.threads[0].stretches, self_interference.ran_on_measured()),
        (0, Nanos::ZERO)
    );
}

#[test]
fn where_a_thread_might_run_before_the_first_release_does_not_count() {
    let on = |allowed: &str, begin| {
        let (thread, allowed) = (OwnThread::Journal, allowed.parse().unwrap());
        let stretches = vec![stretch(begin, 40_000, 2)];
        Message::SelfInterference(SelfInterference { thread, allowed, lost: 0, stretches })
    };
    let allowed = |more| run("2", more).self_interference.unwrap().threads[0].allowed.to_string();
    assert_eq!(allowed(vec![on("0-2", -MILLISECOND), on("2", MILLISECOND)]), "2");
    assert_eq!(allowed(vec![on("2", MILLISECOND), on("0-2", 2 * MILLISECOND)]), "0-2");
}

#[test]
fn lost_work_is_counted_and_a_stream_without_any_says_nothing() {
    let lost = SelfInterference {
        thread: OwnThread::Stream,
        allowed: [0].into_iter().collect(),
        lost: 12,
        stretches: Vec::new(),
    };
    let run_with_loss = run("2", vec![Message::SelfInterference(lost)]);
    assert_eq!(run_with_loss.self_interference.unwrap().lost, 12);
    let [finding] = &run_with_loss.findings[..] else { panic!("{:?}", run_with_loss.findings) };
    assert_eq!(finding.code(), "own-work-lost");
    assert_eq!(run("2", Vec::new()).self_interference, None);
}
