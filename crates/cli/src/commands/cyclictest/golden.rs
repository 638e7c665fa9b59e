//! Output for one fixed run.
//!
//! Invariant (command line): Each version of rt-tests is printed as that version prints.

use super::dialect::Dialect;
use super::getopt::split;
use super::histogram::{self, Buckets};
use super::json;
use super::lines::{LineUnit, block, break_lines, spike_lines, status, thread_lines};
use super::option_table::{TABLE, usage};
use super::state::Thread;
use super::verbose::Lines;
use latlab_formats::write::cyclictest::Envelope;
use latlab_model::frame::Spike;
use latlab_model::nanos::MICROSECOND;
use latlab_model::samples::{Samples, pack};
use latlab_model::{Histogram, Nanos};

/// Ordinary latencies, and one of 2 ms in cycle 1, which causes an overrun.
const LATENCIES: [i64; 5] = [3_200, 2_000_500, 4_900, 7_000, 3_999];

fn threads() -> Vec<Thread> {
    let period = Nanos(1_500_000);
    let release = |cycle: i64| Nanos(period.0 * if cycle > 1 { cycle + 1 } else { cycle });
    let spike = |(cycle, latency): (usize, &i64)| Spike {
        latency_ns: Nanos(*latency),
        release_ns: release(cycle as i64),
    };
    let spikes: Vec<Spike> = LATENCIES.iter().enumerate().map(spike).collect();
    let mut total: Histogram = LATENCIES.into_iter().map(Nanos).collect();
    total.overruns = 1;
    let mut ran = Thread { id: 4711, cpu: Some(1), priority: 80, period, ..Thread::default() };
    (ran.total, ran.last) = (total, Nanos(3_999));
    ran.spikes.add(&spikes);
    vec![ran, Thread { id: 4712, period: MICROSECOND * 1000, ..Thread::default() }]
}

fn histogram_of(version: &str, sums: bool) -> String {
    let threads = threads();
    let buckets: Vec<Buckets> =
        threads.iter().map(|thread| Buckets::from_thread(thread, 6)).collect();
    histogram::text(
        &threads,
        &buckets,
        &Dialect::parse(version).unwrap(),
        sums,
        LineUnit::Microseconds,
    )
}

#[test]
fn lines_of_threads() {
    let threads = threads();
    let unit = LineUnit::Microseconds;
    insta::assert_snapshot!(
        [
            thread_lines(&threads, unit),
            thread_lines(&threads, LineUnit::Nanoseconds),
            block("fifo", "0.10 0.20 0.30 1/99 4713", &threads, unit),
            status(&threads, unit),
            break_lines(&threads, Some((4711, 2000))),
            spike_lines(&threads, Nanos(4_999), 1, unit),
        ]
        .join("==\n")
    );
    assert_eq!(spike_lines(&threads, Nanos(9_000_000), 1, unit), "");
}

#[test]
fn histograms_of_the_versions() {
    let all = [histogram_of("2.4", false), histogram_of("2.4", true), histogram_of("2.10", true)];
    insta::assert_snapshot!(all.join("==\n"));
}

#[test]
fn a_histogram_beyond_a_millisecond_is_exact_where_the_largest_are_known() {
    let buckets = Buckets::from_thread(&threads()[0], 3000);
    assert_eq!((buckets.counts[2000], buckets.overflows, buckets.rough), (1, 0, 0));
}

#[test]
fn json_of_the_versions() {
    let threads = threads();
    let buckets: Vec<Buckets> =
        threads.iter().map(|thread| Buckets::from_thread(thread, 6)).collect();
    let text = |version: &str, buckets: Option<&[Buckets]>| {
        let dialect = Dialect::parse(version).unwrap();
        let envelope = Envelope {
            command: "cyclictest --json=\"a\"",
            version: &dialect.version,
            times: ("then".into(), "now".into()),
            system: json::system(|_| None),
            in_ns: false,
        };
        let text = json::text(&envelope, &dialect, &threads, buckets, LineUnit::Microseconds);
        serde_json::from_str::<serde_json::Value>(&text).expect("it is JSON");
        text.replace(std::env::consts::ARCH, "ARCH")
    };
    insta::assert_snapshot!(text("2.4", Some(&buckets)));
    assert_eq!(text("2.4", None).matches("histogram").count(), 2);
    assert!(!text("2.10", None).contains("histogram"));
}

#[test]
fn samples_are_lines_or_the_maximum_of_a_group() {
    let samples = |lost_before| Samples {
        thread: 1,
        lost_before,
        first_release_ns: Nanos::ZERO,
        period_ns: MICROSECOND,
        count: LATENCIES.len() as u32,
        jumps: Vec::new(),
        packed: pack(&LATENCIES),
    };
    let mut buckets = Buckets::new(5);
    let mut all = Lines::new(2, 1, LineUnit::Microseconds);
    let mut text = all.add_samples(&samples(0), Some(&mut buckets));
    text += &all.add_samples(&samples(10), None);
    text += "==\n";
    text += &Lines::new(2, 2, LineUnit::Nanoseconds).add_samples(&samples(0), None);
    insta::assert_snapshot!(text);
    assert_eq!((buckets.counts, buckets.cycles), (vec![0, 0, 0, 2, 1], vec![1, 3]));
}

#[test]
fn the_help_and_the_parser_are_one_table() {
    insta::assert_snapshot!(usage("2.40"));
    for entry in TABLE {
        let value = vec![format!("--{}", entry.spec.long), "1".into()];
        assert!(split(TABLE.iter().map(|entry| &entry.spec), &value).is_ok());
    }
}
