//! The journal: the stream of a run as it came, in a locked file.

use crate::error::{Error, Result};
use crate::files::open_file;
use latlab_model::finding::{Finding, JournalFinding};
use latlab_model::frame::Message;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Name of the journal in the folder of an unfinished run.
pub const JOURNAL: &str = "journal";

/// The journal of a run that goes on; the lock is held until it is dropped.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Length up to the last whole frame.
    bytes: u64,
    /// Frames that could not be written since the last one that could.
    lost_frames: u64,
    last_error: String,
}

impl Journal {
    /// Creates the file and locks it.
    pub fn create(folder: &Path) -> Result<Journal> {
        let path = folder.join(JOURNAL);
        let file = create(&path)?;
        Ok(Journal { file, path, bytes: 0, lost_frames: 0, last_error: String::new() })
    }

    /// Takes over the journal of a run that nobody holds any more; none while it goes on.
    pub fn try_lock(folder: &Path) -> Result<Option<Journal>> {
        let path = folder.join(JOURNAL);
        // A pipe in its place would be waited for.
        open_file(&path)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(Error::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(Error::io("lock", &path)(error)),
        }
        let bytes = file.metadata().map_err(Error::io("read", &path))?.len();
        let journal = Journal { file, path, bytes, lost_frames: 0, last_error: String::new() };
        // Whoever held it until now has finished the run.
        Ok((!journal.is_deleted()).then_some(journal))
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends frames.
    ///
    /// When the disk is full the first loss is an error and the further ones are only counted:
    /// measuring goes on, and the journal says what it lost as soon as it can be written again.
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
                if first_loss { Err(Error::io("write", &self.path)(error)) } else { Ok(()) }
            }
        }
    }

    /// Whether somebody has deleted it, so that only this program still has it.
    pub fn is_deleted(&self) -> bool {
        self.file.metadata().is_ok_and(|there| there.nlink() == 0)
    }

    /// Writes all of a deleted journal into this folder and goes on there; gives back its length.
    pub fn rewrite(&mut self, folder: &Path) -> Result<u64> {
        let path = folder.join(JOURNAL);
        let mut file = create(&path)?;
        let copied = self.file.rewind().and_then(|()| io::copy(&mut self.file, &mut file));
        let bytes = copied.and_then(|bytes| file.sync_data().map(|()| bytes)).map_err(|error| {
            // Half a copy would be taken for the whole.
            let _ = fs::remove_file(&path);
            Error::io("write", &path)(error)
        })?;
        (self.file, self.path) = (file, path);
        Ok(bytes)
    }

    /// What must be said of the frames that could not be written.
    pub fn lost_finding(&self) -> Option<Finding> {
        let (frames, error) = (self.lost_frames, self.last_error.clone());
        (frames > 0).then(|| Finding::new(JournalFinding::JournalNotWritten { frames, error }))
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let written = self.file.write_all(bytes);
        match &written {
            Ok(()) => self.bytes += bytes.len() as u64,
            // Half a frame would hide all that come after it; where even this fails the reader
            // finds the damage.
            Err(_) => drop(self.file.set_len(self.bytes)),
        }
        written
    }

    /// The file, to be brought to the disk by a thread that may wait for it.
    pub fn file(&self) -> Result<File> {
        self.file.try_clone().map_err(Error::io("sync", &self.path))
    }

    /// Brings everything so far to the disk.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(Error::io("sync", &self.path))
    }
}

/// Whether a program holds this journal: it measures or finishes the run. Nothing is changed, and
/// no right to write is needed.
pub fn is_locked(file: &File, path: &Path) -> Result<bool> {
    match file.try_lock_shared() {
        Ok(()) => file.unlock().map(|()| false).map_err(Error::io("unlock", path)),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(Error::io("lock", path)(error)),
    }
}

fn create(path: &Path) -> Result<File> {
    // It is read as well, should somebody delete it.
    let options = OpenOptions::new().read(true).append(true).create_new(true).to_owned();
    let file = options.open(path).map_err(Error::io("create", path))?;
    file.lock().map_err(Error::io("lock", path))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::frame::{FrameReader, ReadResult};

    fn full_disk() -> File {
        OpenOptions::new().append(true).open("/dev/full").unwrap()
    }

    /// Invariant (kills): Two programs cannot finish the same run.
    #[test]
    fn a_second_program_cannot_take_it_while_the_run_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::create(folder.path()).unwrap();
        assert!(Journal::try_lock(folder.path()).unwrap().is_none());
        assert!(Journal::create(folder.path()).is_err());
        let held = || is_locked(&File::open(folder.path().join(JOURNAL)).unwrap(), folder.path());
        assert!(held().unwrap());
        drop(journal);
        assert!(!held().unwrap());
        assert!(Journal::try_lock(folder.path()).unwrap().is_some());
    }

    #[test]
    fn a_full_disk_is_told_once_and_stands_in_the_journal_later() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::create(folder.path()).unwrap();
        let stop = Message::Stop.encode();
        journal.append(&stop).unwrap();

        let good = std::mem::replace(&mut journal.file, full_disk());
        let told = journal.append(&stop).unwrap_err().to_string();
        assert!(told.contains("journal") && told.contains("free some space"), "{told}");
        journal.append(&stop).unwrap();
        assert_eq!(journal.lost_frames, 2);

        journal.file = good;
        journal.append(&stop).unwrap();
        assert_eq!(journal.lost_frames, 0);
        let bytes = std::fs::read(journal.path()).unwrap();
        let mut reader = FrameReader::new(&bytes[..]);
        let mut findings = Vec::new();
        while let ReadResult::Frame(frame) = reader.next_frame().unwrap() {
            if let Message::Finding(finding) = frame.message {
                findings.push(finding);
            }
        }
        assert_eq!(reader.whole_bytes(), bytes.len() as u64);
        assert_eq!(findings.len(), 1);
        assert!(findings[0].invalidates() && findings[0].text().starts_with("2 frames"));
    }
}
