//! The folder with all runs: beginning, listing and finding them.

use crate::disk::Disk;
use crate::document::{CAMPAIGN_JSON, RUN_JSON, read_run};
use crate::error::{Error, Result};
use crate::id;
use crate::journal::{JOURNAL, Journal, is_locked};
use crate::open_run::OpenRun;
use crate::trust::open_file;
use jiff::Timestamp;
use latlab_model::Run;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::lchown;
use std::path::{Component, Path, PathBuf};

/// Suffix of an unfinished folder.
const PARTIAL: &str = ".partial";
/// The folder of a campaign's runs, within its own.
pub(crate) const CAMPAIGN_RUNS: &str = "runs";
/// Number of ids listed if none matches.
const NAMED_RUNS: usize = 5;

/// A folder with runs.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) root: PathBuf,
    pub(crate) owner: Option<(u32, u32)>,
    pub(crate) disk: Disk,
}

/// A run in a listing.
#[derive(Debug)]
pub struct RunEntry {
    pub id: String,
    pub path: PathBuf,
    pub state: RunState,
}

#[derive(Debug)]
pub enum RunState {
    Finished(Box<Run>),
    /// Another program is measuring or finishing it.
    Running,
    /// The program that measured it is gone; [`Store::recover`] finishes it.
    Abandoned,
    /// It cannot be read, for this reason.
    Damaged(String),
}

/// Owner and group for new files if the program runs under sudo.
pub fn calling_user() -> Option<(u32, u32)> {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    Some((number("SUDO_UID")?, number("SUDO_GID")?))
}

impl Store {
    /// The runs in this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Store {
        Store { root: root.into(), owner: None, disk: Disk::default() }
    }

    /// Uses this disk to record, finish and recover.
    pub fn with_disk(self, disk: Disk) -> Store {
        Store { disk, ..self }
    }

    /// Sets owner and group of everything created from now on.
    pub fn owned_by(self, owner: Option<(u32, u32)>) -> Store {
        Store { owner, ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Begins a run; if the id is taken, a number is appended.
    pub fn begin(&self, id: &str) -> Result<OpenRun> {
        if !id::is_valid(id) {
            return Err(Error::BadId(id.to_string()));
        }
        self.begin_journal(id).map_err(Error::at_begin)
    }

    fn begin_journal(&self, id: &str) -> Result<OpenRun> {
        self.create_root()?;
        let _alone = self.lock();
        let (id, partial) = self.take_id(id)?;
        let journal = Journal::create(&self.disk, &partial).inspect_err(|_| {
            // Only the folder exists, so nothing is lost.
            let _ = self.disk.remove_folder(&partial);
        })?;
        self.disk.sync_folder(&partial)?;
        self.disk.sync_folder(&self.root)?;
        self.chown_all(&partial);
        Ok(OpenRun::new(self.clone(), id, journal))
    }

    pub(crate) fn take_id(&self, wanted: &str) -> Result<(String, PathBuf)> {
        let mut id = wanted.to_string();
        for number in 2.. {
            let partial = self.partial(&id);
            if !self.root.join(&id).exists() {
                match self.disk.create_folder(&partial) {
                    Ok(()) => return Ok((id, partial)),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(Error::io("create", &partial)(error)),
                }
            }
            id = format!("{wanted}-{number}");
        }
        Err(Error::BadId(wanted.to_string()))
    }

    /// The folder of an unfinished run.
    pub fn partial(&self, id: &str) -> PathBuf {
        self.root.join(format!(".{id}{PARTIAL}"))
    }

    /// Creates the folder of the runs and its parents, synced.
    pub(crate) fn create_root(&self) -> Result<()> {
        let root = std::path::absolute(&self.root).map_err(Error::io("find", &self.root))?;
        let missing: Vec<&Path> = root.ancestors().take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            match self.disk.create_folder(folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
                created => created.map_err(Error::io("create", folder))?,
            }
            self.chown(folder);
            match folder.parent().map_or(Ok(()), |above| self.disk.sync_folder(above)) {
                // A folder may be writable and yet not readable.
                Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::PermissionDenied => {
                }
                synced => synced?,
            }
        }
        match root.is_dir() {
            true => Ok(()),
            false => {
                let error = io::ErrorKind::NotADirectory.into();
                Err(Error::io("create", &self.root)(error))
            }
        }
    }

    /// Keeps two programs from taking over the same run; without lock support in the file system,
    /// measuring is still allowed.
    pub(crate) fn lock(&self) -> Option<File> {
        let root = File::open(&self.root).ok()?;
        // A signal interrupts the wait, but the lock is still needed.
        while let Err(error) = root.lock() {
            if error.kind() != io::ErrorKind::Interrupted {
                return None;
            }
        }
        Some(root)
    }

    /// A folder and the files in it.
    pub(crate) fn chown_all(&self, folder: &Path) {
        if self.owner.is_none() {
            return;
        }
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        files.for_each(|file| self.chown(&file.path()));
        self.chown(folder);
    }

    /// File systems without owners refuse this, which is no reason to lose a run.
    pub(crate) fn chown(&self, path: &Path) {
        if let Some((user, group)) = self.owner {
            let _ = lchown(path, Some(user), Some(group));
        }
    }

    pub(crate) fn names(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("read", &self.root)(error)),
        };
        let folders = entries.flatten().filter(|entry| entry.path().is_dir());
        Ok(folders.filter_map(|entry| entry.file_name().into_string().ok()).collect())
    }

    /// All runs, newest first; one that cannot be read does not hide the others.
    pub fn list(&self) -> Result<Vec<RunEntry>> {
        let names = self.names()?.into_iter();
        let mut entries: Vec<RunEntry> = names.filter_map(|name| self.entry(&name)).collect();
        sort_newest_first(&mut entries);
        Ok(entries)
    }

    fn entry(&self, name: &str) -> Option<RunEntry> {
        let path = self.root.join(name);
        if let Some(id) = partial_id(name) {
            if !path.exists() {
                // It was finished since the names were read.
                return self.entry(&id);
            }
            let journal = path.join(JOURNAL);
            let state = match open_file(&journal).and_then(|file| is_locked(&file, &journal)) {
                Ok(true) => RunState::Running,
                _ => RunState::Abandoned,
            };
            return Some(RunEntry { id, path, state });
        }
        if name.starts_with('.') {
            return None;
        }
        if path.join(CAMPAIGN_JSON).exists() {
            return None;
        }
        let state = match read_run(&path) {
            Ok(run) => RunState::Finished(Box::new(run)),
            // A foreign folder (such as lost+found) is not a damaged run.
            Err(_) if id::time_of(name).is_none() && !path.join(RUN_JSON).exists() => return None,
            Err(error) => RunState::Damaged(error.to_string()),
        };
        Some(RunEntry { id: name.to_string(), path, state })
    }

    /// The names of all folders that may be runs, without reading them.
    pub fn ids(&self) -> Result<Vec<String>> {
        let names = self.names()?.into_iter();
        let ids = names.map(|name| partial_id(&name).unwrap_or(name));
        let ids: BTreeSet<String> = ids.filter(|id| !id.starts_with('.')).collect();
        Ok(ids.into_iter().collect())
    }

    /// The run with exactly this id, in any state; `None` if it does not exist.
    pub fn get(&self, id: &str) -> Option<RunEntry> {
        let mut parts = Path::new(id).components();
        let one = matches!((parts.next(), parts.next()), (Some(Component::Normal(name)), None)
            if name == id && !id.starts_with('.'));
        let partial = format!(".{id}{PARTIAL}");
        let there = |name: &str| self.root.join(name).is_dir();
        match one {
            true if there(id) => self.entry(id),
            true if there(&partial) => self.entry(&partial),
            _ => None,
        }
    }

    /// The stores of the campaigns' runs, including campaigns with an unreadable document.
    pub fn campaign_stores(&self) -> Result<Vec<Store>> {
        let names = self.names()?.into_iter().filter(|name| !name.starts_with('.'));
        let paths = names.map(|name| self.root.join(name));
        let campaigns = paths.filter(|path| path.join(CAMPAIGN_JSON).exists());
        Ok(campaigns.map(|path| Store { root: path.join(CAMPAIGN_RUNS), ..self.clone() }).collect())
    }

    /// The runs of all campaigns in this folder, newest first.
    pub fn list_of_campaigns(&self) -> Result<Vec<RunEntry>> {
        let mut entries = Vec::new();
        for store in self.campaign_stores()? {
            entries.extend(store.list()?);
        }
        sort_newest_first(&mut entries);
        Ok(entries)
    }

    /// The folder of a run: `last`, an id, a name (its newest run), a part that only one id has, or
    /// a path. A part is searched among the runs of campaigns if no other run has it.
    pub fn find(&self, spec: &str) -> Result<PathBuf> {
        let as_path = Path::new(spec);
        if id::is_valid(spec) && self.root.join(spec).join(RUN_JSON).exists() {
            return Ok(self.root.join(spec));
        }
        if as_path.join(RUN_JSON).exists() {
            return Ok(as_path.to_path_buf());
        }
        if let (true, Some(folder)) = (as_path.ends_with(RUN_JSON), as_path.parent())
            && as_path.exists()
        {
            return Ok(folder.to_path_buf());
        }
        if spec.contains('/') && as_path.is_dir() {
            return Err(Error::NotARun(as_path.to_path_buf()));
        }
        // Damaged runs are found too: returning another run instead would be wrong.
        let is_stored =
            |entry: &RunEntry| !matches!(entry.state, RunState::Running | RunState::Abandoned);
        let mut stored = self.list()?;
        stored.retain(is_stored);
        if spec == "last" || !stored.iter().any(|entry| entry.id.contains(spec)) {
            stored.extend(self.list_of_campaigns()?.into_iter().filter(is_stored));
            sort_newest_first(&mut stored);
        }
        pick(spec, stored, &self.root)
    }
}

/// Simulated runs only know the second in which they began, in which the last one written is the newest.
fn sort_newest_first(entries: &mut [RunEntry]) {
    entries.sort_by_cached_key(|entry| {
        let written = fs::metadata(entry.path.join(RUN_JSON)).and_then(|file| file.modified());
        Reverse((entry.time(), written.ok(), entry.id.clone()))
    });
}

fn pick(spec: &str, newest_first: Vec<RunEntry>, root: &Path) -> Result<PathBuf> {
    let ids = |entries: &[&RunEntry]| entries.iter().map(|entry| entry.id.clone()).collect();
    let fitting: Vec<&RunEntry> = match spec {
        "last" => newest_first.iter().take(1).collect(),
        "" => Vec::new(),
        part => {
            let those = |fits: &dyn Fn(&str) -> bool| -> Vec<&RunEntry> {
                newest_first.iter().filter(|entry| fits(&entry.id)).collect()
            };
            // A whole id or name takes precedence over a part; for a name, the newest.
            let whole: [&dyn Fn(&str) -> bool; 2] =
                [&|id| id == part, &|id| id::name_of(id) == part];
            let named = whole.into_iter().filter_map(|fits| those(fits).first().copied()).next();
            named.map_or_else(|| those(&|id| id.contains(part)), |named| vec![named])
        }
    };
    match &fitting[..] {
        [one] => Ok(one.path.clone()),
        [] => {
            let newest: Vec<&RunEntry> = newest_first.iter().take(NAMED_RUNS).collect();
            let (spec, root) = (spec.to_string(), root.to_path_buf());
            Err(Error::NotFound { spec, root, known: ids(&newest) })
        }
        several => Err(Error::Ambiguous { spec: spec.to_string(), candidates: ids(several) }),
    }
}

pub(crate) fn partial_id(name: &str) -> Option<String> {
    let id = name.strip_prefix('.')?.strip_suffix(PARTIAL)?;
    id::is_valid(id).then(|| id.to_string())
}

impl RunEntry {
    /// When it began, if known.
    pub fn time(&self) -> Option<Timestamp> {
        let started = match &self.state {
            RunState::Finished(run) => run.started.parse().ok(),
            _ => None,
        };
        started.or_else(|| id::time_of(&self.id))
    }
}
