//! The folder with all runs: beginning, finishing, recovering, listing and finding them.

use crate::document::{CAMPAIGN_JSON, CONSOLE, RUN_JSON, read_run};
use crate::error::{Error, Result};
use crate::files::{open_file, sync_folder};
use crate::finish::{Finished, publish, remove_files, write_files};
use crate::id;
use crate::journal::{JOURNAL, Journal, is_locked};
use jiff::Timestamp;
use latlab_model::Run;
use latlab_model::finding::{Finding, JournalFinding};
use latlab_model::frame::Message;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::lchown;
use std::path::{Component, Path, PathBuf};

/// Ending of the name of a folder that is not finished.
const PARTIAL: &str = ".partial";
/// The folder of a campaign's runs, within its own.
pub(crate) const CAMPAIGN_RUNS: &str = "runs";
/// Ids that are named when none fits.
const NAMED_RUNS: usize = 5;

/// A folder with runs.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) root: PathBuf,
    pub(crate) owner: Option<(u32, u32)>,
}

/// A run that goes on; dropped without a word it stays, to be recovered on the next opening.
#[derive(Debug)]
pub struct OpenRun {
    store: Store,
    id: String,
    partial: PathBuf,
    journal: Journal,
}

/// A run that an earlier program left unfinished.
#[derive(Debug)]
pub struct Recovered {
    /// Its id.
    pub id: String,
    /// What became of it.
    pub outcome: RecoveryOutcome,
}

/// What became of an unfinished run.
#[derive(Debug)]
pub enum RecoveryOutcome {
    /// It is finished and published in this folder.
    Finished(PathBuf),
    /// It measured nothing, for this reason, and was removed.
    Removed(String),
    /// It stays as it is, because it could not be finished.
    Left(Error),
}

/// A run as a listing shows it.
#[derive(Debug)]
pub struct RunEntry {
    /// Its id.
    pub id: String,
    /// Its folder.
    pub path: PathBuf,
    /// In which state it is.
    pub state: RunState,
}

/// In which state a run is.
#[derive(Debug)]
pub enum RunState {
    /// Published.
    Finished(Box<Run>),
    /// Another program is measuring it or finishing it.
    Running,
    /// The program that measured it is gone; [`Store::recover`] finishes it.
    Abandoned,
    /// It cannot be read, for this reason.
    Damaged(String),
}

/// User and group to whom files belong when the program runs under sudo.
pub fn calling_user() -> Option<(u32, u32)> {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    Some((number("SUDO_UID")?, number("SUDO_GID")?))
}

impl Store {
    /// The runs of this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Store {
        Store { root: root.into(), owner: None }
    }

    /// Gives all that is made from now on to this user and group.
    pub fn owned_by(self, owner: Option<(u32, u32)>) -> Store {
        Store { owner, ..self }
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Begins a run; where the id is taken it gets a number behind it.
    pub fn begin(&self, id: &str) -> Result<OpenRun> {
        if !id::is_valid(id) {
            return Err(Error::BadId(id.to_string()));
        }
        self.create_root()?;
        let _alone = self.lock();
        let (id, partial) = self.take_id(id)?;
        let journal = Journal::create(&partial).inspect_err(|_| {
            // Only the folder is there, so nothing is lost with it.
            let _ = fs::remove_dir(&partial);
        })?;
        sync_folder(&partial)?;
        sync_folder(&self.root)?;
        let run = OpenRun { store: self.clone(), id, partial, journal };
        run.store.chown_all(&run.partial);
        Ok(run)
    }

    fn take_id(&self, wanted: &str) -> Result<(String, PathBuf)> {
        let mut id = wanted.to_string();
        for number in 2.. {
            let partial = self.partial(&id);
            if !self.root.join(&id).exists() {
                match fs::create_dir(&partial) {
                    Ok(()) => return Ok((id, partial)),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(Error::io("create", &partial)(error)),
                }
            }
            id = format!("{wanted}-{number}");
        }
        Err(Error::BadId(wanted.to_string()))
    }

    /// The folder of a run that is not finished.
    pub fn partial(&self, id: &str) -> PathBuf {
        self.root.join(format!(".{id}{PARTIAL}"))
    }

    pub(crate) fn create_root(&self) -> Result<()> {
        let missing: Vec<&Path> = self
            .root
            .ancestors()
            .take_while(|folder| !folder.as_os_str().is_empty() && !folder.exists())
            .collect();
        fs::create_dir_all(&self.root).map_err(Error::io("create", &self.root))?;
        missing.into_iter().for_each(|folder| self.chown(folder));
        Ok(())
    }

    /// Keeps two programs from taking over the same run; a file system without locks does not
    /// keep anyone from measuring.
    pub(crate) fn lock(&self) -> Option<File> {
        let root = File::open(&self.root).ok()?;
        root.lock().ok()?;
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

    /// Finishes every run whose program is gone.
    pub fn recover(&self) -> Result<Vec<Recovered>> {
        if !self.root.exists() {
            return Ok(Vec::new());
        }
        let alone = self.lock();
        let mut claimed = Vec::new();
        for id in self.unfinished_ids()? {
            let claim = self.claim(&id);
            claimed.push((id, claim));
        }
        drop(alone);
        let recovered = claimed.into_iter().filter_map(|(id, claim)| {
            let outcome = match claim {
                Ok(Claim::GoingOn) => return None,
                Ok(Claim::Without(outcome)) => outcome,
                Ok(Claim::Journal(journal)) => self.recover_one(&id, journal),
                Err(error) => RecoveryOutcome::Left(error),
            };
            // Another program that was recovering at the same moment has done it.
            let done = matches!(outcome, RecoveryOutcome::Left(_)) && !self.partial(&id).exists();
            (!done).then_some(Recovered { id, outcome })
        });
        Ok(recovered.collect())
    }

    fn unfinished_ids(&self) -> Result<Vec<String>> {
        let names = self.names()?.into_iter();
        let mut ids: Vec<String> = names.filter_map(|name| partial_id(&name)).collect();
        ids.sort();
        Ok(ids)
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

    fn claim(&self, id: &str) -> Result<Claim> {
        let partial = self.partial(id);
        if partial.join(JOURNAL).exists() {
            return Ok(Journal::try_lock(&partial)?.map_or(Claim::GoingOn, Claim::Journal));
        }
        if partial.join(RUN_JSON).exists() {
            let path = self.root.join(id);
            publish(&partial, &path)?;
            return Ok(Claim::Without(RecoveryOutcome::Finished(path)));
        }
        self.remove(&partial)?;
        let reason = "interrupted before its journal was created".to_string();
        Ok(Claim::Without(RecoveryOutcome::Removed(reason)))
    }

    fn recover_one(&self, id: &str, journal: Journal) -> RecoveryOutcome {
        let partial = self.partial(id);
        match self.complete(id, &partial, journal, true) {
            Ok(finished) => RecoveryOutcome::Finished(finished.path),
            Err(Error::NothingMeasured { reason, holds_counts: false, .. }) => self
                .remove(&partial)
                .map_or_else(RecoveryOutcome::Left, |()| RecoveryOutcome::Removed(reason)),
            Err(error) => RecoveryOutcome::Left(error),
        }
    }

    /// Removes a folder without a run; fails where something is in it that is not ours.
    fn remove(&self, partial: &Path) -> Result<()> {
        remove_files(partial);
        let _ = fs::remove_file(partial.join(CONSOLE));
        // The last, so that a folder of which this was cut off is still known for what it is.
        let _ = fs::remove_file(partial.join(JOURNAL));
        fs::remove_dir(partial).map_err(Error::io("remove", partial))
    }

    /// Writes the files, and only then gives up the journal and publishes the folder.
    fn complete(
        &self,
        id: &str,
        partial: &Path,
        journal: Journal,
        recovered: bool,
    ) -> Result<Finished> {
        let run = write_files(partial, id, &journal, recovered)
            // On a full disk half a table takes the room that somebody makes for the next try.
            .inspect_err(|_| remove_files(partial))?;
        self.chown_all(partial);
        fs::remove_file(journal.path()).map_err(Error::io("remove", journal.path()))?;
        sync_folder(partial)?;
        let path = self.root.join(id);
        publish(partial, &path)?;
        Ok(Finished { run, path })
    }

    /// All runs, newest first; one that cannot be read does not hide the others.
    pub fn list(&self) -> Result<Vec<RunEntry>> {
        let names = self.names()?.into_iter();
        let mut entries: Vec<RunEntry> = names.filter_map(|name| self.entry(&name)).collect();
        entries.sort_by_cached_key(|entry| Reverse((entry.time(), entry.id.clone())));
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
            // A folder of somebody else (lost+found, say) is no damaged run.
            Err(_) if id::time_of(name).is_none() && !path.join(RUN_JSON).exists() => return None,
            Err(error) => RunState::Damaged(error.to_string()),
        };
        Some(RunEntry { id: name.to_string(), path, state })
    }

    /// The names of all folders that may be runs, without a look into them.
    pub fn ids(&self) -> Result<Vec<String>> {
        let names = self.names()?.into_iter();
        let ids = names.map(|name| partial_id(&name).unwrap_or(name));
        let ids: BTreeSet<String> = ids.filter(|id| !id.starts_with('.')).collect();
        Ok(ids.into_iter().collect())
    }

    /// The run of exactly this id, in whatever state; none where there is none.
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

    /// The stores of the runs of campaigns, also of one whose own document cannot be read.
    fn campaign_stores(&self) -> Result<Vec<Store>> {
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
        entries.sort_by_cached_key(|entry| Reverse((entry.time(), entry.id.clone())));
        Ok(entries)
    }

    /// The folder of a run: `last`, an id, a part that only one id has, or a path. A part is looked
    /// for among the runs of campaigns where no other run has it.
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
        // A damaged one is found as well, since another in its place would be a lie.
        let is_stored =
            |entry: &RunEntry| !matches!(entry.state, RunState::Running | RunState::Abandoned);
        let mut stored = self.list()?;
        stored.retain(is_stored);
        if spec == "last" || !stored.iter().any(|entry| entry.id.contains(spec)) {
            stored.extend(self.list_of_campaigns()?.into_iter().filter(is_stored));
            stored.sort_by_cached_key(|entry| Reverse((entry.time(), entry.id.clone())));
        }
        pick(spec, stored, &self.root)
    }
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
            // A whole id or name goes before those that it is a part of.
            let whole: [&dyn Fn(&str) -> bool; 2] =
                [&|id| id == part, &|id| id::name_of(id) == part];
            let named = whole.into_iter().map(those).find(|named| !named.is_empty());
            named.unwrap_or_else(|| those(&|id| id.contains(part)))
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

/// What is to be done with an unfinished run.
enum Claim {
    GoingOn,
    Journal(Journal),
    Without(RecoveryOutcome),
}

fn partial_id(name: &str) -> Option<String> {
    let id = name.strip_prefix('.')?.strip_suffix(PARTIAL)?;
    id::is_valid(id).then(|| id.to_string())
}

impl RunEntry {
    /// When it began, as far as it says.
    pub fn time(&self) -> Option<Timestamp> {
        let started = match &self.state {
            RunState::Finished(run) => run.started.parse().ok(),
            _ => None,
        };
        started.or_else(|| id::time_of(&self.id))
    }
}

impl OpenRun {
    /// The id it really got.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its folder as long as it goes on.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Appends the bytes of whole frames to the journal.
    ///
    /// An error (a full disk) is returned once and only counted from then on; the caller may go
    /// on, because the run says what it lost.
    pub fn append(&mut self, frames: &[u8]) -> Result<()> {
        self.journal.append(frames)
    }

    /// The journal's file, to be brought to the disk by a thread that may wait for it.
    pub fn file(&self) -> Result<File> {
        self.journal.file()
    }

    /// Writes the journal into a new folder where somebody has deleted the old one, or beside the
    /// folder of the runs where that is no folder any more: a finding says so then.
    pub fn rescue(&mut self) -> Result<Option<Finding>> {
        if !self.journal.is_deleted() {
            return Ok(None);
        }
        let bytes = match self.rewrite(self.store.clone()) {
            Ok(bytes) => bytes,
            Err(error) => {
                let root = std::path::absolute(&self.store.root).unwrap_or_default();
                let name = root.file_name().unwrap_or_default().to_string_lossy();
                let beside = root.with_file_name(format!("{name}.rescued"));
                let store = Store { root: beside, ..self.store.clone() };
                self.rewrite(store).map_err(|_| error)?
            }
        };
        let folder = self.store.root.display().to_string();
        let finding = Finding::new(JournalFinding::FolderDeleted { bytes, folder });
        self.journal.append(&Message::Finding(finding.clone()).encode())?;
        Ok(Some(finding))
    }

    fn rewrite(&mut self, store: Store) -> Result<u64> {
        store.create_root()?;
        let partial = store.partial(&self.id);
        fs::create_dir_all(&partial).map_err(Error::io("create", &partial))?;
        let bytes = self.journal.rewrite(&partial)?;
        store.chown_all(&partial);
        (self.store, self.partial) = (store, partial);
        Ok(bytes)
    }

    /// Makes the run folder; after an error the journal stays, for [`Store::recover`].
    pub fn finish(mut self) -> Result<Finished> {
        self.rescue()?;
        self.journal.sync()?;
        let OpenRun { store, id, partial, journal } = self;
        store.complete(&id, &partial, journal, false)
    }

    /// Takes a guest's console out of the folder, beside the runs; none where there is none.
    pub fn keep_console(&self) -> Option<PathBuf> {
        let kept = self.store.root.join(format!("{}.{CONSOLE}", self.id));
        fs::rename(self.partial.join(CONSOLE), &kept).ok()?;
        self.store.chown(&kept);
        Some(kept)
    }

    /// Removes everything, after a refusal.
    pub fn discard(self) -> Result<()> {
        self.store.remove(&self.partial)
    }
}
