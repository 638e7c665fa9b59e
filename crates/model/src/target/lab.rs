//! A guest of the laboratory: machine, kernel and options.

use super::{Target, short_name};
use std::fmt::{self, Display, Formatter};
use std::path::PathBuf;
use std::str::FromStr;

/// Prefix of a guest's text.
pub(super) const LAB: &str = "lab:";

/// Least memory in MiB with which a kernel starts; it uses nearly all of that.
pub const LEAST_MEMORY: u32 = 96;

/// A guest as requested; only the laboratory knows which machines and kernels exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabTarget {
    /// Machine name: `x86-64`.
    pub machine: String,
    /// Kernel of the guest.
    pub kernel: LabKernel,
    /// Memory in MiB; `None` for the machine's default.
    pub memory: Option<u32>,
    /// Number of CPUs; `None` for the machine's default.
    pub cpus: Option<u32>,
    /// Whether it runs in the host's time instead of virtual time.
    pub realtime: bool,
    /// Whether it runs on the newer QEMU of Debian's backports, whichever the host has.
    pub new_qemu: bool,
}

/// The kernel of a lab target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LabKernel {
    /// Name of a kernel that the laboratory fetches: `rt-6.1`.
    Named(String),
    /// A kernel supplied by the user.
    Files(KernelFiles),
}

/// Files of a kernel.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct KernelFiles {
    /// Kernel image.
    pub image: PathBuf,
    /// Parent folder of its modules.
    pub modules: Option<PathBuf>,
    /// Device tree, for machines without one in QEMU.
    pub dtb: Option<PathBuf>,
}

/// Options of a guest: those after its name, or the flags of a command.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LabOptions {
    /// Image of the user's kernel.
    pub image: Option<PathBuf>,
    /// Folder with its modules.
    pub modules: Option<PathBuf>,
    /// Its device tree.
    pub dtb: Option<PathBuf>,
    /// Memory in MiB.
    pub memory: Option<u32>,
    /// Number of CPUs.
    pub cpus: Option<u32>,
    /// Whether to run in the host's time.
    pub realtime: bool,
    /// Whether to use the newer QEMU.
    pub new_qemu: bool,
}

impl LabTarget {
    pub(super) fn with_options(text: &str, options: LabOptions) -> Result<LabTarget, String> {
        let mut words = short_name(text).split(',');
        let name = words.next().unwrap_or_default();
        let (machine, kernel) = match name.split_once('/') {
            Some((machine, kernel)) => (machine, Some(kernel)),
            None => (name, None),
        };
        let LabOptions { image, modules, dtb, memory, cpus, realtime, new_qemu } =
            LabOptions::read(words)?.replaced_by(options);
        for path in [&image, &modules, &dtb].into_iter().flatten() {
            if path.to_str().is_none_or(|path| path.is_empty() || path.contains(',')) {
                let path = path.display();
                return Err(format!("'{path}': expected a path in UTF-8 without a comma"));
            }
        }
        let kernel = match (kernel, image) {
            (None, Some(image)) => LabKernel::Files(KernelFiles { image, modules, dtb }),
            (Some(_), None) if modules.is_some() || dtb.is_some() => {
                return Err("--modules and --dtb need --kernel".to_string());
            }
            (Some(name), None) => LabKernel::Named(name.to_string()),
            (Some(name), Some(_)) => {
                return Err(format!("two kernels: omit '/{name}' or --kernel"));
            }
            (None, None) => {
                return Err("no kernel: expected lab:MACHINE/KERNEL, such as lab:x86-64/rt, or \
                            your own kernel with --kernel IMAGE"
                    .to_string());
            }
        };
        Ok(LabTarget { machine: machine.to_string(), kernel, memory, cpus, realtime, new_qemu })
    }

    /// Part of a file name that identifies the guest.
    pub fn file_name(&self) -> String {
        short_name(&self.to_string()).replace(['/', ','], "-")
    }
}

impl LabOptions {
    fn read<'a>(words: impl Iterator<Item = &'a str>) -> Result<LabOptions, String> {
        let mut options = LabOptions::default();
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let path = || Some(PathBuf::from(value));
            let number = || {
                let number: Result<u32, _> = value.parse();
                number.map(Some).map_err(|_| format!("'{word}': expected a whole number"))
            };
            match key {
                "kernel" => options.image = path(),
                "modules" => options.modules = path(),
                "dtb" => options.dtb = path(),
                "memory" => options.memory = number()?,
                "smp" => options.cpus = number()?,
                "realtime" => options.realtime = true,
                "new-qemu" => options.new_qemu = true,
                _ => {
                    return Err(format!(
                        "unknown option '{word}': expected memory=MIB, new-qemu, realtime, smp=N, \
                         kernel=IMAGE, modules=DIR or dtb=FILE"
                    ));
                }
            }
        }
        Ok(options)
    }

    fn replaced_by(self, other: LabOptions) -> LabOptions {
        LabOptions {
            image: other.image.or(self.image),
            modules: other.modules.or(self.modules),
            dtb: other.dtb.or(self.dtb),
            memory: other.memory.or(self.memory),
            cpus: other.cpus.or(self.cpus),
            realtime: other.realtime || self.realtime,
            new_qemu: other.new_qemu || self.new_qemu,
        }
    }
}

impl FromStr for LabTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<LabTarget, String> {
        match text.parse()? {
            Target::Lab(target) => Ok(target),
            Target::Local | Target::Board(_) | Target::Labgrid(_) => {
                Err("expected MACHINE/KERNEL, such as x86-64/rt".to_string())
            }
        }
    }
}

impl Display for LabTarget {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{LAB}{}", self.machine)?;
        match &self.kernel {
            LabKernel::Named(kernel) => write!(f, "/{kernel}")?,
            LabKernel::Files(KernelFiles { image, modules, dtb }) => {
                write!(f, ",kernel={}", image.display())?;
                for (key, path) in [("modules", modules), ("dtb", dtb)] {
                    path.iter().try_for_each(|path| write!(f, ",{key}={}", path.display()))?;
                }
            }
        }
        self.memory.iter().try_for_each(|memory| write!(f, ",memory={memory}"))?;
        for (option, is_set) in [("new-qemu", self.new_qemu), ("realtime", self.realtime)] {
            if is_set {
                write!(f, ",{option}")?;
            }
        }
        self.cpus.iter().try_for_each(|cpus| write!(f, ",smp={cpus}"))
    }
}
