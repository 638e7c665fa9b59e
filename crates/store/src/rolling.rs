//! The runs of one name as a rolling store: where they take too much room, the oldest go.

use crate::document::read_run;
use crate::error::{Error, Result};
use crate::id;
use crate::runs::Store;
use latlab_sys::lease;
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file of this name in the folder of a run keeps the run.
pub const KEEP_MARK: &str = "keep";
/// Ending of the name of a folder that is going away.
const REMOVED: &str = ".removed";

/// The finished runs of one name, the oldest first.
#[derive(Debug)]
pub struct RollingRuns {
    store: Store,
    name: String,
    runs: VecDeque<StoredSize>,
}

/// A run and the room that it takes.
#[derive(Clone, PartialEq, Eq, Debug)]
struct StoredSize {
    id: String,
    bytes: u64,
}

/// What became of a run that was to go.
#[derive(Debug)]
pub enum Removal {
    /// It is gone, and so many bytes are free.
    Removed(u64),
    /// It stays, for this reason.
    Kept(String),
}

impl RollingRuns {
    /// Those of a folder; what a killed program had begun to remove is removed.
    pub fn open(store: &Store, name: &str) -> Result<RollingRuns> {
        let wanted = id::sanitize(name);
        for folder in store.names()? {
            let half_gone = folder.strip_prefix('.').and_then(|id| id.strip_suffix(REMOVED));
            if half_gone.is_some_and(|id| is_of(id, &wanted)) {
                let path = store.root.join(&folder);
                fs::remove_dir_all(&path).map_err(Error::io("remove", &path))?;
            }
        }
        let (store, name) = (store.clone(), name.to_string());
        let mut runs = RollingRuns { store, name, runs: VecDeque::new() };
        runs.refresh()?;
        Ok(runs)
    }

    /// Looks which of them are there now: others may make and remove runs of this name, too.
    pub fn refresh(&mut self) -> Result<()> {
        let wanted = id::sanitize(&self.name);
        let mut there: BTreeSet<String> = self.store.names()?.into_iter().collect();
        self.runs.retain(|run| there.remove(&run.id));
        let new = there.into_iter().filter(|folder| {
            id::time_of(folder).is_some()
                && is_of(folder, &wanted)
                // It could as well be the name itself that ends so.
                && (id::name_of(folder) == wanted
                    || read_run(&self.store.root.join(folder))
                        .is_ok_and(|run| run.asked.name == self.name))
        });
        let sized = |id: String| StoredSize { bytes: size(&self.store.root.join(&id)), id };
        // What came now is newer than all that was known, whatever the clock says.
        let new: Vec<StoredSize> = new.map(sized).collect();
        self.runs.extend(new);
        Ok(())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// The room that they take.
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.bytes).sum()
    }

    /// Removes the oldest as long as this holds of the room that is taken; the newest stays. Each run that
    /// was looked at is given back with what became of it.
    pub fn remove_while(&mut self, needed: impl Fn(u64) -> bool) -> Vec<(String, Removal)> {
        let mut looked_at = Vec::new();
        let (mut left, mut at) = (self.bytes(), 0);
        while at + 1 < self.runs.len() && needed(left) {
            let oldest = self.runs[at].clone();
            let removal = match self.remove(&oldest) {
                Ok(()) => {
                    self.runs.remove(at);
                    left -= oldest.bytes;
                    Removal::Removed(oldest.bytes)
                }
                Err(reason) => {
                    at += 1;
                    Removal::Kept(reason)
                }
            };
            looked_at.push((oldest.id, removal));
        }
        looked_at
    }

    /// Removes a run, or says why it stays.
    fn remove(&self, run: &StoredSize) -> std::result::Result<(), String> {
        let folder = self.store.root.join(&run.id);
        if !fs::symlink_metadata(&folder).is_ok_and(|there| there.is_dir()) {
            return match folder.exists() {
                true => Err("it is a link".to_string()),
                // Somebody was faster.
                false => Ok(()),
            };
        }
        if folder.join(KEEP_MARK).exists() {
            return Err(format!("it is marked by its file '{KEEP_MARK}'"));
        }
        match read_run(&folder) {
            Ok(stored) if stored.asked.name == self.name => {}
            Ok(stored) => return Err(format!("it is a run of '{}'", stored.asked.name)),
            Err(error) => return Err(format!("it cannot be read: {error}")),
        }
        if let Some(file) = open_file(&folder) {
            return Err(format!("{} is being read", file.display()));
        }
        // Out of the list at once, so that nobody begins to read a half of it.
        let going = self.store.root.join(format!(".{}{REMOVED}", run.id));
        let told = |error: io::Error| error.to_string();
        self.store.disk.rename(&folder, &going).map_err(told)?;
        fs::remove_dir_all(&going).map_err(told)
    }
}

/// Whether a run has this name, also as a further one of its second: `…_watch-2`.
fn is_of(id: &str, name: &str) -> bool {
    let further = |rest: &str| rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    id::name_of(id).strip_prefix(name).is_some_and(|rest| rest.is_empty() || further(rest))
}

/// A file of the folder that somebody has open.
fn open_file(folder: &Path) -> Option<PathBuf> {
    let mut files = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_open = |path: &PathBuf| lease::is_open(path) == Some(true);
    files.find_map(|file| Some(file.path()).filter(is_open))
}

/// The room that a folder takes on the disk.
fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let blocks = |file: fs::DirEntry| file.metadata().map_or(0, |there| there.blocks());
    files.map(blocks).sum::<u64>() * 512
}
