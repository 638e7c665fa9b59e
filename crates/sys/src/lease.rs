//! Whether another process has a file open, found by requesting a lease.

use crate::checked;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// Whether any process has a file open; `None` if the file system does not support leases, or the
/// file belongs to another user.
pub fn is_open(path: &Path) -> Option<bool> {
    let file =
        open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty()).ok()?;
    // If a process opens the file while we have the lease, the kernel sends a signal; this one is
    // ignored by default, while the usual one would kill us.
    set(&file, F_SETSIG, libc::SIGURG).ok()?;
    match set(&file, libc::F_SETLEASE, libc::F_WRLCK) {
        Ok(()) => {
            // Closing the file releases the lease as well.
            let _ = set(&file, libc::F_SETLEASE, libc::F_UNLCK);
            Some(false)
        }
        Err(Errno::AGAIN) => Some(true),
        Err(_) => None,
    }
}

/// Missing in some versions of the `libc` crate.
const F_SETSIG: libc::c_int = 10;

fn set(file: &OwnedFd, what: libc::c_int, value: libc::c_int) -> Result<(), Errno> {
    // SAFETY: the descriptor is open, and both commands take a number, not a pointer.
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
        // Not every file system supports leases; then the result is unknown.
        let Some(open) = is_open(&path) else { return };
        assert!(!open);
        let reader = File::open(&path).unwrap();
        assert_eq!(is_open(&path), Some(true));
        drop(reader);
        assert_eq!(is_open(&path), Some(false));
        assert_eq!(is_open(&folder.path().join("none")), None);
    }
}
