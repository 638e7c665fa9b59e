//! From a stream to a folder and back, using only files.

use latlab_digest::testing::{FIRST_RELEASE, SyntheticRun};
use latlab_model::frame::Message;
use latlab_model::run::{EndReason, VerdictWord};
use latlab_model::{Histogram, Nanos, Run};
use latlab_store::{Finished, Store, histograms, read_run};
use std::fs;
use std::path::Path;

fn finish(root: &Path, id: &str, bytes: &[u8]) -> Finished {
    let mut run = Store::new(root).begin(id).unwrap();
    run.append(bytes).unwrap();
    run.finish().unwrap()
}

/// Sums of the intervals of a stream, for each thread.
fn totals(messages: &[Message], threads: u32) -> Vec<Histogram> {
    let mut totals = vec![Histogram::default(); threads as usize];
    for message in messages {
        if let Message::Interval(interval) = message {
            totals[interval.thread as usize].add(&interval.counts).unwrap();
        }
    }
    totals
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Invariant (losses): Everything that was counted is in the run folder.
#[test]
fn everything_that_was_counted_is_in_the_folder() {
    let root = tempfile::tempdir().unwrap();
    let synthetic = SyntheticRun { threads: 3, seconds: 12, ..SyntheticRun::default() };
    let messages = synthetic.messages();
    let Finished { run, path } = finish(root.path(), "one", &synthetic.bytes());

    assert_eq!(names(root.path()), ["one"]);
    assert_eq!(
        names(&path),
        ["clocks.parquet", "histogram.parquet", "intervals.parquet", "run.json", "spikes.parquet"]
    );
    assert_eq!(read_run(&path).unwrap(), run);
    let totals = totals(&messages, 3);
    let read = histograms(&path, &run).unwrap();
    for ((thread, total), bins) in run.threads.iter().zip(&totals).zip(&read) {
        assert_eq!(bins.bins, total.rows());
        assert_eq!(bins.bins.iter().map(|bin| bin.count).sum::<u64>(), thread.summary.cycles);
        assert_eq!(thread.summary.cycles, thread.end.as_ref().unwrap().cycles);
        assert_eq!(thread.summary.max_ns, Some(total.max_ns));
        assert_eq!(thread.summary.mean_ns, total.mean_ns());
        assert!(thread.summary.max_at_ns.is_some());
    }
    assert_eq!(run.total.cycles, totals.iter().map(|total| total.count).sum::<u64>());
    assert_eq!(run.total.releases, run.total.cycles + run.total.overruns.unwrap());
    assert_eq!((run.ended, run.recovered), (EndReason::Finished, false));
    assert_eq!(run.started, "2026-11-21T16:05:01Z");
    assert_eq!(run.measured_ns, Nanos(12_000_000_000));
    assert_eq!(run.verdict.as_ref().unwrap().word, VerdictWord::Pass);
    assert!(run.losses.none() && run.findings.is_empty(), "{:?}", run.findings);
    assert_eq!(run.clocks.unwrap().0.monotonic_ns, FIRST_RELEASE);
    assert_eq!(run.files.len(), 4);
}

#[test]
fn sizes_are_those_of_the_files() {
    let root = tempfile::tempdir().unwrap();
    let Finished { run, path } = finish(root.path(), "one", &SyntheticRun::default().bytes());
    for (name, stored) in &run.files {
        assert_eq!(fs::metadata(path.join(name)).unwrap().len(), stored.bytes, "{name}");
        assert_eq!(stored.sha256.len(), 64);
    }
}

#[test]
fn the_same_stream_makes_the_same_files() {
    let root = tempfile::tempdir().unwrap();
    let bytes = SyntheticRun::default().bytes();
    let one: Run = finish(root.path(), "one", &bytes).run;
    let other = finish(root.path(), "other", &bytes).run;
    assert_eq!(one.files, other.files);
}

/// Leaves a folder for `tests/read_run.py` if `LATLAB_LEAVE_RUN` is set.
#[test]
fn leaves_a_run_for_other_readers() {
    let Some(root) = std::env::var_os("LATLAB_LEAVE_RUN") else { return };
    let long = SyntheticRun { threads: 4, seconds: 600, seed: 9, ..SyntheticRun::default() };
    let root = Path::new(&root);
    finish(root, "made-up", &long.bytes());
    let mut cut = long.bytes();
    cut.truncate(cut.len() / 2);
    finish(root, "made-up-cut", &cut);
}
