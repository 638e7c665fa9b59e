//! The guest that flags ask for, and the faults in it.

use crate::flags::plan::add_options;
use crate::targets::{self, NamedTarget};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use latlab_lab::{GuestConfig, LEAST_MEMORY};
use latlab_model::fault::{Fault, FaultKind};
use latlab_model::load::Load;
use latlab_model::options::TARGET;
use latlab_model::target::LabOptions;
use latlab_model::{Nanos, Target};
use std::path::PathBuf;

/// The fault of a guest that has next to no memory.
const TINY_MEMORY: &str = "tiny-memory";

/// Flags about a guest.
#[derive(Clone, Default)]
pub struct GuestArgs {
    /// The machine to measure, by its text or name.
    pub target: Option<String>,
    /// Its kernel's image.
    pub kernel: Option<PathBuf>,
    /// The folder with the modules of that.
    pub modules: Option<PathBuf>,
    /// Its device tree.
    pub dtb: Option<PathBuf>,
    /// Whether it runs in the host's time.
    pub realtime: bool,
    /// Its CPUs.
    pub smp: Option<u32>,
    /// What is injected into it.
    pub fault: Vec<String>,
    /// Whether its console is printed.
    pub console: bool,
    /// The board of a sheet's row, which goes before the target.
    pub board: Option<NamedTarget>,
}

impl Args for GuestArgs {
    fn augment_args(command: Command) -> Command {
        add_options(command, |option| option.group == TARGET)
    }

    fn augment_args_for_update(command: Command) -> Command {
        GuestArgs::augment_args(command)
    }
}

impl FromArgMatches for GuestArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<GuestArgs, Error> {
        let text = |name: &str| matches.get_one::<String>(name).cloned();
        let path = |name: &str| text(name).map(PathBuf::from);
        Ok(GuestArgs {
            target: text("target"),
            kernel: path("kernel"),
            modules: path("modules"),
            dtb: path("dtb"),
            realtime: matches.get_flag("realtime"),
            smp: text("smp").and_then(|count| count.parse().ok()),
            fault: matches.get_many("fault").into_iter().flatten().cloned().collect(),
            console: matches.get_flag("console"),
            board: None,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = GuestArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

impl GuestArgs {
    /// The target, with nothing in it that is the default; an error is one line.
    pub fn target(&self) -> Result<Target, String> {
        Ok(match self.parse_target()? {
            Target::Lab(target) => Target::Lab(GuestConfig::resolve(&target)?.target()),
            other => other,
        })
    }

    /// The guest; none where another machine is measured. An error is one line.
    fn config(&self) -> Result<Option<GuestConfig>, String> {
        match self.parse_target()? {
            Target::Local | Target::Board(_) | Target::Labgrid(_) => Ok(None),
            Target::Lab(target) => GuestConfig::resolve(&target).map(Some),
        }
    }

    /// What the target is measured by unless the command line says otherwise; an error is one line.
    pub fn defaults(&self) -> Result<Option<NamedTarget>, String> {
        if self.board.is_some() {
            return Ok(self.board.clone());
        }
        self.target.as_deref().map_or(Ok(None), targets::find)
    }

    /// The target as it was asked for; an error is one line.
    fn parse_target(&self) -> Result<Target, String> {
        if let Some(board) = &self.board {
            return Ok(board.target.clone());
        }
        let Some(text) = &self.target else { return Ok(Target::Local) };
        let named = targets::find(text)?.map(|named| named.target.to_string());
        let text = named.as_ref().unwrap_or(text);
        let has_tiny_memory = self.fault.iter().any(|fault| fault == TINY_MEMORY);
        let options = LabOptions {
            image: self.kernel.clone(),
            modules: self.modules.clone(),
            dtb: self.dtb.clone(),
            memory: has_tiny_memory.then_some(LEAST_MEMORY),
            cpus: self.smp,
            realtime: self.realtime,
            new_qemu: false,
        };
        Target::with_options(text, options)
    }

    /// The loads that plant the faults.
    pub fn faults(&self, warm_up: Nanos) -> Result<Vec<Load>, String> {
        let config = self.config()?;
        let load = |text: &String| {
            let wrong = |reason: String| format!("--fault {text}: {reason}");
            let Some(config) = &config else {
                return Err(wrong("faults need a lab target".to_string()));
            };
            let fault = text.parse::<Fault>().map_err(wrong)?;
            if fault.kind.of_hosts_time() && !config.realtime {
                return Err(wrong("not possible in virtual time: add --realtime".to_string()));
            }
            if fault.kind == FaultKind::CpuOffline && !(1..config.cpus).contains(&fault.cpu) {
                let cpus = config.cpus;
                return Err(wrong(format!("expected a CPU after the first of {cpus}: add --smp")));
            }
            Ok(fault.load(text, warm_up))
        };
        self.fault.iter().filter(|fault| *fault != TINY_MEMORY).map(load).collect()
    }
}
