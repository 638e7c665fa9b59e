//! The CPU of the host that a guest runs on.
//!
//! QEMU has a thread for the guest's processor and one for its devices. Side by side, the second may
//! look at a processor that has gone to sleep before its last instructions are counted, and sets the
//! next timer late by them. On one CPU they take turns.

use std::fs::{self, File};
use std::path::Path;

/// Where a guest runs, for as long as this is kept.
#[derive(Debug)]
pub struct Seat {
    /// The CPUs of the host.
    pub cpus: Vec<u32>,
    /// Other guests see by it that the CPU is taken.
    _taken: Option<File>,
}

impl Seat {
    /// Anywhere.
    pub(crate) fn anywhere(cpus: Vec<u32>) -> Seat {
        Seat { cpus, _taken: None }
    }

    /// On one of these CPUs, which no other guest has where there is such a one.
    pub(crate) fn take(cpus: &[u32], folder: &Path) -> Seat {
        let folder = folder.join("cpus");
        // Without the folder guests do not see each other, and may share a CPU.
        let _ = fs::create_dir_all(&folder);
        let free = |cpu: &u32| {
            let open = File::options().create(true).append(true).open(folder.join(cpu.to_string()));
            let file = open.ok()?;
            file.try_lock().ok().map(|()| Seat { cpus: vec![*cpu], _taken: Some(file) })
        };
        // The first one has most of the host's own work.
        let any = || cpus.get(std::process::id() as usize % cpus.len().max(1));
        let taken = cpus.iter().rev().find_map(free);
        taken.unwrap_or_else(|| Seat::anywhere(any().copied().into_iter().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_guest_has_a_cpu_of_its_own_while_there_are_any() {
        let folder = tempfile::tempdir().unwrap();
        let take = || Seat::take(&[2, 5], folder.path());
        let (first, second, third) = (take(), take(), take());
        assert_eq!((&first.cpus[..], &second.cpus[..]), (&[5][..], &[2][..]));
        assert_eq!(third.cpus.len(), 1, "it shares one");
        drop(first);
        assert_eq!(take().cpus, [5]);
        assert_eq!(Seat::take(&[3], Path::new("/dev/null")).cpus, [3]);
    }
}
