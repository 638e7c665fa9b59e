//! `latlab lab`: the kernels of guests.

pub mod args;

use crate::campaign::args::SheetArgs;
use crate::campaign::{self, Asked};
use crate::output::print;
use crate::{EXIT_CANNOT_MEASURE, Exit};
use args::{LabArgs, What};
use latlab_lab::{Cache, MACHINES, Target, Unpacked, kernels};
use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

/// What `latlab lab` does.
pub fn lab(args: &LabArgs) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::Kernels => print(&listed())?,
        What::StressFive { seeds, quiet, common } => {
            let sheet = Some("lab-stress-five".to_string());
            let sheet = SheetArgs { sheet, seeds: Some(*seeds), ..SheetArgs::default() };
            let asked = Asked { sheet: &sheet, common, quiet: *quiet, keep_going: false };
            return campaign::asked(&asked);
        }
        What::Fetch { targets } => {
            for target in targets {
                let kept = target.fetch(&cache());
                let kept = kept.map_err(|error| Exit(EXIT_CANNOT_MEASURE, error.to_string()))?;
                print(&format!("{target}  {}\n", origin(&kept)))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Where kernels and programs of guests are kept.
pub fn cache() -> Cache {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let usual = caches.unwrap_or_else(|| "/var/tmp".into()).join("latlab/lab");
    Cache::new(set("LATLAB_LAB").unwrap_or(usual))
}

fn listed() -> String {
    let mut text = format!("Kernels in {}\n\n", cache().folder().display());
    for machine in &MACHINES {
        text += &format!("{}: {}\n", machine.name, machine.about);
        for kernel in kernels() {
            let kept = kernel.kept(machine, &cache());
            let kept = kept.map_or_else(|| "not here".to_string(), |kept| origin(&kept));
            let target = Target { machine, kernel }.to_string();
            text += &format!("  {target:<24} {kept}\n");
        }
    }
    text
}

fn origin(kept: &Unpacked) -> String {
    format!("{} {}", kept.name, kept.version)
}
