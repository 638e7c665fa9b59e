//! `latlab lab`: the kernels of guests.

pub mod args;

use crate::commands::campaign::{CampaignArgs, begin_or_resume};
use crate::exit::ExitError;
use crate::flags::sheet::SheetArgs;
use crate::output::{print, warn};
use crate::store::cache;
use args::{Comparison, LabArgs, LabCommand};
use latlab_conduct::agents;
use latlab_lab::{GuestConfig, MACHINES, Package, kernels};
use std::collections::BTreeSet;
use std::process::ExitCode;

/// The kernels that the ready-made sheets compare.
const COMPARED: [&str; 2] = ["lab:x86-64/stock-6.1", "lab:x86-64/rt-6.1"];

/// What `latlab lab` does.
pub fn lab(args: &LabArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        LabCommand::Kernels => print(&list_kernels())?,
        LabCommand::StressFive(comparison) => return run_comparison("lab-stress-five", comparison),
        LabCommand::Threads(comparison) => return run_comparison("lab-threads", comparison),
        LabCommand::Fetch { qemu, guests } => {
            for text in missing_agents(guests) {
                warn(format_args!("{text}; the kernel alone is downloaded"));
            }
            for config in guests {
                let config = GuestConfig { new_qemu: *qemu || config.new_qemu, ..config.clone() };
                print(&format!("{}  {}\n", config.target(), fetch(&config)?))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A ready-made sheet of both kernels, which are got where they are not here.
fn run_comparison(sheet: &str, asked: &Comparison) -> anyhow::Result<ExitCode> {
    let Comparison { seeds, quiet, console, common } = asked;
    let guests = COMPARED.map(args::config).into_iter().collect::<Result<Vec<_>, _>>();
    // A download would be of no use.
    if let Some(text) = missing_agents(&guests.map_err(anyhow::Error::msg)?).pop() {
        return Err(ExitError::cannot_measure(text).into());
    }
    for target in COMPARED {
        let config = args::config(target).map_err(anyhow::Error::msg)?;
        if !config.is_cached(&cache()) {
            warn(format_args!("fetching {target} from Debian's archive"));
            fetch(&config)?;
        }
    }
    let sheet = Some(sheet.to_string());
    let sheet = SheetArgs { sheet, seeds: Some(*seeds), ..SheetArgs::default() };
    let (quiet, console) = (*quiet, *console);
    begin_or_resume(&CampaignArgs { sheet: &sheet, common, quiet, keep_going: false, console })
}

/// Why guests of these machines cannot be measured by this build, each once.
fn missing_agents(guests: &[GuestConfig]) -> Vec<String> {
    let machines: BTreeSet<&str> =
        guests.iter().map(|config| config.machine.architecture).collect();
    machines.into_iter().filter_map(agents::missing_agent).collect()
}

/// Gets a kernel and says where it came from.
fn fetch(config: &GuestConfig) -> Result<String, ExitError> {
    config.fetch(&cache()).map_err(ExitError::cannot_measure)
}

/// The kernels of each machine, with those that are here.
fn list_kernels() -> String {
    let mut text = format!("Kernels in {}\n\n", cache().folder().display());
    for machine in &MACHINES {
        text += &format!("{}: {}\n", machine.name, machine.about);
        for kernel in kernels() {
            let kept = kernel.cached(machine, &cache());
            let kept = kept.map_or_else(
                || "not here".to_string(),
                |Package { name, version, .. }| format!("{name} {version}"),
            );
            let target = format!("lab:{}/{kernel}", machine.name);
            text += &format!("  {target:<24} {kept}\n");
        }
    }
    text
}
