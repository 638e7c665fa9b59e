//! The guest that flags describe, and the faults in it.

use crate::flags::plan::{add_options, given_options, values_of};
use crate::targets::{self, NamedTarget};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use latlab_conduct::guests;
use latlab_model::fault::{Fault, InjectedFault};
use latlab_model::load::Load;
use latlab_model::options::{Given, TARGET};
use latlab_model::target::{LEAST_MEMORY, LabOptions, LabTarget};
use latlab_model::{Nanos, Target};
use std::path::PathBuf;

/// The fault that leaves a guest almost no memory.
const TINY_MEMORY: &str = "tiny-memory";

/// Flags about a guest, or another target.
#[derive(Clone, Default)]
pub struct GuestArgs {
    /// The target, or its name.
    pub target: Option<String>,
    /// Kernel image of the guest.
    pub kernel: Option<PathBuf>,
    /// The folder with the kernel's modules.
    pub modules: Option<PathBuf>,
    /// Device tree of the guest.
    pub dtb: Option<PathBuf>,
    /// Whether the guest's clock follows the host's.
    pub realtime: bool,
    /// Number of CPUs.
    pub smp: Option<u32>,
    /// Faults to inject.
    pub fault: Vec<String>,
    /// Print the guest's console.
    pub console: bool,
    /// The board of a sheet's row, which takes precedence over `target`.
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
        Ok(GuestArgs::of(&given_options(matches, |option| option.group == TARGET)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = GuestArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

impl GuestArgs {
    /// The target among the options that were given.
    pub fn of(given: &[Given]) -> GuestArgs {
        let text = |name: &str| values_of(given, name).first().cloned();
        let path = |name: &str| text(name).map(PathBuf::from);
        GuestArgs {
            target: text("target"),
            kernel: path("kernel"),
            modules: path("modules"),
            dtb: path("dtb"),
            realtime: text("realtime").is_some(),
            smp: text("smp").and_then(|count| count.parse().ok()),
            fault: values_of(given, "fault").to_vec(),
            console: text("console").is_some(),
            board: None,
        }
    }

    /// The target without settings that equal the default; an error is one line.
    pub fn target(&self) -> Result<Target, String> {
        Ok(match self.parse_target()? {
            Target::Lab(target) => Target::Lab(guests::without_defaults(&target)?),
            other => other,
        })
    }

    /// The guest. `None` if the target is another machine. An error is one line.
    fn guest(&self) -> Result<Option<LabTarget>, String> {
        match self.parse_target()? {
            Target::Local | Target::Board(_) | Target::Labgrid(_) => Ok(None),
            Target::Lab(target) => Ok(Some(target)),
        }
    }

    /// A named target's defaults, which the command line overrides; an error is one line.
    pub fn defaults(&self) -> Result<Option<NamedTarget>, String> {
        if self.board.is_some() {
            return Ok(self.board.clone());
        }
        self.target.as_deref().map_or(Ok(None), targets::find)
    }

    /// Parses the target as it was given; an error is one line.
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

    /// The loads that inject the faults.
    pub fn faults(&self, warm_up: Nanos) -> Result<Vec<Load>, String> {
        let guest = self.guest()?;
        let load = |text: &String| {
            let wrong = |reason: String| format!("--fault {text}: {reason}");
            let Some(guest) = &guest else {
                return Err(wrong("faults need a lab target".to_string()));
            };
            let fault = text.parse::<Fault>().map_err(wrong)?;
            if fault.kind.of_hosts_time() && !guest.realtime {
                return Err(wrong("not possible in virtual time: add --realtime".to_string()));
            }
            let cpus = guests::cpus(guest)?;
            if fault.kind == InjectedFault::CpuOffline && !(1..cpus).contains(&fault.cpu) {
                return Err(wrong(format!("expected a CPU after the first of {cpus}: add --smp")));
            }
            Ok(fault.load(text, warm_up))
        };
        self.fault.iter().filter(|fault| *fault != TINY_MEMORY).map(load).collect()
    }
}
