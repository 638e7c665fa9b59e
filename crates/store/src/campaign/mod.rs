//! The folder of a campaign: `campaign.json`, a copy of the sheet, and its runs.
//!
//! The plan is written once, before the first run, and never changes. Each run names the cell that
//! it fills, so no kill can make plan and progress disagree.

mod progress;
mod state;

pub use progress::{Attempt, AttemptProblem, CampaignProgress, CellState, NextStep};
pub use state::{CampaignCounts, CampaignSummary, CellWord, cell_verdict};

use crate::disk::Disk;
use crate::document::CAMPAIGN_JSON;
use crate::error::{Error, Result};
use crate::files::write_file;
use crate::id::{self, new_id};
use crate::runs::{CAMPAIGN_RUNS, RunState, Store};
use crate::trust::{expect_own_campaign, open_file, open_or_create_file};
use jiff::Timestamp;
use latlab_model::campaign::{CAMPAIGN_VERSION, Campaign, Cell, FailedAttempt};
use std::cmp::Reverse;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind::NotFound;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const SHEET: &str = "sheet.toml";
const FAILURES: &str = "failures.jsonl";
/// Lock file of the process that works on it.
const LOCK: &str = "lock";
/// Suffix of a folder whose document is not written yet.
const DRAFT: &str = ".draft";
/// Upper limit for the size of a document.
const LARGEST: u64 = 64 << 20;

/// A stored campaign.
#[derive(Debug)]
pub struct CampaignFolder {
    path: PathBuf,
    runs: Store,
    pub campaign: Campaign,
}

impl Store {
    /// Creates the folder of a campaign atomically, and assigns its id.
    pub fn begin_campaign(&self, campaign: Campaign, sheet: &str) -> Result<CampaignFolder> {
        self.create_root()?;
        let _alone = self.lock();
        let wanted = new_id(Timestamp::now(), &campaign.name);
        let free = |id: &String| !self.root().join(id).exists();
        let ids = std::iter::once(wanted.clone()).chain((2..).map(|n| format!("{wanted}-{n}")));
        let id = ids.into_iter().find(free).unwrap_or(wanted);
        let campaign = Campaign { id: id.clone(), ..campaign };
        let draft = self.root().join(format!(".{id}{DRAFT}"));
        // Left by an interrupted attempt, not a campaign yet.
        let _ = fs::remove_dir_all(&draft);
        fs::create_dir_all(draft.join(CAMPAIGN_RUNS)).map_err(Error::io("create", &draft))?;
        let written = write_draft(&self.disk, &draft, &campaign, sheet).inspect_err(|_| {
            let _ = fs::remove_dir_all(&draft);
        });
        written?;
        self.chown_all(&draft);
        let path = self.root().join(&id);
        fs::rename(&draft, &path).map_err(Error::io("rename", &draft))?;
        self.disk.sync_folder(self.root())?;
        Ok(self.folder(path, campaign))
    }

    fn folder(&self, path: PathBuf, campaign: Campaign) -> CampaignFolder {
        let runs = Store { root: path.join(CAMPAIGN_RUNS), ..self.clone() };
        CampaignFolder { path, runs, campaign }
    }

    /// Opens the campaign in a folder.
    pub fn open_campaign(&self, path: &Path) -> Result<CampaignFolder> {
        let file = path.join(CAMPAIGN_JSON);
        let damaged = |reason: String| Error::Damaged { path: file.clone(), reason };
        let mut text = Vec::new();
        let opened = open_file(&file)?;
        opened.take(LARGEST).read_to_end(&mut text).map_err(Error::io("read", &file))?;
        let document: serde_json::Value =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        match document["schema"].as_u64() {
            Some(found) if found != u64::from(CAMPAIGN_VERSION) => {
                let (what, known) = ("campaign schema", CAMPAIGN_VERSION);
                Err(Error::OtherVersion { path: file, what, found, known })
            }
            _ => {
                let campaign = serde_json::from_value(document);
                let campaign: Campaign = campaign.map_err(|error| damaged(error.to_string()))?;
                match campaign.runs.iter().all(|run| run.row < campaign.rows.len()) {
                    true => Ok(self.folder(path.to_path_buf(), campaign)),
                    false => Err(damaged("one of its runs has no row".to_string())),
                }
            }
        }
    }

    /// All campaigns, newest first; one that cannot be read does not hide the others.
    pub fn campaigns(&self) -> Result<Vec<(String, Result<CampaignFolder>)>> {
        let open = |name: String| {
            let opened = self.open_campaign(&self.root().join(&name));
            (name, opened)
        };
        Ok(self.campaign_names()?.into_iter().map(open).collect())
    }

    /// The folders of all campaigns, newest first.
    pub fn campaign_paths(&self) -> Result<Vec<PathBuf>> {
        Ok(self.campaign_names()?.iter().map(|name| self.root().join(name)).collect())
    }

    fn campaign_names(&self) -> Result<Vec<String>> {
        let mut names = self.names()?;
        names.retain(|name| {
            !name.starts_with('.') && self.root().join(name).join(CAMPAIGN_JSON).exists()
        });
        names.sort_by_cached_key(|name| Reverse((id::time_of(name), name.clone())));
        Ok(names)
    }

    /// The folder of the campaign that `spec` names, if any: an id, a name, a part that only one
    /// campaign and no run has, a path, or `last` unless a run is newer.
    pub fn find_campaign(&self, spec: &str) -> Result<Option<CampaignFolder>> {
        let as_path = Path::new(spec);
        let as_path = if as_path.ends_with(CAMPAIGN_JSON) {
            as_path.parent().unwrap_or(as_path)
        } else {
            as_path
        };
        for path in [self.root().join(spec), as_path.to_path_buf()] {
            if !spec.is_empty() && path.join(CAMPAIGN_JSON).exists() {
                return self.open_campaign(&path).map(Some);
            }
        }
        let mut campaigns = self.campaigns()?;
        let runs = self.list()?;
        let found = match spec {
            "last" => campaigns.into_iter().next().filter(|(name, _)| {
                let time = runs.first().and_then(|run| run.time());
                time.is_none_or(|time| id::time_of(name).is_some_and(|begun| begun >= time))
            }),
            _ if runs.iter().any(|run| id::name_of(&run.id) == spec) => None,
            name if campaigns.iter().any(|(id, _)| id::name_of(id) == name) => {
                campaigns.retain(|(id, _)| id::name_of(id) == name);
                the_only(spec, campaigns)?
            }
            _ if runs.iter().any(|run| run.id.contains(spec)) => None,
            part => {
                campaigns.retain(|(name, _)| name.contains(part));
                the_only(spec, campaigns)?
            }
        };
        found.map(|(_, opened)| opened).transpose()
    }
}

type OpenedCampaign = (String, Result<CampaignFolder>);

/// The only one that fits, if any.
fn the_only(spec: &str, mut fitting: Vec<OpenedCampaign>) -> Result<Option<OpenedCampaign>> {
    match fitting.len() {
        0 | 1 => Ok(fitting.pop()),
        _ => {
            let candidates = fitting.into_iter().map(|(name, _)| name).collect();
            Err(Error::Ambiguous { spec: spec.to_string(), candidates })
        }
    }
}

fn write_draft(disk: &Disk, draft: &Path, campaign: &Campaign, sheet: &str) -> Result<()> {
    let damaged = |error: serde_json::Error| Error::Damaged {
        path: draft.join(CAMPAIGN_JSON),
        reason: error.to_string(),
    };
    let document = serde_json::to_string_pretty(campaign).map_err(damaged)? + "\n";
    for (name, text) in [(CAMPAIGN_JSON, document.as_str()), (SHEET, sheet)] {
        write_file(disk, &draft.join(name), text)?;
    }
    disk.sync_folder(draft)
}

/// Held while working on a campaign; the kernel releases it with the process.
#[derive(Debug)]
pub struct CampaignLock(#[expect(dead_code, reason = "open files hold locks")] File);

impl CampaignFolder {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The store of its runs.
    pub fn runs(&self) -> &Store {
        &self.runs
    }

    /// Locks the campaign for this process; an error says who has it, or that it belongs to another
    /// user.
    pub fn lock(&self) -> Result<CampaignLock> {
        expect_own_campaign(&self.path, self.runs.root(), self.runs.owner)?;
        let path = self.path.join(LOCK);
        let mut file = open_or_create_file(&path)?;
        match file.try_lock() {
            // Without lock support in the file system, measuring is still allowed.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                let _ = file.read_to_string(&mut holder);
                return Err(Error::CampaignGoesOn {
                    id: self.campaign.id.clone(),
                    holder: holder.trim().to_string(),
                });
            }
        }
        let _ = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        self.runs.chown(&path);
        Ok(CampaignLock(file))
    }

    /// An id for a run that begins now.
    pub fn run_id(&self, name: &str) -> String {
        new_id(Timestamp::now(), name)
    }

    /// The attempts so far: stored runs, and those that left none.
    pub fn progress(&self) -> Result<CampaignProgress> {
        let mut tried = CampaignProgress::new(Vec::new(), self.failures()?);
        for entry in self.runs.list()?.into_iter().rev() {
            match entry.state {
                RunState::Finished(run) => tried.runs.push((entry.path, *run)),
                RunState::Damaged(reason) => tried.damaged.push((entry.path, reason)),
                RunState::Running | RunState::Abandoned => {}
            }
        }
        Ok(tried)
    }

    fn failures(&self) -> Result<Vec<FailedAttempt>> {
        let path = self.path.join(FAILURES);
        let file = match open_file(&path) {
            Err(Error::Io { error, .. }) if error.kind() == NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        let mut text = String::new();
        file.take(LARGEST).read_to_string(&mut text).map_err(Error::io("read", &path))?;
        // The last line may be cut if its writer was.
        Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Notes an attempt that left no run.
    pub fn record_failure(&self, cell: Cell, reason: String) -> Result<FailedAttempt> {
        let path = self.path.join(FAILURES);
        let failed = FailedAttempt { cell, at: format!("{:.0}", Timestamp::now()), reason };
        let line = serde_json::to_string(&failed)
            .map_err(|error| Error::Damaged { path: path.clone(), reason: error.to_string() })?;
        let mut file = open_or_create_file(&path)?;
        // In one call, and on a new line in case the last one was cut.
        file.write_all(format!("\n{line}\n").as_bytes()).map_err(Error::io("write", &path))?;
        file.sync_all().map_err(Error::io("sync", &path))?;
        self.runs.chown(&path);
        Ok(failed)
    }
}
