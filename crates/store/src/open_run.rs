//! A run while it is recorded.

use crate::disk::DiskFile;
use crate::document::{CONSOLE, ORIGINAL};
use crate::error::{Error, Result};
use crate::finish::Finished;
use crate::journal::Journal;
use crate::runs::Store;
use latlab_model::finding::{Finding, JournalFinding};
use latlab_model::frame::Message;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Longer names of originals lose their beginning.
const LONGEST_ORIGINAL: usize = 100;

/// A run in progress; if dropped, it stays to be recovered at the next opening.
#[derive(Debug)]
pub struct OpenRun {
    store: Store,
    id: String,
    partial: PathBuf,
    journal: Journal,
}

impl OpenRun {
    /// A run whose journal was just created.
    pub(crate) fn new(store: Store, id: String, journal: Journal) -> OpenRun {
        let partial = store.partial(&id);
        OpenRun { store, id, partial, journal }
    }

    /// The id it actually got.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its folder while in progress.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Appends the bytes of whole frames to the journal.
    ///
    /// An error (a full disk) is returned once and only counted from then on; the caller may go on,
    /// because the run reports what it lost.
    pub fn append(&mut self, frames: &[u8]) -> Result<()> {
        self.journal.append(frames)
    }

    /// The journal's file, to be synced by a thread that may block.
    pub fn file(&self) -> Result<DiskFile> {
        self.journal.file()
    }

    /// Rewrites the journal into a new folder if the old one was deleted, or next to the folder of
    /// the runs if that is gone too; returns a finding about it.
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
        let bytes = self.journal.rewrite(&store.disk, &partial)?;
        store.chown_all(&partial);
        (self.store, self.partial) = (store, partial);
        Ok(bytes)
    }

    /// Continues at the new path if the run's folder, or one above it, was renamed.
    fn follow_folder(&mut self) -> Result<()> {
        if let Some(partial) = self.journal.new_folder()? {
            self.store.root = partial.parent().unwrap_or(&partial).to_path_buf();
            self.partial = partial;
        }
        Ok(())
    }

    /// Makes the run folder; after an error the journal stays, for [`Store::recover`].
    pub fn finish(self) -> Result<Finished> {
        self.finish_as(false)
    }

    /// As [`OpenRun::finish`]; a stream that was cut before it came here counts as recovered.
    pub(crate) fn finish_as(mut self, recovered: bool) -> Result<Finished> {
        self.rescue()?;
        self.follow_folder()?;
        self.journal.sync()?;
        let OpenRun { store, id, partial, journal } = self;
        store.complete(&id, &partial, journal, recovered)
    }

    /// Keeps a copy of the original file in the run's folder; returns its name there.
    pub fn add_original(&self, name: &str, source: &mut impl Read) -> Result<String> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
        let skipped = plain.len().saturating_sub(LONGEST_ORIGINAL);
        let name = format!("{ORIGINAL}{}", &plain[skipped..]);
        let path = self.partial.join(&name);
        let copied = File::create_new(&path).and_then(|mut file| io::copy(source, &mut file));
        copied.map_err(Error::io("write", &path))?;
        Ok(name)
    }

    /// Moves a guest's console out of the folder, next to the runs; `None` if there is none.
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
