//! Write locks on open files: the kernel drops them when the last process that has the file open
//! ends, and they work across namespaces.

use crate::{Errno, checked};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Time between two attempts.
const RETRY: Duration = Duration::from_millis(5);

/// Locks a file that is open for writing; false if another process has it locked.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match request(file, libc::F_OFD_SETLK, libc::F_WRLCK) {
        Ok(_) => Ok(true),
        Err(Errno::ACCESS | Errno::AGAIN) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// As [`try_lock`], retrying for some time.
pub fn lock_within(file: &File, patience: Duration) -> io::Result<bool> {
    let until = Instant::now() + patience;
    while !try_lock(file)? {
        if Instant::now() >= until {
            return Ok(false);
        }
        std::thread::sleep(RETRY);
    }
    Ok(true)
}

/// Whether a file has a write lock. Locks of readers do not count, so only those who may write the
/// file can lock it.
pub fn is_locked(file: &File) -> io::Result<bool> {
    let found = request(file, libc::F_OFD_GETLK, libc::F_RDLCK)?;
    Ok(found.l_type != libc::F_UNLCK as libc::c_short)
}

fn request(file: &File, command: libc::c_int, kind: libc::c_int) -> Result<libc::flock, Errno> {
    // SAFETY: an all-zero flock is a valid value of that plain structure.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    // SAFETY: `lock` is valid for the kernel to read and write, and the file is open.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) };
    checked(result.into())?;
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::OpenOptions;

    #[test]
    fn a_write_lock_lasts_as_long_as_its_file_is_open_and_readers_have_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::fs::write(&path, "").unwrap();
        let writer = || OpenOptions::new().write(true).open(&path).unwrap();
        let reader = File::open(&path).unwrap();
        assert!(!is_locked(&reader).unwrap());
        assert!(try_lock(&reader).is_err(), "not open for writing");
        request(&reader, libc::F_OFD_SETLK, libc::F_RDLCK).unwrap();
        assert!(!is_locked(&writer()).unwrap(), "a lock of a reader does not count");
        drop(reader);
        let held = writer();
        assert!(try_lock(&held).unwrap() && try_lock(&held).unwrap());
        assert!(!lock_within(&writer(), Duration::from_millis(20)).unwrap());
        assert!(is_locked(&File::open(&path).unwrap()).unwrap());
        drop(held);
        // A child of another test has the file open as well, until its `exec`.
        let until = std::time::Instant::now() + Duration::from_secs(10);
        while is_locked(&File::open(&path).unwrap()).unwrap() {
            assert!(std::time::Instant::now() < until, "still locked");
        }
    }
}
