//! Kernel modules: built against the headers of the guest's kernel, and cached.

use crate::cache::{Apt, Cache, HOST, hex, make_whole, output_of};
use crate::config::GuestConfig;
use crate::error::{Error, Result};
use crate::kernel::{DebianKernel, Kernel};
use crate::machine::EmulatedMachine;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where packages of headers expect to be installed.
const INSTALLED: &str = "/usr/src";
/// The same, relative to the folder that they are unpacked in.
const SOURCES: &str = "usr/src";

/// A module with one source file.
pub struct Module<'a> {
    /// Its name, and that of its file without the extension.
    pub name: &'a str,
    pub source: &'a str,
}

/// The module that keeps a guest's interrupts off.
pub const IRQS_OFF: Module<'_> =
    Module { name: "irqs_off", source: include_str!("../module/irqs_off.c") };

impl Module<'_> {
    /// The module for this guest, built if it is not cached.
    pub fn build(&self, config: &GuestConfig, cache: &Cache) -> Result<PathBuf> {
        let Kernel::Debian(kernel) = &config.kernel else {
            return Err(Error::NoHeaders { module: self.name.to_string() });
        };
        let sha256 = hex(&Sha256::digest(self.source));
        let kept = format!("modules/{}-{}", self.name, &sha256[..16]);
        let folder = kernel.folder(config.machine, cache)?.join(kept);
        let module = folder.join(format!("{}.ko", self.name));
        if !module.exists() {
            make_whole(&folder, |beside| self.build_in(beside, *kernel, config.machine, cache))?;
        }
        Ok(module)
    }

    fn build_in(
        &self,
        folder: &Path,
        kernel: DebianKernel,
        machine: &EmulatedMachine,
        cache: &Cache,
    ) -> Result<()> {
        let headers = headers(kernel, machine, cache)?;
        let name = self.name;
        let kbuild = format!("obj-m := {name}.o\n");
        for (file, text) in [(format!("{name}.c"), self.source), ("Kbuild".into(), &kbuild)] {
            let file = folder.join(file);
            fs::write(&file, text).map_err(Error::io("write", &file))?;
        }
        let mut make = make();
        make.arg("-s").arg("-C").arg(headers).arg(format!("M={}", folder.display())).arg("modules");
        if machine.architecture != std::env::consts::ARCH {
            let (name, tools) = machine.compiler;
            make.arg(format!("ARCH={name}")).arg(format!("CROSS_COMPILE={tools}-"));
        }
        // BTF for modules needs another program, and is not used here.
        make.arg("CONFIG_DEBUG_INFO_BTF_MODULES=");
        run_make(&mut make, name, machine)
    }
}

/// Runs make for a machine; an error names the first one, which causes the others.
pub(crate) fn run_make(make: &mut Command, what: &str, machine: &EmulatedMachine) -> Result<()> {
    let missing = |error| Error::Missing { program: "make".to_string(), error };
    let output = make.output().map_err(missing)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let tells =
        |line: &&str| ["rror", "not found", "No such file"].iter().any(|word| line.contains(word));
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let said = lines.clone().find(tells).or(lines.next()).unwrap_or("make printed nothing");
    let compiler = match machine.architecture == std::env::consts::ARCH {
        true => "gcc".to_string(),
        false => format!("gcc-{}", machine.compiler.1),
    };
    Err(Error::NotBuilt { what: what.to_string(), said: said.to_string(), compiler })
}

/// make without the environment of an outer make.
pub(crate) fn make() -> Command {
    let mut make = Command::new("make");
    for variable in ["MAKEFLAGS", "MAKELEVEL", "MFLAGS"] {
        make.env_remove(variable);
    }
    make
}

/// The build folder of downloaded and unpacked headers.
fn headers(kernel: DebianKernel, machine: &EmulatedMachine, cache: &Cache) -> Result<PathBuf> {
    let package = kernel.headers(machine, cache)?;
    let folder = cache.folder().join("headers").join(machine.debian).join(&package);
    let sources = folder.join(SOURCES);
    if !folder.exists() {
        make_whole(&folder, |beside| {
            unpack_headers(&package, machine, cache, beside)?;
            // Their final paths, not the present ones.
            let makefile = beside.join(SOURCES).join(&package).join("Makefile");
            let text = fs::read_to_string(&makefile).map_err(Error::io("read", &makefile))?;
            let text = text.replace(INSTALLED, &sources.display().to_string());
            fs::write(&makefile, text).map_err(Error::io("write", &makefile))
        })?;
    }
    Ok(sources.join(&package))
}

/// Unpacks a package of headers, and those needed to build with it, into a folder.
fn unpack_headers(
    package: &str,
    machine: &EmulatedMachine,
    cache: &Cache,
    folder: &Path,
) -> Result<()> {
    let apt = Apt::prepare(cache, machine.debian)?;
    let file = apt.download(package, None)?;
    let needed = output_of(Command::new("dpkg-deb").arg("-f").arg(&file).arg("Depends"))?;
    unpack(&file, folder)?;
    let needed = needed.split(',').filter_map(|one| one.split_whitespace().next());
    for name in needed {
        // Its programs run on the host, whose packages are already locked if the guest's
        // architecture is the same.
        let is_foreign = name.starts_with("linux-kbuild") && machine.debian != HOST;
        let own = is_foreign.then(|| Apt::prepare(cache, HOST)).transpose()?;
        if ["linux-kbuild", "linux-headers"].iter().any(|begin| name.starts_with(begin)) {
            unpack(&own.as_ref().unwrap_or(&apt).download(name, None)?, folder)?;
        }
    }
    Ok(())
}

fn unpack(file: &Path, folder: &Path) -> Result<()> {
    output_of(Command::new("dpkg-deb").arg("-x").arg(file).arg(folder))?;
    // Failure is harmless: the file can be downloaded again.
    let _ = fs::remove_file(file);
    Ok(())
}
