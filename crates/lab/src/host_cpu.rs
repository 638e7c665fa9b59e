//! Chooses the host CPU for a guest.
//!
//! QEMU has one thread for the guest's processor and one for its devices. In parallel, the second
//! may see a sleeping processor before its last instructions are counted, and set the next timer
//! late by them. On one CPU they take turns.

use std::fs::{self, File};
use std::path::Path;

/// The CPUs that a guest may run on, reserved until this is dropped.
#[derive(Debug)]
pub struct HostCpus {
    pub cpus: Vec<u32>,
    /// Locked, so that other guests see that the CPU is taken.
    _lock: Option<File>,
}

impl HostCpus {
    /// All of these, without a reservation.
    pub(crate) fn shared(cpus: Vec<u32>) -> HostCpus {
        HostCpus { cpus, _lock: None }
    }

    /// Reserves one of these that no other guest has, if there is one; `folder` holds the locks.
    pub(crate) fn reserve_one(cpus: &[u32], folder: &Path) -> HostCpus {
        let folder = folder.join("cpus");
        // Without the folder guests do not see each other, and may share a CPU.
        let _ = fs::create_dir_all(&folder);
        let free = |cpu: &u32| {
            let open = File::options().create(true).append(true).open(folder.join(cpu.to_string()));
            let file = open.ok()?;
            file.try_lock().ok().map(|()| HostCpus { cpus: vec![*cpu], _lock: Some(file) })
        };
        let any = || cpus.get(std::process::id() as usize % cpus.len().max(1));
        // The first CPU has most of the host's own work.
        let reserved = cpus.iter().rev().find_map(free);
        reserved.unwrap_or_else(|| HostCpus::shared(any().copied().into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_guest_has_a_cpu_of_its_own_while_there_are_any() {
        let folder = tempfile::tempdir().unwrap();
        let reserve = || HostCpus::reserve_one(&[2, 5], folder.path());
        let (first, second, third) = (reserve(), reserve(), reserve());
        assert_eq!((&first.cpus[..], &second.cpus[..]), (&[5][..], &[2][..]));
        assert_eq!(third.cpus.len(), 1, "it shares one");
        drop(first);
        assert_eq!(reserve().cpus, [5]);
        assert_eq!(HostCpus::reserve_one(&[3], Path::new("/dev/null")).cpus, [3]);
    }
}
