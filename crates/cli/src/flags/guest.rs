//! The guest that flags ask for, and the faults in it.

use crate::targets::{self, NamedTarget};
use clap::Args;
use latlab_lab::{GuestConfig, LEAST_MEMORY};
use latlab_model::fault::{Fault, FaultKind};
use latlab_model::load::Load;
use latlab_model::target::LabOptions;
use latlab_model::{Nanos, Target};
use std::path::PathBuf;

const GUEST: &str = "Target";
/// The fault of a guest that has next to no memory.
const TINY_MEMORY: &str = "tiny-memory";

/// Flags about a guest.
#[derive(Args, Clone, Default)]
pub struct GuestArgs {
    /// Machine to measure: local, a board such as ssh://pi@board or its name, a place of labgrid such as
    /// labgrid:board-7 or labgrid:arch=arm64, or a guest in virtual time such as lab:x86-64/rt
    /// [default: local]
    #[arg(long, value_name = "TARGET", help_heading = GUEST)]
    pub target: Option<String>,
    /// Kernel image of your own, for a target without one such as lab:arm64
    #[arg(long, value_name = "IMAGE", requires = "target", help_heading = GUEST)]
    pub kernel: Option<PathBuf>,
    /// Folder with its modules; needed unless the virtio drivers are built in
    #[arg(long, value_name = "DIR", requires = "kernel", help_heading = GUEST)]
    pub modules: Option<PathBuf>,
    /// Device tree, for machines without one in QEMU
    #[arg(long, value_name = "FILE", requires = "kernel", help_heading = GUEST)]
    pub dtb: Option<PathBuf>,
    /// Run the guest in the host's time, with KVM if possible: noisy and not repeatable
    #[arg(long, requires = "target", help_heading = GUEST)]
    pub realtime: bool,
    /// Number of CPUs of the guest, with --realtime
    #[arg(long, value_name = "N", requires = "target", help_heading = GUEST)]
    pub smp: Option<u32>,
    /// Inject a fault: irqs-off@5s:2ms, fifo-hog@2s:500ms:prio95,
    /// printk-storm, softirq-flood, clock-step, tiny-memory; with --realtime also cpu-offline@4s:1,
    /// hypervisor-pause@3s:20ms
    #[arg(long, value_name = "FAULT[@AT][:LENGTH]", requires = "target", help_heading = GUEST)]
    pub fault: Vec<String>,
    /// Print the console of the guest, or of all guests of a sheet
    #[arg(long, help_heading = GUEST)]
    pub console: bool,
    /// The board of a sheet's row, which goes before the target.
    #[arg(skip)]
    pub board: Option<NamedTarget>,
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
