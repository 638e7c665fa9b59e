//! The runs of one name as a rolling store: the oldest are removed when they take too much space.
//!
//! Times in run names come from a clock that may have been set, so they do not tell which run is
//! oldest. A file next to the runs lists them in order of arrival; a run that it lacks is placed by
//! its name.

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

/// A file of this name in a run's folder protects the run.
pub const KEEP_MARK: &str = "keep";
/// Suffix of a folder being removed.
const REMOVED: &str = ".removed";
/// Suffix of the file with the order of runs.
const ORDER: &str = ".order";
/// Most of the list that is read.
const LONGEST_ORDER: u64 = 64 << 20;

/// The finished runs of one name, the oldest first.
#[derive(Debug)]
pub struct RollingRuns {
    store: Store,
    name: String,
    runs: VecDeque<StoredSize>,
}

/// A run and its size on disk.
#[derive(Clone, PartialEq, Eq, Debug)]
struct StoredSize {
    id: String,
    bytes: u64,
}

/// The outcome of removing a run.
#[derive(Debug)]
pub enum Removal {
    /// Removed, which freed this many bytes.
    Removed(u64),
    /// It stays, for this reason.
    Kept(String),
}

impl RollingRuns {
    /// The runs in a folder; removals that a killed program had begun are completed.
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
        // Under the lock all runs are visible, so the list written then lacks none.
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

    /// Rereads the folder: other programs may add and remove runs of this name too. The run just
    /// made is the newest, whatever the clock says.
    pub fn refresh(&mut self, made: Option<&str>) -> Result<()> {
        let _alone = self.store.lock();
        let mut there = self.there()?;
        self.runs.retain(|run| there.remove(&run.id));
        let made = made.and_then(|id| there.take(id));
        // New runs are newer than all known ones.
        let new: Vec<StoredSize> = there.into_iter().chain(made).map(|id| self.sized(id)).collect();
        if !new.is_empty() {
            self.runs.extend(new);
            self.write_list();
        }
        Ok(())
    }

    /// The names of the existing runs.
    fn there(&self) -> Result<BTreeSet<String>> {
        let wanted = id::sanitize(&self.name);
        let is_one = |folder: &String| {
            id::time_of(folder).is_some()
                && is_of(folder, &wanted)
                // The suffix could also be part of the name itself.
                && (id::name_of(folder) == wanted
                    || read_run(&self.store.root.join(folder))
                        .is_ok_and(|run| run.asked.name == self.name))
        };
        Ok(self.store.names()?.into_iter().filter(is_one).collect())
    }

    fn sized(&self, id: String) -> StoredSize {
        StoredSize { bytes: size(&self.store.root.join(&id)), id }
    }

    fn list(&self) -> PathBuf {
        self.store.root.join(format!(".{}{ORDER}", id::sanitize(&self.name)))
    }

    /// The runs in the list, without duplicates; empty if it cannot be read.
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

    /// Writes the list atomically; without it, the names have to give the order.
    fn write_list(&self) {
        let (path, new) = (self.list(), self.list().with_extension("order.new"));
        let text: String = self.runs.iter().map(|run| run.id.clone() + "\n").collect();
        // Left by a killed program.
        drop(fs::remove_file(&new));
        let written = write_file(&self.store.disk, &new, &text)
            .and_then(|_| self.store.disk.rename(&new, &path).map_err(Error::io("rename", &new)));
        match written {
            Ok(()) => self.store.chown(&path),
            // The old one is still valid.
            Err(_) => drop(fs::remove_file(&new)),
        }
    }

    pub fn count(&self) -> usize {
        self.runs.len()
    }

    /// Their size on disk.
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.bytes).sum()
    }

    /// Removes the oldest while `needed` returns true for the space taken; the newest stays.
    /// Returns the outcome for each run considered.
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
                // Another watch was faster, and reports it.
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
        // Renamed at once, so that no reader opens a half-removed run.
        let going = self.store.root.join(format!(".{}{REMOVED}", run.id));
        let told = |error: io::Error| error.to_string();
        self.store.disk.rename(&folder, &going).map_err(told)?;
        match fs::remove_dir_all(&going) {
            // Another watch, on starting, completes what a killed one began.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(told),
        }
    }
}

/// The existing runs in the order of the list; a run that it lacks comes after the last one with a
/// smaller name.
fn in_order(listed: &[String], mut there: BTreeSet<String>) -> Vec<String> {
    let mut order: Vec<String> = listed.iter().filter_map(|id| there.take(id)).collect();
    for id in there {
        let at = order.iter().rposition(|other| *other < id).map_or(0, |before| before + 1);
        order.insert(at, id);
    }
    order
}

/// Whether a run has this name, also with the number that is added within the same second:
/// `…_watch-2`.
fn is_of(id: &str, name: &str) -> bool {
    let further = |rest: &str| rest.strip_prefix('-').is_some_and(|n| n.parse::<u32>().is_ok());
    id::name_of(id).strip_prefix(name).is_some_and(|rest| rest.is_empty() || further(rest))
}

/// A file of the folder that is open in some process.
fn file_in_use(folder: &Path) -> Option<PathBuf> {
    let mut files = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_open = |path: &PathBuf| lease::is_open(path) == Some(true);
    files.find_map(|file| Some(file.path()).filter(is_open))
}

/// Size of a folder on disk.
fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let blocks = |file: fs::DirEntry| file.metadata().map_or(0, |there| there.blocks());
    files.map(blocks).sum::<u64>() * 512
}
