//! The scratch folder of a load: its processes work there, and its lock identifies them.
//!
//! Each of them inherits the open folder with its lock. So a process that has it was started by the
//! load, wherever it has gone since; a process that only works in the folder, or has opened it, was
//! not.

use crate::checked;
use crate::child::{descendants, kill, processes};
use crate::files::Root;
use crate::process::{Stat, effective_user};
use crate::record::random;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Error, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Prefix of the names, followed by random letters.
const PREFIX: &str = "latlab-load-";
/// How often to look for processes again: one that is being killed may just have started another.
const ROUNDS: u32 = 100;
const PAUSE: Duration = Duration::from_millis(20);

/// The folder of a running load; the lock lasts while this or a process of the load has it.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
    lock: File,
}

impl Scratch {
    /// Path for a new one.
    pub fn new_path() -> PathBuf {
        base().join(format!("{PREFIX}{}", random()))
    }

    /// Creates the folder and locks it.
    pub fn create(path: &Path) -> io::Result<Scratch> {
        DirBuilder::new().mode(0o700).create(path)?;
        let lock = open(path)?;
        lock.lock()?;
        // Another process may have found it unlocked, and removed it.
        match lock.metadata()?.nlink() {
            0 => Err(ErrorKind::NotFound.into()),
            _ => Ok(Scratch { path: path.to_path_buf(), lock }),
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The descriptor that a process of the load inherits.
    pub fn descriptor(&self) -> RawFd {
        self.lock.as_raw_fd()
    }
}

/// Where scratch folders lie: on a disk rather than in memory, for loads that write files.
pub fn base() -> PathBuf {
    let requested =
        std::env::var("TMPDIR").map(PathBuf::from).ok().filter(|folder| folder.is_dir());
    requested.unwrap_or_else(|| {
        let disk = PathBuf::from("/var/tmp");
        if disk.is_dir() { disk } else { std::env::temp_dir() }
    })
}

/// Lets a child keep a close-on-exec file open; to be called between fork and exec.
pub(crate) fn keep_open(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: changes a flag of an open descriptor, of this process alone.
    checked(unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) }.into())?;
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(path)
}

/// Ends all processes that have the lock of this folder, and those below them; returns their
/// number. The error says what is left.
pub(crate) fn end_processes(root: &Root, path: &Path) -> io::Result<usize> {
    let folder = open(path)?;
    let metadata = folder.metadata()?;
    let mut ended = 0;
    for _ in 0..ROUNDS {
        match folder.try_lock() {
            Ok(()) => return Ok(ended),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        for pid in processes(root) {
            if !has_lock(root, pid, path, &metadata) {
                continue;
            }
            let Some(stat) = Stat::read(root, pid) else { continue };
            // Those below it may have closed what they inherited.
            for below in descendants(root, pid, || ()) {
                kill(root, below.pid, below.stat.started);
                ended += 1;
            }
            kill(root, pid, stat.started);
            ended += 1;
        }
        std::thread::sleep(PAUSE);
    }
    Err(Error::other(format!("processes of a load cannot be ended: see `lsof {}`", path.display())))
}

/// Whether a process has the lock, according to the kernel; one that opened the folder itself has
/// not.
fn has_lock(root: &Root, pid: u32, path: &Path, folder: &Metadata) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let open_files = fs::read_dir(root.path(format!("proc/{pid}/fd"))).into_iter().flatten();
    open_files.flatten().any(|file| {
        // Compare the name first: other files may lie on a disk that does not respond.
        let is_named =
            fs::read_link(file.path()).is_ok_and(|link| link.to_string_lossy().contains(&*name));
        let is_folder = || {
            fs::metadata(file.path())
                .is_ok_and(|there| (there.dev(), there.ino()) == (folder.dev(), folder.ino()))
        };
        let number = file.file_name();
        let info = || root.read(format!("proc/{pid}/fdinfo/{}", number.to_string_lossy()));
        let is_locked = || info().is_some_and(|info| info.lines().any(is_write_lock));
        is_named && is_folder() && is_locked()
    })
}

/// Such as `lock: 1: FLOCK  ADVISORY  WRITE 1234 00:2b:567 0 EOF`.
fn is_write_lock(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("lock:") && words.any(|word| word == "FLOCK") && line.contains(" WRITE ")
}

/// Removes unlocked folders of loads, which a crash of the machine has left.
pub(crate) fn remove_abandoned() {
    for entry in fs::read_dir(base()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let letters = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).unwrap_or_default();
        let is_named = letters.len() == 16 && letters.bytes().all(|byte| byte.is_ascii_hexdigit());
        let path = entry.path();
        let is_over = || -> io::Result<bool> {
            let folder = open(&path)?;
            let metadata = folder.metadata()?;
            let is_private = metadata.uid() == effective_user() && metadata.mode() & 0o77 == 0;
            Ok(is_private && folder.try_lock().is_ok())
        };
        if is_named && is_over().unwrap_or(false) {
            let _ = fs::remove_dir_all(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn processes_that_inherited_the_lock_are_ended_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scratch");
        let scratch = Scratch::create(&path).unwrap();
        let sleep = || {
            let mut command = Command::new("sleep");
            command.arg("100").stdout(Stdio::null());
            command
        };
        let descriptor = scratch.descriptor();
        let mut member = sleep();
        // SAFETY: between fork and exec only a flag is changed.
        unsafe { member.pre_exec(move || keep_open(descriptor)) };
        let mut member = member.spawn().unwrap();
        let mut stranger = sleep().current_dir(&path).stdin(open(&path).unwrap()).spawn().unwrap();
        drop(scratch);
        let waiter = std::thread::spawn(move || member.wait().unwrap());
        assert_eq!(end_processes(&Root::default(), &path).unwrap(), 1);
        assert!(!waiter.join().unwrap().success());
        assert!(stranger.try_wait().unwrap().is_none(), "it only stands there");
        stranger.kill().unwrap();
        stranger.wait().unwrap();
        assert_eq!(end_processes(&Root::default(), &path).unwrap(), 0);
    }
}
