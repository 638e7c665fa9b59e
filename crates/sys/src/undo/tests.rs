//! Changes on planted machines.

use super::record::{HEAD, parse};
use super::*;

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

#[test]
fn a_change_is_recorded_read_back_and_undone() {
    let (_folder, root) = machine();
    let mut changes = Changes::begin(&root).unwrap();
    assert_eq!(changes.set(RUNTIME, "-1").unwrap(), "-1");
    assert_eq!(changes.set("/proc/sys/kernel/printk", "1 4 1 7").unwrap(), "1 4 1 7");
    assert!(changes.set("/proc/sys/kernel/none", "1").is_err());
    let record = fs::read_to_string(&changes.record).unwrap();
    assert_eq!(parse(&record), changes.made);
    assert!(restore_leftovers(&root).len() == 2, "this process is not in the planted machine");
    changes.made = parse(&record);
    changes.set(RUNTIME, "-1").unwrap();
    drop(changes);
    assert_eq!(value(&root, RUNTIME), "950000");
    assert_eq!(value(&root, "/proc/sys/kernel/printk"), "4 4 1 7");
    assert!(fs::read_dir(root.path("run/latlab")).unwrap().next().is_none());
}

#[test]
fn a_folder_that_was_made_is_removed_after_a_kill_too() {
    let (_folder, root) = machine();
    fs::create_dir_all(root.path("sys/kernel/tracing/instances")).unwrap();
    let path = "/sys/kernel/tracing/instances/latlab-7";
    let mut changes = Changes::begin(&root).unwrap();
    let made = changes.create_folder(path).unwrap();
    let record = parse(&fs::read_to_string(&changes.record).unwrap());
    assert_eq!(record, [Change::folder(path)]);
    std::mem::forget(changes);
    let restored = restore_leftovers(&root);
    assert_eq!(restored, [(Change::folder(path), UndoResult::Restored)]);
    assert!(!made.exists());
    assert!(Changes::begin(&root).unwrap().create_folder("/sys/none/x").is_err());
}

/// Invariant (undo): Every change is undone, after a kill too.
#[test]
fn what_a_killed_process_left_is_put_back_and_what_goes_on_is_left() {
    let (_folder, root) = machine();
    for (pid, state, start, now) in [(7, "S", 70, 70), (8, "S", 80, 81), (9, "Z", 90, 90)] {
        fs::create_dir(root.path(format!("proc/{pid}"))).unwrap();
        let fields: Vec<String> = (3..60)
            .map(|field| match field {
                3 => state.to_string(),
                22 => now.to_string(),
                _ => "0".into(),
            })
            .collect();
        fs::write(
            root.path(format!("proc/{pid}/stat")),
            format!("{pid} (a) b) {}", fields.join(" ")),
        )
        .unwrap();
        let name = format!("run/latlab/undo-{pid}-{start}");
        fs::create_dir_all(root.path("run/latlab")).unwrap();
        fs::write(
            root.path(name),
            format!("{HEAD}file /sys/kernel/mm/huge{pid}\nbefore madvise\nafter always\n"),
        )
        .unwrap();
        fs::write(root.path(format!("run/latlab/undo-{pid}-{start}.draft")), HEAD).unwrap();
        fs::write(root.path(format!("sys/kernel/mm/huge{pid}")), "[always] madvise never").unwrap();
    }
    let restored = restore_leftovers(&root);
    let mut paths: Vec<&str> = restored.iter().map(|one| one.0.path.as_str()).collect();
    paths.sort();
    assert_eq!(paths, ["/sys/kernel/mm/huge8", "/sys/kernel/mm/huge9"]);
    for dead in [8, 9] {
        let file = root.path(format!("sys/kernel/mm/huge{dead}"));
        assert_eq!(fs::read_to_string(file).unwrap(), "madvise\n");
    }
    assert_eq!(value(&root, "/sys/kernel/mm/huge7"), "always");
    assert!(root.has("run/latlab/undo-7-70") && !root.has("run/latlab/undo-8-80"));
    assert!(!root.has("run/latlab/undo-8-80.draft"));
}

#[test]
fn a_record_leads_to_kernel_files_only() {
    let (_folder, root) = machine();
    fs::create_dir_all(root.path("run/latlab")).unwrap();
    fs::create_dir_all(root.path("etc")).unwrap();
    for (pid, path) in [(1, "/etc/passwd"), (2, "/sys/../etc/passwd")] {
        fs::write(root.path("etc/passwd"), "evil").unwrap();
        let record = format!("{HEAD}file {path}\nbefore good\nafter evil\n");
        fs::write(root.path(format!("run/latlab/undo-{pid}-5")), record).unwrap();
    }
    let undone = restore_leftovers(&root);
    assert!(undone.iter().all(|(_, undone)| matches!(undone, UndoResult::Failed(_))), "{undone:?}");
    assert_eq!(undone.len(), 2);
    assert_eq!(fs::read_to_string(root.path("etc/passwd")).unwrap(), "evil");
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
    let record = parse(&fs::read_to_string(&changes.record).unwrap());
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
    fs::create_dir_all(root.path("run/latlab")).unwrap();
    let record = root.path("run/latlab/undo-7-70");
    let text = format!("{HEAD}thread 79 1234 irq/9-a b\nbefore fifo 50\nafter fifo 80\n");
    let undone = || {
        fs::write(&record, &text).unwrap();
        let mut undone = restore_leftovers(&root);
        let (change, undone) = undone.pop().unwrap();
        assert_eq!((change.path.as_str(), change.kind), ("irq/9-a b", Kind::Thread(THREAD)));
        undone
    };
    assert_eq!(undone(), UndoResult::Gone, "no such thread");
    assert!(!record.exists());
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
