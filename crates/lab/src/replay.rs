//! A guest that is run again, with a plugin of QEMU that records what ran before its wake-ups.

use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::guest::GuestImage;
use crate::kernel_map::KernelMap;
use crate::plugin;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Asks the guest for the addresses of its kernel in place of its job.
const ADDRESSES: &str = "lab/addresses";
/// Where QEMU puts the image of an arm64 kernel. It begins at a multiple of this, shortly before the first
/// symbol that each kernel lists.
const ARM_IMAGE: u64 = 0x4020_0000;
const ARM_ALIGNED: u64 = 2 << 20;
const ARM_FIRST: &str = "_stext";
/// Where an x86-64 kernel has the physical address 0 in its image.
const X86_IMAGE: u64 = 0xffff_ffff_8000_0000;

/// The recorder of a guest that is run again.
#[derive(Debug)]
pub struct Recording {
    plugin: PathBuf,
    machine: &'static str,
    /// What the plugin is told of the kernel.
    arguments: String,
    /// The addresses of the kernel.
    pub map: KernelMap,
}

impl GuestImage {
    /// What is needed to record this guest: the plugin is built and the kernel asked, if that has not
    /// been done before. The agent is that of the guest.
    pub fn recording(&self, cache: &Cache, agent: Vec<u8>) -> Result<Recording> {
        let machine = self.config().machine;
        let is_arm = machine.architecture == "aarch64";
        if !is_arm && machine.architecture != "x86_64" {
            return Err(Error::NoReplay { machine: machine.name });
        }
        let identity = self.identity()?;
        let plugin = plugin::build(&identity.emulator, cache)?;
        let name = format!("{}-{}", machine.name, &identity.kernel_sha256[..16]);
        let map = KernelMap::cached(cache, &name, || self.ask_for_addresses(cache, agent))?;
        let address =
            |name: &'static str| map.address(name).ok_or(Error::NoSymbol { symbol: name });
        let (switch, text) = match is_arm {
            true => {
                let first = address(ARM_FIRST)?;
                ("cpu_switch_to", (first - first % ARM_ALIGNED).wrapping_sub(ARM_IMAGE))
            }
            false => ("__switch_to_asm", X86_IMAGE),
        };
        let no_types = Error::NoSymbols { length: map.symbols.len() };
        let [comm, pid, tgid] = map.task().ok_or(no_types)?;
        let arguments = format!(
            "guest={},text={text},switch={},comm={comm},pid={pid},tgid={tgid}",
            machine.architecture,
            address(switch)?,
        );
        Ok(Recording { plugin, machine: machine.architecture, arguments, map })
    }

    /// Boots such a guest once, with the question in place of its job. Its modules lie where they lie in
    /// any guest, since those of the port are loaded before others.
    fn ask_for_addresses(&self, cache: &Cache, agent: Vec<u8>) -> Result<Vec<u8>> {
        let mut guest = GuestImage::new(self.config(), cache, agent, 0, [])?;
        guest.add_file(ADDRESSES, String::new());
        let mut command = guest.prepare(Path::new("/dev/null"), None)?;
        let output = command.stdout(Stdio::piped()).output();
        let program = self.config().machine.qemu.to_string();
        Ok(output.map_err(|error| Error::Missing { program, error })?.stdout)
    }
}

impl Recording {
    /// Has QEMU record; `out` is where it writes, `wanted` a file with the releases whose wake-ups
    /// are wanted, which are all where there is none.
    pub fn add_to(&self, command: &mut Command, out: &str, wanted: Option<&Path>) {
        let escaped = |path: &Path| path.display().to_string().replace(',', ",,");
        let mut option = format!("{},out={out},{}", escaped(&self.plugin), self.arguments);
        if let Some(wanted) = wanted {
            option += &format!(",wanted={}", escaped(wanted));
        }
        command.arg("-plugin").arg(option);
    }

    /// The guest's processor, as `uname -m` calls it there.
    pub fn architecture(&self) -> &'static str {
        self.machine
    }
}
