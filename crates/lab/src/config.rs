//! Resolves a lab target on this host: its machine, its kernel, and existing files.

use crate::cache::Cache;
use crate::kernel::{Kernel, check_files};
use crate::machine::{EmulatedMachine, MACHINES, find_machine};
use crate::{emulator, error, program};
use latlab_model::target::{KernelFiles, LEAST_MEMORY, LabKernel, LabTarget};
use std::path::Path;

/// More than any host has for a guest, in MiB.
const MOST_MEMORY: u32 = 65_536;
/// More CPUs than these reveal nothing new.
const MOST_CPUS: u32 = 64;

/// The configuration of a guest: a lab target with everything resolved and checked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GuestConfig {
    pub machine: &'static EmulatedMachine,
    pub kernel: Kernel,
    /// Memory in MiB.
    pub memory: u32,
    /// Number of CPUs.
    pub cpus: u32,
    /// Whether it runs in the host's time.
    pub realtime: bool,
    /// Whether it runs on the newer QEMU of Debian's backports, whatever the host has.
    pub new_qemu: bool,
}

impl GuestConfig {
    /// Resolves a target; an error is one line.
    pub fn resolve(target: &LabTarget) -> Result<GuestConfig, String> {
        let machine = find_machine(&target.machine).ok_or_else(|| {
            let known: Vec<&str> = MACHINES.iter().map(|machine| machine.name).collect();
            format!("unknown lab machine '{}': expected {}", target.machine, known.join(", "))
        })?;
        let wrong = |reason| format!("'{target}': {reason}");
        let kernel = match &target.kernel {
            LabKernel::Named(name) => Kernel::Debian(name.parse().map_err(wrong)?),
            LabKernel::Files(files) => {
                check_paths(files).map_err(wrong)?;
                check_files(files, machine).map_err(wrong)?;
                Kernel::Files(files.clone())
            }
        };
        let memory = target.memory.unwrap_or(machine.memory);
        if !(LEAST_MEMORY..=MOST_MEMORY).contains(&memory) {
            let reason = format!("memory={memory}: expected {LEAST_MEMORY} to {MOST_MEMORY}");
            return Err(wrong(reason));
        }
        let cpus = cpus(target, machine).map_err(wrong)?;
        let LabTarget { realtime, new_qemu, .. } = *target;
        Ok(GuestConfig { machine, kernel, memory, cpus, realtime, new_qemu })
    }

    /// The target that resolves to it, without defaults.
    pub fn target(&self) -> LabTarget {
        let machine = self.machine;
        let default_cpus = machine.fixed_cpus.unwrap_or(1);
        LabTarget {
            machine: machine.name.to_string(),
            kernel: match &self.kernel {
                Kernel::Debian(kernel) => LabKernel::Named(kernel.to_string()),
                Kernel::Files(files) => LabKernel::Files(files.clone()),
            },
            memory: (self.memory != machine.memory).then_some(self.memory),
            cpus: (self.cpus != default_cpus).then_some(self.cpus),
            realtime: self.realtime,
            new_qemu: self.new_qemu,
        }
    }

    /// Whether it uses the newer emulator, by request or because its machine needs it.
    pub(crate) fn has_new_emulator(&self) -> bool {
        self.new_qemu || self.machine.is_new
    }

    /// Whether its kernel is in the cache.
    pub fn is_cached(&self, cache: &Cache) -> bool {
        self.kernel.image(self.machine, cache).is_ok()
    }

    /// Downloads its kernel, if it is one of Debian's, and the programs that load such a machine;
    /// returns the origin of the kernel.
    pub fn fetch(&self, cache: &Cache) -> error::Result<String> {
        program::fetch(self.machine, cache)?;
        emulator::fetch(self, cache)?;
        if let Kernel::Debian(kernel) = &self.kernel {
            kernel.fetch(self.machine, cache)?;
        }
        Ok(self.kernel.image(self.machine, cache)?.origin)
    }
}

fn check_paths(files: &KernelFiles) -> Result<(), String> {
    let KernelFiles { image, modules, dtb } = files;
    let missing = |what: &str, path: &Path| Err(format!("no {what} '{}'", path.display()));
    match [Some(image), dtb.as_ref()].into_iter().flatten().find(|path| !path.is_file()) {
        Some(path) => missing("file", path),
        None => match modules {
            Some(path) if !path.is_dir() => missing("folder", path),
            _ => Ok(()),
        },
    }
}

/// In virtual time there is one CPU, because several would run one after the other.
fn cpus(target: &LabTarget, machine: &EmulatedMachine) -> Result<u32, String> {
    let name = machine.name;
    if let Some(cpus) = target.cpus.filter(|cpus| !(1..=MOST_CPUS).contains(cpus)) {
        return Err(format!("smp={cpus}: expected 1 to {MOST_CPUS}"));
    }
    match (machine.fixed_cpus, target.cpus) {
        (Some(fixed), Some(asked)) if asked != fixed => {
            Err(format!("{name} has {fixed} CPUs: omit --smp {asked}"))
        }
        (Some(fixed), _) if !target.realtime => Err(format!(
            "{name} has {fixed} CPUs, but virtual time requires one CPU: add --realtime"
        )),
        (None, Some(asked)) if asked > 1 && !target.realtime => {
            Err(format!("virtual time requires one CPU: omit --smp {asked}, or add --realtime"))
        }
        (fixed, asked) => Ok(fixed.or(asked).unwrap_or(1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latlab_model::target::LabTarget;
    use std::fs;

    fn resolve(text: &str) -> Result<GuestConfig, String> {
        GuestConfig::resolve(&text.parse::<LabTarget>()?)
    }

    #[test]
    fn a_target_is_completed_and_said_without_defaults() {
        for (text, canonical) in [
            ("arm64/rt", "lab:arm64/rt-6.1"),
            ("lab:x86-64/stock-6.12,memory=96", "lab:x86-64/stock-6.12,memory=96"),
            ("lab:x86-64/stock,memory=768,smp=1", "lab:x86-64/stock-6.1"),
            ("lab:x86-64/rt-6.1,realtime,smp=2", "lab:x86-64/rt-6.1,realtime,smp=2"),
            ("lab:raspi3b/rt-6.1,realtime,smp=4", "lab:raspi3b/rt-6.1,realtime"),
            ("lab:x86-64/rt-6.1,new-qemu", "lab:x86-64/rt-6.1,new-qemu"),
        ] {
            let config = resolve(text).unwrap();
            assert_eq!(config.target().to_string(), canonical);
            assert_eq!(GuestConfig::resolve(&config.target()), Ok(config));
        }
    }

    #[test]
    fn what_no_guest_can_be_is_refused() {
        for (text, expected) in [
            ("lab:vax/rt", "unknown lab machine 'vax': expected x86-64, arm64, arm, imx8mp-evk"),
            ("lab:raspi3b/rt", "add --realtime"),
            ("lab:raspi3b/rt,realtime,smp=2", "has 4 CPUs"),
            ("lab:arm64/5.4", "unknown kernel '5.4': expected stock, rt, stock-6.1"),
            ("lab:arm64/rt,smp=2", "requires one CPU"),
            ("lab:arm64/rt,smp=65,realtime", "expected 1 to 64"),
            ("lab:arm64/rt,memory=9", "expected 96 to 65536"),
            ("lab:arm64,kernel=/no/such", "no file '/no/such'"),
            ("lab:arm64,kernel=/usr", "no file '/usr'"),
        ] {
            let error = resolve(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_files_of_a_kernel_are_checked_before_it_is_started() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let write = |name: &str, bytes: &[u8]| fs::write(path(name), bytes).unwrap();
        let mut zimage = vec![0; 0x100];
        zimage[0x24..0x28].copy_from_slice(&0x016f_2818_u32.to_le_bytes());
        write("zImage", &zimage);
        write("notes", b"no kernel");
        write("board.dtb", &0xd00d_feed_u32.to_be_bytes());
        let (image, tree, all) = (path("zImage"), path("board.dtb"), path(""));
        let whole = format!("lab:arm,kernel={image},modules={all},dtb={tree}");
        assert_eq!(resolve(&whole).unwrap().target().to_string(), whole);
        let notes = path("notes");
        for (text, expected) in [
            (format!("lab:arm,kernel={notes}"), "is not a kernel for arm: expected a zImage"),
            (format!("lab:arm64,kernel={image}"), "is not a kernel for arm64: expected an Image"),
            (format!("lab:x86-64,kernel={image}"), "expected a bzImage or a vmlinux"),
            (format!("lab:arm,kernel={image},dtb={notes}"), "is not a compiled device tree"),
            (format!("lab:arm,kernel={image},modules={notes}"), "no folder"),
        ] {
            let error = resolve(&text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
