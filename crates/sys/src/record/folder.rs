//! The folders that hold records, and the lock of all records in one of them.

use super::DRAFT;
use crate::file_lock::{is_locked, lock_within};
use crate::files::Root;
use crate::process::effective_user;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The lock file, which only its owner may open.
const LOCK: &str = "lock";
/// It is held for some milliseconds, or for seconds while a load is ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// Possible folders for this user's records, best first: one that is lost at reboot, like the state
/// that the records describe.
fn candidates(root: &Root) -> Vec<PathBuf> {
    let user = effective_user();
    let names = [
        "run/latlab".to_string(),
        format!("run/lock/latlab-{user}"),
        format!("run/user/{user}/latlab"),
        format!("tmp/latlab-{user}"),
    ];
    names.iter().map(|name| root.path(name)).collect()
}

/// The existing folders of this user.
pub fn own(root: &Root) -> Vec<PathBuf> {
    let user = Some(effective_user());
    candidates(root).into_iter().filter(|folder| owner(folder) == user).collect()
}

/// The folders of all users.
pub fn all(root: &Root) -> Vec<PathBuf> {
    let mut all = candidates(root);
    for parent in ["run/lock", "tmp"] {
        let names = root.names(parent).unwrap_or_default().into_iter();
        let of_user = |name: &String| name.strip_prefix("latlab-").is_some_and(is_number);
        all.extend(names.filter(of_user).map(|name| root.path(parent).join(name)));
    }
    let users = root.names("run/user").unwrap_or_default().into_iter();
    all.extend(users.map(|user| root.path("run/user").join(user).join("latlab")));
    all.sort_unstable();
    all.dedup();
    all
}

/// Folders in the place of this user's that cannot be used, and what is wrong with each.
pub fn strange(root: &Root) -> Vec<(PathBuf, String)> {
    let user = effective_user();
    let flaw = |folder: PathBuf| {
        let there = fs::symlink_metadata(&folder).ok()?;
        let reason = match there.uid() {
            _ if there.is_symlink() => "is a link".to_string(),
            _ if !there.is_dir() => "is not a folder".to_string(),
            // Root's folder, in root's first place.
            0 if owner(&folder) == Some(0) => return None,
            other if other != user => format!("belongs to user {other}"),
            _ if owner(&folder).is_none() => "can be written to by others".to_string(),
            _ => return None,
        };
        Some((folder, reason))
    };
    candidates(root).into_iter().filter_map(flaw).collect()
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

/// The owner of a folder; `None` if it does not exist, is not a folder, or is writable for others.
pub fn owner(folder: &Path) -> Option<u32> {
    let there = fs::symlink_metadata(folder).ok()?;
    (there.is_dir() && there.mode() & 0o022 == 0).then(|| there.uid())
}

/// The first folder that can be created, or exists and is ours.
pub fn create(root: &Root) -> io::Result<PathBuf> {
    let is_ours = |folder: &PathBuf| {
        // An existing one is checked below.
        let _ = DirBuilder::new().mode(0o755).create(folder);
        owner(folder) == Some(effective_user()) && open_lock(folder).is_ok()
    };
    let missing = || Error::other("cannot create a folder for records in /run or /tmp");
    candidates(root).into_iter().find(is_ours).ok_or_else(missing)
}

fn open_lock(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // Do not wait for a pipe in its place.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    let path = folder.join(LOCK);
    let not_a_file = || Error::other(format!("{} is not a regular file", path.display()));
    match options.open(&path) {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(not_a_file()),
        // A pipe without a reader.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Err(not_a_file()),
        Err(error) => Err(error),
    }
}

/// Locks all records of a folder until dropped.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Waits for the lock.
    pub fn take(folder: &Path) -> io::Result<FolderLock> {
        let file = open_lock(folder)?;
        if !lock_within(&file, PATIENCE)? {
            let text = format!("{} is locked by a latlab that does not continue", folder.display());
            return Err(Error::new(ErrorKind::TimedOut, text));
        }
        Ok(FolderLock { _file: file })
    }
}

/// Removes unfinished records of processes that have ended.
pub fn remove_drafts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_draft = path.extension().is_some_and(|end| end == DRAFT);
        let is_left =
            || File::open(&path).and_then(|file| is_locked(&file)).is_ok_and(|held| !held);
        if is_draft && is_left() {
            let _ = fs::remove_file(path);
        }
    }
}
