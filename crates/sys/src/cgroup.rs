//! A cgroup for the processes of a load: it controls nothing, but lets the kernel identify the
//! load's processes wherever they have gone.

use crate::child::signal;
use crate::files::Root;
use crate::process::KillSignal;
use crate::record::random;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Error, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Prefix of the names, followed by random letters.
const PREFIX: &str = "latlab-load-";
/// The file that lists the processes of a cgroup; a process joins by writing to it.
const MEMBERS: &str = "cgroup.procs";
/// How often its processes are killed, and the pause between.
const ROUNDS: u32 = 250;
const PAUSE: Duration = Duration::from_millis(20);

/// A cgroup of a load.
#[derive(Debug)]
pub struct Cgroup {
    members: File,
}

impl Cgroup {
    /// A path for a new one, below the cgroup of this process; `None` without cgroup2.
    pub fn new_path(root: &Root) -> Option<PathBuf> {
        let groups = root.read("proc/self/cgroup")?;
        let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
        let mounts = root.read("proc/self/mountinfo")?;
        let folder = mounts.lines().find_map(|line| folder_of(line, own))?;
        Some(folder.join(format!("{PREFIX}{}", random())))
    }

    /// Creates it, unless it would do more than hold processes.
    pub fn create(path: &Path) -> io::Result<Cgroup> {
        fs::create_dir(path)?;
        let file = |name: &str| fs::read_to_string(path.join(name));
        let is_plain = || -> io::Result<bool> {
            Ok(file("cgroup.controllers")?.trim().is_empty()
                && file("cgroup.type")?.trim() == "domain")
        };
        let members = match is_plain() {
            Ok(true) => OpenOptions::new().write(true).open(path.join(MEMBERS)),
            Ok(false) => Err(Error::other("it would limit the load")),
            Err(error) => Err(error),
        };
        let members = members.inspect_err(|_| drop(fs::remove_dir(path)))?;
        Ok(Cgroup { members })
    }

    /// A process writes `0` to this descriptor to become a member.
    pub fn descriptor(&self) -> RawFd {
        self.members.as_raw_fd()
    }
}

/// The folder of a cgroup, if this mountinfo line mounts it.
fn folder_of(line: &str, cgroup: &str) -> Option<PathBuf> {
    let (mount, kind) = line.split_once(" - ")?;
    let mut fields = mount.split(' ').skip(3);
    let (mounted, at) = (fields.next()?, fields.next()?);
    if kind.split(' ').next() != Some("cgroup2") || at.contains('\\') {
        return None;
    }
    let below = cgroup.strip_prefix(mounted.trim_end_matches('/'))?;
    Some(Path::new(at).join(below.trim_start_matches('/')))
}

/// Ends all processes of a cgroup and removes it; returns their number.
pub(crate) fn end(path: &Path) -> io::Result<usize> {
    let count = members(path).len();
    for _ in 0..ROUNDS {
        let members = members(path);
        if members.is_empty() {
            return remove(path).map(|()| count);
        }
        // The file does not exist before Linux 5.14.
        let killed = OpenOptions::new().write(true).open(path.join("cgroup.kill"));
        if killed.and_then(|mut file| io::Write::write_all(&mut file, b"1")).is_err() {
            members.into_iter().for_each(|pid| signal(pid, KillSignal::KILL));
        }
        std::thread::sleep(PAUSE);
    }
    Err(Error::other(format!("its processes cannot be ended: see {}/{MEMBERS}", path.display())))
}

/// The processes of a cgroup and of those below it; 0 stands for a process that is not visible from
/// here.
fn members(path: &Path) -> Vec<u32> {
    let own = fs::read_to_string(path.join(MEMBERS)).unwrap_or_default();
    let mut members: Vec<u32> = own.lines().filter_map(|pid| pid.parse().ok()).collect();
    members.extend(below(path).iter().flat_map(|path| self::members(path)));
    members
}

fn below(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|entry| entry.path())
        .collect()
}

/// Removes it, retrying since a killed process may still be counted.
fn remove(path: &Path) -> io::Result<()> {
    below(path).iter().try_for_each(|path| remove(path))?;
    let mut result = fs::remove_dir(path);
    for _ in 0..ROUNDS {
        if !result.as_ref().is_err_and(|error| error.kind() == ErrorKind::ResourceBusy) {
            break;
        }
        std::thread::sleep(PAUSE);
        result = fs::remove_dir(path);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_cgroup_is_found_by_its_mount() {
        let line = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw";
        let found = |line, cgroup| folder_of(line, cgroup).map(|path| path.display().to_string());
        assert_eq!(found(line, "/").as_deref(), Some("/sys/fs/cgroup/"));
        assert_eq!(found(line, "/user/x").as_deref(), Some("/sys/fs/cgroup/user/x"));
        // A container that sees a subtree names it by its full path.
        let part = "41 31 0:38 /box/1 /sys/fs/cgroup ro - cgroup2 cgroup rw";
        assert_eq!(found(part, "/box/1/a").as_deref(), Some("/sys/fs/cgroup/a"));
        assert_eq!(found(part, "/other"), None);
        assert_eq!(found("41 31 0:38 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu", "/"), None);
    }
}
