//! QEMU: that of the host, or a newer one from Debian's backports, unpacked and not installed.

use crate::cache::{Apt, BACKPORTS, Cache, HOST, ran};
use crate::error::{Error, Result};
use crate::machine::Machine;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Where a newer one is kept.
const KEPT_AS: &str = "qemu";
/// The emulator for Arm, with what it needs of its own version.
const PACKAGES: [&str; 3] = ["qemu-system-data", "qemu-system-common", "qemu-system-arm"];

fn folder(cache: &Cache) -> PathBuf {
    cache.folder().join(KEPT_AS)
}

/// Gets the newer one, where a machine needs it and it is not here.
pub fn fetch(machine: &Machine, cache: &Cache) -> Result<()> {
    let (folder, beside) = (folder(cache), cache.folder().join(format!("{KEPT_AS}.new")));
    if !machine.is_new || folder.exists() {
        return Ok(());
    }
    if beside.exists() {
        fs::remove_dir_all(&beside).map_err(Error::io("remove", &beside))?;
    }
    fs::create_dir_all(&beside).map_err(Error::io("create", &beside))?;
    let apt = Apt::prepare(cache, HOST)?;
    for package in PACKAGES {
        let file = apt.download(package, Some(BACKPORTS))?;
        ran(Command::new("dpkg-deb").arg("-x").arg(&file).arg(&beside))?;
        // It can be had again.
        let _ = fs::remove_file(file);
    }
    fs::rename(&beside, &folder).map_err(Error::io("create", &folder))
}

/// The emulator of a machine.
pub fn command(machine: &Machine, cache: &Cache) -> Command {
    if !machine.is_new {
        return Command::new(machine.qemu);
    }
    let folder = folder(cache);
    let mut command = Command::new(folder.join("usr/bin").join(machine.qemu));
    // Those of another version, which may be installed, it refuses.
    command.env("QEMU_MODULE_DIR", folder.join("usr/lib/modules"));
    command.arg("-L").arg(folder.join("usr/share/qemu"));
    command
}

/// What the emulator says of itself.
pub fn version(machine: &Machine, cache: &Cache) -> Result<String> {
    let qemu = machine.qemu;
    let package = if qemu.ends_with("x86_64") { "qemu-system-x86" } else { "qemu-system-arm" };
    let output = command(machine, cache).arg("--version").output();
    let missing = |error| match machine.is_new {
        true => Error::NoNewEmulator { machine: machine.name },
        false => Error::NoEmulator { program: qemu.to_string(), package, error },
    };
    let said = output.map_err(missing)?.stdout;
    Ok(String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_string())
}
