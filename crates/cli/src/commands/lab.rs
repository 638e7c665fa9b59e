//! `latlab lab`: the kernels of guests.

pub mod args;
pub mod paths;

use crate::commands::campaign::{CampaignArgs, begin_or_resume};
use crate::exit::ExitError;
use crate::flags::sheet::SheetArgs;
use crate::flags::test_results::TestResultArgs;
use crate::output::{escape_controls, print, print_text, style, warn, width};
use crate::store::lab_folder;
use args::{Comparison, LabArgs, LabCommand};
use latlab_conduct::agents;
use latlab_lab::{Cache, DebianKernel, GuestConfig, MACHINES, Package, kernels};
use latlab_report::{Column, table, wrapped};
use std::collections::BTreeSet;
use std::process::ExitCode;

/// The kernels that the ready-made sheets compare.
const COMPARED: [&str; 2] = ["lab:x86-64/stock-6.1", "lab:x86-64/rt-6.1"];

pub fn lab(args: &LabArgs) -> anyhow::Result<ExitCode> {
    match &args.command {
        LabCommand::Kernels => print_text(&list_kernels(&cache(), width()))?,
        LabCommand::StressFive(comparison) => return run_comparison("lab-stress-five", comparison),
        LabCommand::Threads(comparison) => return run_comparison("lab-threads", comparison),
        LabCommand::Paths(asked) => paths::find_paths(asked)?,
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

fn cache() -> Cache {
    Cache::new(lab_folder())
}

/// Runs a ready-made sheet on both kernels, downloading missing ones first.
fn run_comparison(sheet: &str, asked: &Comparison) -> anyhow::Result<ExitCode> {
    let Comparison { seeds, quiet, console, common } = asked;
    let guests = COMPARED.map(args::config).into_iter().collect::<Result<Vec<_>, _>>();
    // Fail before a useless download.
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
    let results = &TestResultArgs::default();
    let sheet = &sheet;
    begin_or_resume(&CampaignArgs { sheet, common, results, quiet, keep_going: false, console })
}

/// Why this build cannot measure guests of these machines; each reason once.
fn missing_agents(guests: &[GuestConfig]) -> Vec<String> {
    let machines: BTreeSet<&str> =
        guests.iter().map(|config| config.machine.architecture).collect();
    machines.into_iter().filter_map(agents::missing_agent).collect()
}

/// Downloads a kernel and returns a line that says where it came from.
fn fetch(config: &GuestConfig) -> Result<String, ExitError> {
    config.fetch(&cache()).map_err(ExitError::cannot_measure)
}

/// Lists the kernels by machine, and which of them are downloaded.
fn list_kernels(cache: &Cache, width: usize) -> String {
    let mut text = format!("Kernels in {}\n", escape_controls(&cache.folder().to_string_lossy()));
    for machine in &MACHINES {
        let package = |kernel: DebianKernel| match kernel.cached(machine, cache) {
            Some(Package { name, version, .. }) => format!("{name} {version}"),
            None => "not downloaded".to_string(),
        };
        let targets = kernels().map(|kernel| format!("lab:{}/{kernel}", machine.name));
        let columns = vec![
            Column::new("target", 0, targets).left(),
            Column::new("package", 0, kernels().map(package)).left(),
        ];
        text +=
            &format!("\n{}\n", wrapped(&format!("{}: {}", machine.name, machine.about), width, 2));
        text += &table(columns, width, style());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
    #[test]
    fn no_width_costs_a_kernel() {
        let folder = tempfile::tempdir().unwrap();
        for width in 60..=200 {
            let text = list_kernels(&Cache::new(folder.path().into()), width);
            for machine in &MACHINES {
                for kernel in kernels() {
                    let target = format!("lab:{}/{kernel} ", machine.name);
                    assert!(text.contains(&target), "{target} at {width}:\n{text}");
                }
            }
            let lines = text.lines().skip(1);
            assert!(
                lines.into_iter().all(|line| line.chars().count() <= width),
                "{width}:\n{text}"
            );
        }
    }
}
