//! The kernel's trace: found where it is mounted or in a private mount, and marked and stopped at
//! the moment of interest.

use crate::files::Root;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::thread::UnshareFlags;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Where the kernel's trace may be mounted.
pub(crate) const FOLDERS: [&str; 2] = ["sys/kernel/tracing", "sys/kernel/debug/tracing"];

/// Path of a file below `/sys/kernel/tracing` in a mount that only this process sees, for a machine
/// that has not mounted tracefs. `None` for other files, if tracefs is mounted, or without the
/// privilege to mount.
pub(crate) fn in_own_mount(file: &Path) -> Option<PathBuf> {
    static OWN_MOUNT: OnceLock<Option<OwnedFd>> = OnceLock::new();
    let below = file.strip_prefix(FOLDERS[0]).ok()?;
    let mounted = fs::metadata(Path::new("/").join(FOLDERS[0]).join("instances"));
    mounted.err().filter(|error| error.kind() == ErrorKind::NotFound)?;
    let own = OWN_MOUNT.get_or_init(|| own_mount().ok()).as_ref()?;
    Some(Path::new(&format!("/proc/self/fd/{}", own.as_raw_fd())).join(below))
}

/// Mounts tracefs in a mount namespace of a thread; the descriptor keeps the mount once the thread
/// and its namespace are gone. Unlike `fsopen`, this works before kernel 5.2.
fn own_mount() -> io::Result<OwnedFd> {
    let mount = || {
        // SAFETY: the thread shares no descriptors or memory with this flag, only its view of
        // mounts.
        unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNS) }?;
        // Otherwise the mount would appear in the machine's own namespace.
        mount_change("/", MountPropagationFlags::REC | MountPropagationFlags::PRIVATE)?;
        let folder = Path::new("/").join(FOLDERS[0]);
        mount("tracefs", &folder, "tracefs", MountFlags::empty(), None)?;
        Ok(openat(CWD, &folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
    };
    let thread = std::thread::Builder::new().spawn(mount)?;
    thread.join().unwrap_or_else(|_| Err(ErrorKind::Other.into()))
}

/// Writes a mark into the trace and stops it; without a trace nothing happens.
pub fn mark_and_stop(root: &Root, text: &str) {
    for folder in FOLDERS.map(|folder| root.path(folder)) {
        // Use the first that takes the mark; if both are mounted they are the same.
        if fs::write(folder.join("trace_marker"), text).is_ok() {
            let _ = fs::write(folder.join("tracing_on"), "0");
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_written_and_the_trace_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join(FOLDERS[1]);
        fs::create_dir_all(&trace).unwrap();
        fs::write(trace.join("tracing_on"), "1").unwrap();
        mark_and_stop(&Root::new(folder.path()), "here");
        assert_eq!(fs::read_to_string(trace.join("trace_marker")).unwrap(), "here");
        assert_eq!(fs::read_to_string(trace.join("tracing_on")).unwrap(), "0");
    }
}
