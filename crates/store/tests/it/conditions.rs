//! The telemetry of a stream: in its table, in the run, and complete after a kill.

use latlab_digest::testing::SyntheticRun;
use latlab_model::Run;
use latlab_model::doctor::Diagnosis;
use latlab_model::frame::Message;
use latlab_model::snapshot::Content;
use latlab_store::{Finished, RecoveryOutcome, Store, read_run, read_snapshot};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn warmer(by: i64) -> SyntheticRun {
    SyntheticRun { seconds: 40, warmer: Some(by), ..SyntheticRun::default() }
}

fn finish(root: &Path, messages: &[Message]) -> Finished {
    let mut run = Store::new(root).begin("run").unwrap();
    messages.iter().for_each(|message| run.append(&message.encode()).unwrap());
    run.finish().unwrap()
}

fn codes(run: &Run) -> Vec<&str> {
    run.findings.iter().map(|finding| finding.code()).collect()
}

#[test]
fn what_was_read_is_in_the_run_and_beside_it() {
    let root = tempfile::tempdir().unwrap();
    let Finished { run, path } = finish(root.path(), &warmer(12_000).messages());
    assert_eq!(codes(&run), ["temperature-drift"]);
    let told = serde_json::to_value(&run.findings[0]).unwrap();
    assert!(told["latencies"]["then"]["p99_ns"].is_i64(), "{told}");
    let conditions = run.conditions.as_ref().unwrap();
    assert_eq!((conditions.readings, conditions.lost), (40, 0));
    let heat = &conditions.figures[0];
    assert_eq!((heat.metric.as_str(), heat.unit.as_str()), ("temperature", "C"));
    assert_eq!((heat.min, heat.max), (45.0, 57.0));
    for name in ["telemetry.parquet", "snapshot.json"] {
        assert!(run.files.contains_key(name) && path.join(name).exists(), "{name}");
    }
    // Remedies come from this program and are not read from a file.
    let without_remedies = |run: Run| {
        let bare = |one: Diagnosis| Diagnosis { remedy: None, undo: None, ..one };
        Run { doctor: run.doctor.map(|all| all.into_iter().map(bare).collect()), ..run }
    };
    assert_eq!(read_run(&path).unwrap(), without_remedies(run));
}

#[test]
fn the_doctor_has_looked_at_the_machine_of_the_run() {
    let root = tempfile::tempdir().unwrap();
    let Finished { run, path } = finish(root.path(), &warmer(0).messages());
    let doctor = run.doctor.as_ref().unwrap();
    assert!(doctor.iter().any(|one| one.code == "governor"), "{doctor:?}");
    let snapshot = read_snapshot(&path, &run).unwrap().unwrap();
    assert_eq!(&latlab_doctor::examine(&snapshot), doctor);
    // A modified file is not what was measured on.
    fs::write(path.join("snapshot.json"), "{\"snapshot\":1,\"files\":{}}").unwrap();
    assert!(read_snapshot(&path, &run).is_err());
    let none = finish(&root.path().join("none"), &SyntheticRun::default().messages());
    assert_eq!((none.run.doctor, none.run.conditions), (None, None));
    assert_eq!(read_snapshot(&none.path, &read_run(&none.path).unwrap()).unwrap(), None);
}

/// Invariant (trust): Lines of a log that only root may see are stored for the owner of the run alone.
#[test]
fn kernel_files_with_a_restricted_log_are_their_owners() {
    let root = tempfile::tempdir().unwrap();
    let mode = |name: &str, restrict: &str, log: &str| {
        let mut messages = warmer(0).messages();
        for message in &mut messages {
            if let Message::Snapshot(snapshot) = message {
                let mut plant = |file: &str, text: &str| {
                    snapshot.files.insert(file.to_string(), Content::Text(text.to_string()))
                };
                plant("proc/sys/kernel/dmesg_restrict", restrict);
                plant("kernel.log", log);
            }
        }
        let path = finish(&root.path().join(name), &messages).path.join("snapshot.json");
        fs::metadata(path).unwrap().permissions().mode() & 0o077
    };
    assert_eq!(mode("restricted", "1", "[1] tsc: a line"), 0);
    assert_ne!(mode("free", "0", "[1] tsc: a line") & 0o044, 0);
    assert_ne!(mode("empty", "1", "") & 0o044, 0);
}

#[test]
fn readings_that_are_missing_are_counted() {
    let mut messages = warmer(12_000).messages();
    let mut seen = 0;
    messages.retain(|message| {
        seen += usize::from(matches!(message, Message::Reading(_)));
        !matches!(message, Message::Reading(_)) || !(11..14).contains(&seen)
    });
    let root = tempfile::tempdir().unwrap();
    let Finished { run, .. } = finish(root.path(), &messages);
    assert_eq!(run.conditions.as_ref().unwrap().lost, 3);
    assert!(codes(&run).contains(&"telemetry-lost"), "{:?}", run.findings);
}

#[test]
fn a_killed_run_keeps_its_conditions() {
    let root = tempfile::tempdir().unwrap();
    let messages = warmer(12_000).messages();
    let half = &messages[..messages.len() / 2];
    let mut run = Store::new(root.path()).begin("cut").unwrap();
    half.iter().for_each(|message| run.append(&message.encode()).unwrap());
    drop(run);
    let recovered = Store::new(root.path()).recover().unwrap();
    let RecoveryOutcome::Finished(path) = &recovered[0].outcome else { panic!("{recovered:?}") };
    let run = read_run(path).unwrap();
    let conditions = run.conditions.as_ref().unwrap();
    assert!((15..25).contains(&conditions.readings), "{}", conditions.readings);
    assert!(run.doctor.is_some() && path.join("telemetry.parquet").exists());
}
