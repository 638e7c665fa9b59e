//! All output of the doctor about the test machines of fixtures/roots.

use latlab_doctor::examination;
use latlab_model::Snapshot;
use latlab_report::{Detail, Style, Subject};
use std::fs;
use std::path::{Path, PathBuf};

fn planted() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/roots");
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|kind| kind == "json")).collect();
    files.sort();
    assert!(!files.is_empty(), "{} holds no planted machine", folder.display());
    files
}

/// Invariant (doctor): Every word that the doctor prints of the recorded machines is golden.
#[test]
fn every_planted_machine_is_told_as_it_was() {
    let style = Style { colour: false };
    for path in planted() {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read(&path).expect("a fixture can be read");
        let snapshot = Snapshot::from_json(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let detail = Detail { width: 100, style, verbose: true };
        let said = latlab_report::examination(
            &examination(&snapshot),
            Subject::Elsewhere(&name),
            0,
            detail,
        );
        insta::assert_snapshot!(name, said);
    }
}
