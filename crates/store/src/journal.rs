//! The journal: the stream of a run as received, in a locked file.

use crate::disk::{Disk, DiskFile};
use crate::error::{Error, Result};
use latlab_model::finding::{Finding, JournalFinding};
use latlab_model::frame::Message;
use std::fs::{File, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// Name of the journal in the folder of an unfinished run.
pub const JOURNAL: &str = "journal";

/// The journal of a run in progress; locked until dropped.
#[derive(Debug)]
pub struct Journal {
    file: DiskFile,
    /// Length up to the last whole frame.
    bytes: u64,
    /// Frames that could not be written since the last successful write.
    lost_frames: u64,
    last_error: String,
}

impl Journal {
    pub fn create(disk: &Disk, folder: &Path) -> Result<Journal> {
        let file = create(disk, &folder.join(JOURNAL))?;
        Ok(Journal { file, bytes: 0, lost_frames: 0, last_error: String::new() })
    }

    /// Takes over the journal of a run whose program is gone; `None` while it is in progress.
    pub fn try_lock(disk: &Disk, folder: &Path) -> Result<Option<Journal>> {
        let path = folder.join(JOURNAL);
        let file = disk.open_to_append(&path)?;
        match file.file().try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
        // Its previous owner has finished the run.
        if !file.is_in_place() {
            return Ok(None);
        }
        let bytes = file.length()?;
        Ok(Some(Journal { file, bytes, lost_frames: 0, last_error: String::new() }))
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Appends frames.
    ///
    /// If the disk is full, the first loss is an error and further ones are only counted: measuring
    /// goes on, and the journal reports the loss as soon as it can be written again.
    pub fn append(&mut self, frames: &[u8]) -> Result<()> {
        let first_loss = self.lost_frames == 0;
        let written = match self.lost_finding() {
            None => self.write(frames),
            Some(finding) => {
                let mut with_loss = Message::Finding(finding).encode();
                with_loss.extend_from_slice(frames);
                self.write(&with_loss)
            }
        };
        match written {
            Ok(()) => {
                self.lost_frames = 0;
                Ok(())
            }
            Err(error) => {
                self.lost_frames += 1;
                self.last_error = error.to_string();
                if first_loss { Err(Error::io("write", self.path())(error)) } else { Ok(()) }
            }
        }
    }

    /// Length up to the last whole append.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn cut(&mut self, bytes: u64) -> Result<()> {
        self.file.truncate(bytes).map_err(Error::io("cut", self.path()))?;
        self.bytes = bytes;
        Ok(())
    }

    /// Whether it was deleted, so that only this program still has it.
    pub fn is_deleted(&self) -> bool {
        self.file.is_deleted()
    }

    /// The new folder if it, or one above it, was renamed.
    pub fn new_folder(&mut self) -> Result<Option<PathBuf>> {
        if self.file.is_in_place() {
            return Ok(None);
        }
        self.file.find()?;
        Ok(self.path().parent().map(Path::to_path_buf))
    }

    /// Writes a deleted journal again into this folder and continues there; returns its length.
    pub fn rewrite(&mut self, disk: &Disk, folder: &Path) -> Result<u64> {
        let path = folder.join(JOURNAL);
        let file = create(disk, &path)?;
        let copied = (&self.file).rewind().and_then(|()| io::copy(&mut &self.file, &mut &file));
        let bytes = copied.and_then(|bytes| file.sync().map(|()| bytes)).map_err(|error| {
            // A partial copy would be taken for the whole.
            let _ = disk.remove(&path);
            Error::io("write", &path)(error)
        })?;
        self.file = file;
        Ok(bytes)
    }

    /// The finding for frames that could not be written.
    pub fn lost_finding(&self) -> Option<Finding> {
        let (frames, error) = (self.lost_frames, self.last_error.clone());
        (frames > 0).then(|| Finding::new(JournalFinding::JournalNotWritten { frames, error }))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = (&self.file).write_all(bytes);
        match &written {
            Ok(()) => self.bytes = self.bytes.saturating_add(bytes.len() as u64),
            // A partial frame would hide all that come after it. If even this fails, the reader
            // finds the damage, and what is appended after it must never be cut.
            Err(_) => {
                if self.file.truncate(self.bytes).is_err() {
                    self.bytes = self.file.length().unwrap_or(u64::MAX);
                }
            }
        }
        written
    }

    /// Another handle of the file, to be synced by a thread that may block.
    pub fn file(&self) -> Result<DiskFile> {
        self.file.try_clone().map_err(Error::io("sync", self.path()))
    }

    pub fn sync(&self) -> Result<()> {
        self.file.sync().map_err(Error::io("sync", self.path()))
    }
}

/// Whether a program holds this journal, to measure or finish the run. Changes nothing and needs no
/// write permission.
pub fn is_locked(file: &File, path: &Path) -> Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false).map_err(Error::io("unlock", path)),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", path)(error)),
    }
}

fn create(disk: &Disk, path: &Path) -> Result<DiskFile> {
    let file = disk.create(path)?;
    file.file().lock().map_err(Error::io("lock", path))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::{Answer, DiskFaults, Operation};
    use latlab_model::finding::FindingKind;
    use latlab_model::frame::{FrameReader, ReadResult};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// A disk that refuses some calls while it is full.
    #[derive(Default, Debug)]
    struct FullDisk {
        creates: AtomicBool,
        writes: AtomicBool,
        truncates: AtomicBool,
    }

    impl DiskFaults for FullDisk {
        fn before(&self, operation: Operation<'_>) -> io::Result<Answer> {
            let full = || io::ErrorKind::StorageFull.into();
            match operation {
                Operation::Write(_, bytes) if self.writes.load(Relaxed) => {
                    Ok(Answer::Write(bytes[..bytes.len() / 2].to_vec(), Err(full())))
                }
                Operation::Create(_) if self.creates.load(Relaxed) => Err(full()),
                Operation::Truncate(..) if self.truncates.load(Relaxed) => Err(full()),
                _ => Ok(Answer::Do),
            }
        }

        fn after_read(&self, _: &Path, _: &mut [u8]) {}
    }

    /// The findings in a journal, and the length of its leading whole frames.
    fn findings(journal: &Journal) -> (Vec<Finding>, u64) {
        let bytes = std::fs::read(journal.path()).unwrap();
        let mut reader = FrameReader::new(&bytes[..]);
        let mut findings = Vec::new();
        while let ReadResult::Frame(frame) = reader.next_frame().unwrap() {
            if let Message::Finding(finding) = frame.message {
                findings.push(finding);
            }
        }
        (findings, reader.whole_bytes())
    }

    /// Invariant (kills): Two programs cannot finish the same run.
    #[test]
    fn a_second_program_cannot_take_it_while_the_run_goes_on() {
        let (folder, disk) = (tempfile::tempdir().unwrap(), Disk::default());
        let journal = Journal::create(&disk, folder.path()).unwrap();
        assert!(Journal::try_lock(&disk, folder.path()).unwrap().is_none());
        assert!(Journal::create(&disk, folder.path()).is_err());
        let held = || is_locked(&File::open(folder.path().join(JOURNAL)).unwrap(), folder.path());
        assert!(held().unwrap());
        drop(journal);
        assert!(!held().unwrap());
        assert!(Journal::try_lock(&disk, folder.path()).unwrap().is_some());
    }

    #[test]
    fn a_disk_that_is_full_before_the_begin_promises_no_stored_run() {
        let (folder, full) = (tempfile::tempdir().unwrap(), Arc::new(FullDisk::default()));
        full.creates.store(true, Relaxed);
        let store = crate::Store::new(folder.path()).with_disk(Disk::with_faults(full));
        let told = store.begin("one").unwrap_err().to_string();
        assert!(told.starts_with("cannot begin a run in "), "{told}");
        assert!(told.contains("df -i") && !told.contains("next command"), "{told}");
    }

    #[test]
    fn a_full_disk_is_told_once_and_stands_in_the_journal_later() {
        let (folder, full) = (tempfile::tempdir().unwrap(), Arc::new(FullDisk::default()));
        let disk = Disk::with_faults(full.clone());
        let mut journal = Journal::create(&disk, folder.path()).unwrap();
        let stop = Message::Stop.encode();
        journal.append(&stop).unwrap();

        full.writes.store(true, Relaxed);
        let told = journal.append(&stop).unwrap_err().to_string();
        assert!(told.contains("journal") && told.contains("free some space"), "{told}");
        journal.append(&stop).unwrap();
        assert_eq!(journal.lost_frames, 2);

        full.writes.store(false, Relaxed);
        journal.append(&stop).unwrap();
        assert_eq!(journal.lost_frames, 0);
        let (findings, whole_bytes) = findings(&journal);
        assert_eq!(whole_bytes, journal.bytes);
        assert_eq!(findings.len(), 1);
        assert!(
            findings[0].invalidates()
                && matches!(
                    &findings[0].kind,
                    FindingKind::Journal(JournalFinding::JournalNotWritten { frames: 2, .. })
                )
        );
    }

    /// Invariant (losses): A write that fails never costs a frame that was written before.
    #[test]
    fn half_a_frame_that_cannot_be_cut_off_costs_no_other() {
        let (folder, full) = (tempfile::tempdir().unwrap(), Arc::new(FullDisk::default()));
        let disk = Disk::with_faults(full.clone());
        let mut journal = Journal::create(&disk, folder.path()).unwrap();
        let stop = Message::Stop.encode();
        [&full.writes, &full.truncates].iter().for_each(|one| one.store(true, Relaxed));
        assert!(journal.append(&stop).is_err());
        [&full.writes, &full.truncates].iter().for_each(|one| one.store(false, Relaxed));
        journal.append(&stop).unwrap();
        let before = std::fs::read(journal.path()).unwrap();
        full.writes.store(true, Relaxed);
        assert!(journal.append(&stop).is_err());
        assert_eq!(std::fs::read(journal.path()).unwrap(), before);
    }
}
