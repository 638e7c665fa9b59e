//! The file operations that recording and finishing a run consist of.
//!
//! All of them go through a [`Disk`], so that a test can make each of them fail, stop halfway or
//! return wrong data.

use crate::error::{Error, Result};
use crate::trust::expect_file;
use latlab_sys::folder::{forget_copy, open_plain};
use std::fmt::Debug;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::ErrorKind::{InvalidInput, NotFound, Unsupported};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An operation about to be done.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    CreateFolder(&'a Path),
    Create(&'a Path),
    Open(&'a Path),
    /// Appends bytes to a file.
    Write(&'a Path, &'a [u8]),
    /// Reads a part of a file.
    Read(&'a Path),
    Truncate(&'a Path, u64),
    /// fsync of a file.
    Sync(&'a Path),
    /// fsync of a folder.
    SyncFolder(&'a Path),
    Rename(&'a Path, &'a Path),
    /// Removes a file or an empty folder.
    Remove(&'a Path),
    /// An existence check.
    Look(&'a Path),
}

/// How an injected fault changes an operation.
#[derive(Debug)]
pub enum Answer {
    /// Do it.
    Do,
    /// Do nothing, report success.
    Skip,
    /// Write these bytes instead, with this result.
    Write(Vec<u8>, io::Result<()>),
}

/// A disk with faults, for tests.
pub trait DiskFaults: Debug + Send + Sync {
    /// Decides about an operation; an error becomes its result.
    fn before(&self, operation: Operation<'_>) -> io::Result<Answer>;

    /// May change what was read.
    fn after_read(&self, path: &Path, bytes: &mut [u8]);
}

/// A file system: the real one unless faults are injected.
#[derive(Clone, Default, Debug)]
pub struct Disk(Option<Arc<dyn DiskFaults>>);

impl Disk {
    pub fn with_faults(faults: Arc<dyn DiskFaults>) -> Disk {
        Disk(Some(faults))
    }

    /// Whether to perform an operation.
    fn allows(&self, operation: Operation<'_>) -> io::Result<bool> {
        match &self.0 {
            None => Ok(true),
            Some(faults) => faults.before(operation).map(|answer| matches!(answer, Answer::Do)),
        }
    }

    fn do_or_skip(
        &self,
        operation: Operation<'_>,
        act: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if self.allows(operation)? { act() } else { Ok(()) }
    }

    /// Creates a folder that must not exist yet.
    pub fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.do_or_skip(Operation::CreateFolder(path), || fs::create_dir(path))
    }

    /// Creates a file that must not exist yet, for writing and reading.
    pub fn create(&self, path: &Path) -> Result<DiskFile> {
        let create = || {
            self.allows(Operation::Create(path))?;
            OpenOptions::new().read(true).append(true).create_new(true).open(path)
        };
        let file = create().map_err(Error::io("create", path))?;
        Ok(DiskFile { file, path: path.into(), disk: self.clone() })
    }

    /// Creates a file, replacing what an interrupted attempt left.
    pub fn create_anew(&self, path: &Path) -> Result<DiskFile> {
        let _ = self.remove(path);
        self.create(path)
    }

    /// Opens a file for reading; does not follow a link.
    pub fn open(&self, path: &Path) -> Result<DiskFile> {
        self.open_plain(path, false)
    }

    /// Opens a file for reading and appending; does not follow a link.
    pub fn open_to_append(&self, path: &Path) -> Result<DiskFile> {
        self.open_plain(path, true)
    }

    fn open_plain(&self, path: &Path, append: bool) -> Result<DiskFile> {
        let opened = self.allows(Operation::Open(path)).and_then(|_| open_plain(path, append));
        let file = expect_file(path, opened)?;
        Ok(DiskFile { file, path: path.into(), disk: self.clone() })
    }

    /// An existence check that reports errors instead of returning false.
    pub fn has(&self, path: &Path) -> Result<bool> {
        let looked = self.allows(Operation::Look(path)).and_then(|_| fs::symlink_metadata(path));
        match looked {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == NotFound => Ok(false),
            Err(error) => Err(Error::io("look at", path)(error)),
        }
    }

    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.do_or_skip(Operation::Rename(from, to), || fs::rename(from, to))
    }

    pub fn remove(&self, path: &Path) -> io::Result<()> {
        self.do_or_skip(Operation::Remove(path), || fs::remove_file(path))
    }

    pub fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.do_or_skip(Operation::Remove(path), || fs::remove_dir(path))
    }

    /// Makes changes of names in a folder survive a power cut; a file system without folder sync is
    /// assumed to do so by itself.
    pub fn sync_folder(&self, folder: &Path) -> Result<()> {
        let synced = self.do_or_skip(Operation::SyncFolder(folder), || {
            File::open(folder).and_then(|folder| folder.sync_all())
        });
        match synced {
            Err(error) if matches!(error.kind(), InvalidInput | Unsupported) => Ok(()),
            synced => synced.map_err(Error::io("sync", folder)),
        }
    }
}

/// An open file of a [`Disk`].
#[derive(Debug)]
pub struct DiskFile {
    file: File,
    path: PathBuf,
    disk: Disk,
}

impl DiskFile {
    /// The path it was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself, for locks and metadata.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Removes the read permission of group and others.
    pub fn make_private(&self) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(0o600))
    }

    pub fn try_clone(&self) -> io::Result<DiskFile> {
        let (path, disk) = (self.path.clone(), self.disk.clone());
        Ok(DiskFile { file: self.file.try_clone()?, path, disk })
    }

    pub fn length(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(Error::io("read", &self.path))?.len())
    }

    /// Syncs the content; after an error it may be lost even if a later call succeeds.
    pub fn sync(&self) -> io::Result<()> {
        self.disk.do_or_skip(Operation::Sync(&self.path), || self.file.sync_data())
    }

    /// Seeks to the start and drops the page cache if possible, so that reads come from the disk.
    pub fn rewind_to_disk(&self) -> io::Result<()> {
        forget_copy(&self.file);
        (&self.file).rewind()
    }

    pub fn truncate(&self, length: u64) -> io::Result<()> {
        self.disk.do_or_skip(Operation::Truncate(&self.path, length), || self.file.set_len(length))
    }

    /// Whether its last name was removed.
    pub fn is_deleted(&self) -> bool {
        self.file.metadata().is_ok_and(|there| there.nlink() == 0)
    }

    /// Whether its path still leads to this file.
    pub fn is_in_place(&self) -> bool {
        let same = |there: fs::Metadata| {
            let own = self.file.metadata()?;
            Ok((own.dev(), own.ino()) == (there.dev(), there.ino()))
        };
        fs::symlink_metadata(&self.path).and_then(same).unwrap_or(false)
    }

    /// Finds the new path of a file that was moved while open.
    pub fn find(&mut self) -> Result<()> {
        let link = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        let lost = std::mem::take(&mut self.path);
        self.path = fs::read_link(link).unwrap_or_default();
        match self.is_in_place() {
            true => Ok(()),
            false => {
                self.path.clone_from(&lost);
                Err(Error::Moved(lost))
            }
        }
    }
}

impl Read for &DiskFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(faults) = &self.disk.0 else { return (&self.file).read(buffer) };
        faults.before(Operation::Read(&self.path))?;
        let count = (&self.file).read(buffer)?;
        faults.after_read(&self.path, &mut buffer[..count]);
        Ok(count)
    }
}

impl Seek for &DiskFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        (&self.file).seek(to)
    }
}

impl Write for &DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(faults) = &self.disk.0 else { return (&self.file).write(bytes) };
        match faults.before(Operation::Write(&self.path, bytes))? {
            Answer::Do => (&self.file).write(bytes),
            Answer::Skip => Ok(bytes.len()),
            Answer::Write(others, result) => {
                (&self.file).write_all(&others)?;
                result.map(|()| bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
