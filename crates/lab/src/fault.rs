//! The kernel module that keeps a guest's interrupts off: built here, against the headers of the
//! guest's kernel.

use crate::cache::{Apt, Cache, HOST, output_of};
use crate::config::GuestConfig;
use crate::error::{Error, Result};
use crate::kernel::{DebianKernel, Kernel};
use crate::machine::EmulatedMachine;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("../module/irqs_off.c");
const NAME: &str = "irqs_off";
/// Where packages of headers expect to lie.
const INSTALLED: &str = "/usr/src";

/// The module for this guest, which is built if it is not here.
pub fn build_module(config: &GuestConfig, cache: &Cache) -> Result<PathBuf> {
    let Kernel::Debian(kernel) = &config.kernel else { return Err(Error::NoHeaders) };
    let folder = kernel.folder(config.machine, cache)?.join("fault");
    let module = folder.join(format!("{NAME}.ko"));
    if !module.exists() {
        build(*kernel, config.machine, cache, &folder)?;
    }
    Ok(module)
}

fn build(
    kernel: DebianKernel,
    machine: &EmulatedMachine,
    cache: &Cache,
    folder: &Path,
) -> Result<()> {
    let headers = headers(kernel, machine, cache)?;
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    for (name, text) in [("irqs_off.c", SOURCE), ("Kbuild", "obj-m := irqs_off.o\n")] {
        let file = folder.join(name);
        fs::write(&file, text).map_err(Error::io("write", &file))?;
    }
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(headers).arg(format!("M={}", folder.display())).arg("modules");
    if machine.architecture != std::env::consts::ARCH {
        let (name, tools) = machine.compiler;
        make.arg(format!("ARCH={name}")).arg(format!("CROSS_COMPILE={tools}-"));
    }
    output_of(&mut make).map(drop)
}

/// The folder to build in, of headers that were got and unpacked.
fn headers(kernel: DebianKernel, machine: &EmulatedMachine, cache: &Cache) -> Result<PathBuf> {
    let package = kernel.headers(machine, cache)?;
    let folder = cache.folder().join("headers").join(machine.debian).join(kernel.to_string());
    let sources = folder.join("usr/src");
    let build = sources.join(&package);
    let makefile = build.join("Makefile");
    if makefile.exists() {
        return Ok(build);
    }
    let apt = Apt::prepare(cache, machine.debian)?;
    let file = apt.download(&package, None)?;
    let needed = output_of(Command::new("dpkg-deb").arg("-f").arg(&file).arg("Depends"))?;
    unpack(&file, &folder)?;
    let needed = needed.split(',').filter_map(|one| one.split_whitespace().next());
    for name in needed {
        // Its programs run on the host.
        let own =
            name.starts_with("linux-kbuild").then(|| Apt::prepare(cache, HOST)).transpose()?;
        if own.is_some() || name.starts_with("linux-headers") {
            unpack(&own.as_ref().unwrap_or(&apt).download(name, None)?, &folder)?;
        }
    }
    let text = fs::read_to_string(&makefile).map_err(Error::io("read", &makefile))?;
    let text = text.replace(INSTALLED, &sources.display().to_string());
    fs::write(&makefile, text).map_err(Error::io("write", &makefile))?;
    Ok(build)
}

fn unpack(file: &Path, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    output_of(Command::new("dpkg-deb").arg("-x").arg(file).arg(folder))?;
    // It can be had again.
    let _ = fs::remove_file(file);
    Ok(())
}
