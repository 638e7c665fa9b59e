//! One change: how it is read, made, and undone.

use crate::files::{Root, read_at_once};
use crate::process::Stat;
use crate::record::Origin;
use crate::sched::ThreadScheduling;
use crate::{cgroup, scratch};
use std::fs::{self, Metadata};
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Value of a folder before it is created, and afterwards.
const ABSENT: &str = "absent";
const PRESENT: &str = "there";

/// The parent of all kernel threads.
const KTHREADD: u32 = 2;

/// What was changed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Kind {
    /// A kernel file of one value.
    #[default]
    File,
    /// One word of a kernel file of several, each present as `WORD` or `NO_WORD`.
    Flag,
    /// A folder; undoing removes it.
    Folder,
    /// The scheduling of an interrupt's thread.
    Thread(ThreadId),
    /// A cgroup of a load; undoing ends its processes.
    Cgroup(FolderId),
    /// The scratch folder of a load; undoing ends the processes that have its lock, and removes it.
    Scratch(FolderId),
}

/// Identifies a thread uniquely, as its number may be reused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadId {
    /// Its number.
    pub id: u32,
    /// Start time, in ticks since boot.
    pub started: u64,
}

/// Identifies a folder uniquely, whatever its path means elsewhere; zeros until it is created.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FolderId {
    /// The device that holds it.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

impl FolderId {
    fn from_metadata(metadata: &Metadata) -> FolderId {
        FolderId { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// A changed kernel file or thread, or a created folder.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Change {
    /// Its path, from the root on; for a thread its name.
    pub path: String,
    /// The previous value.
    pub before: String,
    /// What was read back after the change, or else what was asked.
    pub after: String,
    /// What kind of change it is.
    pub kind: Kind,
}

/// The result of undoing a change.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UndoResult {
    /// The previous value is restored.
    Restored,
    /// Another program has changed it since, to this; it was left alone.
    ChangedSince(String),
    /// The thread, interrupt or folder is gone, and the change with it.
    Gone,
    /// This many processes of a load were ended.
    Ended(usize),
    /// A running process holds it.
    HeldBy {
        /// That process.
        holder: String,
        /// Whether it restores the value from before this change.
        restores: bool,
    },
    /// It was changed in another namespace of this kind, and is not visible from here.
    Elsewhere(&'static str),
    /// It could not be restored.
    Failed(String),
}

impl UndoResult {
    /// Whether nothing is left to do.
    pub fn is_settled(&self) -> bool {
        match self {
            UndoResult::Restored
            | UndoResult::ChangedSince(_)
            | UndoResult::Gone
            | UndoResult::Ended(_) => true,
            UndoResult::HeldBy { restores, .. } => *restores,
            UndoResult::Elsewhere(_) | UndoResult::Failed(_) => false,
        }
    }
}

/// Paths, by prefix, that depend on the namespace of this kind.
const NAMESPACED: [(&str, &str); 13] = [
    ("/proc/sys/net/", "net"),
    ("/proc/sys/user/", "user"),
    ("/proc/sys/fs/mqueue/", "ipc"),
    ("/proc/sys/kernel/auto_msgmni", "ipc"),
    ("/proc/sys/kernel/msg", "ipc"),
    ("/proc/sys/kernel/sem", "ipc"),
    ("/proc/sys/kernel/shm", "ipc"),
    ("/proc/sys/kernel/domainname", "uts"),
    ("/proc/sys/kernel/hostname", "uts"),
    ("/proc/sys/kernel/cad_pid", "pid"),
    ("/proc/sys/kernel/ns_last_pid", "pid"),
    ("/proc/sys/kernel/pid_max", "pid"),
    ("/proc/sys/vm/memfd_noexec", "pid"),
];

impl Change {
    pub(super) fn folder(path: &str) -> Change {
        let (before, after) = (ABSENT.to_string(), PRESENT.to_string());
        Change { path: path.to_string(), before, after, kind: Kind::Folder }
    }

    /// Restores the previous value, unless another program has changed it since; `origin` changed
    /// it, and this runs at `here`.
    pub(super) fn undo(&mut self, root: &Root, origin: &Origin, here: &Origin) -> UndoResult {
        if let Some(namespace) = origin.differs(here, self.namespaces()) {
            return UndoResult::Elsewhere(namespace);
        }
        match self.kind {
            Kind::Cgroup(id) | Kind::Scratch(id) => match self.remove_load_folder(root, id) {
                Ok(ended) => UndoResult::Ended(ended),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let elsewhere = origin.differs(here, &["mnt", "cgroup"]);
                    elsewhere.map_or(UndoResult::Gone, UndoResult::Elsewhere)
                }
                Err(error) => UndoResult::Failed(error.to_string()),
            },
            Kind::Thread(_) => self.restore_value(root),
            _ if !is_kernel_file(&self.path) => {
                UndoResult::Failed("not a file below /sys, /proc/sys or /proc/irq".to_string())
            }
            // tracefs removes such a folder with its contents; elsewhere it is empty.
            Kind::Folder => {
                let folder = kernel_path(root, &self.path);
                match fs::remove_dir(&folder) {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        UndoResult::Failed(error.to_string())
                    }
                    // If tracefs cannot be reached, it is unknown whether the trace still exists.
                    Err(_) if !folder.parent().is_some_and(Path::exists) => {
                        UndoResult::Failed("tracefs is not mounted".to_string())
                    }
                    _ => UndoResult::Restored,
                }
            }
            Kind::File | Kind::Flag => self.restore_value(root),
        }
    }

    fn restore_value(&mut self, root: &Root) -> UndoResult {
        let Change { path, before, after, kind } = self;
        let now = || read(*kind, root, path, before);
        match now() {
            Ok(now) if now == *before => UndoResult::Restored,
            Ok(now) if now != *after => UndoResult::ChangedSince(now),
            Ok(_) => match write(*kind, root, path, before).and_then(|()| now()) {
                Ok(now) if now == *before => UndoResult::Restored,
                Ok(now) => {
                    // Written by us, and to be tried again.
                    after.clone_from(&now);
                    UndoResult::Failed(format!("it holds '{now}' after '{before}' was written"))
                }
                Err(error) => UndoResult::Failed(error.to_string()),
            },
            Err(error) if error.kind() == ErrorKind::NotFound && self.is_removable() => {
                UndoResult::Gone
            }
            Err(error) => UndoResult::Failed(error.to_string()),
        }
    }

    /// Ends what a load has left in its cgroup or with the lock of its folder, and removes that; a
    /// different folder at the same path counts as gone.
    fn remove_load_folder(&self, root: &Root, id: FolderId) -> io::Result<usize> {
        let path = Path::new(&self.path);
        let there = fs::symlink_metadata(path)?;
        if id == FolderId::default() {
            // A kill came between its creation and its record, so it is empty.
            return fs::remove_dir(path).map(|()| 0);
        }
        if FolderId::from_metadata(&there) != id || !there.is_dir() {
            return Err(ErrorKind::NotFound.into());
        }
        if let Kind::Cgroup(_) = self.kind {
            return cgroup::end(path);
        }
        let ended = scratch::end_processes(root, path)?;
        fs::remove_dir_all(path).map(|()| ended)
    }

    /// Stores the identity of the folder once it was created.
    pub(super) fn identify_folder(&mut self) -> io::Result<()> {
        let found = FolderId::from_metadata(&fs::symlink_metadata(&self.path)?);
        if let Kind::Cgroup(id) | Kind::Scratch(id) = &mut self.kind {
            *id = found;
        }
        Ok(())
    }

    /// Whether it disappears with its object, such as a device.
    fn is_removable(&self) -> bool {
        matches!(self.kind, Kind::Thread(_)) || self.path.starts_with("/proc/irq/")
    }

    /// The kinds of namespaces outside of which it means something else.
    fn namespaces(&self) -> &'static [&'static str] {
        match self.kind {
            // For its number and its start time.
            Kind::Thread(_) => &["pid", "time"],
            Kind::Cgroup(_) | Kind::Scratch(_) => &[],
            Kind::File | Kind::Flag | Kind::Folder => {
                if self.path.starts_with("/sys/") && self.path.contains("/net/") {
                    return &["net"];
                }
                let found = NAMESPACED.iter().find(|(start, _)| self.path.starts_with(start));
                found.map_or(&[], |(_, namespace)| std::slice::from_ref(namespace))
            }
        }
    }

    /// Whether another change, by this origin, is of the same value.
    pub(super) fn is_same_value(
        &self,
        root: &Root,
        (own, other): (&Origin, &Origin),
        change: &Change,
    ) -> bool {
        let is_same = match (self.kind, change.kind) {
            (Kind::Thread(one), Kind::Thread(other)) => one == other,
            (Kind::File | Kind::Flag, Kind::File | Kind::Flag) => {
                self.path == change.path || is_same_file(root, &self.path, &change.path)
            }
            _ => false,
        };
        is_same && own.differs(other, self.namespaces()).is_none()
    }
}

/// Whether two paths lead to one file, through links or mounts.
fn is_same_file(root: &Root, one: &str, other: &str) -> bool {
    let id = |path| {
        fs::metadata(kernel_path(root, path)).map(|there| FolderId::from_metadata(&there)).ok()
    };
    id(one).is_some_and(|found| Some(found) == id(other))
}

/// Path of a kernel file.
pub(super) fn kernel_path(root: &Root, path: &str) -> PathBuf {
    root.path(path.trim_start_matches('/'))
}

/// Normalises blanks for comparison: the kernel writes tabs where people write blanks.
pub fn single_spaced(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A hand-written record must not lead to other files.
fn is_kernel_file(path: &str) -> bool {
    let below = ["/proc/sys/", "/proc/irq/", "/sys/"];
    let rest = below.iter().find_map(|folder| path.strip_prefix(folder));
    rest.is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

/// The present value of what a change of this kind changes: a file's value, which of `WORD` and
/// `NO_WORD` it holds, or a thread's scheduling.
pub fn read(kind: Kind, root: &Root, path: &str, value: &str) -> io::Result<String> {
    match kind {
        Kind::Flag => read_flag(root, path, value),
        Kind::Thread(thread) => {
            check_thread(root, thread, path)?;
            Ok(ThreadScheduling::read(thread.id)?.to_string())
        }
        Kind::File | Kind::Folder | Kind::Cgroup(_) | Kind::Scratch(_) => read_value(root, path),
    }
}

pub(super) fn write(kind: Kind, root: &Root, path: &str, value: &str) -> io::Result<()> {
    if let Kind::Thread(thread) = kind {
        let standing: ThreadScheduling = value.parse().map_err(Error::other)?;
        check_thread(root, thread, path)?;
        return Ok(standing.apply(thread.id)?);
    }
    write_value(root, path, value)
}

/// Writes a kernel file, which is never created.
pub fn write_value(root: &Root, path: &str, value: &str) -> io::Result<()> {
    let file = kernel_path(root, path);
    let mut file = fs::OpenOptions::new().write(true).truncate(true).open(file)?;
    // In one write and with a newline, as `echo` does: osnoise/cpus of 6.1 may read past a value
    // without one.
    io::Write::write_all(&mut file, format!("{value}\n").as_bytes())
}

/// Whether this is an interrupt's thread, by its stat file.
pub fn is_irq_thread(stat: &Stat) -> bool {
    stat.parent == KTHREADD && stat.name.starts_with("irq/")
}

/// Checks that the thread is the one that was meant, and of this machine.
fn check_thread(root: &Root, ThreadId { id, started }: ThreadId, name: &str) -> io::Result<()> {
    let stat = Stat::read(root, id).filter(|stat| {
        (stat.name.as_str(), stat.started) == (name, started) && is_irq_thread(stat)
    });
    match stat {
        None => Err(ErrorKind::NotFound.into()),
        Some(_) if !root.is_machine() => Err(Error::other("not a thread of this machine")),
        Some(_) => Ok(()),
    }
}

fn read_flag(root: &Root, path: &str, value: &str) -> io::Result<String> {
    let all = read_at_once(&kernel_path(root, path))?;
    let bare = |word: &str| word.strip_prefix("NO_").unwrap_or(word).to_string();
    let found = all.split_whitespace().find(|word| bare(word) == bare(value));
    found
        .map(str::to_string)
        .ok_or_else(|| Error::new(ErrorKind::InvalidData, format!("it has no {}", bare(value))))
}

/// The value of a kernel file of one line; of a list of choices the one in brackets.
pub fn read_value(root: &Root, path: &str) -> io::Result<String> {
    let text = read_at_once(&kernel_path(root, path))?;
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
