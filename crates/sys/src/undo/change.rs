//! One change: how it is read, made, and undone.

use crate::files::{Root, read_at_once};
use crate::process::Stat;
use crate::sched::ThreadScheduling;
use std::fs;
use std::io::{self, Error, ErrorKind};

/// What a folder that is made was before, and what it is then.
const ABSENT: &str = "absent";
const PRESENT: &str = "there";

/// The parent of all threads of the kernel.
const KTHREADD: u32 = 2;

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
    /// The scheduling of a thread of an interrupt.
    Thread(ThreadId),
}

/// A thread for good: its number alone may come again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadId {
    /// Its number.
    pub id: u32,
    /// When it was started, in ticks since the boot.
    pub started: u64,
}

/// A kernel file or a thread that was changed, or a folder that was made.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Change {
    /// Its path, from the root on; of a thread its name.
    pub path: String,
    /// What it held.
    pub before: String,
    /// What was read back after the change, or else what was asked.
    pub after: String,
    /// What that is.
    pub kind: Kind,
}

/// What became of a change that was to be undone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UndoResult {
    /// It holds again what it held before.
    Restored,
    /// Somebody has changed it since, to this; it was left alone.
    ChangedSince(String),
    /// The thread or the interrupt is gone, and what was changed with it.
    Gone,
    /// It could not be put back.
    Failed(String),
}

impl Change {
    pub(super) fn folder(path: &str) -> Change {
        let (before, after) = (ABSENT.to_string(), PRESENT.to_string());
        Change { path: path.to_string(), before, after, kind: Kind::Folder }
    }

    /// Puts back what was there, unless somebody has changed it since.
    pub(super) fn undo(&self, root: &Root) -> UndoResult {
        let Change { path, before, after, kind } = self;
        if !matches!(kind, Kind::Thread(_)) && !is_kernel_file(path) {
            return UndoResult::Failed(
                "it is no file below /sys, /proc/sys or /proc/irq".to_string(),
            );
        }
        if *kind == Kind::Folder {
            // Of tracefs, which removes such a folder with all that is in it; elsewhere it is empty.
            return match fs::remove_dir(root.path(path.trim_start_matches('/'))) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    UndoResult::Failed(error.to_string())
                }
                _ => UndoResult::Restored,
            };
        }
        let now = || read(*kind, root, path, before);
        match now() {
            Ok(now) if now == *before => UndoResult::Restored,
            Ok(now) if now != *after => UndoResult::ChangedSince(now),
            Ok(_) => match write(*kind, root, path, before).and_then(|()| now()) {
                Ok(now) if now == *before => UndoResult::Restored,
                Ok(now) => {
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

    /// Whether it goes with what it belongs to, such as a device.
    fn is_removable(&self) -> bool {
        matches!(self.kind, Kind::Thread(_)) || self.path.starts_with("/proc/irq/")
    }
}

/// A value as it is compared: the kernel writes tabs where people write blanks.
pub fn single_spaced(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A record that somebody has written by hand must not lead elsewhere.
fn is_kernel_file(path: &str) -> bool {
    let below = ["/proc/sys/", "/proc/irq/", "/sys/"];
    let rest = below.iter().find_map(|folder| path.strip_prefix(folder));
    rest.is_some_and(|rest| rest.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

/// What a change of this kind changes, as it is now: a file's value, which of `WORD` and `NO_WORD`
/// it holds, or how a thread is scheduled.
pub fn read(kind: Kind, root: &Root, path: &str, value: &str) -> io::Result<String> {
    match kind {
        Kind::Flag => read_flag(root, path, value),
        Kind::Thread(thread) => {
            check_thread(root, thread, path)?;
            Ok(ThreadScheduling::read(thread.id)?.to_string())
        }
        Kind::File | Kind::Folder => read_value(root, path),
    }
}

pub(super) fn write(kind: Kind, root: &Root, path: &str, value: &str) -> io::Result<()> {
    if let Kind::Thread(thread) = kind {
        let standing: ThreadScheduling = value.parse().map_err(Error::other)?;
        check_thread(root, thread, path)?;
        return Ok(standing.apply(thread.id)?);
    }
    let file = root.path(path.trim_start_matches('/'));
    // Without creating it: a kernel file is there or is not.
    let mut file = fs::OpenOptions::new().write(true).truncate(true).open(file)?;
    // In one piece, and as `echo` writes it: osnoise/cpus of 6.1 may read on where no line ends.
    io::Write::write_all(&mut file, format!("{value}\n").as_bytes())
}

/// Whether this is a thread of an interrupt, by what its stat file says.
pub fn is_irq_thread(stat: &Stat) -> bool {
    stat.parent == KTHREADD && stat.name.starts_with("irq/")
}

/// The thread must be the one that was meant, and of this machine.
fn check_thread(root: &Root, ThreadId { id, started }: ThreadId, name: &str) -> io::Result<()> {
    let stat = Stat::read(root, id).filter(|stat| {
        (stat.name.as_str(), stat.started) == (name, started) && is_irq_thread(stat)
    });
    match stat {
        None => Err(ErrorKind::NotFound.into()),
        Some(_) if !root.is_machine() => Err(Error::other("it is no thread of this machine")),
        Some(_) => Ok(()),
    }
}

fn read_flag(root: &Root, path: &str, value: &str) -> io::Result<String> {
    let all = read_at_once(&root.path(path.trim_start_matches('/')))?;
    let bare = |word: &str| word.strip_prefix("NO_").unwrap_or(word).to_string();
    let found = all.split_whitespace().find(|word| bare(word) == bare(value));
    found
        .map(str::to_string)
        .ok_or_else(|| Error::new(ErrorKind::InvalidData, format!("it has no {}", bare(value))))
}

/// The value of a kernel file of one line; of a choice of words the one in brackets.
pub fn read_value(root: &Root, path: &str) -> io::Result<String> {
    let text = read_at_once(&root.path(path.trim_start_matches('/')))?;
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
