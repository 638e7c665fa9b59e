//! Runs made without a folder: from the frames of a stream, from synthetic messages, and windows of
//! samples.

use jiff::Timestamp;
use latlab_digest::testing::{FIRST_RELEASE, SyntheticRun};
use latlab_digest::window::{SampleBlock, WindowBuilder, WindowSpec};
use latlab_digest::{RunBuilder, RunDigest, StreamEnd, StreamRow, WallClock};
use latlab_model::frame::{FrameReader, Interval, Message, ReadResult};
use latlab_model::histogram::Overflow;
use latlab_model::machine::Machine;
use latlab_model::nanos::SECOND;
use latlab_model::plan::Until;
use latlab_model::run::{AgentEnd, AppliedSetup, EndReason, ThreadSetup, VerdictWord};
use latlab_model::samples::Sample;
use latlab_model::{BinLayout, Histogram, Nanos, Plan};

fn digest(messages: impl IntoIterator<Item = Message>, begun: &str) -> (RunDigest, Vec<StreamRow>) {
    let mut builder = RunBuilder::default();
    let mut rows: Vec<StreamRow> =
        messages.into_iter().filter_map(|message| builder.push(message)).collect();
    rows.extend(builder.last_rows());
    (builder.finish("one", begun.parse().unwrap(), StreamEnd::default()).unwrap(), rows)
}

#[test]
fn the_frames_of_a_stream_become_a_run_and_its_rows() {
    let synthetic =
        SyntheticRun { stall: Nanos(7_000_000), warmer: Some(9_000), ..SyntheticRun::default() };
    let bytes = synthetic.bytes();
    let mut frames = FrameReader::new(&bytes[..]);
    let mut messages = Vec::new();
    while let ReadResult::Frame(frame) = frames.next_frame().unwrap() {
        messages.push(frame.message);
    }
    let (RunDigest { run, bins, spikes, snapshot, .. }, rows) =
        digest(messages, "1999-01-01T00:00:00Z");
    assert_eq!((run.id.as_str(), run.ended), ("one", EndReason::Finished));
    assert_eq!(run.started, "2026-11-21T16:05:01Z", "as the clocks of the stream say");
    assert_eq!(run.measured_ns, SECOND * 5);
    assert_eq!(bins.iter().map(|row| row.bin.count).sum::<u64>(), run.total.cycles);
    let intervals = rows.iter().filter_map(|row| match row {
        StreamRow::Interval(row) => Some(row),
        _ => None,
    });
    assert_eq!(intervals.clone().count(), 10);
    assert_eq!(intervals.clone().map(|row| row.count).sum::<u64>(), run.total.cycles);
    assert_eq!(Some(intervals.map(|row| row.misses).sum::<u64>()), run.total.misses);
    let largest = spikes.iter().map(|row| row.spike.latency_ns).max();
    assert_eq!(largest, run.total.max_ns);
    assert!(rows.iter().any(|row| matches!(row, StreamRow::Telemetry(_))));
    assert_eq!(run.doctor.is_some(), snapshot.is_some());
}

/// A run of imported counts, one thread each.
fn imported(counts: Vec<Histogram>) -> RunDigest {
    let plan = Plan {
        until: Until { deadline_ns: Some(Nanos(100_000)), cycles: Some(4), ..Until::default() },
        ..Plan::default()
    };
    let thread = |thread| ThreadSetup {
        thread,
        thread_id: None,
        cpu: None,
        core_type: None,
        capacity: None,
        policy: String::new(),
        period_ns: plan.method.period(),
        first_release_ns: Nanos::ZERO,
    };
    let threads = (0..counts.len() as u32).map(thread).collect();
    let prepared = AppliedSetup { settings: vec![], threads, helpers_on: String::new() };
    let mut messages = vec![
        Message::Plan(plan),
        Message::Machine(Machine::default()),
        Message::Prepared(prepared),
    ];
    let (start_ns, end_ns) = (Nanos::ZERO, Nanos(4_000_000));
    messages.extend(
        (0..).zip(counts).map(|(thread, counts)| {
            Message::Interval(Interval { thread, start_ns, end_ns, counts })
        }),
    );
    messages.push(Message::End(AgentEnd {
        reason: EndReason::Finished,
        agent_peak_rss_bytes: 0,
        helpers_cpu_ns: Nanos::ZERO,
        intervals_merged: 0,
        spike_hook: None,
    }));
    digest(messages, "2001-02-03T04:05:06Z").0
}

#[test]
fn messages_that_no_agent_sent_become_a_run() {
    let latencies = [1_000, 2_000, 150_000, 3_000].map(Nanos);
    let counts = Histogram { misses: 1, ..latencies.into_iter().collect() };
    let RunDigest { run, bins, .. } = imported(vec![counts]);
    assert_eq!(run.started, "2001-02-03T04:05:06Z", "as it was given");
    assert_eq!((run.total.cycles, run.total.misses), (4, Some(1)));
    assert_eq!((run.total.min_ns, run.total.max_ns), (Some(Nanos(1_000)), Some(Nanos(150_000))));
    assert_eq!(bins.len(), 4);
    assert_eq!(run.verdict.unwrap().word, VerdictWord::Invalid, "its thread has no last word");
}

/// Invariant (releases): Bins of other edges are stored as they are, and never added to others.
#[test]
fn bins_of_other_edges_are_stored_as_they_are() {
    let layout = BinLayout::equal(Nanos::ZERO, Nanos(1_000), 1_000_000).unwrap();
    let latencies = [3_200, 3_900, 999_999_999, 1_282_000_000].map(Nanos);
    let RunDigest { run, bins, .. } = imported(vec![Histogram::with_layout(layout, latencies)]);
    let rows: Vec<(i64, i64, u64)> =
        bins.iter().map(|row| (row.bin.low_ns.0, row.bin.high_ns.0, row.bin.count)).collect();
    let over = (1_282_000_000, 1_282_000_001, 1);
    assert_eq!(rows, [(3_000, 4_000, 2), (999_999_000, 1_000_000_000, 1), over]);
    let quantiles = run.total.quantiles.unwrap();
    assert_eq!(
        (quantiles.p50_ns, quantiles.p99_ns),
        (Some(Nanos(3_999)), Some(Nanos(1_282_000_000)))
    );
    assert_eq!((run.total.cycles, run.total.max_ns), (4, Some(Nanos(1_282_000_000))));
}

#[test]
fn a_maximum_that_is_not_known_is_absent() {
    let layout = BinLayout::equal(Nanos::ZERO, Nanos(1_000), 400).unwrap();
    let counts = Histogram::with_layout(layout, [3_200, 3_900, 500_000].map(Nanos));
    let overflow = Overflow { count: 1, max_is_unknown: true, ..Overflow::default() };
    let RunDigest { run, bins, .. } = imported(vec![Histogram { overflow, ..counts }]);
    assert_eq!((run.total.cycles, run.total.max_ns), (3, None));
    let quantiles = run.total.quantiles.unwrap();
    assert_eq!((quantiles.p50_ns, quantiles.p90_ns), (Some(Nanos(3_999)), None));
    assert_eq!(quantiles.above_ns, Some(Nanos(400_000)));
    assert_eq!(bins[1].bin.high_ns, Nanos::MAX);
}

#[test]
fn threads_of_different_edges_have_figures_of_their_own_and_no_quantiles_together() {
    let layout = BinLayout::equal(Nanos::ZERO, Nanos(1_000), 400).unwrap();
    let one = Histogram::with_layout(layout, [3_200, 3_900].map(Nanos));
    let other = [3_200, 7_900].map(Nanos).into_iter().collect();
    let RunDigest { run, .. } = imported(vec![one, other]);
    let medians = run.threads.iter().map(|one| one.summary.quantiles.as_ref().unwrap().p50_ns);
    assert_eq!(medians.collect::<Vec<_>>(), [Some(Nanos(3_900)), Some(Nanos(3_299))]);
    assert_eq!((run.total.cycles, run.total.max_ns), (4, Some(Nanos(7_900))));
    assert_eq!(run.total.quantiles, None);
}

#[test]
fn threads_whose_bins_end_at_their_largest_have_quantiles_together() {
    let up_to = |bins, latencies: &[i64]| {
        let layout = BinLayout::equal(Nanos::ZERO, Nanos(1_000), bins).unwrap();
        Histogram::with_layout(layout, latencies.iter().copied().map(Nanos))
    };
    let threads = vec![up_to(4, &[3_000, 3_000]), up_to(9, &[8_000, 3_000])];
    let RunDigest { run, .. } = imported(threads);
    let quantiles = run.total.quantiles.unwrap();
    assert_eq!((quantiles.p50_ns, quantiles.p90_ns), (Some(Nanos(3_999)), Some(Nanos(8_000))));
}

#[test]
fn the_samples_of_a_whole_run_have_its_figures() {
    let synthetic =
        SyntheticRun { samples: true, stall: Nanos(7_000_000), ..SyntheticRun::default() };
    let (RunDigest { run, .. }, rows) = digest(synthetic.messages(), "2026-11-21T16:05:01Z");
    let wall = WallClock::new([(FIRST_RELEASE, Nanos(1_795_277_101_000_000_000))], &run).unwrap();
    let within = WindowSpec::whole().within(&run, None, &wall).unwrap();
    let mut window = WindowBuilder::new(&run, within);
    for thread in 0..2 {
        let of_thread = rows.iter().filter_map(|row| match row {
            StreamRow::Samples(rows) if rows[0].thread == thread => Some(rows),
            _ => None,
        });
        let samples: Vec<Sample> = of_thread.flatten().map(|row| row.sample).collect();
        window.push(&SampleBlock { thread, before: None, samples, next: None });
    }
    let window = window.finish(&wall);
    assert_eq!(window.total, run.total);
    assert_eq!(window.from, "2026-11-21T16:05:01.000000Z");
    assert_eq!(Some(window.largest[0].latency_ns), run.total.max_ns);
}

#[test]
fn a_stream_that_says_nothing_is_no_run() {
    let error = RunBuilder::default().finish("one", Timestamp::UNIX_EPOCH, StreamEnd::default());
    assert_eq!(error.unwrap_err().to_string(), "the stream ends before its Plan frame");
}
