//! Runs left unfinished by earlier programs: finishes, removes or quarantines them.

use crate::document::{CONSOLE, RUN_JSON};
use crate::error::{Error, Result};
use crate::finish::{Finished, originals, publish, remove_files, write_files};
use crate::journal::{JOURNAL, Journal};
use crate::runs::{Store, partial_id};
use crate::trust::expect_own_run;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder, within that of the runs, for what cannot be finished.
const QUARANTINE: &str = "quarantine";

/// A run that an earlier program left unfinished.
#[derive(Debug)]
pub struct Recovered {
    pub id: String,
    pub outcome: RecoveryOutcome,
}

/// The outcome for an unfinished run.
#[derive(Debug)]
pub enum RecoveryOutcome {
    /// Finished and published in this folder.
    Finished(PathBuf),
    /// It measured nothing, for this reason, and was removed.
    Removed(String),
    /// Left as it is, because it could not be finished.
    Left(Error),
}

/// What `latlab doctor --quarantine` has done with an unfinished run.
#[derive(Debug)]
pub struct Quarantined {
    pub recovered: Recovered,
    /// Its new path if it was quarantined.
    pub moved: Option<PathBuf>,
}

/// What to do with an unfinished run.
enum Claim {
    GoingOn,
    Journal(Journal),
    Without(RecoveryOutcome),
}

impl Store {
    /// Finishes every run whose program is gone.
    pub fn recover(&self) -> Result<Vec<Recovered>> {
        // Without a folder there is nothing to finish; commands that need one report the error.
        if !self.root.is_dir() {
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

    fn claim(&self, id: &str) -> Result<Claim> {
        let partial = self.partial(id);
        expect_own_run(&partial, self.owner)?;
        if self.disk.has(&partial.join(JOURNAL))? {
            let journal = Journal::try_lock(&self.disk, &partial)?;
            return Ok(journal.map_or(Claim::GoingOn, Claim::Journal));
        }
        if self.disk.has(&partial.join(RUN_JSON))? {
            let path = self.root.join(id);
            publish(&self.disk, &partial, &path)?;
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

    /// Removes a folder without a run; fails if it contains foreign files.
    pub(crate) fn remove(&self, partial: &Path) -> Result<()> {
        remove_files(&self.disk, partial);
        let _ = self.disk.remove(&partial.join(CONSOLE));
        originals(partial).iter().for_each(|name| drop(self.disk.remove(&partial.join(name))));
        // Last, so that the folder is recognisable if this is interrupted.
        let _ = self.disk.remove(&partial.join(JOURNAL));
        self.disk.remove_folder(partial).map_err(Error::io("remove", partial))
    }

    /// Writes the files, then removes the journal and publishes the folder. A journal that could
    /// not be read completely stays in it: another disk or another program may read more of it.
    pub(crate) fn complete(
        &self,
        id: &str,
        partial: &Path,
        journal: Journal,
        recovered: bool,
    ) -> Result<Finished> {
        let disk = &self.disk;
        let run = write_files(disk, partial, id, &journal, recovered)
            // On a full disk a partial table would take the space freed for the next attempt, and
            // after a failed sync it must be rewritten.
            .inspect_err(|_| remove_files(disk, partial))?;
        self.chown_all(partial);
        // In between, another program would see an interrupted run.
        let _alone = self.lock();
        if run.losses.journal_bytes == 0 {
            disk.remove(journal.path()).map_err(Error::io("remove", journal.path()))?;
            disk.sync_folder(partial)?;
        }
        let path = self.root.join(id);
        publish(disk, partial, &path)?;
        Ok(Finished { run, path })
    }

    /// Finishes what can be finished, and quarantines what never can: see [`Error::is_final`].
    pub fn quarantine(&self) -> Result<Vec<Quarantined>> {
        let mut all = Vec::new();
        for recovered in self.recover()? {
            let moved = match &recovered.outcome {
                RecoveryOutcome::Left(error) if error.is_final() => {
                    Some(self.move_aside(&recovered.id)?)
                }
                _ => None,
            };
            all.push(Quarantined { recovered, moved });
        }
        Ok(all)
    }

    fn move_aside(&self, id: &str) -> Result<PathBuf> {
        let quarantine = self.root.join(QUARANTINE);
        if !self.disk.has(&quarantine)? {
            self.disk.create_folder(&quarantine).map_err(Error::io("create", &quarantine))?;
            self.chown(&quarantine);
        }
        let names = std::iter::once(id.to_string()).chain((2..).map(|n| format!("{id}-{n}")));
        let mut places = names.map(|name| quarantine.join(name));
        let place = places.find(|place| fs::symlink_metadata(place).is_err());
        let place = place.unwrap_or_else(|| quarantine.join(id));
        let partial = self.partial(id);
        self.disk.rename(&partial, &place).map_err(Error::io("move", &partial))?;
        self.disk.sync_folder(&quarantine)?;
        self.disk.sync_folder(&self.root)?;
        Ok(place)
    }
}
