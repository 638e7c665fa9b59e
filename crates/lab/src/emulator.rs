//! QEMU: the host's, or a newer one from Debian's backports, unpacked but not installed.

use crate::cache::{Apt, BACKPORTS, Cache, HOST, output_of};
use crate::config::GuestConfig;
use crate::error::{Error, Result};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What the newer ones need in their own version, and the firmware of PCs.
const WITH: [&str; 3] = ["qemu-system-data", "qemu-system-common", "seabios"];

/// Debian's package of a target's emulator.
fn package(config: &GuestConfig) -> &'static str {
    match config.machine.qemu.ends_with("x86_64") {
        true => "qemu-system-x86",
        false => "qemu-system-arm",
    }
}

/// Where a newer one is kept.
fn folder(config: &GuestConfig, cache: &Cache) -> PathBuf {
    cache.folder().join("emulators").join(package(config))
}

/// Downloads the newer emulator, if it is requested or needed, and missing.
pub fn fetch(config: &GuestConfig, cache: &Cache) -> Result<()> {
    let folder = folder(config, cache);
    let beside = folder.with_extension("new");
    if !config.has_new_emulator() || folder.exists() {
        return Ok(());
    }
    if beside.exists() {
        fs::remove_dir_all(&beside).map_err(Error::io("remove", &beside))?;
    }
    fs::create_dir_all(&beside).map_err(Error::io("create", &beside))?;
    let apt = Apt::prepare(cache, HOST)?;
    for package in WITH.into_iter().chain([package(config)]) {
        let file = apt.download(package, Some(BACKPORTS))?;
        output_of(Command::new("dpkg-deb").arg("-x").arg(&file).arg(&beside))?;
        // Failure is harmless: the file can be downloaded again.
        let _ = fs::remove_file(file);
    }
    fs::rename(&beside, &folder).map_err(Error::io("create", &folder))
}

/// The emulator's command for a target.
pub fn command(config: &GuestConfig, cache: &Cache) -> Command {
    let qemu = config.machine.qemu;
    if !config.has_new_emulator() {
        return Command::new(qemu);
    }
    let folder = folder(config, cache);
    let mut command = Command::new(folder.join("usr/bin").join(qemu));
    // It refuses installed modules of another version.
    command.env("QEMU_MODULE_DIR", folder.join("usr/lib/modules"));
    for firmware in ["usr/share/qemu", "usr/share/seabios"] {
        command.arg("-L").arg(folder.join(firmware));
    }
    command
}

/// The version that the emulator reports.
pub fn version(config: &GuestConfig, cache: &Cache) -> Result<String> {
    let output = command(config, cache).arg("--version").output();
    let missing = |error| match config.has_new_emulator() {
        true => Error::NoNewEmulator { machine: config.machine.name },
        false => Error::NoEmulator {
            program: config.machine.qemu.to_string(),
            package: package(config),
            error,
        },
    };
    let said = output.map_err(missing)?.stdout;
    Ok(String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_string())
}
