//! The runs of one name as a rolling store: where they take too much room, the oldest go.
//!
//! Their names bear the time of a clock that may have been set, so they do not tell which run is the oldest. A
//! file beside the runs lists them as they came; a run that is missing there is placed by its name.

use crate::document::read_run;
use crate::error::{Error, Result};
use crate::files::write_file;
use crate::id;
use crate::runs::Store;
use crate::trust::open_file;
use latlab_sys::lease;
use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A file of this name in the folder of a run keeps the run.
pub const KEEP_MARK: &str = "keep";
/// Ending of the name of a folder that is going away.
const REMOVED: &str = ".removed";
/// Ending of the name of the file that lists the runs as they came.
const ORDER: &str = ".order";
/// What is read of the list at most.
const LONGEST_ORDER: u64 = 64 << 20;

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
        // Who has the lock sees all that are there, so that a list written by it lacks none.
        let _alone = runs.store.lock();
        let listed = runs.listed();
        let order = in_order(&listed, runs.there()?);
        let is_new = order != listed;
        runs.runs = order.into_iter().map(|id| runs.sized(id)).collect();
        if is_new {
            runs.write_list();
        }
        Ok(runs)
    }

    /// Looks which of them are there now: others may make and remove runs of this name, too. The one that
    /// was just made is the newest, whatever the clock says.
    pub fn refresh(&mut self, made: Option<&str>) -> Result<()> {
        let _alone = self.store.lock();
        let mut there = self.there()?;
        self.runs.retain(|run| there.remove(&run.id));
        let made = made.and_then(|id| there.take(id));
        // What came now is newer than all that was known.
        let new: Vec<StoredSize> = there.into_iter().chain(made).map(|id| self.sized(id)).collect();
        if !new.is_empty() {
            self.runs.extend(new);
            self.write_list();
        }
        Ok(())
    }

    /// The names of those that are there.
    fn there(&self) -> Result<BTreeSet<String>> {
        let wanted = id::sanitize(&self.name);
        let is_one = |folder: &String| {
            id::time_of(folder).is_some()
                && is_of(folder, &wanted)
                // It could as well be the name itself that ends so.
                && (id::name_of(folder) == wanted
                    || read_run(&self.store.root.join(folder))
                        .is_ok_and(|run| run.asked.name == self.name))
        };
        Ok(self.store.names()?.into_iter().filter(is_one).collect())
    }

    fn sized(&self, id: String) -> StoredSize {
        StoredSize { bytes: size(&self.store.root.join(&id)), id }
    }

    /// Where the list is.
    fn list(&self) -> PathBuf {
        self.store.root.join(format!(".{}{ORDER}", id::sanitize(&self.name)))
    }

    /// The runs of the list, each once; nothing where it cannot be read.
    fn listed(&self) -> Vec<String> {
        let mut text = String::new();
        let opened = open_file(&self.list()).ok();
        let read = opened.map(|file| file.take(LONGEST_ORDER).read_to_string(&mut text));
        let mut seen = BTreeSet::new();
        let lines = text.lines().filter(|line| !line.is_empty() && seen.insert(*line));
        match read {
            Some(Ok(_)) => lines.map(str::to_string).collect(),
            _ => Vec::new(),
        }
    }

    /// Writes the list, whole or not at all; without it the names tell the order, as far as they do.
    fn write_list(&self) {
        let (path, new) = (self.list(), self.list().with_extension("order.new"));
        let text: String = self.runs.iter().map(|run| run.id.clone() + "\n").collect();
        // One that a killed program has begun.
        drop(fs::remove_file(&new));
        let written = write_file(&self.store.disk, &new, &text)
            .and_then(|_| self.store.disk.rename(&new, &path).map_err(Error::io("rename", &new)));
        match written {
            Ok(()) => self.store.chown(&path),
            // The old one is as good as it was.
            Err(_) => drop(fs::remove_file(&new)),
        }
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
            let folder = self.store.root.join(&oldest.id);
            let is_gone = || fs::symlink_metadata(&folder).is_err();
            let removal = match self.remove(&oldest) {
                Ok(()) => {
                    self.runs.remove(at);
                    left -= oldest.bytes;
                    Removal::Removed(oldest.bytes)
                }
                // Another watch was faster, and tells it.
                Err(_) if is_gone() => {
                    self.runs.remove(at);
                    left -= oldest.bytes;
                    continue;
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
            return Err("it is a link".to_string());
        }
        if folder.join(KEEP_MARK).exists() {
            return Err(format!("it is marked by its file '{KEEP_MARK}'"));
        }
        match read_run(&folder) {
            Ok(stored) if stored.asked.name == self.name => {}
            Ok(stored) => return Err(format!("it is a run of '{}'", stored.asked.name)),
            Err(error) => return Err(format!("it cannot be read: {error}")),
        }
        if let Some(file) = file_in_use(&folder) {
            return Err(format!("{} is being read", file.display()));
        }
        // Out of the list at once, so that nobody begins to read a half of it.
        let going = self.store.root.join(format!(".{}{REMOVED}", run.id));
        let told = |error: io::Error| error.to_string();
        self.store.disk.rename(&folder, &going).map_err(told)?;
        match fs::remove_dir_all(&going) {
            // Another watch begins, and removes what a killed one would have left.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(told),
        }
    }
}

/// The runs that are there in the order of the list; one that is missing in it stands behind the last one
/// whose name is less.
fn in_order(listed: &[String], mut there: BTreeSet<String>) -> Vec<String> {
    let mut order: Vec<String> = listed.iter().filter_map(|id| there.take(id)).collect();
    for id in there {
        let at = order.iter().rposition(|other| *other < id).map_or(0, |before| before + 1);
        order.insert(at, id);
    }
    order
}

/// Whether a run has this name, also as a further one of its second: `…_watch-2`.
fn is_of(id: &str, name: &str) -> bool {
    let further = |rest: &str| rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    id::name_of(id).strip_prefix(name).is_some_and(|rest| rest.is_empty() || further(rest))
}

/// A file of the folder that somebody has open.
fn file_in_use(folder: &Path) -> Option<PathBuf> {
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
