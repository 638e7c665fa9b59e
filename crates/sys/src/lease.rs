//! Whether anybody else has a file open, as the kernel answers a request for a lease of it.

use crate::checked;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// Whether another process, or this one, has a file open; none where the file system does not say, or
/// the file is somebody else's.
pub fn is_open(path: &Path) -> Option<bool> {
    let file =
        open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty()).ok()?;
    // Who opens the file while we have the lease makes the kernel send a signal; this one does nothing by
    // itself, where the usual one would end us.
    set(&file, F_SETSIG, libc::SIGURG).ok()?;
    match set(&file, libc::F_SETLEASE, libc::F_WRLCK) {
        Ok(()) => {
            // Closing the file gives the lease back as well.
            let _ = set(&file, libc::F_SETLEASE, libc::F_UNLCK);
            Some(false)
        }
        Err(Errno::AGAIN) => Some(true),
        Err(_) => None,
    }
}

/// Not in every version of the `libc` crate.
const F_SETSIG: libc::c_int = 10;

fn set(file: &OwnedFd, what: libc::c_int, value: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the descriptor is open, and both commands take a number and no pointer.
    let done = unsafe { libc::fcntl(file.as_raw_fd(), what, value) };
    checked(libc::c_long::from(done)).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_file_is_open_as_long_as_somebody_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "x").unwrap();
        // Not every file system has leases; there nobody knows.
        let Some(open) = is_open(&path) else { return };
        assert!(!open);
        let reader = File::open(&path).unwrap();
        assert_eq!(is_open(&path), Some(true));
        drop(reader);
        assert_eq!(is_open(&path), Some(false));
        assert_eq!(is_open(&folder.path().join("none")), None);
    }
}
