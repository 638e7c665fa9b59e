//! What latlab has stored is read by every later one: the fixtures of each version of the schema.

use latlab_model::run::{EndReason, SCHEMA_VERSION};
use latlab_store::{RecoveryOutcome, RunState, Store, WindowReader, histograms};
use std::fs;
use std::path::{Path, PathBuf};

fn fixtures(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/schema-{version}"))
}

/// Invariant (old data): Runs and journals of every version of the schema are read.
#[test]
fn every_version_has_runs_and_they_are_read() {
    for version in 1..=SCHEMA_VERSION {
        let store = Store::new(fixtures(version).join("runs"));
        for entry in store.list().unwrap() {
            let RunState::Finished(run) = &entry.state else { panic!("{version}: {entry:?}") };
            assert_eq!((run.schema, run.ended), (version, EndReason::Finished));
            let bins = histograms(&entry.path, run).unwrap();
            let counted: u64 = bins.iter().flat_map(|one| &one.bins).map(|bin| bin.count).sum();
            assert_eq!(counted, run.total.cycles);
            assert!(counted > 1000);
            if run.files.contains_key("samples.parquet") {
                let window = "..".parse().unwrap();
                let window = WindowReader::open(&entry.path, run, &window).unwrap();
                assert_eq!(window.figures().unwrap().total, run.total);
            }
            if run.files.contains_key("trace.parquet") {
                crate::trace::expect_same(&entry.path, run);
            }
        }
    }
}

/// Invariant (old data): Runs and journals of every version of the schema are read.
#[test]
fn every_version_has_a_cut_journal_and_it_is_finished() {
    for version in 1..=SCHEMA_VERSION {
        let root = tempfile::tempdir().unwrap();
        let partial = fs::read_dir(fixtures(version).join("cut")).unwrap().next().unwrap().unwrap();
        let copy = root.path().join(partial.file_name());
        fs::create_dir(&copy).unwrap();
        fs::copy(partial.path().join("journal"), copy.join("journal")).unwrap();
        let recovered = Store::new(root.path()).recover().unwrap();
        let RecoveryOutcome::Finished(path) = &recovered[0].outcome else {
            panic!("{recovered:?}")
        };
        let run = latlab_store::read_run(path).unwrap();
        assert_eq!((run.schema, run.ended), (SCHEMA_VERSION, EndReason::Lost));
        assert!(run.recovered && run.total.cycles > 1000, "{:?}", run.total);
    }
}
