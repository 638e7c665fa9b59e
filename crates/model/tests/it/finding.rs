//! Weight and storage of findings.

mod examples;

use examples::all;
use latlab_model::Nanos;
use latlab_model::finding::*;
use serde_json::json;
use std::collections::HashSet;

#[test]
fn every_weight_of_the_table_is_met_and_no_other() {
    let all: Vec<Finding> = all().into_iter().map(Finding::new).collect();
    let rows = [
        MachineFinding::ROWS,
        CaptureFinding::ROWS,
        ImportFinding::ROWS,
        ConditionFinding::ROWS,
        SetupFinding::ROWS,
        LoadFinding::ROWS,
        AttachFinding::ROWS,
        OwnThreadFinding::ROWS,
        EndFinding::ROWS,
        LossFinding::ROWS,
        JournalFinding::ROWS,
    ];
    let rows: Vec<&FindingRow> = rows.into_iter().flatten().collect();
    for row in &rows {
        let of_it = all.iter().filter(|one| one.code() == row.code);
        let met: HashSet<String> = of_it.map(|one| format!("{:?}", one.weight())).collect();
        let said = row.weights.iter().map(|weight| format!("{weight:?}")).collect();
        assert_eq!(met, said, "{}", row.code);
    }
    let codes: HashSet<&str> = rows.iter().map(|row| row.code).collect();
    assert_eq!(codes.len(), rows.len(), "a code stands for one thing");
}

#[test]
fn what_is_stored_is_read_again_and_holds_no_sentence() {
    for kind in all() {
        let finding = Finding::new(kind).at(Nanos(i64::MAX)).of_thread(3);
        let stored = serde_json::to_string(&finding).unwrap();
        assert_eq!(serde_json::from_str::<Finding>(&stored).unwrap(), finding, "{stored}");
        for name in ["text", "severity", "remedy", "effect"] {
            assert!(!stored.contains(&format!("\"{name}\"")), "{stored}");
        }
    }
}

#[test]
fn no_parameter_has_a_reserved_name() {
    for kind in all() {
        let stored = serde_json::to_value(Finding::new(kind)).unwrap();
        for name in RESERVED.iter().filter(|name| !["code", "at_ns", "thread"].contains(name)) {
            assert_eq!(stored.get(name), None, "{stored}");
        }
    }
}

#[test]
fn an_unknown_finding_is_kept_as_it_was_stored() {
    for unknown in [
        json!({ "code": "from-the-future", "degrees": 7, "at_ns": 9, "thread": 1 }),
        // A known code with other parameters.
        json!({ "code": "spikes-lost", "number": "seven", "at_ns": 9, "thread": 1 }),
    ] {
        let finding: Finding = serde_json::from_value(unknown.clone()).unwrap();
        assert_eq!(finding.code(), unknown["code"]);
        assert_eq!((finding.at_ns, finding.thread), (Some(Nanos(9)), Some(1)));
        assert_eq!(
            (finding.severity(), finding.effect()),
            (Severity::Warning, VerdictEffect::None)
        );
        assert_eq!(serde_json::to_value(&finding).unwrap(), unknown);
    }
    let weighed = json!({ "code": "from-the-future", "severity": "error", "effect": "invalid" });
    let finding: Finding = serde_json::from_value(weighed).unwrap();
    assert!(finding.invalidates());
}
