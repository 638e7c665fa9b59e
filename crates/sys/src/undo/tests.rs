//! Changes on planted machines.

use super::*;
use crate::record::with_checksum;
use std::os::unix::fs::PermissionsExt;

fn machine() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["proc/sys/kernel", "sys/kernel/mm", "run", "tmp"] {
        fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    let root = Root::new(folder.path());
    fs::write(root.path("proc/sys/kernel/sched_rt_runtime_us"), "950000\n").unwrap();
    fs::write(root.path("proc/sys/kernel/printk"), "4\t4\t1\t7\n").unwrap();
    fs::write(root.path("sys/kernel/mm/huge"), "always [madvise] never\n").unwrap();
    (folder, root)
}

fn value(root: &Root, path: &str) -> String {
    read_value(root, path).unwrap()
}

const RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";

fn file(root: &Root, path: &str) -> PathBuf {
    root.path(&path[1..])
}

/// The changes of the only record.
fn recorded(root: &Root) -> Vec<Change> {
    let found = records(root, Subject::Changes).unwrap().into_iter().next().expect("a record");
    parse(&found.content).unwrap()
}

fn count_records(root: &Root) -> usize {
    let names = root.names("run/latlab").unwrap_or_default();
    names.iter().filter(|name| name.starts_with("undo-")).count()
}

/// Leaves what a kill leaves: an unlocked record.
fn kill(changes: Changes) {
    let mut changes = std::mem::ManuallyDrop::new(changes);
    changes.record.release();
}

#[test]
fn a_change_is_recorded_read_back_and_undone() {
    let (_folder, root) = machine();
    let mut changes = Changes::begin(&root).unwrap();
    assert_eq!(changes.set(RUNTIME, "-1").unwrap(), "-1");
    assert_eq!(changes.set("/proc/sys/kernel/printk", "1 4 1 7").unwrap(), "1 4 1 7");
    assert!(changes.set("/proc/sys/kernel/none", "1").is_err());
    assert_eq!(recorded(&root), changes.made);
    assert!(restore_leftovers(&root).undone.is_empty(), "its process goes on");
    assert_eq!(value(&root, RUNTIME), "-1");
    drop(changes);
    assert_eq!(value(&root, RUNTIME), "950000");
    assert_eq!(value(&root, "/proc/sys/kernel/printk"), "4 4 1 7");
    assert_eq!(count_records(&root), 0);
}

#[test]
fn a_folder_that_was_made_is_removed_after_a_kill_too() {
    let (_folder, root) = machine();
    fs::create_dir_all(root.path("sys/kernel/tracing/instances")).unwrap();
    let path = "/sys/kernel/tracing/instances/latlab-7";
    let mut changes = Changes::begin(&root).unwrap();
    let made = changes.create_folder(path).unwrap();
    assert_eq!(recorded(&root), [Change::folder(path)]);
    assert!(changes.create_folder(path).is_err(), "it may be of another run");
    assert!(made.exists());
    kill(changes);
    assert_eq!(restore_leftovers(&root).undone, [(Change::folder(path), UndoResult::Restored)]);
    assert!(!made.exists());
    assert!(Changes::begin(&root).unwrap().create_folder("/sys/none/x").is_err());
}

/// Invariant (undo): Every change is undone, after a kill too.
#[test]
fn what_a_killed_process_left_is_put_back_and_what_goes_on_is_left() {
    let (_folder, root) = machine();
    let (huge, printk) = ("/sys/kernel/mm/huge1", "/proc/sys/kernel/printk");
    fs::write(file(&root, huge), "madvise\n").unwrap();
    let mut killed = Changes::begin(&root).unwrap();
    killed.set(RUNTIME, "-1").unwrap();
    killed.set(huge, "always").unwrap();
    let mut alive = Changes::begin(&root).unwrap();
    alive.set(printk, "1 4 1 7").unwrap();
    let draft = killed.record.path().with_extension("draft");
    fs::write(&draft, "cut off").unwrap();
    kill(killed);
    let undone = restore_leftovers(&root).undone;
    let paths: Vec<&str> = undone.iter().map(|(change, _)| change.path.as_str()).collect();
    assert_eq!(paths, [huge, RUNTIME], "the last change first");
    assert!(undone.iter().all(|(_, result)| *result == UndoResult::Restored), "{undone:?}");
    assert_eq!(
        (value(&root, huge).as_str(), value(&root, RUNTIME).as_str()),
        ("madvise", "950000")
    );
    assert_eq!(value(&root, printk), "1 4 1 7");
    assert_eq!(count_records(&root), 1, "that of the run that goes on");
    assert!(!draft.exists() && restore_leftovers(&root).undone.is_empty());
}

/// Ways to make undoing fail: how a file is broken, and how it is mended.
type Break = (&'static str, fn(&Path), fn(&Path));
const BREAKS: [Break; 3] = [
    (
        "it cannot be opened",
        |file| fs::rename(file, file.with_extension("away")).unwrap(),
        |file| {
            fs::rename(file.with_extension("away"), file).unwrap();
        },
    ),
    (
        "it cannot be read",
        |file| {
            fs::rename(file, file.with_extension("away")).unwrap();
            fs::create_dir(file).unwrap();
        },
        |file| {
            fs::remove_dir(file).unwrap();
            fs::rename(file.with_extension("away"), file).unwrap();
        },
    ),
    (
        // The kernel truncates names of threads.
        "it reads otherwise than it was written",
        |file| {
            fs::rename(file, file.with_extension("away")).unwrap();
            let name = fs::read_to_string(file.with_extension("away")).unwrap();
            std::os::unix::fs::symlink("/proc/thread-self/comm", file).unwrap();
            fs::write(file, name).unwrap();
        },
        |file| {
            fs::remove_file(file).unwrap();
            fs::rename(file.with_extension("away"), file).unwrap();
        },
    ),
];

/// Invariant (undo): A change is forgotten only when its value was read back as it was before.
#[test]
fn what_cannot_be_put_back_is_not_forgotten() {
    let path = "/proc/sys/kernel/value";
    for (what, break_file, mend_file) in BREAKS {
        for is_killed in [false, true] {
            let (_folder, root) = machine();
            fs::write(file(&root, path), "a value of many letters\n").unwrap();
            let mut changes = Changes::begin(&root).unwrap();
            changes.set(path, "short").unwrap();
            changes.set(RUNTIME, "-1").unwrap();
            break_file(&file(&root, path));
            let undone = if is_killed {
                kill(changes);
                restore_leftovers(&root).undone
            } else {
                changes.undo()
            };
            assert_eq!(undone[0].1, UndoResult::Restored, "{what}");
            assert!(matches!(undone[1].1, UndoResult::Failed(_)), "{what}: {undone:?}");
            let left = recorded(&root);
            assert_eq!((left.len(), left[0].path.as_str()), (1, path), "{what}");
            // Trying again does not change that.
            assert!(!restore_leftovers(&root).undone[0].1.is_settled(), "{what}");
            mend_file(&file(&root, path));
            fs::write(file(&root, RUNTIME), "-1\n").unwrap();
            let undone = restore_leftovers(&root).undone;
            assert_eq!(undone.len(), 1, "{what}");
            assert_eq!(value(&root, RUNTIME), "-1", "a restored value has no holder");
            assert_eq!(count_records(&root), usize::from(!undone[0].1.is_settled()), "{what}");
        }
    }
}

#[test]
fn a_change_that_cannot_be_read_back_is_undone_with_the_others() {
    let (_folder, root) = machine();
    let path = "/proc/sys/kernel/value";
    std::os::unix::fs::symlink("/proc/thread-self/comm", file(&root, path)).unwrap();
    let before = value(&root, path);
    let mut changes = Changes::begin(&root).unwrap();
    assert_eq!(
        changes.set(path, "more letters than there is room for").unwrap(),
        "more letters th"
    );
    assert_eq!(changes.undo()[0].1, UndoResult::Restored);
    assert_eq!(value(&root, path), before);
}

/// Invariant (undo): A value belongs to one run, or to all that set it to the same; the last of them puts it back.
#[test]
fn a_value_that_another_run_holds_is_shared_or_refused() {
    let (_folder, root) = machine();
    let begin = || Changes::begin(&root).unwrap();
    let (mut one, mut two, mut three) = (begin(), begin(), begin());
    one.set(RUNTIME, "-1").unwrap();
    two.set(RUNTIME, "-1").unwrap();
    std::os::unix::fs::symlink(file(&root, RUNTIME), file(&root, "/sys/kernel/mm/link")).unwrap();
    for path in [RUNTIME, "/sys/kernel/mm/link"] {
        let error = three.set(path, "7").unwrap_err();
        assert!(HeldByOther::is_cause(&error), "{error}");
        assert!(
            error.to_string().contains("holds it at '-1' until it ends: wait for it"),
            "{error}"
        );
    }
    let undone = one.undo();
    assert!(matches!(undone[0].1, UndoResult::HeldBy { restores: true, .. }), "{undone:?}");
    assert_eq!(value(&root, RUNTIME), "-1");
    kill(two);
    assert_eq!(restore_leftovers(&root).undone[0].1, UndoResult::Restored);
    assert_eq!((value(&root, RUNTIME).as_str(), count_records(&root)), ("950000", 0));
    // A value that already is as requested is held too.
    three.set(RUNTIME, "950000").unwrap();
    assert!(HeldByOther::is_cause(&begin().set(RUNTIME, "7").unwrap_err()));
    assert!(three.undo().is_empty(), "nothing was changed");
}

#[test]
fn what_was_not_put_back_waits_for_a_run_that_has_changed_it_again() {
    let (_folder, root) = machine();
    let mut killed = Changes::begin(&root).unwrap();
    killed.set(RUNTIME, "1").unwrap();
    kill(killed);
    let mut next = Changes::begin(&root).unwrap();
    next.set(RUNTIME, "2").unwrap();
    let undone = restore_leftovers(&root).undone;
    assert!(matches!(undone[0].1, UndoResult::HeldBy { restores: false, .. }), "{undone:?}");
    assert_eq!(next.undo()[0].1, UndoResult::Restored);
    assert_eq!(value(&root, RUNTIME), "1");
    restore_leftovers(&root);
    assert_eq!((value(&root, RUNTIME).as_str(), count_records(&root)), ("950000", 0));
}

/// Writes a record without a lock.
fn plant_record(root: &Root, origin: &str, content: &str) -> PathBuf {
    let changes = Changes::begin(root).unwrap();
    let mut record = Record::new(root, Subject::Changes).unwrap();
    record.write(content).unwrap();
    let path = record.path().to_owned();
    drop((record, changes));
    let text = fs::read_to_string(&path).unwrap();
    let of_this = Origin::of_this_process(root).lines();
    fs::write(&path, with_new_checksum(&text.replace(&of_this, origin))).unwrap();
    path
}

/// A record with the checksum of its lines.
fn with_new_checksum(text: &str) -> String {
    with_checksum(text.rsplit_once("end ").unwrap().0.to_string())
}

#[test]
fn what_belongs_to_another_namespace_is_left_and_remembered() {
    let (_folder, root) = machine();
    fs::create_dir_all(root.path("proc/sys/net")).unwrap();
    let net = "/proc/sys/net/x";
    fs::write(file(&root, net), "2\n").unwrap();
    fs::write(file(&root, RUNTIME), "2\n").unwrap();
    let of = |path| format!("file {path}\nbefore 1\nafter 2\n");
    let content = of(net) + &of(RUNTIME) + "thread 79 1 irq/9-x\nbefore fifo 50\nafter fifo 51\n";
    let origin = "boot \nnamespaces net:[1] pid:[1] time:[1]\nprocess 7 latlab run\nwriters\n";
    let path = plant_record(&root, origin, &content);
    let undone = restore_leftovers(&root).undone;
    let results: Vec<_> = undone.into_iter().map(|(_, result)| result).collect();
    let elsewhere = UndoResult::Elsewhere;
    assert_eq!(results, [elsewhere("pid"), UndoResult::Restored, elsewhere("net")]);
    assert_eq!((value(&root, net).as_str(), value(&root, RUNTIME).as_str()), ("2", "1"));
    assert_eq!(recorded(&root).len(), 2);
    // Nothing survives from another boot.
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, with_new_checksum(&text.replace("boot ", "boot other"))).unwrap();
    assert!(restore_leftovers(&root).undone.is_empty());
    assert!(!path.exists() && value(&root, net) == "2");
}

#[test]
fn a_record_leads_to_kernel_files_only() {
    let (_folder, root) = machine();
    fs::create_dir_all(root.path("etc")).unwrap();
    for path in ["/etc/passwd", "/sys/../etc/passwd"] {
        fs::write(root.path("etc/passwd"), "evil").unwrap();
        let content = format!("file {path}\nbefore good\nafter evil\n");
        let record = plant_record(&root, &Origin::of_this_process(&root).lines(), &content);
        let undone = restore_leftovers(&root).undone;
        assert!(matches!(undone[..], [(_, UndoResult::Failed(_))]), "{undone:?}");
        assert_eq!(fs::read_to_string(root.path("etc/passwd")).unwrap(), "evil");
        fs::remove_file(record).unwrap();
    }
}

/// Invariant (undo): A record that cannot be read is reported, and stays.
#[test]
fn a_record_that_cannot_be_read_is_told() {
    let (_folder, root) = machine();
    drop(Changes::begin(&root).unwrap());
    let path = plant_record(&root, &Origin::of_this_process(&root).lines(), "");
    let whole = fs::read_to_string(&path).unwrap();
    let head = whole.rsplit_once("end ").unwrap().0;
    let with = |more: &str| with_checksum(head.to_string() + more);
    let full = with("file /proc/sys/x\nbefore 1\nafter 23\n");
    let (lines, end) = full.rsplit_once("end ").unwrap();
    for (content, reason) in [
        (b"\xff\xfe".to_vec(), "not UTF-8"),
        ([full.as_bytes(), b"\xff"].concat(), "not UTF-8"),
        (b"file /proc/sys/x\nbefore 1\nafter 2\n".to_vec(), "not a record"),
        (lines.into(), "was cut"),
        (lines[..lines.len() - 2].into(), "was cut"),
        (full[..full.len() - 2].into(), "was cut or changed"),
        // A loss or change in the middle.
        (full.replace("after 23", "after 2").into(), "was cut or changed"),
        (full.replace("before 1\n", "").into(), "was cut or changed"),
        (full.replace("/sys/x", "/sys/y").into(), "was cut or changed"),
        (format!("{full}end {end}").into(), "was cut or changed"),
        (with_checksum(head.replace("writers", "x")).into(), "who wrote it"),
        (with("file /proc/sys/x\nbefore 1\n").into(), "is not whole"),
        (with("value /proc/sys/x\n").into(), "is not whole"),
        (with(&"x".repeat(1 << 20)).into(), "longer than"),
    ] {
        fs::write(&path, content).unwrap();
        let Leftovers { undone, problems, .. } = restore_leftovers(&root);
        assert!(undone.is_empty() && path.exists());
        assert!(problems.len() == 1 && problems[0].contains(reason), "{reason}: {problems:?}");
        assert!(problems[0].starts_with(&path.display().to_string()), "{problems:?}");
    }
}

/// Invariant (undo): A record that cannot be read is reported, and stays.
#[test]
fn what_is_no_record_of_ours_is_told_and_stays() {
    let (_folder, root) = machine();
    drop(Changes::begin(&root).unwrap());
    let folder = root.path("run/latlab");
    let path = folder.join("undo-7");
    let told = |reason: &str| {
        let Leftovers { undone, problems, .. } = restore_leftovers(&root);
        assert!(undone.is_empty(), "{undone:?}");
        let is_told = problems.len() == 1 && problems[0].contains(reason);
        assert!(is_told, "{reason}: {problems:?}");
    };
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    told("it is a link");
    fs::remove_file(&path).unwrap();
    crate::files::make_fifo(&path).unwrap();
    told("not a regular file");
    fs::remove_file(&path).unwrap();
    // Does not wait for a reader.
    fs::remove_file(folder.join("lock")).unwrap();
    crate::files::make_fifo(&folder.join("lock")).unwrap();
    fs::write(&path, "x").unwrap();
    told("lock is not a regular file");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    told("can be written to by others");
    fs::rename(&folder, root.path("run/elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", &folder).unwrap();
    told("is a link");
}

/// Each of many records is read a few times, not as often as there are others, which would take
/// minutes.
#[test]
fn many_records_are_undone_in_one_pass() {
    let (_folder, root) = machine();
    let origin = Origin::of_this_process(&root).lines();
    let content = format!("file {RUNTIME}\nbefore 950000\nafter -1\n");
    let first = plant_record(&root, &origin, &content);
    let folder = first.parent().unwrap();
    (1..3000).for_each(|number| drop(fs::copy(&first, folder.join(format!("undo-{number}")))));
    fs::write(file(&root, RUNTIME), "-1\n").unwrap();
    let begun = Instant::now();
    assert_eq!(restore_leftovers(&root).undone.len(), 3000);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!((count_records(&root), value(&root, RUNTIME).as_str()), (0, "950000"));
}

#[test]
fn what_somebody_has_changed_since_is_left_alone() {
    let (_folder, root) = machine();
    let mut changes = Changes::begin(&root).unwrap();
    changes.set(RUNTIME, "-1").unwrap();
    fs::write(root.path(&RUNTIME[1..]), "900000").unwrap();
    let undone = changes.undo();
    assert_eq!(undone[0].1, UndoResult::ChangedSince("900000".to_string()));
    assert_eq!(value(&root, RUNTIME), "900000");
}

#[test]
fn a_flag_is_one_word_of_several_and_only_that_is_put_back() {
    let (_folder, root) = machine();
    let path = "/sys/kernel/mm/options";
    fs::write(root.path(&path[1..]), "NO_DEFAULTS WORKLOAD\nNO_PANIC\n").unwrap();
    let mut changes = Changes::begin(&root).unwrap();
    // A plain file keeps what is written, where the kernel sets one word of several.
    assert_eq!(changes.set_flag(path, "NO_WORKLOAD").unwrap(), "NO_WORKLOAD");
    assert!(changes.set_flag(path, "NO_OTHER").is_err());
    let record = recorded(&root);
    assert_eq!((record[0].kind, record[0].before.as_str()), (Kind::Flag, "WORKLOAD"));
    fs::write(root.path(&path[1..]), "DEFAULTS NO_WORKLOAD PANIC\n").unwrap();
    assert_eq!(changes.undo()[0].1, UndoResult::Restored);
    assert_eq!(value(&root, path), "WORKLOAD");
}

#[test]
fn a_choice_reads_as_the_word_in_brackets_and_several_lines_are_refused() {
    let (_folder, root) = machine();
    assert_eq!(value(&root, "/sys/kernel/mm/huge"), "madvise");
    fs::write(root.path("sys/kernel/mm/table"), "1\n2\n").unwrap();
    assert!(read_value(&root, "/sys/kernel/mm/table").is_err());
}

const THREAD: ThreadId = ThreadId { id: 79, started: 1234 };

fn plant_thread(root: &Root, name: &str, parent: u32, started: u64) {
    fs::create_dir_all(root.path("proc/79")).unwrap();
    let field = |number: u64| match number {
        4 => parent.into(),
        22 => started,
        _ => 0,
    };
    let rest: String = (4..60).map(|number| format!(" {}", field(number))).collect();
    fs::write(root.path("proc/79/stat"), format!("79 ({name}) S{rest}")).unwrap();
}

/// Invariant (undo): Tunings hold during a run and are undone from any start; no other thread is touched.
#[test]
fn a_thread_is_only_touched_while_it_is_the_one_that_was_meant() {
    let (_folder, root) = machine();
    let origin = Origin::of_this_process(&root).lines();
    let undone = || {
        let content = "thread 79 1234 irq/9-a b\nbefore fifo 50\nafter fifo 80\n";
        let record = plant_record(&root, &origin, content);
        let mut undone = restore_leftovers(&root).undone;
        let _ = fs::remove_file(record);
        let (change, undone) = undone.pop().unwrap();
        assert_eq!((change.path.as_str(), change.kind), ("irq/9-a b", Kind::Thread(THREAD)));
        undone
    };
    assert_eq!(undone(), UndoResult::Gone, "no such thread");
    for (name, parent, started) in
        [("irq/9-a b", 2, 1235), ("irq/9-a b", 1, 1234), ("irq/9-c", 2, 1234), ("sh", 2, 1234)]
    {
        plant_thread(&root, name, parent, started);
        assert_eq!(undone(), UndoResult::Gone, "another one: {name}, {parent}, {started}");
    }
    plant_thread(&root, "irq/9-a b", 2, 1234);
    assert!(matches!(undone(), UndoResult::Failed(_)), "found, but of no real machine");
    let mut changes = Changes::begin(&root).unwrap();
    assert!(changes.set_thread(THREAD, "irq/9-a b", ThreadScheduling::fifo(80)).is_err());
    assert!(changes.undo().is_empty());
}

#[test]
fn an_interrupt_that_went_with_its_device_is_no_failure() {
    let (_folder, root) = machine();
    fs::create_dir_all(root.path("proc/irq/9")).unwrap();
    let path = "/proc/irq/9/smp_affinity_list";
    fs::write(root.path(&path[1..]), "0-3\n").unwrap();
    let mut changes = Changes::begin(&root).unwrap();
    assert_eq!(changes.set(path, "0").unwrap(), "0");
    fs::remove_file(root.path(&path[1..])).unwrap();
    assert_eq!(changes.undo()[0].1, UndoResult::Gone);
}
