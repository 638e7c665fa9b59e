//! Replays a guest with a QEMU plugin that records what ran before its wake-ups.

use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::guest::GuestImage;
use crate::kernel_map::KernelMap;
use crate::plugin;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Asks the guest for its kernel's addresses instead of running a job.
const ADDRESSES: &str = "lab/addresses";
/// Where QEMU loads an arm64 kernel. The image begins at a multiple of this, shortly before the
/// first symbol that each kernel lists.
const ARM_IMAGE: u64 = 0x4020_0000;
const ARM_ALIGNED: u64 = 2 << 20;
const ARM_FIRST: &str = "_stext";
/// Virtual address of physical address 0 in an x86-64 kernel's image.
const X86_IMAGE: u64 = 0xffff_ffff_8000_0000;

/// The recorder of a replayed guest.
#[derive(Debug)]
pub struct InstructionTrace {
    plugin: PathBuf,
    machine: &'static str,
    /// What the plugin has to know of the kernel.
    arguments: String,
    /// The addresses of the kernel.
    pub map: KernelMap,
}

impl GuestImage {
    /// Prepares to record this guest: builds the plugin and asks for the kernel's addresses, unless
    /// they are cached. `agent` is the guest's agent.
    pub fn recording(&self, cache: &Cache, agent: Vec<u8>) -> Result<InstructionTrace> {
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
        Ok(InstructionTrace { plugin, machine: machine.architecture, arguments, map })
    }

    /// Boots such a guest once, with the question instead of its job. Its modules have the same
    /// addresses as in any guest, since those of the port are loaded first.
    fn ask_for_addresses(&self, cache: &Cache, agent: Vec<u8>) -> Result<Vec<u8>> {
        let mut guest = GuestImage::new(self.config(), cache, agent, 0, [])?;
        guest.add_file(ADDRESSES, String::new());
        let mut command = guest.prepare(Path::new("/dev/null"), None)?;
        let output = command.stdout(Stdio::piped()).output();
        let program = self.config().machine.qemu.to_string();
        Ok(output.map_err(|error| Error::Missing { program, error })?.stdout)
    }
}

impl InstructionTrace {
    /// Makes QEMU record to `out`; `wanted` is a file with the releases whose wake-ups are
    /// recorded, or all if there is none.
    pub fn add_to(&self, command: &mut Command, out: &str, wanted: Option<&Path>) {
        let escaped = |path: &Path| path.display().to_string().replace(',', ",,");
        let mut option = format!("{},out={out},{}", escaped(&self.plugin), self.arguments);
        if let Some(wanted) = wanted {
            option += &format!(",wanted={}", escaped(wanted));
        }
        command.arg("-plugin").arg(option);
    }

    /// The guest's processor, as its `uname -m` names it.
    pub fn architecture(&self) -> &'static str {
        self.machine
    }
}
