//! The folder with all runs: ids, listing, finding.

use latlab_digest::testing::{STARTED, SyntheticRun};
use latlab_store::{Error, RunState, Store, read_run};
use sha2::{Digest, Sha256};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

fn finish(store: &Store, id: &str) -> PathBuf {
    let mut run = store.begin(id).unwrap();
    let tiny = SyntheticRun { threads: 1, seconds: 1, ..SyntheticRun::default() };
    run.append(&tiny.bytes()).unwrap();
    run.finish().unwrap().path
}

fn ids(store: &Store) -> Vec<String> {
    store.list().unwrap().into_iter().map(|entry| entry.id).collect()
}

#[test]
fn a_taken_id_gets_a_number() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    finish(&store, "idle");
    let going_on = store.begin("idle").unwrap();
    assert_eq!(going_on.id(), "idle-2");
    let path = finish(&store, "idle");
    assert_eq!(path, root.path().join("idle-3"));
    assert_eq!(read_run(&path).unwrap().id, "idle-3");
    assert!(matches!(store.begin("../idle"), Err(Error::BadId(_))));
}

#[test]
fn the_root_is_made_when_it_is_needed() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path().join("deep/runs"));
    assert!(store.list().unwrap().is_empty());
    assert!(store.recover().unwrap().is_empty());
    finish(&store, "one");
    assert_eq!(ids(&store), ["one"]);
}

#[test]
fn files_belong_to_the_calling_user() {
    let root = tempfile::tempdir().unwrap();
    let own = fs::metadata(root.path()).unwrap();
    // Only root can give files away; for other users it must not fail.
    let other = if own.uid() == 0 { (12_345, 54_321) } else { (own.uid(), own.gid()) };
    let store = Store::new(root.path().join("runs")).owned_by(Some(other));
    let open = store.begin("one").unwrap();
    for path in [store.root(), open.path(), &open.path().join("journal")] {
        let owner = fs::metadata(path).unwrap();
        assert_eq!((owner.uid(), owner.gid()), other, "{}", path.display());
    }
    let path = finish(&store, "two");
    for file in fs::read_dir(&path).unwrap() {
        let owner = file.unwrap().metadata().unwrap();
        assert_eq!((owner.uid(), owner.gid()), other);
    }
    assert_eq!(fs::metadata(root.path()).unwrap().uid(), own.uid());
}

/// Makes a run look as if measured that many days later.
fn postpone(path: &Path, days: i64) {
    let mut run = read_run(path).unwrap();
    let started = jiff::Timestamp::from_nanosecond(i128::from(STARTED.0)).unwrap();
    run.started = (started + jiff::SignedDuration::from_hours(24 * days)).to_string();
    let text = serde_json::to_string_pretty(&run).unwrap() + "\n";
    let (before, checksum) = text.rsplit_once("\n  \"checksum\"").unwrap();
    let hash: String =
        Sha256::digest(format!("{before}\n")).iter().map(|byte| format!("{byte:02x}")).collect();
    let checksum = checksum.replace(run.checksum.as_ref().unwrap(), &hash);
    fs::write(path.join("run.json"), format!("{before}\n  \"checksum\"{checksum}")).unwrap();
}

#[test]
fn one_bad_folder_does_not_hide_the_others() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let older = finish(&store, "zebra");
    let newer = finish(&store, "20261120T000000Z_ant");
    postpone(&newer, 2);
    let broken = finish(&store, "20261122T000000Z_broken");
    fs::write(broken.join("run.json"), "{\"schema\": 1, \"id\": 3}").unwrap();
    let future = finish(&store, "20261201T000000Z_future");
    fs::write(future.join("run.json"), "{\"schema\": 99}").unwrap();
    fs::create_dir(root.path().join("empty")).unwrap();
    fs::create_dir(root.path().join(".git")).unwrap();
    fs::write(root.path().join("notes.txt"), "mine").unwrap();

    let listed = store.list().unwrap();
    let order: Vec<&str> = listed.iter().map(|entry| entry.id.as_str()).collect();
    let future_id = "20261201T000000Z_future";
    let broken_id = "20261122T000000Z_broken";
    assert_eq!(order, [future_id, "20261120T000000Z_ant", broken_id, "zebra"]);
    assert!(matches!(&listed[0].state, RunState::Damaged(reason) if reason.contains("schema 99")));
    assert!(matches!(&listed[2].state, RunState::Damaged(reason) if reason.contains("run.json")));
    assert!(matches!(listed[3].state, RunState::Finished(_)));
    assert_eq!(store.find("last").unwrap(), future, "the newest, even where it cannot be read");
    assert_eq!(store.find("ant").unwrap(), newer);
    assert_eq!(store.find("zeb").unwrap(), older);
}

#[test]
fn of_runs_that_began_in_the_same_second_the_last_one_written_is_the_newest() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let first = finish(&store, "20261121T160501Z_zebra");
    let second = finish(&store, "20261121T160501Z_ant");
    let written = fs::metadata(first.join("run.json")).unwrap().modified().unwrap();
    let later = fs::File::options().write(true).open(second.join("run.json")).unwrap();
    later.set_modified(written + std::time::Duration::from_millis(1)).unwrap();
    assert_eq!(store.find("last").unwrap(), second);
}

#[test]
fn another_schema_is_one_line() {
    let root = tempfile::tempdir().unwrap();
    let path = finish(&Store::new(root.path()), "one");
    fs::write(path.join("run.json"), "{\"schema\": 99, \"all\": [\"is\", \"new\"]}").unwrap();
    let error = read_run(&path).unwrap_err();
    assert!(matches!(error, Error::OtherVersion { found: 99, .. }));
    let text = error.to_string();
    let expected = "has schema 99, and this latlab reads schema 1: use the latlab that wrote it";
    assert!(text.ends_with(expected) && !text.contains('\n'), "{text}");
}

#[test]
fn runs_are_found_by_what_people_type() {
    let root = tempfile::tempdir().unwrap();
    let store = Store::new(root.path());
    let missing = store.find("last").unwrap_err().to_string();
    assert!(missing.contains("no run 'last'") && !missing.contains("there are"), "{missing}");

    let idle = finish(&store, "20261121T160501Z_idle");
    let busy = finish(&store, "20261121T170501Z_busy");
    let busier = finish(&store, "20261121T170501Z_busy-2");
    assert_eq!(store.find("idle").unwrap(), idle);
    assert_eq!(store.find("20261121T170501Z_busy").unwrap(), busy, "an id goes before its parts");
    assert_eq!(store.find(busier.to_str().unwrap()).unwrap(), busier);
    assert_eq!(store.find(busier.join("run.json").to_str().unwrap()).unwrap(), busier);

    assert_eq!(store.find("busy").unwrap(), busy, "and so does a whole name");
    let idle_again = finish(&store, "20261122T160501Z_idle");
    assert_eq!(store.find("idle").unwrap(), idle_again, "the newest of a name");
    let ambiguous = store.find("bus").unwrap_err().to_string();
    let both = "20261121T170501Z_busy-2, 20261121T170501Z_busy";
    assert!(ambiguous.contains(both), "{ambiguous}");
    let unknown = store.find("nightly").unwrap_err().to_string();
    assert!(unknown.contains("there are") && unknown.contains("_idle"), "{unknown}");
    assert!(store.find("").is_err());
    assert!(store.find("../etc").is_err());
    let empty = root.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let other = store.find(empty.to_str().unwrap()).unwrap_err().to_string();
    assert!(other.contains("empty is not the folder of a run"), "{other}");
}
