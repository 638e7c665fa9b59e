//! Files in folders that another user may have prepared: links are never followed.

use rustix::fd::OwnedFd;
use rustix::fs::{Advice, AtFlags, CWD, Mode, OFlags, fadvise, fstat, openat, renameat, unlinkat};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::fchown;
use std::path::Path;

/// An open folder; renaming or replacing its path does not affect it.
#[derive(Debug)]
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens a folder.
    pub fn open(path: &Path) -> io::Result<Folder> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Folder(openat(CWD, path, flags, Mode::empty())?))
    }

    /// The user that owns it.
    pub fn owner(&self) -> io::Result<u32> {
        Ok(fstat(&self.0)?.st_uid)
    }

    /// Writes a file whole or not at all, replacing an existing one: a link is replaced, its target
    /// unchanged.
    pub fn write_whole(
        &self,
        name: &str,
        bytes: &[u8],
        owner: Option<(u32, u32)>,
    ) -> io::Result<()> {
        let draft = format!(".{name}.draft");
        let remove = || unlinkat(&self.0, draft.as_str(), AtFlags::empty());
        // An existing draft was left by an interrupted attempt, or must not be followed.
        let _ = remove();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file =
            File::from(openat(&self.0, draft.as_str(), flags, Mode::from_raw_mode(0o666))?);
        let written = file.write_all(bytes).and_then(|()| {
            if let Some((user, group)) = owner {
                // On a file system without owners the file is written all the same.
                let _ = fchown(&file, Some(user), Some(group));
            }
            Ok(renameat(&self.0, draft.as_str(), &self.0, name)?)
        });
        written.inspect_err(|_| {
            let _ = remove();
        })
    }
}

/// Opens a file for reading and appending; fails on a link, and does not wait for a pipe.
pub fn open_plain(path: &Path, append: bool) -> io::Result<File> {
    let access = if append { OFlags::RDWR | OFlags::APPEND } else { OFlags::RDONLY };
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(openat(CWD, path, flags, Mode::empty())?))
}

/// Opens or creates a file for reading and appending; fails on a link, and does not wait for a
/// pipe.
pub fn open_or_create_plain(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE;
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(openat(CWD, path, flags, Mode::from_raw_mode(0o666))?))
}

/// Drops the kernel's cached copy of a synced file, so that it is read from the disk next.
pub fn forget_copy(file: &File) {
    // If the kernel keeps it, reading only proves less.
    let _ = fadvise(file, 0, None, Advice::DontNeed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, symlink};

    #[test]
    fn a_link_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let other = folder.path().join("other");
        fs::write(&other, "another user's").unwrap();
        for name in ["page.html", ".page.html.draft"] {
            symlink(&other, folder.path().join(name)).unwrap();
        }
        let opened = Folder::open(folder.path()).unwrap();
        opened.write_whole("page.html", b"new", None).unwrap();
        let page = folder.path().join("page.html");
        assert_eq!(fs::read_to_string(&other).unwrap(), "another user's");
        assert_eq!(fs::read_to_string(&page).unwrap(), "new");
        assert!(!fs::symlink_metadata(&page).unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        assert_eq!(opened.owner().unwrap(), fs::metadata(folder.path()).unwrap().uid());
    }

    #[test]
    fn what_is_no_file_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "x").unwrap();
        symlink(&file, &link).unwrap();
        assert!(open_plain(&file, true).is_ok());
        assert!(open_plain(&link, false).is_err());
        assert!(open_or_create_plain(&link).is_err());
        open_or_create_plain(&folder.path().join("new")).unwrap().write_all(b"y").unwrap();
        assert_eq!(fs::read(folder.path().join("new")).unwrap(), b"y");
        let pipe = folder.path().join("pipe");
        crate::files::make_fifo(&pipe).unwrap();
        assert!(!open_plain(&pipe, false).unwrap().metadata().unwrap().is_file());
    }
}
