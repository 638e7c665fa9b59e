//! The machines of guests: the QEMU options that make two runs identical to the last bit, and the
//! kernel command lines.

use crate::devicetree::DeviceTreeEdit;
use std::fmt::Display;
use std::os::fd::RawFd;
use std::path::Path;

/// One instruction is one nanosecond, and idle time passes at once.
const VIRTUAL_TIME: &str = "-accel tcg -icount shift=0,sleep=off";

/// The same, but idle time passes as on the host: otherwise data from the host would always arrive
/// at the guest's next timer.
const WITH_A_WIRE: &str = "-accel tcg -icount shift=0,sleep=on";

/// The command line of every kernel. On a board the kernel's tests of its own ciphers are over when
/// programs start; where time has no jitter, that of the jitter generator of 6.12 continues for
/// seconds under load.
const EVERYWHERE: &str = "quiet panic=-1 cryptomgr.notests";

/// A kind of machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EmulatedMachine {
    /// Its name in `lab:NAME/KERNEL`.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// Its processor as `uname -m` names it.
    pub architecture: &'static str,
    /// Debian's name for the architecture.
    pub debian: &'static str,
    /// The kernel's name for it, and the prefix of its compilers' names.
    pub compiler: (&'static str, &'static str),
    /// The format of its kernel images.
    pub image: ImageFormat,
    pub qemu: &'static str,
    /// The options that make it this machine, and the same each time.
    hardware: &'static str,
    cpu: &'static str,
    /// Its device tree among the kernel's files, if QEMU has none.
    pub dtb: Option<&'static str>,
    /// How the device tree is edited for the port.
    pub change: Option<DeviceTreeEdit>,
    /// Whether only the emulator in Debian's backports knows it.
    pub is_new: bool,
    /// Default memory in MiB.
    pub memory: u32,
    /// The port to the host.
    pub port: Port,
    /// The uses of its serial interfaces, in order.
    serials: &'static [Serial],
    /// Its number of CPUs if that cannot be chosen; then it has no virtual time.
    pub fixed_cpus: Option<u32>,
    /// Its part of the kernel command line.
    command_line: &'static str,
    /// Number of GPIO chips that its kernel detects.
    pub gpio_chips: u32,
    /// QEMU's name for their controllers, without the number from 1 on; `None` if wires cannot be
    /// attached.
    pub gpio_controllers: Option<&'static str>,
    /// Modules that the port needs, in load order, if they are not built in.
    pub port_modules: &'static [&'static str],
}

/// What carries the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Port {
    /// A virtio device of QEMU.
    Virtio(&'static str),
    /// A serial interface, by its name in the guest.
    Serial(&'static str),
}

/// The use of a serial interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Serial {
    /// The kernel's messages.
    Console,
    /// The port to the host.
    Stream,
}

// With ioeventfd the host's scheduler would decide when a write ends.
const VIRTIO: Port = Port::Virtio("virtio-serial-pci,ioeventfd=off");

/// The format of a kernel image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageFormat {
    pub name: &'static str,
    /// Offsets with the bytes expected at one of them, from the Linux boot protocols in
    /// Documentation/arch; other marks are gzip's and U-Boot's.
    pub marks: &'static [(usize, &'static [u8])],
}

const ELF: &[u8] = b"\x7fELF";
const PC_IMAGE: ImageFormat =
    ImageFormat { name: "a bzImage or a vmlinux", marks: &[(0x202, b"HdrS"), (0, ELF)] };
const ARM64_IMAGE: ImageFormat = ImageFormat {
    name: "an Image",
    marks: &[(0x38, b"ARM\x64"), (4, b"zimg"), (0, &[0x1f, 0x8b]), (0, ELF)],
};
const ARM_IMAGE: ImageFormat = ImageFormat {
    name: "a zImage",
    marks: &[(0x24, &[0x18, 0x28, 0x6f, 0x01]), (0, &[0x27, 0x05, 0x19, 0x56]), (0, ELF)],
};

const VIRTIO_MODULES: [&str; 6] = [
    "virtio",
    "virtio_ring",
    "virtio_pci_modern_dev",
    "virtio_pci_legacy_dev",
    "virtio_pci",
    "virtio_console",
];

/// All machines.
pub static MACHINES: [EmulatedMachine; 5] = [
    EmulatedMachine {
        name: "x86-64",
        about: "a PC with one CPU (QEMU's machine pc)",
        architecture: "x86_64",
        debian: "amd64",
        compiler: ("x86_64", "x86_64-linux-gnu"),
        image: PC_IMAGE,
        qemu: "qemu-system-x86_64",
        hardware: "",
        // In virtual time a string instruction with a byte count takes a nanosecond per byte, so
        // the kernel must not use them.
        cpu: "max,-rdrand,-rdseed,-erms,-fsrm",
        dtb: None,
        change: None,
        is_new: false,
        memory: 768,
        port: VIRTIO,
        serials: &[Serial::Console],
        fixed_cpus: None,
        command_line: "console=ttyS0 nokaslr norandmaps",
        gpio_chips: 0,
        gpio_controllers: None,
        port_modules: &VIRTIO_MODULES,
    },
    EmulatedMachine {
        name: "arm64",
        about: "a Cortex-A53 on QEMU's machine virt",
        architecture: "aarch64",
        debian: "arm64",
        compiler: ("arm64", "aarch64-linux-gnu"),
        image: ARM64_IMAGE,
        qemu: "qemu-system-aarch64",
        // Random words in the device tree also depend on the seed, and vary the guest.
        hardware: "-machine virt,gic-version=3",
        cpu: "cortex-a53",
        dtb: None,
        change: None,
        is_new: false,
        memory: 768,
        port: VIRTIO,
        serials: &[Serial::Console],
        fixed_cpus: None,
        command_line: "console=ttyAMA0 nokaslr kpti=off randomize_kstack_offset=off",
        gpio_chips: 1,
        gpio_controllers: None,
        port_modules: &VIRTIO_MODULES,
    },
    EmulatedMachine {
        name: "arm",
        about: "a Cortex-A15 on QEMU's machine virt",
        architecture: "armv7l",
        debian: "armhf",
        compiler: ("arm", "arm-linux-gnueabihf"),
        image: ARM_IMAGE,
        qemu: "qemu-system-arm",
        // Debian's kernel cannot reach a PCI bus beyond 4 GiB.
        hardware: "-machine virt,highmem=off",
        cpu: "cortex-a15",
        dtb: None,
        change: None,
        is_new: false,
        memory: 768,
        port: VIRTIO,
        serials: &[Serial::Console],
        fixed_cpus: None,
        command_line: "console=ttyAMA0 nokaslr",
        gpio_chips: 1,
        gpio_controllers: None,
        port_modules: &VIRTIO_MODULES,
    },
    EmulatedMachine {
        name: "imx8mp-evk",
        about: "NXP's evaluation board of the i.MX 8M Plus, with one of its CPUs",
        architecture: "aarch64",
        debian: "arm64",
        compiler: ("arm64", "aarch64-linux-gnu"),
        image: ARM64_IMAGE,
        qemu: "qemu-system-aarch64",
        hardware: "-machine imx8mp-evk -nic none",
        cpu: "cortex-a53",
        dtb: Some("imx8mp-evk.dtb"),
        change: Some(DeviceTreeEdit::On("/soc@0/bus@30800000/serial@30860000")),
        is_new: true,
        memory: 2048,
        port: Port::Serial("/dev/ttymxc0"),
        serials: &[Serial::Stream, Serial::Console],
        fixed_cpus: None,
        command_line: "console=ttymxc1 nokaslr kpti=off randomize_kstack_offset=off",
        gpio_chips: 5,
        gpio_controllers: Some("/machine/soc/gpio"),
        port_modules: &[],
    },
    EmulatedMachine {
        name: "raspi3b",
        about: "a Raspberry Pi 3B with its four CPUs, in the host's time only",
        architecture: "aarch64",
        debian: "arm64",
        compiler: ("arm64", "aarch64-linux-gnu"),
        image: ARM64_IMAGE,
        qemu: "qemu-system-aarch64",
        hardware: "-machine raspi3b",
        cpu: "cortex-a53",
        dtb: Some("bcm2837-rpi-3-b.dtb"),
        // Otherwise Bluetooth keeps the interface that both can use.
        change: Some(DeviceTreeEdit::Away("/soc/serial@7e201000/bluetooth")),
        is_new: false,
        memory: 1024,
        port: Port::Serial("/dev/ttyAMA0"),
        serials: &[Serial::Stream, Serial::Console],
        fixed_cpus: Some(4),
        command_line: "console=ttyS1 nokaslr kpti=off",
        gpio_chips: 2,
        gpio_controllers: None,
        // Without the first it cannot be powered off.
        port_modules: &["bcm2835_wdt", "bcm2835_thermal"],
    },
];

/// The machine with this name.
pub fn find_machine(name: &str) -> Option<&'static EmulatedMachine> {
    MACHINES.iter().find(|machine| machine.name == name)
}

/// What a guest is started with.
#[derive(Clone, Copy, Debug)]
pub struct Boot<'a> {
    /// The guest's host name.
    pub name: &'a str,
    /// The kernel's image.
    pub kernel: &'a Path,
    /// The device tree, if QEMU has none.
    pub dtb: Option<&'a Path>,
    /// File for the kernel's messages.
    pub console: &'a Path,
    /// Seed of the guest's randomness.
    pub seed: u64,
    /// Memory in MiB.
    pub memory: u32,
    pub cpus: u32,
    /// What executes it; `None` for virtual time.
    pub accelerator: Option<Accelerator>,
    /// Open in the emulator; the process at the other end operates the board's wire.
    pub wire: Option<RawFd>,
}

/// What executes a guest in the host's time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accelerator {
    /// The host's own processor.
    Kvm,
    /// QEMU's translation.
    Tcg,
}

impl Accelerator {
    /// QEMU's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg",
        }
    }
}

impl EmulatedMachine {
    /// The emulator's arguments. It reads the initramfs from standard input, and writes the stream
    /// to standard output.
    pub fn arguments(&self, parts: Boot<'_>) -> Vec<String> {
        let Boot { name, kernel, dtb, console, seed, memory, cpus, accelerator, wire } = parts;
        let mut arguments = Arguments::default();
        arguments.words("-nodefaults -no-reboot -display none -monitor none");
        arguments.words(self.hardware);
        arguments.option("-smp", cpus);
        arguments.option("-m", memory);
        match accelerator {
            None if wire.is_some() => arguments.words(WITH_A_WIRE),
            None => arguments.words(VIRTUAL_TIME),
            Some(accelerator) => arguments.option("-accel", accelerator.name()),
        }
        let own = accelerator == Some(Accelerator::Kvm);
        arguments.option("-cpu", if own { "host" } else { self.cpu });
        arguments.option("-seed", seed & u64::from(u32::MAX));
        arguments.words("-rtc base=2020-01-01,clock=vm");
        // Output only: what the host sends would arrive at a time that the host determines.
        arguments.words("-chardev file,id=stream,path=/proc/self/fd/1");
        if let Port::Virtio(device) = self.port {
            arguments.option("-device", device);
            arguments.words("-device virtserialport,chardev=stream,name=latlab");
        }
        if let Some(wire) = wire {
            arguments.option("-chardev", format_args!("socket,id=wire,fd={wire}"));
            arguments.words("-object qtest,id=qtest,chardev=wire,log=none");
        }
        for serial in self.serials {
            let to = match serial {
                Serial::Console => format!("file:{}", escaped(console)),
                Serial::Stream => "chardev:stream".to_string(),
            };
            arguments.option("-serial", to);
        }
        arguments.option("-kernel", kernel.display());
        if let Some(dtb) = dtb {
            arguments.option("-dtb", dtb.display());
        }
        arguments.option("-initrd", "/proc/self/fd/0");
        let kernel = format!("{} {EVERYWHERE} hostname={name}", self.command_line);
        arguments.option("-append", kernel);
        arguments.0
    }
}

/// A comma ends an option of QEMU unless it is doubled.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

/// The arguments of a command being assembled.
#[derive(Default)]
struct Arguments(Vec<String>);

impl Arguments {
    /// Adds each word of a text.
    fn words(&mut self, text: &str) {
        self.0.extend(text.split_whitespace().map(str::to_string));
    }

    /// Adds an option with its value, which may contain blanks.
    fn option(&mut self, option: &str, value: impl Display) {
        self.0.extend([option.to_string(), value.to_string()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_one_cpu_and_counts_instructions() {
        for machine in MACHINES.iter().filter(|machine| machine.fixed_cpus.is_none()) {
            let path = Path::new("/a,b");
            let parts = Boot {
                name: "x",
                kernel: path,
                dtb: None,
                console: path,
                seed: 7,
                memory: machine.memory,
                cpus: 1,
                accelerator: None,
                wire: None,
            };
            let line = machine.arguments(parts).join(" ");
            assert!(line.contains("-smp 1") && line.contains(VIRTUAL_TIME), "{line}");
            let noisy = Boot { cpus: 2, accelerator: Some(Accelerator::Tcg), ..parts };
            let noisy = machine.arguments(noisy).join(" ");
            assert!(noisy.contains("-smp 2") && !noisy.contains("icount"), "{noisy}");
            assert!(line.contains("-seed 7") && line.contains("clock=vm"), "{line}");
            assert!(line.contains("-serial file:/a,,b"), "{line}");
            assert_eq!(super::find_machine(machine.name), Some(machine));
        }
    }
}
