//! Every check of the catalogue reports where it should, and nowhere else.

use crate::cases::{self, Case, Files};
use latlab_doctor::{catalogue, examine};
use latlab_model::Snapshot;
use latlab_model::doctor::Diagnosis;
use latlab_model::shell::Line;
use latlab_model::snapshot::{Content, SETTINGS, STATE, matches_pattern};
use std::collections::BTreeSet;

fn plant(files: Files) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for (path, text) in files {
        let taken = SETTINGS.iter().chain(STATE).any(|pattern| matches_pattern(pattern, path));
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

/// Invariant (doctor): Each check reports where it should, and only there.
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

/// Invariant (doctor): Each check reports where it should, and only there.
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

/// Entries that show a sum, a unit or what the mere presence of a file means.
const WORKED_OUT: [&str; 5] =
    ["container", "one-interrupt-cpu", "stolen-time", "swap", "unlike-cores"];

#[test]
fn what_is_shown_was_seen() {
    for files in all_cases().flat_map(|case| case.appears) {
        let snapshot = plant(files);
        for Diagnosis { code, file, value, .. } in examine(&snapshot) {
            let found = snapshot.matching(&file);
            // A missing or empty file is shown as nothing.
            let holds = found.iter().any(|(_, text)| !text.is_empty());
            let is_there = snapshot.has(&file) || holds || value.is_empty();
            assert!(is_there, "{code}: {file} holds no '{value}'");
            if WORKED_OUT.contains(&code.as_str()) {
                continue;
            }
            let separators = |c: char| c.is_whitespace() || c == ',';
            for word in value.split(separators).filter(|word| !word.is_empty()) {
                let seen = found.iter().any(|(_, text)| text.contains(word));
                assert!(seen, "{code}: {word} of {value}");
            }
        }
    }
}

#[test]
fn what_is_said_is_said_in_one_sentence_and_filled_in() {
    for files in all_cases().flat_map(|case| case.appears) {
        for diagnosis in examine(&plant(files)) {
            for text in [&diagnosis.text, &diagnosis.why] {
                assert!(text.ends_with('.') && !text.contains(". "), "{}: {text}", diagnosis.code);
                assert!(!text.contains("  "), "{}: {text}", diagnosis.code);
            }
            for text in [&diagnosis.remedy, &diagnosis.undo].into_iter().flatten().map(Line::as_str)
            {
                let filled = !text.contains("{value}") && !text.contains("{file}");
                assert!(filled && !text.contains("  "), "{}: {text}", diagnosis.code);
            }
        }
    }
}
