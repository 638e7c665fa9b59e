//! Kernel files and threads that are changed for a while, and folders of tracefs that are made:
//! each change stands on disk before it is made, so that it can be undone by whoever comes after a
//! kill.

mod change;
mod record;
#[cfg(test)]
mod tests;

use crate::files::Root;
use crate::process::{effective_user, mark};
use crate::sched::ThreadScheduling;
use change::write;
pub use change::{
    Change, Kind, ThreadId, UndoResult, is_irq_thread, read, read_value, single_spaced,
};
use std::fs;
use std::io::{self, Error};
use std::path::{Path, PathBuf};

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
        let folder = record::folders(root)
            .into_iter()
            .find(|folder| record::create_private(folder).is_ok())
            .ok_or_else(|| Error::other("there is no folder for the record that undoes it"))?;
        let record = record::path(&folder, &mark(root, std::process::id()));
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

    /// Schedules a thread of an interrupt, and gives back how it then is.
    pub fn set_thread(
        &mut self,
        id: ThreadId,
        name: &str,
        wanted: ThreadScheduling,
    ) -> io::Result<String> {
        self.change(Kind::Thread(id), name, &wanted.to_string())
    }

    fn change(&mut self, kind: Kind, path: &str, value: &str) -> io::Result<String> {
        let before = read(kind, &self.root, path, value)?;
        let after = single_spaced(value);
        if before == after {
            return Ok(before);
        }
        self.made.push(Change { path: path.to_string(), before, after, kind });
        let written = self.write_record().and_then(|()| write(kind, &self.root, path, value));
        let applied = written.and_then(|()| read(kind, &self.root, path, value));
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
        record::write(&self.record, &self.made)
    }

    /// Puts everything back, the last change first, and says what became of each.
    pub fn undo(mut self) -> Vec<(Change, UndoResult)> {
        self.restore()
    }

    fn restore(&mut self) -> Vec<(Change, UndoResult)> {
        let made = std::mem::take(&mut self.made).into_iter().rev();
        let undone: Vec<_> = made
            .map(|change| {
                let undone = change.undo(&self.root);
                (change, undone)
            })
            .collect();
        if undone.iter().all(|(_, undone)| !matches!(undone, UndoResult::Failed(_))) {
            let _ = fs::remove_file(&self.record);
        }
        undone
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.restore();
    }
}

/// Puts back what processes that are gone have left changed.
pub fn restore_leftovers(root: &Root) -> Vec<(Change, UndoResult)> {
    record::folders(root).into_iter().flat_map(|folder| restore_from(root, &folder)).collect()
}

fn restore_from(root: &Root, folder: &Path) -> Vec<(Change, UndoResult)> {
    let (owner, left) = record::leftover_records(root, folder);
    let changes = left.into_iter().filter_map(|record| {
        if record.extension().is_some() {
            // A draft: the record it was to become is there, or its change was not made yet.
            let _ = fs::remove_file(record);
            return None;
        }
        let made = fs::read_to_string(&record).map(|text| record::parse(&text)).ok()?;
        Some(Changes { root: root.clone(), record, made })
    });
    match owner {
        uid if uid == effective_user() => changes.flat_map(Changes::undo).collect(),
        0 => changes.flat_map(|mut changes| std::mem::take(&mut changes.made)).map(roots).collect(),
        // What others may write is not believed.
        _ => Vec::new(),
    }
}

fn roots(change: Change) -> (Change, UndoResult) {
    let reason = "only root may do that: run `sudo latlab doctor --restore`";
    (change, UndoResult::Failed(reason.to_string()))
}
