//! Temporary changes: kernel files and threads, folders of tracefs, and the processes of loads.
//! Each change is recorded before it is made, so that a later process can undo it after a kill.
//!
//! A value belongs to one run, or to several that ask for the same: the last of them restores it. A
//! change leaves its record only when the value was read back as it was before, when another
//! program has changed it since, or when another run has taken it over.

mod change;
mod leftovers;
mod lines;
#[cfg(test)]
mod tests;

use crate::cgroup::Cgroup;
use crate::files::Root;
use crate::record::{FolderLock, Origin, Record, Subject, records};
use crate::sched::ThreadScheduling;
use crate::scratch::Scratch;
pub use change::{
    Change, FolderId, Kind, ThreadId, UndoResult, is_irq_thread, read, read_value, single_spaced,
    write_value,
};
use change::{kernel_path, write};
pub use leftovers::{Leftovers, restore_from_here, restore_leftovers, restore_loads};
use lines::{lines, parse};
use std::fmt;
use std::fs;
use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A run without its conductor ends, and releases its values, within this time.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// The changes of one process, and the record of them on disk.
#[derive(Debug)]
pub struct Changes {
    root: Root,
    record: Record,
    made: Vec<Change>,
}

/// The changes of another process that still runs.
struct OtherChanges {
    holder: String,
    origin: Origin,
    made: Vec<Change>,
}

/// Another run holds the value that was to be changed.
#[derive(Debug)]
pub struct HeldByOther {
    /// The run, for people.
    pub holder: String,
    /// The value it has set.
    pub value: String,
}

impl fmt::Display for HeldByOther {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let HeldByOther { holder, value } = self;
        write!(f, "{holder} holds it at '{value}' until it ends: wait for it")
    }
}

impl HeldByOther {
    /// Whether this is why something could not be changed.
    pub fn is_cause(error: &Error) -> bool {
        error.get_ref().is_some_and(|error| error.is::<HeldByOther>())
    }
}

impl std::error::Error for HeldByOther {}

impl Changes {
    /// Starts without any change.
    pub fn begin(root: &Root) -> io::Result<Changes> {
        Changes::begin_record(root, Subject::Changes)
    }

    /// As [`Changes::begin`], for a process that starts a load.
    pub fn begin_load(root: &Root) -> io::Result<Changes> {
        Changes::begin_record(root, Subject::Load)
    }

    fn begin_record(root: &Root, subject: Subject) -> io::Result<Changes> {
        let record = Record::new(root, subject)?;
        Ok(Changes { root: root.clone(), record, made: Vec::new() })
    }

    /// Writes a value and returns what is read afterwards.
    pub fn set(&mut self, path: &str, value: &str) -> io::Result<String> {
        self.change(Kind::File, path, value)
    }

    /// Writes one of the words of a file that holds several, and returns the state read afterwards.
    pub fn set_flag(&mut self, path: &str, word: &str) -> io::Result<String> {
        self.change(Kind::Flag, path, word)
    }

    /// Sets the scheduling of an interrupt's thread, and returns the one read afterwards.
    pub fn set_thread(
        &mut self,
        id: ThreadId,
        name: &str,
        wanted: ThreadScheduling,
    ) -> io::Result<String> {
        self.change(Kind::Thread(id), name, &wanted.to_string())
    }

    fn change(&mut self, kind: Kind, path: &str, value: &str) -> io::Result<String> {
        let (path, after) = (path.to_string(), single_spaced(value));
        let mut change = Change { path, before: String::new(), after, kind };
        // Until the value is written, no other run can take it.
        let (_lock, now) = self.claim(&mut change)?;
        let Change { path, after, .. } = change.clone();
        self.made.push(change);
        let last = self.made.len() - 1;
        let applied = self.save().and_then(|()| {
            // Hold it as it is, so that no other run changes it.
            if now != after {
                write(kind, &self.root, &path, value)?;
            }
            read(kind, &self.root, &path, value)
        });
        match applied {
            Ok(applied) => {
                self.made[last].after.clone_from(&applied);
                // The record of what was asked exists, and serves if this cannot be written.
                let _ = self.save();
                Ok(applied)
            }
            Err(error) => {
                let origin = self.record.origin();
                // A value that was written and cannot be read stays recorded, to be undone with the
                // others.
                if self.made[last].undo(&self.root, origin, origin).is_settled() {
                    self.made.remove(last);
                    let _ = self.save();
                }
                Err(error)
            }
        }
    }

    /// Waits until the value is free, or held by others as requested. Stores what it was before the
    /// run, and returns its present value.
    fn claim(&self, change: &mut Change) -> io::Result<(FolderLock, String)> {
        let until = Instant::now() + PATIENCE;
        loop {
            let lock = self.record.lock_folder()?;
            let now = read(change.kind, &self.root, &change.path, &change.after)?;
            let others = self.others()?;
            let Some((holder, held)) =
                find_holder(&self.root, self.record.origin(), &others, change)
            else {
                change.before.clone_from(&now);
                return Ok((lock, now));
            };
            if held.after == change.after && held.kind == change.kind && now == change.after {
                change.before.clone_from(&held.before);
                return Ok((lock, now));
            }
            if Instant::now() >= until {
                let (holder, value) = (holder.to_string(), held.after.clone());
                return Err(Error::new(ErrorKind::ResourceBusy, HeldByOther { holder, value }));
            }
            drop(lock);
            std::thread::sleep(PAUSE);
        }
    }

    fn others(&self) -> io::Result<Vec<OtherChanges>> {
        others(&self.root, self.record.origin(), Some(self.record.path()))
    }

    /// Creates a folder of tracefs, in which the kernel then sets up another trace.
    pub fn create_folder(&mut self, path: &str) -> io::Result<PathBuf> {
        let folder = kernel_path(&self.root, path);
        self.make(Change::folder(path), || fs::create_dir(&folder))?;
        Ok(folder)
    }

    /// Creates a scratch folder for a load.
    pub fn create_scratch(&mut self) -> io::Result<Scratch> {
        let path = Scratch::new_path();
        let kind = Kind::Scratch(FolderId::default());
        self.make_load_folder(kind, &path, || Scratch::create(&path))
    }

    /// Creates a cgroup for a load; the error says why there is none.
    pub fn create_cgroup(&mut self) -> io::Result<Cgroup> {
        let path = Cgroup::new_path(&self.root).ok_or(ErrorKind::NotFound)?;
        let kind = Kind::Cgroup(FolderId::default());
        self.make_load_folder(kind, &path, || Cgroup::create(&path))
    }

    fn make_load_folder<T>(
        &mut self,
        kind: Kind,
        path: &Path,
        create: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let path = path.to_str().ok_or(ErrorKind::InvalidFilename)?.to_string();
        let made = self.make(Change { path, kind, ..Change::default() }, create)?;
        let last = self.made.len() - 1;
        self.made[last].identify_folder()?;
        self.save().map(|()| made)
    }

    /// Records the change first, then makes it.
    fn make<T>(&mut self, change: Change, create: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let _lock = self.record.lock_folder()?;
        self.made.push(change);
        let made = self.save().and_then(|()| create());
        if made.is_err() {
            self.made.pop();
            let _ = self.save();
        }
        made
    }

    fn save(&mut self) -> io::Result<()> {
        match self.made.is_empty() {
            true => self.record.remove(),
            false => self.record.write(&lines(&self.made)),
        }
    }

    /// Undoes everything, the last change first, and returns the results; what could not be undone
    /// stays recorded.
    pub fn undo(mut self) -> Vec<(Change, UndoResult)> {
        self.put_back()
    }

    fn put_back(&mut self) -> Vec<(Change, UndoResult)> {
        if self.made.is_empty() {
            return Vec::new();
        }
        // A stopped latlab must not keep our changes from being undone, so an error is ignored.
        let _lock = self.record.lock_folder();
        // Without the list, the last run to end restores the value all the same.
        let others = self.others().unwrap_or_default();
        let origin = self.record.origin();
        let (results, left) =
            undo_all(&self.root, std::mem::take(&mut self.made), (origin, origin), &others);
        let closed = match left.is_empty() {
            true => self.record.remove(),
            false => {
                let written = self.record.write(&lines(&left));
                self.record.release();
                written
            }
        };
        note_failure(results, closed, self.record.path())
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.put_back();
    }
}

/// Undoes changes, the last first; returns the results, and the changes to be undone later. They
/// were made by `origin`, and are undone at `here`.
fn undo_all(
    root: &Root,
    made: Vec<Change>,
    (origin, here): (&Origin, &Origin),
    others: &[OtherChanges],
) -> (Vec<(Change, UndoResult)>, Vec<Change>) {
    let (mut results, mut left) = (Vec::new(), Vec::new());
    for mut change in made.into_iter().rev() {
        let result = match find_holder(root, origin, others, &change) {
            Some((holder, held)) => UndoResult::HeldBy {
                holder: holder.to_string(),
                restores: held.before == change.before,
            },
            None => change.undo(root, origin, here),
        };
        if !result.is_settled() {
            left.insert(0, change.clone());
        }
        // A value that already was as requested was held, not changed.
        if result != UndoResult::Restored || change.before != change.after {
            results.push((change, result));
        }
    }
    (results, left)
}

/// Reports changes as failed if their record cannot be removed or written, as it would be trusted
/// again.
fn note_failure(
    mut results: Vec<(Change, UndoResult)>,
    closed: io::Result<()>,
    record: &Path,
) -> Vec<(Change, UndoResult)> {
    if let Err(error) = closed {
        let restored = results.iter_mut().filter(|(_, result)| result.is_settled());
        for (_, result) in restored {
            let text = format!("restored, but {} remains: {error}", record.display());
            *result = UndoResult::Failed(text);
        }
    }
    results
}

/// The other process that has changed the same value, and its change.
fn find_holder<'a>(
    root: &Root,
    origin: &Origin,
    others: &'a [OtherChanges],
    change: &Change,
) -> Option<(&'a str, &'a Change)> {
    others.iter().find_map(|other| {
        let origins = (origin, &other.origin);
        let held =
            other.made.iter().rev().find(|made| change.is_same_value(root, origins, made))?;
        Some((other.holder.as_str(), held))
    })
}

/// The changes of all running processes of this user and root, except the one with this record.
fn others(root: &Root, here: &Origin, own: Option<&Path>) -> io::Result<Vec<OtherChanges>> {
    let others = records(root, Subject::Changes)?
        .into_iter()
        .filter(|found| found.is_held && found.is_trusted() && Some(found.path.as_path()) != own);
    let others = others.filter_map(|found| {
        let (holder, made) = (found.holder(here), parse(&found.content).ok()?);
        Some(OtherChanges { holder, origin: found.origin, made })
    });
    Ok(others.collect())
}
