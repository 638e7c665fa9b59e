//! A window of a run from its samples, using only files.

use latlab_digest::SampleRow;
use latlab_digest::testing::{FIRST_RELEASE, STARTED, SyntheticRun};
use latlab_digest::window::Window;
use latlab_model::frame::Message;
use latlab_model::nanos::{MILLISECOND, SECOND};
use latlab_model::run::{ClockReading, Summary};
use latlab_model::samples::Sample;
use latlab_model::{Nanos, Run};
use latlab_store::disk::Disk;
use latlab_store::tables::ThreadTable;
use latlab_store::{Finished, Result, SampleReader, Store, WindowReader};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

struct Stored {
    _root: TempDir,
    path: PathBuf,
    run: Run,
    /// Sent samples of each thread.
    sent: BTreeMap<u32, Vec<Sample>>,
}

fn stored(messages: &[Message]) -> Stored {
    let root = tempfile::tempdir().unwrap();
    let mut open = Store::new(root.path()).begin("one").unwrap();
    let mut sent: BTreeMap<u32, Vec<Sample>> = BTreeMap::new();
    for message in messages {
        open.append(&message.encode()).unwrap();
        if let Message::Samples(samples) = message {
            sent.entry(samples.thread).or_default().extend(samples.unpack().unwrap());
        }
    }
    let Finished { run, path } = open.finish().unwrap();
    Stored { _root: root, path, run, sent }
}

fn synthetic() -> SyntheticRun {
    SyntheticRun {
        samples: true,
        seconds: 300,
        stall: MILLISECOND * 200,
        deadline: Some(MILLISECOND * 3),
        ..SyntheticRun::default()
    }
}

impl Stored {
    fn window(&self, spec: &str) -> Result<Window> {
        WindowReader::open(&self.path, &self.run, &spec.parse().unwrap())?.figures()
    }

    fn refusal(&self, spec: &str) -> String {
        self.window(spec).unwrap_err().to_string()
    }

    fn csv(&self, spec: &str) -> String {
        let mut out = Vec::new();
        let stretch = WindowReader::open(&self.path, &self.run, &spec.parse().unwrap()).unwrap();
        stretch.csv(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn latencies(&self, from: Nanos, to: Nanos) -> Vec<Nanos> {
        let all = self.sent.values().flatten();
        let within = all.filter(|sample| (from..to).contains(&sample.release_ns));
        within.map(|sample| sample.latency_ns).collect()
    }
}

/// Invariant (releases): A window over the whole run has the figures of the run; adjacent windows add up to it.
#[test]
fn the_whole_run_as_a_window_has_the_summary_of_the_run() {
    let stored = stored(&synthetic().messages());
    assert!(stored.run.total.overruns > Some(100_000) && stored.run.total.misses > Some(100_000));
    for spec in ["..", "+0s..", "..+1h", "16:05:01..", "2026-11-21T16:00:00Z..16:30"] {
        let window = stored.window(spec).unwrap();
        assert_eq!(window.total, stored.run.total, "{spec}");
        let of_window = window.threads.iter().map(|thread| &thread.summary);
        let of_run = stored.run.threads.iter().map(|thread| &thread.summary);
        assert!(of_window.eq(of_run), "{spec}");
        assert_eq!(Some(window.largest[0].latency_ns), window.total.max_ns);
        assert_eq!(Some(window.largest[0].release_ns), window.total.max_at_ns);
    }
}

/// Invariant (releases): A window over the whole run has the figures of the run; adjacent windows add up to it.
#[test]
fn windows_side_by_side_add_up_to_the_run() {
    let stored = stored(&synthetic().messages());
    let mut sum = Summary { overruns: Some(0), misses: Some(0), ..Summary::default() };
    // Edges within stalls too, which are longer than some of the windows.
    let edges = [0.0, 0.5005, 0.55, 0.6, 17.0, 130.998, 131.2, 150.0, 299.51, 300.0];
    for pair in edges.windows(2) {
        let window = stored.window(&format!("+{}s..+{}s", pair[0], pair[1])).unwrap();
        let expected = stored.latencies(window.from_ns, window.to_ns);
        let total = &window.total;
        assert_eq!(total.cycles, expected.len() as u64, "{pair:?}");
        assert_eq!(total.max_ns, expected.iter().copied().max(), "{pair:?}");
        assert_eq!(total.min_ns, expected.iter().copied().min(), "{pair:?}");
        // A synthetic second has one release more than its length has periods.
        let length = (window.to_ns - window.from_ns).0;
        let (due, more) = (length * 2 / 997_000, length / SECOND.0 * 2);
        let difference = total.releases as i64 - due;
        assert!((-4..=4 + more).contains(&difference), "{pair:?}: {total:?}");
        sum.cycles += total.cycles;
        sum.releases += total.releases;
        sum.overruns = sum.overruns.zip(total.overruns).map(|(sum, overruns)| sum + overruns);
        sum.misses = sum.misses.zip(total.misses).map(|(sum, misses)| sum + misses);
    }
    let total = &stored.run.total;
    assert_eq!((sum.cycles, sum.releases), (total.cycles, total.releases));
    assert_eq!((sum.overruns, sum.misses), (total.overruns, total.misses));
}

#[test]
fn a_window_within_a_stall_has_no_cycle_but_missed_releases() {
    let stored = stored(&synthetic().messages());
    let window = stored.window("+0.55s..+0.6s").unwrap();
    assert_eq!(window.total.cycles, 0);
    assert!((98..=102).contains(&window.total.overruns.unwrap()), "{:?}", window.total);
    assert_eq!(window.total.misses, window.total.overruns);
}

/// Invariant (releases): A window is read without the rest of the samples.
#[test]
fn a_stretch_gives_the_samples_that_were_sent_and_skips_the_rest() {
    // Two threads of three row groups each.
    let stored = stored(&synthetic().messages());
    let reader = SampleReader::open(&stored.path, &stored.run.files["samples.parquet"]).unwrap();
    let (from, to) = (FIRST_RELEASE + SECOND * 200, FIRST_RELEASE + SECOND * 201);
    let pieces: Vec<_> = reader.stretch(from..to).collect::<Result<_>>().unwrap();
    assert_eq!(pieces.len(), 2, "one group of each thread is read");
    for piece in pieces {
        let sent = &stored.sent[&piece.thread];
        let first = sent.iter().position(|sample| sample.release_ns >= from).unwrap();
        assert_eq!(piece.samples, sent[first..first + piece.samples.len()]);
        assert_eq!(piece.before, Some(sent[first - 1]));
        assert_eq!(piece.next, Some(sent[first + piece.samples.len()].release_ns));
        assert!(piece.next.unwrap() >= to);
    }
}

#[test]
fn the_largest_are_the_largest_that_were_sent() {
    let stored = stored(&synthetic().messages());
    let window = stored.window("+10s..+100s").unwrap();
    let mut sent = stored.latencies(window.from_ns, window.to_ns);
    sent.sort_by_key(|latency| -latency.0);
    let largest: Vec<Nanos> = window.largest.iter().map(|one| one.latency_ns).collect();
    assert_eq!(largest, sent[..10]);
    for one in &window.largest {
        let sample = Sample::new(one.release_ns, one.latency_ns);
        assert!(stored.sent[&one.thread].contains(&sample));
        assert!((window.from.as_str()..window.to.as_str()).contains(&one.time.as_str()));
    }
}

#[test]
fn csv_has_a_line_for_every_sample_of_the_window() {
    let stored = stored(&SyntheticRun { seconds: 3, ..synthetic() }.messages());
    let csv = stored.csv("16:05:02..16:05:02.1");
    let mut lines = csv.lines();
    assert_eq!(lines.next(), Some("time,thread,cpu,release_ns,latency_ns"));
    let first: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut sent = stored.sent[&0].iter();
    let sent = sent.find(|one| one.release_ns >= FIRST_RELEASE + SECOND).unwrap();
    assert_eq!(first[..3], ["2026-11-21T16:05:02.000000000Z", "0", "0"]);
    assert_eq!(first[3..], [sent.release_ns.0.to_string(), sent.latency_ns.0.to_string()]);
    let (from, to) = (FIRST_RELEASE + SECOND, FIRST_RELEASE + SECOND + MILLISECOND * 100);
    assert_eq!(1 + lines.count(), stored.latencies(from, to).len());
    assert_eq!(stored.csv("..").lines().count() as u64, 1 + stored.run.total.cycles);
}

#[test]
fn what_names_no_stretch_is_one_line() {
    let stored = stored(&SyntheticRun { seconds: 3, ..synthetic() }.messages());
    for (spec, expected) in [
        ("+3.5s..", "from 2026-11-21T16:05:01.000Z to 2026-11-21T16:05:04.000Z"),
        ("16:04..16:05", "does not overlap the run"),
        ("2026-11-20T16:05:02Z..2026-11-20T16:05:03Z", "that is +0s..+3.000s"),
        ("+2s..+1s", "ends before it begins"),
        ("16:05:03..16:05:02", "ends before it begins"),
    ] {
        let error = stored.refusal(spec);
        assert!(error.contains(expected) && !error.contains('\n'), "{spec}: {error}");
    }
    let without = SyntheticRun { samples: false, ..synthetic() };
    let without = self::stored(&SyntheticRun { seconds: 1, ..without }.messages());
    assert!(without.refusal("..").contains("latlab run --samples"));
}

/// The run with modified readings of the clocks, and few cycles over a long time.
fn with_clocks(length: Nanos, realtime: impl Fn(Nanos) -> Nanos) -> Stored {
    let mut messages = SyntheticRun { seconds: 2, ..synthetic() }.messages();
    let reading = |since: Nanos| ClockReading {
        monotonic_ns: FIRST_RELEASE + since,
        boottime_ns: FIRST_RELEASE + since,
        realtime_ns: realtime(since),
        tai_ns: realtime(since),
    };
    let last = messages.iter().rposition(|one| matches!(one, Message::Interval(_))).unwrap();
    if let Message::Interval(interval) = &mut messages[last] {
        interval.end_ns = FIRST_RELEASE + length;
    }
    messages.retain(|message| !matches!(message, Message::Clocks(_)));
    let readings = (0..=length.0 / SECOND.0).map(|second| reading(SECOND * second));
    messages.splice(4..4, readings.map(Message::Clocks));
    stored(&messages)
}

#[test]
fn a_time_of_day_is_the_one_that_lies_in_the_run() {
    // From 16:05:01 over midnight to 01:05:01.
    let night = with_clocks(SECOND * 3600 * 9, |since| STARTED + since);
    for (spec, from, to) in [
        ("00:30..01:00", "2026-11-22T00:30:00", "2026-11-22T01:00:00"),
        ("23:59..00:01", "2026-11-21T23:59:00", "2026-11-22T00:01:00"),
        ("16:00..17:00", "2026-11-21T16:05:01", "2026-11-21T17:00:00"),
        ("01:00..02:00", "2026-11-22T01:00:00", "2026-11-22T01:05:01"),
        ("00:30..", "2026-11-22T00:30:00", "2026-11-22T01:05:01"),
        ("..16:06", "2026-11-21T16:05:01", "2026-11-21T16:06:00"),
        ("16:00..02:00", "2026-11-21T16:05:01", "2026-11-22T01:05:01"),
        ("+8h..01:00:00.5", "2026-11-22T00:05:01", "2026-11-22T01:00:00.500"),
    ] {
        let window = night.window(spec).unwrap();
        let starts = |text: &str, with: &str| text.starts_with(with);
        assert!(starts(&window.from, from) && starts(&window.to, to), "{spec}: {window:?}");
    }
    assert!(night.refusal("12:00..13:00").contains("does not overlap the run"));
    let days = with_clocks(SECOND * 3600 * 30, |since| STARTED + since);
    assert!(days.refusal("17:00..17:01").contains("add the date"));
    let window = days.window("2026-11-22T17:00:00Z..2026-11-22T17:01:00Z").unwrap();
    assert_eq!(window.from_ns, FIRST_RELEASE + SECOND * (24 * 3600 + 54 * 60 + 59));
    assert_eq!(days.window("03:00..04:00").unwrap().from, "2026-11-22T03:00:00.000000Z");
}

/// Invariant (releases): Times of day come from the nearest reading of the clocks.
#[test]
fn the_wall_clock_is_that_of_the_nearest_reading() {
    // Slewed by 100 us in each second, set forward after 100 s, set back after 200 s.
    let moved = with_clocks(SECOND * 300, |since| {
        let slewed = since + Nanos(since.0 / 10_000);
        let set = match since.0 / SECOND.0 {
            ..100 => Nanos::ZERO,
            100..200 => SECOND * 3600,
            _ => SECOND * 3590,
        };
        STARTED + slewed + set
    });
    let from = |spec: &str| (moved.window(spec).unwrap().from_ns - FIRST_RELEASE).0;
    assert_eq!(from("16:05:51.005.."), 50 * SECOND.0);
    assert_eq!(from("16:30:00.."), 99 * SECOND.0 + SECOND.0 / 2, "the clock jumped over it");
    assert_eq!(from("17:07:41.016.."), 160 * SECOND.0);
    assert!(moved.refusal("17:08:15..").contains("occurred twice"));
    assert_eq!(moved.window("+50s..").unwrap().from, "2026-11-21T16:05:51.005000Z");
}

#[test]
fn lost_samples_leave_the_missed_releases_unknown() {
    let mut messages = SyntheticRun { seconds: 3, ..synthetic() }.messages();
    let mut of_first = messages.iter_mut().filter_map(|message| match message {
        Message::Samples(samples) if samples.thread == 0 => Some(samples),
        _ => None,
    });
    of_first.nth(1).unwrap().lost_before = 7;
    let lossy = stored(&messages);
    let window = lossy.window("..").unwrap();
    assert_eq!(window.threads[0].summary.overruns, None);
    assert_eq!(window.threads[1].summary.overruns, lossy.run.threads[1].summary.overruns);
    assert_eq!((window.total.overruns, window.total.misses), (None, None));
}

/// Leaves a run whose table of samples is as long as `LATLAB_LEAVE_SAMPLES` says, of four threads
/// at 20 kHz, to measure the cost of reading a window.
#[test]
fn leaves_many_samples_to_be_read() {
    let Some(count) = std::env::var("LATLAB_LEAVE_SAMPLES").ok() else { return };
    let folder = std::env::var("LATLAB_LEAVE_RUN").unwrap();
    let few = SyntheticRun { threads: 4, seconds: 1, ..synthetic() };
    let mut run = Store::new(folder).begin(&format!("samples-{count}")).unwrap();
    run.append(&few.bytes()).unwrap();
    let path = run.finish().unwrap().path;
    let mut table = ThreadTable::create(&Disk::default(), &path).unwrap();
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as i64
    };
    for block in 0..count.parse::<i64>().unwrap() / 40_000 {
        for thread in 0..4 {
            let row = |cycle: i64| SampleRow {
                thread,
                cpu: Some(thread),
                sample: Sample::new(
                    FIRST_RELEASE + Nanos(50_000) * (block * 10_000 + cycle),
                    Nanos(9_000 + random() % 1_500 + random() % 1_500),
                ),
            };
            table.push(&(0..10_000).map(row).collect::<Vec<_>>()).unwrap();
        }
    }
    table.close().unwrap();
}
