//! Records of what a process holds of this machine: CPUs that it measures, values that it has changed,
//! processes that it has started.
//!
//! A record is a file on which its process has a write lock until it ends, however that is. So its lock
//! says whether the process lives, to whoever finds it in whatever process, time or mount namespace.

mod folder;
mod origin;

use crate::file_lock::{is_locked, try_lock};
use crate::files::Root;
use crate::process::effective_user;
pub use folder::{FolderLock, own as own_folders, remove_drafts};
pub use origin::Origin;
use std::fs::{self, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

const HEAD: &str = "# What latlab holds or has changed, which it puts back when it ends; after a kill \
                    the next latlab does,\n# or `latlab doctor --restore`.\n";
/// More is no record of ours.
const LARGEST: u64 = 1 << 20;
/// What a record is called until it is whole.
const DRAFT: &str = "draft";

/// What a record is about: the first word of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// CPUs that are measured.
    Cpus,
    /// Values that were changed, and folders that were made.
    Changes,
    /// Processes of a load.
    Load,
}

impl Subject {
    fn prefix(self) -> &'static str {
        match self {
            Subject::Cpus => "cpus-",
            Subject::Changes => "undo-",
            Subject::Load => "load-",
        }
    }
}

/// The record of this process.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    origin: Origin,
    /// The file with its lock, once it was written.
    file: Option<File>,
}

impl Record {
    /// Finds a folder for it, and writes nothing yet.
    pub fn new(root: &Root, subject: Subject) -> io::Result<Record> {
        let folder = folder::create(root)?;
        let name = format!("{}{}-{}", subject.prefix(), std::process::id(), random());
        Ok(Record { path: folder.join(name), origin: Origin::of_this_process(root), file: None })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Who writes it.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Locks all records of this user, so that none changes while this one is compared with them.
    pub fn lock_folder(&self) -> io::Result<FolderLock> {
        FolderLock::take(self.path.parent().unwrap_or(Path::new("/")))
    }

    /// Writes it, whole or not at all.
    pub fn write(&mut self, content: &str) -> io::Result<()> {
        let draft = self.path.with_extension(DRAFT);
        let file = write_locked(&draft, &(HEAD.to_string() + &self.origin.lines() + content))
            .and_then(|file| fs::rename(&draft, &self.path).map(|()| file))
            .inspect_err(|_| drop(fs::remove_file(&draft)))?;
        // Only now the lock of the one before it may go.
        self.file = Some(file);
        Ok(())
    }

    /// Leaves it as it is, to whoever comes after.
    pub fn release(&mut self) {
        self.file = None;
    }

    /// Removes it, where it was written.
    pub fn remove(&mut self) -> io::Result<()> {
        match self.file.take().map(|_| fs::remove_file(&self.path)) {
            Some(Err(error)) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// Writes a new file that is locked before anybody finds it, and that everybody may read.
fn write_locked(path: &Path, content: &str) -> io::Result<File> {
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    if !try_lock(&file)? {
        return Err(ErrorKind::ResourceBusy.into());
    }
    file.set_permissions(Permissions::from_mode(0o644))?;
    file.write_all(content.as_bytes())?;
    file.sync_all()?;
    Ok(file)
}

/// Letters for a name that nobody else has.
pub(crate) fn random() -> String {
    format!("{:016x}", RandomState::new().hash_one(std::process::id()))
}

/// A record that was found.
#[derive(Debug)]
pub struct FoundRecord {
    /// Where it lies.
    pub path: PathBuf,
    /// Whose it is.
    pub owner: u32,
    /// Whether its process lives.
    pub is_held: bool,
    /// Who wrote it.
    pub origin: Origin,
    /// What follows that.
    pub content: String,
}

impl FoundRecord {
    /// Whether it was written by this user or by root, and is believed.
    pub fn is_trusted(&self) -> bool {
        self.owner == 0 || self.owner == effective_user()
    }

    /// Who holds it, as a person finds them from here.
    pub fn holder(&self, here: &Origin) -> String {
        let user = match self.owner {
            owner if owner == effective_user() => String::new(),
            owner => format!(" of user {owner}"),
        };
        let container = match self.origin.differs(here, &["pid"]) {
            None => "",
            Some(_) => " in another container",
        };
        format!("{}{user}{container}", self.origin)
    }

    /// Writes it anew, for nobody.
    pub fn write(&self, content: &str) -> io::Result<()> {
        let (path, origin) = (self.path.clone(), self.origin.clone());
        Record { path, origin, file: None }.write(content)
    }
}

/// A record that is there and cannot be read.
#[derive(PartialEq, Eq, Debug)]
pub struct UnreadableRecord {
    /// Where it lies.
    pub path: PathBuf,
    /// Why it cannot.
    pub reason: String,
}

/// All records of a subject, of all users whose folders can be read; of those of other users no more
/// than the first thousand in a folder.
pub fn records(root: &Root, subject: Subject) -> Vec<Result<FoundRecord, UnreadableRecord>> {
    let folders = folder::all(root).into_iter();
    folders.flat_map(|folder| records_in(&folder, subject)).collect()
}

/// The records of a subject in a folder.
pub fn records_in(folder: &Path, subject: Subject) -> Vec<Result<FoundRecord, UnreadableRecord>> {
    let Some(owner) = folder::owner(folder) else { return Vec::new() };
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let named = paths.filter(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(subject.prefix()) && path.extension().is_none_or(|end| end != DRAFT)
    });
    named.take(1000).filter_map(|path| read(path, owner)).collect()
}

/// Reads a record; none where it is no file of this owner, may not be read, or has just gone.
fn read(path: PathBuf, owner: u32) -> Option<Result<FoundRecord, UnreadableRecord>> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let mut file = OpenOptions::new().read(true).custom_flags(flags).open(&path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.uid() != owner {
        return None;
    }
    let mut bytes = Vec::new();
    let read = (&mut file).take(LARGEST + 1).read_to_end(&mut bytes);
    let held = is_locked(&file);
    // One whose process has removed it, or written it anew, before its lock was looked at.
    if file.metadata().ok()?.nlink() == 0 {
        return None;
    }
    let is_held = held.unwrap_or(true);
    match read.map_err(|error| error.to_string()).and_then(|_| parse(&bytes)) {
        Ok((origin, content)) => Some(Ok(FoundRecord { path, owner, is_held, origin, content })),
        // Of another version, which puts back itself what it has changed.
        Err(_) if is_held => None,
        Err(reason) => Some(Err(UnreadableRecord { path, reason })),
    }
}

fn parse(bytes: &[u8]) -> Result<(Origin, String), String> {
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is longer than {LARGEST} bytes"));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_string())?;
    let text = text.strip_prefix(HEAD).ok_or("it does not begin as a record of this version")?;
    let parsed = Origin::parse(text).map(|(origin, content)| (origin, content.to_string()));
    parsed.ok_or_else(|| "it does not say who wrote it".to_string())
}
