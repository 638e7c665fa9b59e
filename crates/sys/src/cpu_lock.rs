//! Which process measures which CPUs: locks that the kernel drops with their process.

use crate::files::Root;
use crate::{Errno, checked};
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Stands for the settings of the whole machine, far above the number of any CPU.
pub const SETTINGS: u32 = 1 << 16;

/// CPUs that no other latlab measures as long as this lives.
///
/// Byte n of one file stands for CPU n. Such locks belong to the process, and any file of it that
/// is closed drops them, so that the file must be opened once only.
#[derive(Debug)]
pub struct CpuLock {
    _file: File,
    /// CPUs that others hold already, and the process that does.
    pub held: Vec<(u32, i32)>,
}

impl CpuLock {
    /// Locks those of the CPUs that are free, and says who holds the others.
    pub fn lock(root: &Root, cpus: impl IntoIterator<Item = u32>) -> io::Result<CpuLock> {
        let file = open(root)?;
        let mut held = Vec::new();
        for cpu in cpus {
            match query_lock(&file, libc::F_SETLK, cpu) {
                Ok(_) => {}
                Err(Errno::ACCESS | Errno::AGAIN) => {
                    held.push((cpu, query_lock(&file, libc::F_GETLK, cpu)?.l_pid));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(CpuLock { _file: file, held })
    }
}

/// Opens the file for all users of the machine, whoever has made it.
fn open(root: &Root) -> io::Result<File> {
    let folders = ["run/lock", "tmp"];
    let path = |folder: &str| -> PathBuf { root.path(folder).join("latlab-cpus") };
    let mut refused = io::ErrorKind::NotFound.into();
    for folder in folders {
        let existing = || OpenOptions::new().read(true).write(true).open(path(folder));
        let new = || {
            // With exactly this flag, since kernels refuse to open others' files for creation.
            let file =
                OpenOptions::new().read(true).write(true).create_new(true).open(path(folder))?;
            file.set_permissions(Permissions::from_mode(0o666)).map(|()| file)
        };
        match existing().or_else(|_| new()).or_else(|_| existing()) {
            Ok(file) => return Ok(file),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

fn query_lock(file: &File, what: libc::c_int, cpu: u32) -> Result<libc::flock, Errno> {
    // SAFETY: an all-zero flock is a valid value of that plain structure.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as libc::c_short;
    lock.l_whence = libc::SEEK_SET as libc::c_short;
    lock.l_start = cpu as libc::off_t;
    lock.l_len = 1;
    // SAFETY: `lock` is valid for the kernel to read and write, and the file is open.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), what, &raw mut lock) };
    checked(result.into())?;
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn another_process_is_told_who_holds_which() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        let root = Root::new(folder.path());
        assert!(CpuLock::lock(&root, [0, 2]).unwrap().held.is_empty());
        // Another process holds byte 2 by the same call, as Python makes it.
        let script = format!(
            "import fcntl, sys\nf = open('{}', 'r+')\nfcntl.lockf(f, fcntl.LOCK_EX, 1, 2)\n\
             print('held', flush=True)\nsys.stdin.read()",
            folder.path().join("tmp/latlab-cpus").display()
        );
        let mut other = Command::new("python3")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut word = [0; 5];
        io::Read::read_exact(other.stdout.as_mut().unwrap(), &mut word).unwrap();
        let lock = CpuLock::lock(&root, 1..4).unwrap();
        assert_eq!(lock.held, [(2, other.id() as i32)]);
        drop(lock);
        drop(other.stdin.take());
        other.wait().unwrap();
        assert!(CpuLock::lock(&root, 1..4).unwrap().held.is_empty(), "dropped with its process");
    }
}
