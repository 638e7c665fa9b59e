//! The machines that guests run on: what QEMU is asked for so that two runs are alike to the
//! last bit, and what the kernel is told.

use crate::words::Words;
use std::path::Path;

/// Memory of a guest, in MiB.
pub const MEMORY: u32 = 512;

/// A kind of machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Machine {
    /// Its name in `lab:NAME/KERNEL`.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// How `uname -m` calls its processor.
    pub architecture: &'static str,
    /// How Debian calls it.
    pub debian: &'static str,
    /// The emulator.
    pub qemu: &'static str,
    /// What makes it this machine, and the same each time; `SEED` stands for the seed.
    hardware: &'static str,
    /// The device behind which the port to the host is.
    port: &'static str,
    /// What the kernel is told.
    command_line: &'static str,
    /// Modules that the port needs, in their order, where the kernel has not built them in.
    pub port_modules: &'static [&'static str],
}

/// All machines.
pub static MACHINES: [Machine; 3] = [
    Machine {
        name: "x86-64",
        about: "a PC with one CPU (QEMU's machine pc)",
        architecture: "x86_64",
        debian: "amd64",
        qemu: "qemu-system-x86_64",
        hardware: "-cpu max,-rdrand,-rdseed -seed SEED -rtc base=2020-01-01,clock=vm",
        // With ioeventfd the host's scheduler would decide when a write ends.
        port: "virtio-serial-pci,ioeventfd=off",
        command_line: "console=ttyS0 nokaslr norandmaps",
        port_modules: &[
            "virtio",
            "virtio_ring",
            "virtio_pci_modern_dev",
            "virtio_pci_legacy_dev",
            "virtio_pci",
            "virtio_console",
        ],
    },
    Machine {
        name: "arm64",
        about: "a Cortex-A53 on QEMU's machine virt",
        architecture: "aarch64",
        debian: "arm64",
        qemu: "qemu-system-aarch64",
        hardware: "-machine virt,gic-version=3,dtb-randomness=off -cpu cortex-a53 -seed SEED \
                   -rtc base=2020-01-01,clock=vm",
        port: "virtio-serial-pci,ioeventfd=off",
        command_line: "console=ttyAMA0 nokaslr kpti=off randomize_kstack_offset=off",
        port_modules: &["virtio_console"],
    },
    Machine {
        name: "arm",
        about: "a Cortex-A15 on QEMU's machine virt",
        architecture: "armv7l",
        debian: "armhf",
        qemu: "qemu-system-arm",
        hardware: "-machine virt,dtb-randomness=off -cpu cortex-a15 -seed SEED \
                   -rtc base=2020-01-01,clock=vm",
        port: "virtio-serial-pci,ioeventfd=off",
        command_line: "console=ttyAMA0 nokaslr",
        port_modules: &["virtio_console"],
    },
];

/// The machine of this name.
pub fn machine(name: &str) -> Option<&'static Machine> {
    MACHINES.iter().find(|machine| machine.name == name)
}

/// What a guest is started with.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// What the guest calls itself.
    pub name: &'a str,
    /// The kernel's image.
    pub kernel: &'a Path,
    /// Where the kernel's messages go.
    pub console: &'a Path,
    /// What the guest's randomness grows from.
    pub seed: u64,
}

impl Machine {
    /// The words after the emulator's name. The initial file system goes into its standard input,
    /// the stream comes out of its standard output.
    pub fn arguments(&self, parts: Parts<'_>) -> Vec<String> {
        let Parts { name, kernel, console, seed } = parts;
        let mut words = Words::default();
        words.all("-nodefaults -no-reboot -display none -monitor none -smp 1");
        words.pair("-m", MEMORY);
        // One instruction is one nanosecond, and idle time passes at once.
        words.all("-accel tcg -icount shift=0,sleep=off");
        words.all(&self.hardware.replace("SEED", &(seed & u64::from(u32::MAX)).to_string()));
        words.pair("-device", self.port);
        // Only out: what the host sends arrives when the host likes.
        words.all("-chardev file,id=stream,path=/dev/stdout");
        words.all("-device virtserialport,chardev=stream,name=latlab");
        words.pair("-serial", format!("file:{}", escaped(console)));
        words.pair("-kernel", kernel.display());
        words.pair("-initrd", "/dev/stdin");
        words.pair("-append", format!("{} quiet panic=-1 hostname={name}", self.command_line));
        words.0
    }
}

/// A comma ends an option of QEMU, unless it stands there twice.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_one_cpu_and_counts_instructions() {
        for machine in &MACHINES {
            let path = Path::new("/a,b");
            let parts = Parts { name: "x", kernel: path, console: path, seed: 7 };
            let line = machine.arguments(parts).join(" ");
            assert!(
                line.contains("-smp 1") && line.contains("-icount shift=0,sleep=off"),
                "{line}"
            );
            assert!(line.contains("-seed 7") && line.contains("clock=vm"), "{line}");
            assert!(line.contains("-serial file:/a,,b"), "{line}");
            assert_eq!(super::machine(machine.name), Some(machine));
        }
    }
}
