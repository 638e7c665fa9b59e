//! The kernels of guests: Debian's, stock and with PREEMPT_RT, or the user's.

use crate::cache::{Apt, Cache, Package, find};
use crate::decompress::decompress;
use crate::devicetree::{MAGIC, edit};
use crate::error::{Error, Result};
use crate::machine::EmulatedMachine;
use latlab_model::target::KernelFiles;
use std::fmt::{self, Display, Formatter};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A kernel by its origin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kernel {
    Debian(DebianKernel),
    /// The user's files.
    Files(KernelFiles),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DebianKernel {
    /// Whether it has PREEMPT_RT.
    pub is_realtime: bool,
    pub series: &'static str,
}

/// A kernel that can be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    pub file: PathBuf,
    /// The device tree, if QEMU has none.
    pub dtb: Option<PathBuf>,
    /// Its origin, for people.
    pub origin: String,
    modules: Option<PathBuf>,
}

/// The series in Debian 12.
const SERIES: [&str; 2] = ["6.1", "6.12"];

/// All kernels of Debian, for any machine.
pub fn kernels() -> impl Iterator<Item = DebianKernel> {
    SERIES
        .into_iter()
        .flat_map(|series| [false, true].map(|is_realtime| DebianKernel { is_realtime, series }))
}

impl Display for DebianKernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", if self.is_realtime { "rt" } else { "stock" }, self.series)
    }
}

impl FromStr for DebianKernel {
    type Err = String;

    /// `stock` and `rt` are those of the oldest series.
    fn from_str(text: &str) -> std::result::Result<DebianKernel, String> {
        let whole =
            if text.contains('-') { text.to_string() } else { format!("{text}-{}", SERIES[0]) };
        kernels().find(|kernel| kernel.to_string() == whole).ok_or_else(|| {
            let known: Vec<String> = kernels().map(|kernel| kernel.to_string()).collect();
            format!("unknown kernel '{text}': expected stock, rt, {}", known.join(", "))
        })
    }
}

impl DebianKernel {
    fn cache_name(self, machine: &EmulatedMachine) -> String {
        format!("kernels/{}/{self}", machine.debian)
    }

    /// The kernel in the cache, if it is there.
    pub fn cached(self, machine: &EmulatedMachine, cache: &Cache) -> Option<Package> {
        cache.cached(&self.cache_name(machine))
    }

    /// Downloads it, or its newest version.
    pub(crate) fn fetch(self, machine: &EmulatedMachine, cache: &Cache) -> Result<Package> {
        let apt = Apt::prepare(cache, machine.debian)?;
        cache.fetch(&apt, &self.cache_name(machine), &|name| self.is_package(machine, name))
    }

    fn is_package(self, machine: &EmulatedMachine, name: &str) -> bool {
        let flavour = if machine.debian == "armhf" { "armmp" } else { machine.debian };
        let realtime = if self.is_realtime { "-rt" } else { "" };
        // Packages signed for secure boot have dependencies that a guest does not need.
        let unsigned = if machine.debian == "arm64" { "-unsigned" } else { "" };
        let end = format!("{realtime}-{flavour}{unsigned}");
        let begin = format!("linux-image-{}.", self.series);
        let version = name.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(&end));
        let plain = |version: &str| !version.contains("rt") && !version.contains("cloud");
        version.is_some_and(|version| {
            version.starts_with(|c: char| c.is_ascii_digit()) && plain(version)
        })
    }

    /// Where it is kept.
    pub(crate) fn folder(self, machine: &EmulatedMachine, cache: &Cache) -> Result<PathBuf> {
        Ok(self.package(machine, cache)?.folder)
    }

    /// The package of its headers.
    pub(crate) fn headers(self, machine: &EmulatedMachine, cache: &Cache) -> Result<String> {
        let image = self.package(machine, cache)?.name;
        Ok(image.replace("linux-image", "linux-headers").replace("-unsigned", ""))
    }

    fn package(self, machine: &EmulatedMachine, cache: &Cache) -> Result<Package> {
        let not_fetched = || Error::NotFetched { machine: machine.name, kernel: self.to_string() };
        self.cached(machine, cache).ok_or_else(not_fetched)
    }

    fn image(self, machine: &EmulatedMachine, cache: &Cache) -> Result<Image> {
        let package = self.package(machine, cache)?;
        let within = |fits: &dyn Fn(&str) -> bool| find(&package.folder, fits);
        let file = within(&|name| name.starts_with("vmlinuz-"));
        let packed = file.ok_or_else(|| Error::NoImage(package.folder.clone()))?;
        let unpacked = if machine.debian == "amd64" { decompress(&packed)? } else { None };
        let mut dtb = machine.dtb.and_then(|dtb| within(&|name| name == dtb));
        if let (Some(tree), Some(change)) = (&dtb, machine.change) {
            dtb = Some(edit(tree, change)?);
        }
        Ok(Image {
            file: unpacked.unwrap_or(packed),
            dtb,
            origin: format!("{} {}", package.name, package.version),
            modules: Some(package.folder),
        })
    }
}

/// Checks that the files can start such a machine; an error is one line.
pub(crate) fn check_files(
    files: &KernelFiles,
    machine: &EmulatedMachine,
) -> std::result::Result<(), String> {
    let KernelFiles { image, dtb, .. } = files;
    let read = |path: &Path| {
        let mut head = Vec::new();
        let file = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
        file.map(|_| head).map_err(|error| format!("cannot read '{}': {error}", path.display()))
    };
    let head = read(image)?;
    let is_there =
        |(at, mark): &(usize, &[u8])| head.get(*at..).is_some_and(|at| at.starts_with(mark));
    if !machine.image.marks.iter().any(is_there) {
        return Err(format!(
            "'{}' is not a kernel for {}: expected {}",
            image.display(),
            machine.name,
            machine.image.name
        ));
    }
    match dtb {
        Some(dtb) if !read(dtb)?.starts_with(&MAGIC.to_be_bytes()) => {
            Err(format!("'{}' is not a compiled device tree", dtb.display()))
        }
        _ => Ok(()),
    }
}

/// Number of first bytes of a kernel that are examined.
const HEAD: u64 = 4096;

impl Kernel {
    /// The image to start a guest with.
    pub fn image(&self, machine: &EmulatedMachine, cache: &Cache) -> Result<Image> {
        match self {
            Kernel::Debian(kernel) => kernel.image(machine, cache),
            Kernel::Files(KernelFiles { image, modules, dtb }) => Ok(Image {
                file: image.clone(),
                dtb: dtb.clone(),
                origin: image.display().to_string(),
                modules: modules.clone(),
            }),
        }
    }
}

impl Image {
    /// The file of a module; `None` if it is built into the kernel or does not exist.
    pub fn module(&self, name: &str) -> Option<PathBuf> {
        find(self.modules.as_ref()?, &|file| {
            let stem = file.split(".ko").next().unwrap_or(file);
            file.contains(".ko") && stem.replace('-', "_") == name
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::find_machine;

    #[test]
    fn kernels_are_named_and_found_among_packages() {
        let rt: DebianKernel = "rt".parse().unwrap();
        assert_eq!(rt.to_string(), "rt-6.1");
        let stock: DebianKernel = "stock-6.12".parse().unwrap();
        assert!(
            "6.1".parse::<DebianKernel>().unwrap_err().contains("stock-6.1, rt-6.1, stock-6.12")
        );
        let (x86, arm) = (find_machine("x86-64").unwrap(), find_machine("arm").unwrap());
        assert!(rt.is_package(x86, "linux-image-6.1.0-50-rt-amd64"));
        for other in [
            "linux-image-6.1.0-50-amd64",
            "linux-image-6.1.0-50-rt-amd64-dbg",
            "linux-image-6.12.117+deb12-rt-amd64",
            "linux-image-6.1.0-50-rt-amd64-unsigned",
        ] {
            assert!(!rt.is_package(x86, other), "{other}");
        }
        assert!(stock.is_package(x86, "linux-image-6.12.117+deb12-amd64"));
        assert!(!stock.is_package(x86, "linux-image-6.12.117+deb12-cloud-amd64"));
        assert!(!stock.is_package(x86, "linux-image-6.12.117+deb12-rt-amd64"));
        assert!(stock.is_package(arm, "linux-image-6.12.117+deb12-armmp"));
    }
}
