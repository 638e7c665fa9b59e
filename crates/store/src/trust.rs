//! Files and folders that another user may have prepared: which are opened, and which are written
//! to.
//!
//! Links are not followed, and only regular files are read. What belongs to another user is data:
//! it is read, but not written to, and nothing that it names is executed.

use crate::error::{Error, Result};
use latlab_sys::folder::{open_or_create_plain, open_plain};
use latlab_sys::process::effective_user;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

pub fn open_file(path: &Path) -> Result<File> {
    expect_file(path, open_plain(path, false))
}

/// Opens a file for reading and appending; creates it if it does not exist.
pub fn open_or_create_file(path: &Path) -> Result<File> {
    expect_file(path, open_or_create_plain(path))
}

/// Requires a regular file: reading a pipe or a device could block forever.
pub fn expect_file(path: &Path, opened: io::Result<File>) -> Result<File> {
    let other = || Error::Damaged { path: path.into(), reason: "not a regular file".to_string() };
    match opened {
        Ok(file) => match file.metadata().map_err(Error::io("read", path))?.is_file() {
            true => Ok(file),
            false => Err(other()),
        },
        // The kernel's message for a link or a socket does not say what it is.
        Err(error) => match expect_no_link(path) {
            Err(link @ Error::Damaged { .. }) => Err(link),
            Ok(there) if !there.is_file() => Err(other()),
            _ => Err(Error::io("open", path)(error)),
        },
    }
}

/// The metadata, if it is not a link, which could lead anywhere.
pub fn expect_no_link(path: &Path) -> Result<Metadata> {
    let there = fs::symlink_metadata(path).map_err(Error::io("look at", path))?;
    match there.is_symlink() {
        true => Err(Error::Damaged { path: path.into(), reason: "it is a link".to_string() }),
        false => Ok(there),
    }
}

/// Whether a file of this user counts as the caller's own; `caller` is the user behind sudo. Root's
/// files do, as root may change every file anyway.
pub fn is_own(owner: u32, caller: Option<(u32, u32)>) -> bool {
    let caller = caller.map(|(user, _)| user);
    [Some(0), Some(effective_user()), caller].contains(&Some(owner))
}

/// Whether this caller may finish the run in this folder: another user could replace it by a link
/// during the write and lead root elsewhere.
pub fn expect_own_run(folder: &Path, caller: Option<(u32, u32)>) -> Result<()> {
    let owner = expect_no_link(folder)?.uid();
    match effective_user() == 0 && !is_own(owner, caller) {
        true => Err(Error::OfAnother { path: folder.into(), owner }),
        false => Ok(()),
    }
}

/// Whether this caller may continue the campaign in this folder, whose document names programs.
pub fn expect_own_campaign(folder: &Path, runs: &Path, caller: Option<(u32, u32)>) -> Result<()> {
    let owner = fs::metadata(folder).map_err(Error::io("look at", folder))?.uid();
    if !is_own(owner, caller) {
        return Err(Error::CampaignOfAnother { path: folder.into(), owner });
    }
    match expect_no_link(runs) {
        // It is created again.
        Err(Error::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        found => found.map(drop),
    }
}
