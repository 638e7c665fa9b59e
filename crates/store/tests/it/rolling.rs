//! The runs of one name, of which the oldest are removed.

use latlab_digest::testing::SyntheticRun;
use latlab_store::{KEEP_MARK, Removal, RollingRuns, Store};
use latlab_sys::lease;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the synthetic runs.
fn name() -> String {
    SyntheticRun::default().plan().name
}

/// Runs of one name in a folder, an hour apart.
fn planted(root: &Path, name: &str, count: usize) -> Vec<PathBuf> {
    let plant = |hour: usize| {
        let mut run = Store::new(root).begin(&format!("20261101T{hour:02}0000Z_{name}")).unwrap();
        let name = name.to_string();
        let tiny = SyntheticRun { name, threads: 1, seconds: 1, ..SyntheticRun::default() };
        run.append(&tiny.bytes()).unwrap();
        run.finish().unwrap().path
    };
    (0..count).map(plant).collect()
}

/// The hours of the existing ones.
fn hours(folders: &[PathBuf]) -> Vec<usize> {
    folders.iter().enumerate().filter(|(_, folder)| folder.exists()).map(|(at, _)| at).collect()
}

/// Invariant (watch): The oldest runs go first, never one that is marked or being read, nor one of
/// another name.
#[test]
fn the_oldest_go_but_for_those_that_are_wanted() {
    let root = tempfile::tempdir().unwrap();
    let folders = planted(root.path(), &name(), 5);
    let others = planted(root.path(), "other", 2);
    // A different name than its folder's.
    fs::rename(&others[0], root.path().join(format!("20261031T000000Z_{}", name()))).unwrap();
    fs::write(folders[1].join(KEEP_MARK), "").unwrap();
    let document = folders[2].join("run.json");
    let has_leases = lease::is_open(&document).is_some();
    let reader = fs::File::open(&document).unwrap();
    let mut runs = RollingRuns::open(&Store::new(root.path()), &name()).unwrap();
    let all = runs.bytes();
    assert_eq!((runs.count(), all > 0), (6, true));
    assert!(runs.remove_while(|left| left > all).is_empty());
    let looked_at = runs.remove_while(|_| true);
    let kept = |hour: &str, why: &str| {
        let (_, removal) = looked_at.iter().find(|(id, _)| id[9..11] == *hour).unwrap();
        assert!(matches!(removal, Removal::Kept(reason) if reason.contains(why)), "{removal:?}");
    };
    let (_, first) = &looked_at[0];
    assert!(
        matches!(first, Removal::Kept(reason) if reason == "it is a run of 'other'"),
        "{first:?}"
    );
    kept("01", "marked");
    if has_leases {
        kept("02", "run.json is being read");
        assert_eq!(hours(&folders), [1, 2, 4]);
    }
    drop(reader);
    runs.remove_while(|_| true);
    assert_eq!(hours(&folders), [1, 4], "the newest stays");
    assert!(others[1].exists());
    assert!(latlab_store::verify(&folders[1]).extra.is_empty());
}

#[test]
fn what_others_make_and_remove_meanwhile_counts() {
    let root = tempfile::tempdir().unwrap();
    let folders = planted(root.path(), &name(), 3);
    let mut runs = RollingRuns::open(&Store::new(root.path()), &name()).unwrap();
    fs::remove_dir_all(&folders[0]).unwrap();
    // As made with a clock that was set back.
    let older = root.path().join(format!("20251101T000000Z_{}", name()));
    fs::rename(planted(&root.path().join("new"), &name(), 1).remove(0), &older).unwrap();
    runs.refresh(None).unwrap();
    assert_eq!(runs.count(), 3);
    // If another watch removes a run meanwhile, that watch reports it.
    fs::remove_dir_all(&folders[1]).unwrap();
    assert_eq!(runs.remove_while(|_| true).len(), 1);
    assert_eq!((hours(&folders), older.exists()), (vec![], true), "the newest stays");
}

/// A run whose folder has this time.
fn made_at(root: &Path, time: &str) -> PathBuf {
    let folder = root.join(format!("{time}_{}", name()));
    fs::rename(planted(&root.join("new"), &name(), 1).remove(0), &folder).unwrap();
    folder
}

/// Invariant (watch): A clock that is set makes no run older or newer than it is, also after a restart.
#[test]
fn the_order_is_that_in_which_they_came() {
    let root = tempfile::tempdir().unwrap();
    let open = || RollingRuns::open(&Store::new(root.path()), &name()).unwrap();
    let id = |folder: &Path| folder.file_name().unwrap().to_str().unwrap().to_string();
    // Years ahead, back as on a board without a clock, and finally right; with two watches.
    let times = ["20261101T000000Z", "20390101T000000Z", "19700101T000100Z", "20261102T000000Z"];
    let (mut one, mut other) = (open(), open());
    let folders = times.map(|time| {
        let folder = made_at(root.path(), time);
        one.refresh(Some(&id(&folder))).unwrap();
        other.refresh(None).unwrap();
        folder
    });
    let there = || folders.iter().map(|folder| folder.exists()).collect::<Vec<bool>>();
    drop(one);
    for left in [3, 2, 1] {
        // Reopened each time, with the smallest possible limit.
        let mut runs = open();
        assert_eq!(runs.count(), left + 1);
        let all = runs.bytes();
        runs.remove_while(|now| now == all);
        assert_eq!(there(), [left > 3, left > 2, left > 1, true]);
    }
}

#[test]
fn the_run_that_was_just_made_stays_whatever_another_watch_has_made() {
    let root = tempfile::tempdir().unwrap();
    let mut runs = RollingRuns::open(&Store::new(root.path()), &name()).unwrap();
    let own = made_at(root.path(), "20261101T000000Z");
    let of_another = made_at(root.path(), "20390101T000000Z");
    runs.refresh(Some(own.file_name().unwrap().to_str().unwrap())).unwrap();
    runs.remove_while(|_| true);
    assert_eq!((own.exists(), of_another.exists()), (true, false));
}

#[test]
fn without_a_list_the_names_tell_the_order() {
    let root = tempfile::tempdir().unwrap();
    let list = root.path().join(format!(".{}.order", name()));
    let open = || RollingRuns::open(&Store::new(root.path()), &name()).unwrap();
    let folders = planted(root.path(), &name(), 4);
    drop(open());
    let whole = fs::read_to_string(&list).unwrap();
    assert_eq!(whole.lines().count(), 4);
    // A cut list, nonsense, a folder and a link in its place.
    let elsewhere = root.path().join("elsewhere");
    fs::write(&elsewhere, "kept").unwrap();
    for make in [
        &|| fs::write(&list, &whole[..whole.len() / 2]).unwrap(),
        &|| fs::write(&list, [0xff; 4096]).unwrap(),
        &|| {
            fs::remove_file(&list).unwrap();
            fs::create_dir(&list).unwrap();
        },
        &|| {
            fs::remove_dir(&list).unwrap();
            std::os::unix::fs::symlink(&elsewhere, &list).unwrap();
        },
    ] as [&dyn Fn(); 4]
    {
        make();
        let mut runs = open();
        assert_eq!(runs.count(), 4);
        runs.refresh(None).unwrap();
        assert!(runs.remove_while(|_| false).is_empty());
    }
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "kept");
    open().remove_while(|_| true);
    assert_eq!(hours(&folders), [3]);
}

#[test]
fn the_list_grows_no_longer_than_its_runs_need() {
    let root = tempfile::tempdir().unwrap();
    let list = root.path().join(format!(".{}.order", name()));
    let mut runs = RollingRuns::open(&Store::new(root.path()), &name()).unwrap();
    // An empty folder suffices to be listed as a run.
    for minute in 0..300 {
        let id = format!("20261101T{:02}{:02}00Z_{}", minute / 60, minute % 60, name());
        fs::create_dir(root.path().join(&id)).unwrap();
        runs.refresh(Some(&id)).unwrap();
        fs::remove_dir(root.path().join(&id)).unwrap();
    }
    assert!(fs::read_to_string(&list).unwrap().lines().count() < 250);
}

#[test]
fn further_runs_of_a_second_are_of_the_same_name() {
    let root = tempfile::tempdir().unwrap();
    let (name, longer) = (name(), format!("{}-2", name()));
    let folders = planted(root.path(), &name, 2);
    let further = root.path().join(format!("20261101T050000Z_{longer}"));
    fs::rename(&folders[1], &further).unwrap();
    let other = planted(root.path(), &longer, 3).pop().unwrap();
    let open = |name: &str| RollingRuns::open(&Store::new(root.path()), name).unwrap();
    assert_eq!((open(&name).count(), open(&longer).count()), (2, 4));
    open(&name).remove_while(|_| true);
    assert_eq!((folders[0].exists(), further.exists(), other.exists()), (false, true, true));
}

#[test]
fn what_a_kill_left_is_removed() {
    let root = tempfile::tempdir().unwrap();
    planted(root.path(), &name(), 2);
    let half = root.path().join(format!(".20261031T000000Z_{}.removed", name()));
    let other = root.path().join(".20261031T000000Z_other.removed");
    fs::create_dir_all(&half).unwrap();
    fs::create_dir_all(&other).unwrap();
    fs::write(half.join("run.json"), "").unwrap();
    let runs = RollingRuns::open(&Store::new(root.path()), &name()).unwrap();
    assert_eq!((runs.count(), half.exists(), other.exists()), (2, false, true));
}
