//! The runs of the folder as list entries, cached while their documents are unchanged.

use latlab_formats::write::metrics::{Label, MetricsRun};
use latlab_model::Run;
use latlab_model::plan::Instrument;
use latlab_model::run::VerdictWord;
use latlab_model::sanitize::escape_controls;
use latlab_report::{served_figures, verdict_reason};
use latlab_store::{RunState, Store};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A run in the list.
#[derive(Clone, Debug)]
pub struct RunLine {
    pub id: String,
    /// Its result or state.
    pub what: RunStatus,
    /// When it began, to sort by.
    pub time: Option<jiff::Timestamp>,
    /// All searchable text, in lower case.
    text: String,
}

/// What the list shows of a run.
#[derive(Clone, Debug)]
pub enum RunStatus {
    Figures(Box<ListFigures>),
    /// Being measured or finished.
    GoesOn,
    /// Interrupted; the next command finishes it.
    LeftOver,
    /// It cannot be read, for this reason.
    Damaged(String),
}

/// The figures of a finished run.
#[derive(Clone, Debug)]
pub struct ListFigures {
    pub name: String,
    pub note: Option<String>,
    /// The instrument, unless it was the usual one.
    pub instrument: Option<Instrument>,
    /// First counted release, in UTC.
    pub started: String,
    /// The target.
    pub machine: String,
    /// Its kernel.
    pub kernel: String,
    /// Its figures, in the order of their heads.
    pub figures: Vec<String>,
    /// What loaded the machine; `none`, or `unknown`.
    pub load: String,
    /// `None` without a judgement.
    pub verdict: Option<VerdictWord>,
    /// Why its counts do not decide.
    pub reason: Option<String>,
    /// Its board and scenario, whose newest run is exported as metrics.
    pub labels: Vec<Label>,
}

/// Changes whenever the file does.
pub type Stamp = (u64, u64, i64, i64);

/// The stamp of a run's document; `None` if it does not exist.
pub fn stamp(folder: &Path) -> Option<Stamp> {
    let path = folder.join("run.json");
    stamp_of(&path).filter(|_| path.is_file())
}

/// The stamp of a file or a folder; `None` if it does not exist.
pub fn stamp_of(path: &Path) -> Option<Stamp> {
    let there = fs::metadata(path).ok()?;
    Some((there.ino(), there.len(), there.mtime(), there.mtime_nsec()))
}

/// All runs of one folder.
pub struct RunIndex {
    store: Store,
    known: Mutex<HashMap<String, (Stamp, RunLine)>>,
}

impl RunIndex {
    pub fn new(store: Store) -> RunIndex {
        RunIndex { store, known: Mutex::default() }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Every run, newest first; unchanged documents are not read again.
    pub fn rows(&self) -> latlab_store::Result<Vec<RunLine>> {
        let ids = self.store.ids()?;
        // A panicked thread leaves whole rows.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = HashMap::with_capacity(ids.len());
        let mut rows = Vec::with_capacity(ids.len());
        for id in ids {
            let stamp = stamp(&self.store.root().join(&id));
            let kept = known.remove(&id).filter(|(then, _)| Some(*then) == stamp);
            let Some(row) = kept.map(|(_, row)| row).or_else(|| self.row(&id)) else { continue };
            if let Some(stamp) = stamp {
                next.insert(id, (stamp, row.clone()));
            }
            rows.push(row);
        }
        *known = next;
        rows.sort_by(|one, two| Reverse((one.time, &one.id)).cmp(&Reverse((two.time, &two.id))));
        Ok(rows)
    }

    fn row(&self, id: &str) -> Option<RunLine> {
        let entry = self.store.get(id)?;
        let time = entry.time();
        let what = match (link_outside(&self.store, &entry.path), entry.state) {
            (Some(reason), _) => RunStatus::Damaged(reason),
            (None, RunState::Finished(run)) => RunStatus::Figures(Box::new(ListFigures::new(&run))),
            (None, RunState::Running) => RunStatus::GoesOn,
            (None, RunState::Abandoned) => RunStatus::LeftOver,
            (None, RunState::Damaged(reason)) => RunStatus::Damaged(escape_controls(&reason)),
        };
        let mut text = entry.id.clone();
        if let RunStatus::Figures(run) = &what {
            let note = run.note.as_deref().unwrap_or_default();
            let load = &run.load;
            text = [&text, &run.name, note, load, &run.kernel, &run.machine].join("\n");
        }
        Some(RunLine { id: entry.id, what, time, text: text.to_lowercase() })
    }

    /// The folder of the finished run with exactly this id.
    pub fn folder(&self, id: &str) -> Lookup {
        let Some(entry) = self.store.get(id) else { return Lookup::Nothing };
        if let Some(reason) = link_outside(&self.store, &entry.path) {
            return Lookup::Damaged(reason);
        }
        match entry.state {
            RunState::Finished(_) => Lookup::Finished(entry.path),
            RunState::Running | RunState::Abandoned => Lookup::GoesOn,
            RunState::Damaged(reason) => Lookup::Damaged(escape_controls(&reason)),
        }
    }
}

/// What an id resolves to.
pub enum Lookup {
    Finished(PathBuf),
    /// Not finished yet.
    GoesOn,
    /// Exists but cannot be shown, for this reason.
    Damaged(String),
    Nothing,
}

impl RunLine {
    /// Whether its id, name, note, load, kernel or machine contain all words.
    pub fn has(&self, words: &str) -> bool {
        words.to_lowercase().split_whitespace().all(|word| self.text.contains(word))
    }

    /// The value of the list's filter.
    pub fn as_str(&self) -> &'static str {
        match &self.what {
            RunStatus::Figures(run) => run.verdict.map_or("none", VerdictWord::as_str),
            RunStatus::GoesOn => "goes-on",
            RunStatus::LeftOver => "left-over",
            RunStatus::Damaged(_) => "damaged",
        }
    }
}

impl ListFigures {
    fn new(run: &Run) -> ListFigures {
        let machine = &run.machine;
        let named = machine.hostname.as_deref().or(machine.cpu_model.as_deref());
        ListFigures {
            name: escape_controls(&run.asked.name),
            note: run.asked.note.as_deref().map(escape_controls),
            instrument: Some(run.asked.method.instrument())
                .filter(|one| *one != Instrument::Cyclic),
            started: escape_controls(&run.started),
            machine: escape_controls(named.unwrap_or(&machine.architecture)),
            kernel: escape_controls(&machine.kernel),
            figures: served_figures(run),
            reason: verdict_reason(run).map(|reason| escape_controls(&reason)),
            load: escape_controls(&run.load_or("none")),
            verdict: run.verdict.as_ref().map(|verdict| verdict.word),
            labels: MetricsRun::of_board(run),
        }
    }
}

/// Why a folder is not shown: it is, or contains, a link to somewhere else.
pub fn link_outside(store: &Store, folder: &Path) -> Option<String> {
    let root = fs::canonicalize(store.root()).ok()?;
    let files = fs::read_dir(folder).ok()?.flatten();
    let links = files.filter(|file| file.file_type().is_ok_and(|kind| kind.is_symlink()));
    let mut all = std::iter::once(folder.to_path_buf()).chain(links.map(|file| file.path()));
    let outside =
        |path: &PathBuf| !fs::canonicalize(path).is_ok_and(|path| path.starts_with(&root));
    all.find(outside).map(|path| {
        let name = escape_controls(&path.file_name().unwrap_or_default().to_string_lossy());
        format!("'{name}' is a link to outside the folder of runs: not followed")
    })
}
