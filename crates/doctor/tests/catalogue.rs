//! Every entry of the catalogue appears where it should, and nowhere else.

mod cases;

use latlab_doctor::{catalogue, examine};
use latlab_model::Snapshot;
use latlab_model::snapshot::{Content, SETTINGS, STATE, fits};
use std::collections::BTreeSet;

/// Files of a planted machine.
pub type Files = &'static [(&'static str, &'static str)];

/// Where one entry appears, and where it does not.
pub struct Case {
    /// Its code.
    pub code: &'static str,
    /// Machines that have it.
    pub appears: &'static [Files],
    /// Machines that do not.
    pub absent: &'static [Files],
}

fn plant(files: Files) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for (path, text) in files {
        let taken = SETTINGS.iter().chain(STATE).any(|pattern| fits(pattern, path));
        assert!(taken, "{path} is in no snapshot: name it in latlab_model::snapshot");
        snapshot.files.insert(path.to_string(), Content::Text(text.trim().to_string()));
    }
    snapshot
}

fn codes(files: Files) -> Vec<String> {
    examine(&plant(files)).into_iter().map(|diagnosis| diagnosis.code).collect()
}

fn all_cases() -> impl Iterator<Item = &'static Case> {
    cases::ALL.iter().copied().flatten()
}

#[test]
fn each_appears_where_it_should_and_only_there() {
    for case in all_cases() {
        for files in case.appears {
            let found = codes(files);
            assert!(found.iter().any(|code| code == case.code), "{}: {files:?}", case.code);
        }
        for files in case.absent {
            let found = codes(files);
            assert!(!found.iter().any(|code| code == case.code), "not {}: {files:?}", case.code);
        }
    }
}

#[test]
fn each_entry_has_a_case_of_both_kinds() {
    let covered: BTreeSet<&str> = all_cases()
        .filter(|case| !case.appears.is_empty() && !case.absent.is_empty())
        .map(|case| case.code)
        .collect();
    let missing: Vec<&str> =
        catalogue().map(|check| check.code).filter(|code| !covered.contains(code)).collect();
    assert_eq!(missing, Vec::<&str>::new());
    let codes: BTreeSet<&str> = catalogue().map(|check| check.code).collect();
    assert_eq!(codes.len(), catalogue().count(), "a code stands for one entry");
}

#[test]
fn an_empty_snapshot_has_no_findings() {
    assert_eq!(codes(&[]), Vec::<String>::new());
}
