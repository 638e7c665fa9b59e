//! Kernel files that are changed for a while, and folders of tracefs that are made: each change
//! stands on disk before it is made, so that it can be undone by whoever comes after a kill.

use crate::files::Root;
use crate::process::{Stat, effective_user};
use std::fs;
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const HEAD: &str = "# Changed by latlab, which puts it back when it ends; after a kill the next \
                    latlab does,\n# or `latlab doctor --restore`.\n";

/// More is no record of ours.
const LARGEST_RECORD: u64 = 1 << 20;

/// What a folder that is made was before, and what it is then.
const ABSENT: &str = "absent";
const PRESENT: &str = "there";

/// What was changed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Kind {
    /// A kernel file of one value.
    #[default]
    File,
    /// One of several words of a kernel file, each of which is there as `WORD` or as `NO_WORD`.
    Flag,
    /// A folder, which undoing removes.
    Folder,
}

/// A kernel file that was changed, or a folder that was made.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Change {
    /// Its path, from the root on.
    pub path: String,
    /// What it held.
    pub before: String,
    /// What was read back after the change, or else what was asked.
    pub after: String,
    /// What that is.
    pub kind: Kind,
}

impl Change {
    fn folder(path: &str) -> Change {
        let (before, after) = (ABSENT.to_string(), PRESENT.to_string());
        Change { path: path.to_string(), before, after, kind: Kind::Folder }
    }
}

/// What became of a change that was to be undone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Undone {
    /// It holds again what it held before.
    Restored,
    /// Somebody has changed it since, to this; it was left alone.
    ChangedSince(String),
    /// It could not be put back.
    Failed(String),
}

/// The changes of one process, and the record of them on disk.
#[derive(Debug)]
pub struct Changes {
    root: Root,
    record: PathBuf,
    made: Vec<Change>,
}

impl Changes {
    /// Nothing is changed yet.
    pub fn begin(root: &Root) -> io::Result<Changes> {
        let pid = std::process::id();
        let started = started(root, pid).unwrap_or(0);
        let folder = folders(root)
            .into_iter()
            .find(|folder| create_private(folder).is_ok())
            .ok_or_else(|| Error::other("there is no folder for the record that undoes it"))?;
        let record = folder.join(format!("undo-{pid}-{started}"));
        Ok(Changes { root: root.clone(), record, made: Vec::new() })
    }

    /// Writes a value and gives back what is read afterwards.
    pub fn set(&mut self, path: &str, value: &str) -> io::Result<String> {
        self.change(Kind::File, path, value)
    }

    /// Writes one of the words of a file that holds several, and gives back how it then reads.
    pub fn set_flag(&mut self, path: &str, word: &str) -> io::Result<String> {
        self.change(Kind::Flag, path, word)
    }

    fn change(&mut self, kind: Kind, path: &str, value: &str) -> io::Result<String> {
        let before = read_as(kind, &self.root, path, value)?;
        let after = single_spaced(value);
        if before == after {
            return Ok(before);
        }
        self.made.push(Change { path: path.to_string(), before, after, kind });
        let written = self.write_record().and_then(|()| write(&self.root, path, value));
        let applied = written.and_then(|()| read_as(kind, &self.root, path, value));
        let last = self.made.len() - 1;
        match applied {
            Ok(applied) => {
                self.made[last].after.clone_from(&applied);
                // The record of what was asked is there, and serves where this cannot be written.
                let _ = self.write_record();
                Ok(applied)
            }
            Err(error) => {
                self.made.remove(last);
                let _ = self.write_record();
                Err(error)
            }
        }
    }

    /// Makes a folder of tracefs, in which the kernel then sets up a trace of its own; one of the
    /// same name is what a process of our number left without a record.
    pub fn create_folder(&mut self, path: &str) -> io::Result<PathBuf> {
        let folder = self.root.path(path.trim_start_matches('/'));
        let _ = fs::remove_dir(&folder);
        self.made.push(Change::folder(path));
        let made = self.write_record().and_then(|()| fs::create_dir(&folder));
        if made.is_err() {
            self.made.pop();
            let _ = self.write_record();
        }
        made.map(|()| folder)
    }

    fn write_record(&self) -> io::Result<()> {
        let lines = self.made.iter().map(|change| match change {
            Change { path, kind: Kind::Folder, .. } => format!("folder {path}\n"),
            Change { path, before, after, kind } => {
                let word = if *kind == Kind::Flag { "flag" } else { "file" };
                format!("{word} {path}\nbefore {before}\nafter {after}\n")
            }
        });
        let draft = self.record.with_extension("draft");
        fs::write(&draft, HEAD.to_string() + &lines.collect::<String>())?;
        fs::File::open(&draft)?.sync_all()?;
        fs::rename(&draft, &self.record)
    }

    /// Puts everything back, the last change first, and says what became of each.
    pub fn undo(mut self) -> Vec<(Change, Undone)> {
        self.put_back()
    }

    fn put_back(&mut self) -> Vec<(Change, Undone)> {
        let made = std::mem::take(&mut self.made).into_iter().rev();
        let undone: Vec<_> = made
            .map(|change| {
                let undone = undo(&self.root, &change);
                (change, undone)
            })
            .collect();
        if undone.iter().all(|(_, undone)| !matches!(undone, Undone::Failed(_))) {
            let _ = fs::remove_file(&self.record);
        }
        undone
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.put_back();
    }
}

/// Puts back what processes that are gone have left changed.
pub fn restore_leftovers(root: &Root) -> Vec<(Change, Undone)> {
    folders(root).into_iter().flat_map(|folder| restore_from(root, &folder)).collect()
}

fn restore_from(root: &Root, folder: &Path) -> Vec<(Change, Undone)> {
    let Some(owner) = fs::symlink_metadata(folder).ok().filter(|there| there.is_dir()) else {
        return Vec::new();
    };
    let records = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let believed = |record: &PathBuf| {
        fs::symlink_metadata(record).is_ok_and(|there| {
            there.is_file() && there.uid() == owner.uid() && there.len() < LARGEST_RECORD
        })
    };
    let left = records.filter(|record| believed(record) && left_behind(root, record));
    let changes = left.filter_map(|record| {
        if record.extension().is_some() {
            // A draft: the record it was to become is there, or its change was not made yet.
            let _ = fs::remove_file(record);
            return None;
        }
        let made = fs::read_to_string(&record).map(|text| parse(&text)).ok()?;
        Some(Changes { root: root.clone(), record, made })
    });
    match owner.uid() {
        uid if uid == effective_user() => changes.flat_map(Changes::undo).collect(),
        0 => changes.flat_map(|mut changes| std::mem::take(&mut changes.made)).map(roots).collect(),
        // What others may write is not believed.
        _ => Vec::new(),
    }
}

fn roots(change: Change) -> (Change, Undone) {
    let reason = "only root may do that: run `sudo latlab doctor --restore`";
    (change, Undone::Failed(reason.to_string()))
}

/// Whether this is the record of a process that is gone.
fn left_behind(root: &Root, record: &Path) -> bool {
    let name = record.file_stem().and_then(|name| name.to_str());
    let Some((pid, start)) = name.and_then(|name| name.strip_prefix("undo-")?.split_once('-'))
    else {
        return false;
    };
    match (pid.parse(), start.parse::<u64>()) {
        (Ok(pid), Ok(start)) => started(root, pid) != Some(start),
        _ => false,
    }
}

/// When a process was started, in ticks since boot; a number that comes again has another time.
fn started(root: &Root, pid: u32) -> Option<u64> {
    // One that nobody has buried yet, as in many a container, does nothing any more.
    let alive = Stat::of(root, pid).filter(|stat| !matches!(stat.state, 'Z' | 'X'));
    alive.map(|stat| stat.started)
}

fn parse(record: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    for line in record.lines() {
        let (word, value) = line.split_once(' ').unwrap_or((line, ""));
        match (word, changes.last_mut()) {
            ("file", _) => {
                changes.push(Change { path: value.to_string(), ..Change::default() });
            }
            ("flag", _) => {
                let (path, kind) = (value.to_string(), Kind::Flag);
                changes.push(Change { path, kind, ..Change::default() });
            }
            ("folder", _) => changes.push(Change::folder(value)),
            ("before", Some(change)) => change.before = value.to_string(),
            ("after", Some(change)) => change.after = value.to_string(),
            _ => {}
        }
    }
    changes
}

fn undo(root: &Root, change: &Change) -> Undone {
    let Change { path, before, after, kind } = change;
    if !is_kernel_file(path) {
        return Undone::Failed("it is no file below /sys or /proc/sys".to_string());
    }
    if *kind == Kind::Folder {
        // Of tracefs, which removes such a folder with all that is in it; elsewhere it is empty.
        return match fs::remove_dir(root.path(path.trim_start_matches('/'))) {
            Err(error) if error.kind() != ErrorKind::NotFound => Undone::Failed(error.to_string()),
            _ => Undone::Restored,
        };
    }
    let now = || read_as(*kind, root, path, before);
    match now() {
        Ok(now) if now == *before => Undone::Restored,
        Ok(now) if now != *after => Undone::ChangedSince(now),
        Ok(_) => match write(root, path, before).and_then(|()| now()) {
            Ok(now) if now == *before => Undone::Restored,
            Ok(now) => Undone::Failed(format!("it holds '{now}' after '{before}' was written")),
            Err(error) => Undone::Failed(error.to_string()),
        },
        Err(error) => Undone::Failed(error.to_string()),
    }
}

/// A value as it is compared: the kernel writes tabs where people write blanks.
pub fn single_spaced(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A record that somebody has written by hand must not lead elsewhere.
fn is_kernel_file(path: &str) -> bool {
    let below = path.strip_prefix("/proc/sys/").or_else(|| path.strip_prefix("/sys/"));
    below.is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

/// What a change of this kind changes: a file's value, or which of `WORD` and `NO_WORD` it holds.
fn read_as(kind: Kind, root: &Root, path: &str, value: &str) -> io::Result<String> {
    if kind != Kind::Flag {
        return read(root, path);
    }
    // Read in pieces, such a file ends each piece with an end of line.
    let all = fs::read_to_string(root.path(path.trim_start_matches('/')))?;
    let bare = |word: &str| word.strip_prefix("NO_").unwrap_or(word).to_string();
    let found = all.split_whitespace().find(|word| bare(word) == bare(value));
    found
        .map(str::to_string)
        .ok_or_else(|| Error::new(ErrorKind::InvalidData, format!("it has no {}", bare(value))))
}

/// The value of a kernel file of one line; of a choice of words the one in brackets.
fn read(root: &Root, path: &str) -> io::Result<String> {
    let text = fs::read_to_string(root.path(path.trim_start_matches('/')))?;
    let text = text.trim();
    if text.contains('\n') {
        return Err(Error::new(ErrorKind::InvalidData, "it has several lines"));
    }
    let chosen = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    Ok(match chosen {
        Some(word) => word.to_string(),
        None => single_spaced(text),
    })
}

fn write(root: &Root, path: &str, value: &str) -> io::Result<()> {
    let file = root.path(path.trim_start_matches('/'));
    // Without creating it: a kernel file is there or is not.
    let mut file = fs::OpenOptions::new().write(true).truncate(true).open(file)?;
    io::Write::write_all(&mut file, value.as_bytes())
}

/// Where records may lie, the best first: what is lost with a reboot, as the changes are.
fn folders(root: &Root) -> Vec<PathBuf> {
    let user = effective_user();
    let names =
        ["run/latlab".into(), format!("run/user/{user}/latlab"), format!("tmp/latlab-{user}")];
    names.into_iter().map(|name: String| root.path(name)).collect()
}

fn create_private(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let there = fs::symlink_metadata(folder)?;
    match there.is_dir() && there.uid() == effective_user() {
        true => Ok(()),
        false => Err(ErrorKind::PermissionDenied.into()),
    }
}

#[cfg(test)]
mod tests {
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
        read(root, path).unwrap()
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
        assert_eq!(restored, [(Change::folder(path), Undone::Restored)]);
        assert!(!made.exists());
        assert!(Changes::begin(&root).unwrap().create_folder("/sys/none/x").is_err());
    }

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
            fs::write(root.path(format!("sys/kernel/mm/huge{pid}")), "[always] madvise never")
                .unwrap();
        }
        let restored = restore_leftovers(&root);
        let mut paths: Vec<&str> = restored.iter().map(|one| one.0.path.as_str()).collect();
        paths.sort();
        assert_eq!(paths, ["/sys/kernel/mm/huge8", "/sys/kernel/mm/huge9"]);
        for dead in [8, 9] {
            let file = root.path(format!("sys/kernel/mm/huge{dead}"));
            assert_eq!(fs::read_to_string(file).unwrap(), "madvise");
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
        assert!(undone.iter().all(|(_, undone)| matches!(undone, Undone::Failed(_))), "{undone:?}");
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
        assert_eq!(undone[0].1, Undone::ChangedSince("900000".to_string()));
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
        assert_eq!(changes.undo()[0].1, Undone::Restored);
        assert_eq!(value(&root, path), "WORKLOAD");
    }

    #[test]
    fn a_choice_reads_as_the_word_in_brackets_and_several_lines_are_refused() {
        let (_folder, root) = machine();
        assert_eq!(value(&root, "/sys/kernel/mm/huge"), "madvise");
        fs::write(root.path("sys/kernel/mm/table"), "1\n2\n").unwrap();
        assert!(read(&root, "/sys/kernel/mm/table").is_err());
    }
}
