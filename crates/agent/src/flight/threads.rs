//! Owners of threads that ran around spikes, read from `/proc` soon afterwards while most of them
//! still run.

use latlab_model::flight::KnownThread;
use latlab_sys::files::Root;
use std::collections::BTreeSet;

/// Largest number of threads described in a run.
const MOST: usize = 4096;

/// The threads that were already looked up.
#[derive(Default)]
pub struct ThreadNames(BTreeSet<i32>);

impl ThreadNames {
    /// Describes the threads that were not looked up before.
    pub fn describe(&mut self, ids: BTreeSet<i32>, root: &Root) -> Vec<KnownThread> {
        let new = ids.into_iter().filter(|&id| id > 0 && self.0.len() < MOST && self.0.insert(id));
        new.filter_map(|id| known_thread(root, id)).collect()
    }
}

/// `None` if the thread has ended.
fn known_thread(root: &Root, id: i32) -> Option<KnownThread> {
    let status = root.read(format!("proc/{id}/status"))?;
    let process =
        status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()?;
    let name = root.read(format!("proc/{process}/comm"))?;
    let cgroups = root.read(format!("proc/{id}/cgroup")).unwrap_or_default();
    // Version 2 has no list of controllers; a mounted version 1 may have the one for CPU time.
    let of = |line: &str| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let is_wanted = controllers.is_empty() || controllers.split(',').any(|one| one == "cpu");
        is_wanted.then(|| path.to_string())
    };
    let cgroup = cgroups.lines().filter_map(of).max_by_key(|path| path.len());
    Some(KnownThread { id, process, name: name.trim_end().to_string(), cgroup })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_described_once_with_its_process_and_cgroup() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/75/status", "Name:\ttokio-rt-worker\nTgid:\t60\nPid:\t75\n");
        write(
            "proc/75/cgroup",
            "3:cpu,cpuacct:/build\n1:name=systemd:/init.scope/with:colon\n0::/\n",
        );
        write("proc/60/comm", "cargo\n");
        let mut names = ThreadNames::default();
        let mut described = || names.describe([0, 75, 76].into(), &Root::new(folder.path()));
        let expected = KnownThread {
            id: 75,
            process: 60,
            name: "cargo".to_string(),
            cgroup: Some("/build".to_string()),
        };
        assert_eq!(described(), [expected]);
        assert_eq!(described(), []);
    }
}
