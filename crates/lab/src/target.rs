//! A guest by its name.

use crate::cache::Cache;
use crate::kernel::{Kernel, Own};
use crate::machine::{MACHINES, Machine, machine};
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Least memory that a kernel starts with, and which it alone needs nearly all, in MiB.
pub const LEAST_MEMORY: u32 = 96;
/// More than any host has for a guest, in MiB.
const MOST_MEMORY: u32 = 65_536;
/// More CPUs than these make nothing clearer.
const MOST_CPUS: u32 = 64;

/// A machine with a kernel: `lab:MACHINE/KERNEL`, and behind commas what is not as usual.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// The machine.
    pub machine: &'static Machine,
    /// Its kernel.
    pub kernel: Kernel,
    /// Its memory in MiB.
    pub memory: u32,
    /// Its CPUs.
    pub cpus: u32,
    /// Whether its time is that of the host.
    pub realtime: bool,
    /// Whether it runs on the newer QEMU of Debian's backports, whatever the host has.
    pub new_qemu: bool,
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "lab:{}", self.machine.name)?;
        match &self.kernel {
            Kernel::Debian(kernel) => write!(f, "/{kernel}")?,
            Kernel::Own(Own { image, modules, dtb }) => {
                write!(f, ",kernel={}", image.display())?;
                for (key, path) in [("modules", modules), ("dtb", dtb)] {
                    path.iter().try_for_each(|path| write!(f, ",{key}={}", path.display()))?;
                }
            }
        }
        if self.memory != self.machine.memory {
            write!(f, ",memory={}", self.memory)?;
        }
        if self.new_qemu {
            write!(f, ",new-qemu")?;
        }
        if self.realtime {
            write!(f, ",realtime")?;
        }
        if self.cpus != self.machine.fixed_cpus.unwrap_or(1) {
            write!(f, ",smp={}", self.cpus)?;
        }
        Ok(())
    }
}

impl Target {
    /// Whether its emulator is the newer one, because somebody says so or its machine needs it.
    pub(crate) fn has_new_emulator(&self) -> bool {
        self.new_qemu || self.machine.is_new
    }

    /// Whether its kernel is here.
    pub fn is_here(&self, cache: &Cache) -> bool {
        self.kernel.image(self.machine, cache).is_ok()
    }
}

/// What the words behind a machine's name say.
#[derive(Default)]
struct Words {
    own: Option<PathBuf>,
    modules: Option<PathBuf>,
    dtb: Option<PathBuf>,
    memory: Option<u32>,
    cpus: Option<u32>,
    realtime: bool,
    new_qemu: bool,
}

impl Words {
    fn read<'a>(words: impl Iterator<Item = &'a str>) -> std::result::Result<Words, String> {
        let mut read = Words::default();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            match key {
                "kernel" => read.own = Some(file(value)?),
                "modules" => read.modules = Some(folder(value)?),
                "dtb" => read.dtb = Some(file(value)?),
                "memory" => read.memory = Some(number(word, value, LEAST_MEMORY, MOST_MEMORY)?),
                "smp" => read.cpus = Some(number(word, value, 1, MOST_CPUS)?),
                "realtime" => read.realtime = true,
                "new-qemu" => read.new_qemu = true,
                _ => {
                    return Err(format!(
                        "'{word}': expected memory=MIB, new-qemu, realtime, smp=N, \
                         kernel=IMAGE, modules=DIR or dtb=FILE"
                    ));
                }
            }
        }
        Ok(read)
    }

    /// The kernel of a name, or the one of the files.
    fn kernel(&mut self, name: Option<&str>) -> std::result::Result<Kernel, String> {
        let (modules, dtb) = (self.modules.take(), self.dtb.take());
        match (name, self.own.take()) {
            (None, Some(image)) => Ok(Kernel::Own(Own { image, modules, dtb })),
            (Some(name), None) if modules.is_none() && dtb.is_none() => {
                name.parse().map(Kernel::Debian)
            }
            (Some(_), None) => Err("--modules and --dtb go with --kernel".to_string()),
            (Some(name), Some(_)) => {
                Err(format!("there are two kernels: leave '/{name}' or --kernel out"))
            }
            (None, None) => Err("expected lab:MACHINE/KERNEL, such as lab:x86-64/rt, or a kernel \
                                 of one's own by --kernel IMAGE"
                .to_string()),
        }
    }
}

fn file(text: &str) -> std::result::Result<PathBuf, String> {
    match Path::new(text).is_file() {
        true => Ok(text.into()),
        false => Err(format!("there is no file '{text}'")),
    }
}

fn folder(text: &str) -> std::result::Result<PathBuf, String> {
    match Path::new(text).is_dir() {
        true => Ok(text.into()),
        false => Err(format!("there is no folder '{text}'")),
    }
}

fn number(word: &str, value: &str, least: u32, most: u32) -> std::result::Result<u32, String> {
    let number = value.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("'{word}': expected {least} to {most}"))
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Target, String> {
        let wrong = |why: String| format!("'{text}': {why}");
        let mut words = text.strip_prefix("lab:").unwrap_or(text).split(',');
        let guest = words.next().unwrap_or_default();
        let (name, kernel) = match guest.split_once('/') {
            Some((name, kernel)) => (name, Some(kernel)),
            None => (guest, None),
        };
        let machine = machine(name).ok_or_else(|| {
            let known: Vec<&str> = MACHINES.iter().map(|machine| machine.name).collect();
            format!("'{name}' is no machine of the lab: expected {}", known.join(", "))
        })?;
        let mut words = Words::read(words).map_err(wrong)?;
        let kernel = words.kernel(kernel).map_err(wrong)?;
        if let Kernel::Own(own) = &kernel {
            own.check(machine).map_err(wrong)?;
        }
        let realtime = words.realtime;
        let cpus = match (machine.fixed_cpus, words.cpus) {
            (Some(fixed), Some(asked)) if asked != fixed => {
                return Err(wrong(format!("{name} has {fixed} CPUs: leave --smp {asked} out")));
            }
            (Some(fixed), _) if !realtime => {
                return Err(wrong(format!(
                    "{name} has {fixed} CPUs, and in virtual time more than one make nonsense of \
                     latencies: add --realtime"
                )));
            }
            (fixed, asked) => fixed.or(asked).unwrap_or(1),
        };
        if cpus > 1 && !realtime {
            return Err(wrong(format!(
                "in virtual time a guest has one CPU, because more make nonsense of latencies: \
                 leave --smp {cpus} out, or add --realtime"
            )));
        }
        let memory = words.memory.unwrap_or(machine.memory);
        Ok(Target { machine, kernel, memory, cpus, realtime, new_qemu: words.new_qemu })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn targets_are_written_as_they_are_read() {
        let target: Target = "lab:arm64/rt".parse().unwrap();
        assert_eq!(target.to_string(), "lab:arm64/rt-6.1");
        assert_eq!("arm64/rt-6.1".parse(), Ok(target));
        for text in [
            "lab:x86-64/stock-6.12,memory=96",
            "lab:x86-64/rt-6.1,realtime,smp=2",
            "lab:raspi3b/rt-6.1,realtime",
            "lab:x86-64/rt-6.1,new-qemu",
        ] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        for (text, says) in [
            ("lab:x86-64", "expected lab:MACHINE/KERNEL"),
            ("lab:vax/rt", "expected x86-64, arm64, arm, imx8mp-evk, raspi3b"),
            ("lab:raspi3b/rt", "add --realtime"),
            ("lab:raspi3b/rt,realtime,smp=2", "has 4 CPUs"),
            ("lab:arm64/5.4", "expected stock, rt, stock-6.1"),
            ("lab:arm64/rt,smp=2", "one CPU, because more make nonsense of latencies"),
            ("lab:arm64/rt,memory=9", "expected 96 to 65536"),
            ("lab:arm64/rt,colour=red", "expected memory=MIB, new-qemu"),
            ("lab:arm64/rt,kernel=/proc/version", "two kernels"),
            ("lab:arm64,kernel=/no/such", "no file '/no/such'"),
            ("lab:arm64,kernel=/usr", "no file '/usr'"),
        ] {
            let error = text.parse::<Target>().unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_kernel_of_ones_own_is_looked_at_before_it_is_started() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).display().to_string();
        let put = |name: &str, bytes: &[u8]| fs::write(place(name), bytes).unwrap();
        let mut zimage = vec![0; 0x100];
        zimage[0x24..0x28].copy_from_slice(&0x016f_2818_u32.to_le_bytes());
        put("zImage", &zimage);
        put("notes", b"no kernel");
        put("board.dtb", &0xd00d_feed_u32.to_be_bytes());
        let (image, tree, all) = (place("zImage"), place("board.dtb"), place(""));
        let whole = format!("lab:arm,kernel={image},modules={all},dtb={tree}");
        assert_eq!(whole.parse::<Target>().unwrap().to_string(), whole);
        let notes = place("notes");
        for (text, says) in [
            (format!("lab:arm,kernel={notes}"), "is no kernel for arm: expected a zImage"),
            (format!("lab:arm64,kernel={image}"), "is no kernel for arm64: expected an Image"),
            (format!("lab:x86-64,kernel={image}"), "expected a bzImage or a vmlinux"),
            (format!("lab:arm,kernel={image},dtb={notes}"), "is no device tree"),
            (format!("lab:arm,kernel={image},modules={notes}"), "there is no folder"),
        ] {
            let error = text.parse::<Target>().unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
