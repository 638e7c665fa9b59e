//! The operations on files that recording and finishing a run consist of.
//!
//! All of them go through a [`Disk`], so that a test can refuse, cut or falsify each of them in turn.

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

/// An operation, before it is done.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// A folder is created.
    CreateFolder(&'a Path),
    /// A file is created.
    Create(&'a Path),
    /// A file is opened.
    Open(&'a Path),
    /// Bytes are appended to a file.
    Write(&'a Path, &'a [u8]),
    /// A part of a file is read.
    Read(&'a Path),
    /// A file is cut to this length.
    Truncate(&'a Path, u64),
    /// The content of a file is brought to the disk.
    Sync(&'a Path),
    /// The names in a folder are brought to the disk.
    SyncFolder(&'a Path),
    /// A file or a folder gets another name.
    Rename(&'a Path, &'a Path),
    /// A file or an empty folder is removed.
    Remove(&'a Path),
    /// It is looked whether there is something of a name.
    Look(&'a Path),
}

/// What becomes of an operation.
#[derive(Debug)]
pub enum Answer {
    /// It is done.
    Do,
    /// It is not done, and said to be done.
    Skip,
    /// These bytes are written in place of those that were to be, with this result.
    Write(Vec<u8>, io::Result<()>),
}

/// A disk with faults, for tests.
pub trait DiskFaults: Debug + Send + Sync {
    /// Decides about an operation; an error is its result.
    fn before(&self, operation: Operation<'_>) -> io::Result<Answer>;

    /// May change what was read.
    fn after_read(&self, path: &Path, bytes: &mut [u8]);
}

/// A file system; without faults it is that of the machine.
#[derive(Clone, Default, Debug)]
pub struct Disk(Option<Arc<dyn DiskFaults>>);

impl Disk {
    /// A file system with these faults.
    pub fn with_faults(faults: Arc<dyn DiskFaults>) -> Disk {
        Disk(Some(faults))
    }

    /// Whether an operation is to be done.
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

    /// Creates a folder that must not be there.
    pub fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.do_or_skip(Operation::CreateFolder(path), || fs::create_dir(path))
    }

    /// Creates a file, to be written and read, that must not be there.
    pub fn create(&self, path: &Path) -> Result<DiskFile> {
        let create = || {
            self.allows(Operation::Create(path))?;
            OpenOptions::new().read(true).append(true).create_new(true).open(path)
        };
        let file = create().map_err(Error::io("create", path))?;
        Ok(DiskFile { file, path: path.into(), disk: self.clone() })
    }

    /// Creates a file in place of whatever a try that was cut off, or somebody, has left there.
    pub fn create_anew(&self, path: &Path) -> Result<DiskFile> {
        let _ = self.remove(path);
        self.create(path)
    }

    /// Opens a file to read it; a link is not followed.
    pub fn open(&self, path: &Path) -> Result<DiskFile> {
        self.open_plain(path, false)
    }

    /// Opens a file to read it and to append to it; a link is not followed.
    pub fn open_to_append(&self, path: &Path) -> Result<DiskFile> {
        self.open_plain(path, true)
    }

    fn open_plain(&self, path: &Path, append: bool) -> Result<DiskFile> {
        let opened = self.allows(Operation::Open(path)).and_then(|_| open_plain(path, append));
        let file = expect_file(path, opened)?;
        Ok(DiskFile { file, path: path.into(), disk: self.clone() })
    }

    /// Whether there is something of this name; not to know it is an error.
    pub fn has(&self, path: &Path) -> Result<bool> {
        let looked = self.allows(Operation::Look(path)).and_then(|_| fs::symlink_metadata(path));
        match looked {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == NotFound => Ok(false),
            Err(error) => Err(Error::io("look at", path)(error)),
        }
    }

    /// Gives a file or a folder another name.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.do_or_skip(Operation::Rename(from, to), || fs::rename(from, to))
    }

    /// Removes a file.
    pub fn remove(&self, path: &Path) -> io::Result<()> {
        self.do_or_skip(Operation::Remove(path), || fs::remove_file(path))
    }

    /// Removes an empty folder.
    pub fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.do_or_skip(Operation::Remove(path), || fs::remove_dir(path))
    }

    /// Makes what happened to the names of a folder survive a power cut; a file system that cannot
    /// do that for a folder is believed to do it by itself.
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
    /// Where it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself, for locks and metadata.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Lets nobody but its owner read it.
    pub fn make_private(&self) -> io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(0o600))
    }

    /// Another handle of the same file.
    pub fn try_clone(&self) -> io::Result<DiskFile> {
        let (path, disk) = (self.path.clone(), self.disk.clone());
        Ok(DiskFile { file: self.file.try_clone()?, path, disk })
    }

    /// How long it is.
    pub fn length(&self) -> Result<u64> {
        Ok(self.file.metadata().map_err(Error::io("read", &self.path))?.len())
    }

    /// Brings the content to the disk; after an error nobody may take it to be there, whatever a
    /// later call says.
    pub fn sync(&self) -> io::Result<()> {
        self.disk.do_or_skip(Operation::Sync(&self.path), || self.file.sync_data())
    }

    /// Goes to the start, to be read from the disk and not from the kernel's copy of it, as far as
    /// the kernel can forget that.
    pub fn rewind_to_disk(&self) -> io::Result<()> {
        forget_copy(&self.file);
        (&self.file).rewind()
    }

    /// Cuts the file to this length.
    pub fn truncate(&self, length: u64) -> io::Result<()> {
        self.disk.do_or_skip(Operation::Truncate(&self.path, length), || self.file.set_len(length))
    }

    /// Whether no name leads to it any more.
    pub fn is_deleted(&self) -> bool {
        self.file.metadata().is_ok_and(|there| there.nlink() == 0)
    }

    /// Whether it is still what its path leads to.
    pub fn is_in_place(&self) -> bool {
        let same = |there: fs::Metadata| {
            let own = self.file.metadata()?;
            Ok((own.dev(), own.ino()) == (there.dev(), there.ino()))
        };
        fs::symlink_metadata(&self.path).and_then(same).unwrap_or(false)
    }

    /// Finds the path of a file that was moved since it was opened.
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
