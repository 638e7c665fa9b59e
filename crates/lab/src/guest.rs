//! A guest from its parts to the command that starts it.

use crate::archive::Archive;
use crate::cache::{Cache, hex};
use crate::error::{Error, Result};
use crate::kernel::Image;
use crate::machine::{Machine, Parts};
use crate::program;
use crate::target::Target;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A guest that is ready but for its job.
#[derive(Debug)]
pub struct Guest {
    name: String,
    machine: &'static Machine,
    kernel: Image,
    files: Archive,
    seed: u64,
    /// Where a file may lie for a moment.
    scratch: PathBuf,
    /// The words by which a host would have greeted the agent.
    pub job: Vec<u8>,
}

/// What must be the same for two runs to be the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The emulator, as it names itself.
    pub emulator: String,
    /// The package of the kernel with its version.
    pub kernel: String,
    /// Checksum of its image.
    pub kernel_sha256: String,
    /// Checksum of the initial file system without the job.
    pub files_sha256: String,
}

impl Guest {
    /// Of this target, with the agent for its processor as the first process, and these programs.
    pub fn new<'a>(
        target: &Target,
        cache: &Cache,
        agent: Vec<u8>,
        seed: u64,
        programs: impl IntoIterator<Item = &'a str>,
    ) -> Result<Guest> {
        let (machine, kernel) = (target.machine, target.kernel.image(target.machine, cache)?);
        let mut files = Archive::default();
        files.program("init", agent);
        add_modules(&mut files, &kernel, machine.port_modules)?;
        for name in programs {
            program::add(&mut files, machine, cache, name)?;
        }
        let (name, scratch) = (target.to_string(), cache.folder().to_path_buf());
        Ok(Guest { name, machine, kernel, files, seed, scratch, job: Vec::new() })
    }

    /// What makes it the same again.
    pub fn identity(&self) -> Result<Identity> {
        let file = &self.kernel.file;
        let image = fs::read(file).map_err(Error::io("read", file))?;
        let package = &self.kernel.package;
        Ok(Identity {
            emulator: version(self.machine.qemu)?,
            kernel: format!("{} {}", package.name, package.version),
            kernel_sha256: hex(&Sha256::digest(image)),
            files_sha256: hex(&Sha256::digest(self.files.bytes())),
        })
    }

    /// The emulator's command; the stream comes out of its standard output.
    pub fn prepare(mut self, console: &Path) -> Result<Command> {
        self.files.file("lab/job", self.job);
        let parts = Parts { name: &self.name, kernel: &self.kernel.file, console, seed: self.seed };
        let mut command = Command::new(self.machine.qemu);
        let archive = nameless(&self.scratch, &self.files.bytes())?;
        command.args(self.machine.arguments(parts)).stdin(archive);
        Ok(command)
    }
}

/// A file that goes away with whoever has it open, even if all are killed.
fn nameless(folder: &Path, bytes: &[u8]) -> Result<File> {
    let failed = || Error::io("write a file in", folder);
    let mut file = tempfile::tempfile_in(folder).map_err(failed())?;
    file.write_all(bytes).map_err(failed())?;
    Ok(file)
}

/// Those that the kernel has not built in, with the list by which they are loaded.
fn add_modules(files: &mut Archive, kernel: &Image, names: &[&str]) -> Result<()> {
    let mut list = String::new();
    for file in names.iter().filter_map(|name| kernel.module(name)) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = format!("/lab/modules.d/{name}");
        files.file(&place, fs::read(&file).map_err(Error::io("read", &file))?);
        list += &format!("{place}\n");
    }
    files.file("lab/modules", list.into_bytes());
    Ok(())
}

/// What the emulator says of itself.
fn version(qemu: &str) -> Result<String> {
    let package = if qemu.ends_with("x86_64") { "qemu-system-x86" } else { "qemu-system-arm" };
    let output = Command::new(qemu).arg("--version").output();
    let missing = |error| Error::NoEmulator { program: qemu.to_string(), package, error };
    let said = output.map_err(missing)?.stdout;
    Ok(String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_string())
}
