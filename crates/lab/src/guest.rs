//! Assembles a guest and the command that starts it.

use crate::archive::Archive;
use crate::cache::{Cache, hex};
use crate::config::GuestConfig;
use crate::emulator;
use crate::error::{Error, Result};
use crate::host_cpu::HostCpus;
use crate::kernel::Image;
use crate::machine::{Accelerator, Boot, Port};
use crate::module::IRQS_OFF;
use crate::program;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The first process of a guest.
const INIT: &str = "init";
/// The list of the modules.
const MODULES: &str = "lab/modules";
/// Time within which a kernel under KVM runs to its end.
const KVM_WITHIN: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

/// A complete guest except for its job.
#[derive(Debug)]
pub struct GuestImage {
    config: GuestConfig,
    kernel: Image,
    files: Archive,
    /// Modules to load before the agent begins, one per line with parameters.
    modules: String,
    seed: u64,
    accelerator: Option<Accelerator>,
    emulator: Command,
    version: String,
    /// Folder for short-lived files.
    scratch: PathBuf,
    /// The bytes with which a host would greet the agent.
    pub job: Vec<u8>,
}

/// Everything that must be equal for two runs to be equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// The emulator's name for itself.
    pub emulator: String,
    /// What executes it, if it runs in the host's time.
    pub accelerator: Option<&'static str>,
    /// The kernel's package with version, or its file.
    pub kernel: String,
    /// Checksum of its image.
    pub kernel_sha256: String,
    /// Checksum of the initramfs without the job.
    pub files_sha256: String,
}

impl GuestImage {
    /// A guest of this configuration, with the agent for its processor as the first process, and
    /// these programs.
    pub fn new<'a>(
        config: &GuestConfig,
        cache: &Cache,
        agent: Vec<u8>,
        seed: u64,
        programs: impl IntoIterator<Item = &'a str>,
    ) -> Result<GuestImage> {
        let machine = config.machine;
        let kernel = config.kernel.image(machine, cache)?;
        let mut files = Archive::default();
        files.program(INIT, agent);
        let modules = add_modules(&mut files, &kernel, machine.port_modules)?;
        for name in programs.into_iter().filter(|name| name.trim_start_matches('/') != INIT) {
            program::add(&mut files, machine, cache, name)?;
        }
        if let Port::Serial(name) = machine.port {
            files.file("lab/port", name.into());
        }
        Ok(GuestImage {
            config: config.clone(),
            files,
            modules,
            seed,
            accelerator: match config.realtime {
                true => Some(accelerator(config, &kernel, cache)?),
                false => None,
            },
            kernel,
            emulator: emulator::command(config, cache),
            version: emulator::version(config, cache)?,
            scratch: cache.folder().to_path_buf(),
            job: Vec::new(),
        })
    }

    /// Adds a text file.
    pub fn add_file(&mut self, path: &str, text: String) {
        self.files.file(path, text.into_bytes());
    }

    /// Adds the kernel module that keeps interrupts off.
    pub fn add_fault(&mut self, cache: &Cache) -> Result<()> {
        let module = IRQS_OFF.build(&self.config, cache)?;
        let bytes = fs::read(&module).map_err(Error::io("read", &module))?;
        self.files.file("lab/irqs_off.ko", bytes);
        Ok(())
    }

    pub(crate) fn config(&self) -> &GuestConfig {
        &self.config
    }

    pub(crate) fn files(&mut self) -> &mut Archive {
        &mut self.files
    }

    /// Adds a module to be loaded before the agent begins, after those added before.
    pub(crate) fn load_module(&mut self, file: &Path, parameters: &str) -> Result<()> {
        let line = add_module(&mut self.files, file)?;
        self.modules += &format!("{line} {parameters}\n");
        self.files.file(MODULES, self.modules.clone().into_bytes());
        Ok(())
    }

    /// Everything that must be equal for a run to be repeated.
    pub fn identity(&self) -> Result<Identity> {
        let file = &self.kernel.file;
        let image = fs::read(file).map_err(Error::io("read", file))?;
        Ok(Identity {
            emulator: self.version.clone(),
            accelerator: self.accelerator.map(Accelerator::name),
            kernel: self.kernel.origin.clone(),
            kernel_sha256: hex(&Sha256::digest(image)),
            files_sha256: hex(&Sha256::digest(self.files.bytes())),
        })
    }

    /// Whether it runs in virtual time.
    pub fn is_in_virtual_time(&self) -> bool {
        self.accelerator.is_none()
    }

    /// Reserves those of these host CPUs that it may run on.
    pub fn reserve_cpus(&self, cpus: Vec<u32>) -> HostCpus {
        match self.is_in_virtual_time() {
            true => HostCpus::reserve_one(&cpus, &self.scratch),
            false => HostCpus::shared(cpus),
        }
    }

    /// The emulator's command, which writes the stream to standard output. The descriptor `wire`,
    /// opened in the emulator, leads to the board's wire.
    pub fn prepare(mut self, console: &Path, wire: Option<RawFd>) -> Result<Command> {
        self.files.file("lab/job", self.job);
        // The same length for each seed, so that the guest's memory layout does not change.
        self.files.file("lab/seed", format!("{:016x}", self.seed).into_bytes());
        let name = self.config.target().to_string();
        let GuestConfig { machine, memory, cpus, .. } = self.config;
        let parts = Boot {
            // The rest may not be valid in a host name.
            name: name.split(',').next().unwrap_or_default(),
            kernel: &self.kernel.file,
            dtb: self.kernel.dtb.as_deref(),
            console,
            seed: self.seed,
            memory,
            cpus,
            accelerator: self.accelerator,
            wire,
        };
        let mut command = self.emulator;
        let archive = unnamed_file(&self.scratch, &self.files.bytes())?;
        command.args(machine.arguments(parts)).stdin(archive);
        Ok(command)
    }
}

/// KVM, if the processor matches and runs such a kernel; in a virtual machine KVM may be present
/// and stop at an instruction that it does not know.
fn accelerator(config: &GuestConfig, kernel: &Image, cache: &Cache) -> Result<Accelerator> {
    let usable = || File::options().read(true).write(true).open("/dev/kvm").is_ok();
    let alike = config.machine.architecture == std::env::consts::ARCH;
    match alike
        && config.machine.fixed_cpus.is_none()
        && usable()
        && kvm_runs(config, kernel, cache)?
    {
        true => Ok(Accelerator::Kvm),
        false => Ok(Accelerator::Tcg),
    }
}

/// Whether the kernel gets as far as missing its files, panics and restarts.
fn kvm_runs(config: &GuestConfig, kernel: &Image, cache: &Cache) -> Result<bool> {
    let parts = Boot {
        name: "probe",
        kernel: &kernel.file,
        dtb: kernel.dtb.as_deref(),
        console: Path::new("/dev/null"),
        seed: 0,
        memory: config.memory,
        cpus: config.cpus,
        accelerator: Some(Accelerator::Kvm),
        wire: None,
    };
    let mut command = emulator::command(config, cache);
    command.args(config.machine.arguments(parts));
    command.stdin(unnamed_file(cache.folder(), &Archive::default().bytes())?);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |error| Error::Missing { program: config.machine.qemu.to_string(), error };
    let mut probe = command.spawn().map_err(failed)?;
    let begun = Instant::now();
    while begun.elapsed() < KVM_WITHIN {
        if let Some(status) = probe.try_wait().map_err(failed)? {
            return Ok(status.success());
        }
        thread::sleep(LOOK);
    }
    let _ = probe.kill();
    let _ = probe.wait();
    Ok(false)
}

/// An unlinked file, which disappears with its last user even if that is killed.
fn unnamed_file(folder: &Path, bytes: &[u8]) -> Result<File> {
    let failed = || Error::io("write a file in", folder);
    let mut file = tempfile::tempfile_in(folder).map_err(failed())?;
    file.write_all(bytes).map_err(failed())?;
    Ok(file)
}

/// Adds those modules that are not built into the kernel, and returns the list for loading them.
fn add_modules(files: &mut Archive, kernel: &Image, names: &[&str]) -> Result<String> {
    let mut list = String::new();
    for file in names.iter().filter_map(|name| kernel.module(name)) {
        list += &format!("{}\n", add_module(files, &file)?);
    }
    files.file(MODULES, list.clone().into_bytes());
    Ok(list)
}

/// Adds a module; returns its path in the guest.
fn add_module(files: &mut Archive, file: &Path) -> Result<String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let place = format!("/lab/modules.d/{name}");
    files.file(&place, fs::read(file).map_err(Error::io("read", file))?);
    Ok(place)
}
