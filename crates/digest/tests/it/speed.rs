//! How long the statistics of a large run take.

use jiff::Timestamp;
use latlab_digest::testing::SyntheticRun;
use latlab_digest::{IntervalRow, RunBuilder, SpikeRow, StatisticsDigest, StreamEnd, coarse_edges};
use latlab_model::frame::{KEPT_SPIKES, Spike};
use latlab_model::run::Summary;
use latlab_model::{Bin, Nanos, Run, ThreadBins};
use std::time::{Duration, Instant};

const THREADS: u32 = 4;
const LATENCIES: u64 = 100_000_000;
const PERIOD: i64 = 125_000;
const SECOND: i64 = 1_000_000_000;

/// Pseudo-random numbers between 0 and 1.
fn scattered(number: u64) -> f64 {
    let mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    ((mixed ^ (mixed >> 29)) >> 11) as f64 / (1_u64 << 53) as f64 + 1e-12
}

/// A run of four threads and of 3.5 h at 8 kHz.
fn run() -> Run {
    let mut builder = RunBuilder::default();
    SyntheticRun::default().messages().into_iter().for_each(|message| {
        builder.push(message);
    });
    let mut run = builder.finish("large", Timestamp::UNIX_EPOCH, StreamEnd::default()).unwrap().run;
    run.measured_ns = Nanos(LATENCIES as i64 * PERIOD);
    run.asked.keep.interval_ns = Nanos(SECOND);
    let first = run.threads[0].clone();
    run.threads = (0..THREADS)
        .map(|number| {
            let mut thread = first.clone();
            (thread.setup.thread, thread.setup.period_ns) = (number, Some(Nanos(PERIOD)));
            let (cycles, releases) = (LATENCIES, LATENCIES);
            thread.summary = Summary { cycles, releases, ..thread.summary };
            thread
        })
        .collect();
    run.applied.threads = run.threads.iter().map(|thread| thread.setup.clone()).collect();
    run
}

fn bins(thread: u32) -> ThreadBins {
    let bin = |at: i64| {
        let count = (LATENCIES as f64 * 0.08 * (-0.08 * at as f64).exp()) as u64;
        Bin { low_ns: Nanos(at * 100), high_ns: Nanos(at * 100 + 100), count }
    };
    ThreadBins { thread, bins: (20..900).map(bin).filter(|bin| bin.count > 0).collect() }
}

fn spikes(run: &Run, thread: u32) -> impl Iterator<Item = SpikeRow> {
    let first = run.threads[0].setup.first_release_ns;
    (0..KEPT_SPIKES as u64).map(move |at| {
        let number = at + u64::from(thread) * 1_000_003;
        let release = (scattered(2 * number) * LATENCIES as f64) as i64;
        let latency = 60_000 - (3_000.0 * scattered(2 * number + 1).ln()) as i64;
        let spike =
            Spike { latency_ns: Nanos(latency), release_ns: first + Nanos(release * PERIOD) };
        SpikeRow { thread, cpu: Some(thread), spike, breakdown: None }
    })
}

fn interval(run: &Run, thread: u32, number: i64) -> IntervalRow {
    let start_ns = run.threads[0].setup.first_release_ns + Nanos(number * SECOND);
    let mut coarse = vec![0; coarse_edges().len()];
    for (at, count) in coarse.iter_mut().skip(3).take(14).enumerate() {
        *count = (4_000 >> at) + (scattered(number as u64 * 20 + at as u64) * 5.0) as i32;
    }
    let max = 40_000 + (scattered(number as u64) * 9_000.0) as i64;
    IntervalRow {
        thread,
        cpu: Some(thread),
        start_ns,
        end_ns: start_ns + Nanos(SECOND),
        count: coarse.iter().map(|count| *count as u64).sum(),
        overruns: 0,
        misses: 0,
        underflow: 0,
        min_ns: Some(Nanos(2_000)),
        mean_ns: Some(3_000.0),
        p50_ns: Some(Nanos(2_900)),
        p99_ns: Some(Nanos(8_000)),
        p99_9_ns: Some(Nanos(12_000)),
        max_ns: Some(Nanos(max)),
        coarse,
    }
}

/// All gates of four threads with a hundred million latencies each; `make stats-study` records the
/// figure of an optimised build.
#[test]
#[ignore = "its figure is one of an optimised program: make stats-study"]
fn statistics_of_a_large_run_take_two_seconds_at_most() {
    let run = run();
    let bins: Vec<ThreadBins> = (0..THREADS).map(bins).collect();
    let spikes: Vec<SpikeRow> = (0..THREADS).flat_map(|thread| spikes(&run, thread)).collect();
    let seconds = run.measured_ns.0 / SECOND;
    let rows: Vec<IntervalRow> = (0..THREADS)
        .flat_map(|thread| (0..seconds).map(move |number| (thread, number)))
        .map(|(thread, number)| interval(&run, thread, number))
        .collect();
    let started = Instant::now();
    let mut digest = StatisticsDigest::new(&run, &bins, &spikes);
    rows.iter().for_each(|row| digest.push(row));
    let statistics = digest.finish();
    let taken = started.elapsed();
    let estimates = statistics.threads.iter().filter(|one| one.tail.estimate.is_some()).count();
    println!(
        "{} threads of {LATENCIES} latencies, {estimates} with an estimate: {:.2} s",
        statistics.threads.len(),
        taken.as_secs_f64()
    );
    assert_eq!(statistics.threads.len(), THREADS as usize);
    assert!(estimates > 0, "the slowest gate was reached: {:?}", statistics.threads[0].tail);
    assert!(taken < Duration::from_secs(2), "{taken:?}");
}
