//! The machines that guests run on: what QEMU is asked for so that two runs are alike to the
//! last bit, and what the kernel is told.

use crate::devicetree::DeviceTreeEdit;
use std::fmt::Display;
use std::os::fd::RawFd;
use std::path::Path;

/// One instruction is one nanosecond, and idle time passes at once.
const VIRTUAL_TIME: &str = "-accel tcg -icount shift=0,sleep=off";

/// The same, but that idle time passes as on the host: what comes from there would find the guest at its
/// next timer.
const WITH_A_WIRE: &str = "-accel tcg -icount shift=0,sleep=on";

/// What every kernel is told. Its tests of its own ciphers are over on a board when its programs start; where
/// time has no jitter, that of the jitter generator of 6.12 goes on beside a load for seconds.
const EVERYWHERE: &str = "quiet panic=-1 cryptomgr.notests";

/// A kind of machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EmulatedMachine {
    /// Its name in `lab:NAME/KERNEL`.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// How `uname -m` calls its processor.
    pub architecture: &'static str,
    /// How Debian calls it.
    pub debian: &'static str,
    /// How the kernel calls it, and what its compilers' names begin with.
    pub compiler: (&'static str, &'static str),
    /// What its kernels come as.
    pub image: ImageFormat,
    /// The emulator.
    pub qemu: &'static str,
    /// What makes it this machine, and the same each time.
    hardware: &'static str,
    /// Its processor.
    cpu: &'static str,
    /// The description of it among the kernel's files, where QEMU has none.
    pub dtb: Option<&'static str>,
    /// What is changed of it for the sake of the port.
    pub change: Option<DeviceTreeEdit>,
    /// Whether Debian's own emulator does not know it, but the one of its backports does.
    pub is_new: bool,
    /// Its memory unless somebody says otherwise, in MiB.
    pub memory: u32,
    /// The port to the host.
    pub port: Port,
    /// What its serial interfaces are for, from the first on.
    serials: &'static [Serial],
    /// How many CPUs it has, whoever asks for another number; then it has no virtual time.
    pub fixed_cpus: Option<u32>,
    /// What the kernel is told.
    command_line: &'static str,
    /// GPIO chips that its kernel finds by itself.
    pub gpio_chips: u32,
    /// How QEMU calls their controllers, but for a number from 1 on; none where no wire can be led to them.
    pub gpio_controllers: Option<&'static str>,
    /// Modules that the port needs, in their order, where the kernel has not built them in.
    pub port_modules: &'static [&'static str],
}

/// What the stream goes through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Port {
    /// A device of QEMU's for this.
    Virtio(&'static str),
    /// A serial interface, by its name in the guest.
    Serial(&'static str),
}

/// What a serial interface is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Serial {
    /// What the kernel says.
    Console,
    /// The port to the host.
    Stream,
}

// With ioeventfd the host's scheduler would decide when a write ends.
const VIRTIO: Port = Port::Virtio("virtio-serial-pci,ioeventfd=off");

/// What a kernel's image is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageFormat {
    /// Its name.
    pub name: &'static str,
    /// Places and what stands at one of them, by the boot protocols of Linux in Documentation/arch;
    /// gzip's and U-Boot's own marks are others.
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
        // In virtual time a string instruction with a byte count takes a nanosecond for each byte,
        // so the kernel is not to use them.
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
        // Random words in the machine's description are of the seed as well, and vary the guest.
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
        // Else it keeps the interface that both can use.
        change: Some(DeviceTreeEdit::Away("/soc/serial@7e201000/bluetooth")),
        is_new: false,
        memory: 1024,
        port: Port::Serial("/dev/ttyAMA0"),
        serials: &[Serial::Stream, Serial::Console],
        fixed_cpus: Some(4),
        command_line: "console=ttyS1 nokaslr kpti=off",
        gpio_chips: 2,
        gpio_controllers: None,
        // Without the first it cannot be turned off.
        port_modules: &["bcm2835_wdt", "bcm2835_thermal"],
    },
];

/// The machine of this name.
pub fn find_machine(name: &str) -> Option<&'static EmulatedMachine> {
    MACHINES.iter().find(|machine| machine.name == name)
}

/// What a guest is started with.
#[derive(Clone, Copy, Debug)]
pub struct Boot<'a> {
    /// What the guest calls itself.
    pub name: &'a str,
    /// The kernel's image.
    pub kernel: &'a Path,
    /// The description of the machine, where QEMU has none of its own.
    pub dtb: Option<&'a Path>,
    /// Where the kernel's messages go.
    pub console: &'a Path,
    /// What the guest's randomness grows from.
    pub seed: u64,
    /// Memory in MiB.
    pub memory: u32,
    /// CPUs.
    pub cpus: u32,
    /// What it runs by; none means in virtual time.
    pub accelerator: Option<Accelerator>,
    /// Open in the emulator: whoever is at the other end holds the wire of a board.
    pub wire: Option<RawFd>,
}

/// What a guest runs by where its time is that of the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Accelerator {
    /// The host's own processor.
    Kvm,
    /// QEMU's translation.
    Tcg,
}

impl Accelerator {
    /// Its name, as QEMU has it.
    pub fn name(self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg => "tcg",
        }
    }
}

impl EmulatedMachine {
    /// The arguments of the emulator. The initial file system goes into its standard input,
    /// the stream comes out of its standard output.
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
        // Only out: what the host sends arrives when the host likes.
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

/// A comma ends an option of QEMU, unless it stands there twice.
fn escaped(path: &Path) -> String {
    path.display().to_string().replace(',', ",,")
}

/// The arguments of a command, as they are put together.
#[derive(Default)]
struct Arguments(Vec<String>);

impl Arguments {
    /// Adds each word of a text.
    fn words(&mut self, text: &str) {
        self.0.extend(text.split_whitespace().map(str::to_string));
    }

    /// Adds an option with its value, which may hold blanks.
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
