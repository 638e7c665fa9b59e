//! The tables over time as read back from a run folder.

use latlab_digest::testing::SyntheticRun;
use latlab_store::{Error, Finished, Store, intervals, spikes, telemetry};
use std::fs;
use std::path::Path;

fn run(root: &Path, synthetic: &SyntheticRun) -> Finished {
    let mut run = Store::new(root).begin("run").unwrap();
    synthetic.messages().iter().for_each(|message| run.append(&message.encode()).unwrap());
    run.finish().unwrap()
}

fn warm() -> SyntheticRun {
    let stall = latlab_model::Nanos(7_000_000);
    SyntheticRun { seconds: 30, warmer: Some(9_000), stall, ..SyntheticRun::default() }
}

/// Invariant (pictures): The tables over time are read back as they were written.
#[test]
fn the_rows_of_a_run_add_up_to_its_figures() {
    let root = tempfile::tempdir().unwrap();
    let Finished { run, path } = run(root.path(), &warm());
    let rows: Vec<_> = intervals(&path, &run).unwrap().flat_map(|group| group.unwrap()).collect();
    assert_eq!(rows.len(), 60);
    assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), run.total.cycles);
    assert_eq!(rows.iter().map(|row| row.overruns).sum::<u64>(), run.total.overruns.unwrap());
    assert_eq!(rows.iter().filter_map(|row| row.max_ns).max(), run.total.max_ns);
    for row in &rows {
        let coarse: i64 = row.coarse.iter().map(|&count| i64::from(count)).sum();
        assert_eq!(coarse as u64, row.count - row.underflow);
    }
    let largest = spikes(&path, &run).unwrap().into_iter().map(|row| row.spike.latency_ns).max();
    assert_eq!(largest, run.total.max_ns);
}

#[test]
fn the_telemetry_of_a_run_is_read_back_and_may_not_be_there() {
    let root = tempfile::tempdir().unwrap();
    let warm = run(root.path(), &warm());
    let rows = telemetry(&warm.path, &warm.run).unwrap().unwrap();
    let rows: Vec<_> = rows.flat_map(|group| group.unwrap()).collect();
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    assert_eq!((first.value, last.value), (Some(45_000), Some(54_000)));
    assert_eq!((first.series.metric.as_str(), first.series.unit.as_str()), ("temperature", "mC"));
    assert!(first.series.steady && !first.series.counter);
    let cold = run(&root.path().join("cold"), &SyntheticRun::default());
    assert!(telemetry(&cold.path, &cold.run).unwrap().is_none());
}

/// Invariant (pictures): The tables over time are read back as they were written.
#[test]
fn a_table_that_was_changed_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    let Finished { run, path } = run(root.path(), &warm());
    for name in ["intervals.parquet", "spikes.parquet", "telemetry.parquet"] {
        let mut bytes = fs::read(path.join(name)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(path.join(name), bytes).unwrap();
    }
    let changed = |error: Option<Error>| matches!(error, Some(Error::Changed { .. }));
    assert!(changed(intervals(&path, &run).err()));
    assert!(changed(spikes(&path, &run).err()));
    assert!(changed(telemetry(&path, &run).err()));
    fs::remove_file(path.join("telemetry.parquet")).unwrap();
    assert!(telemetry(&path, &run).is_err(), "the run stored one");
}
