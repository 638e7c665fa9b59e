//! The guest that flags ask for, and the faults in it.

use clap::Args;
use latlab_lab::{LEAST_MEMORY, Target};
use latlab_model::Nanos;
use latlab_model::fault::{Fault, FaultKind};
use latlab_model::load::Load;
use std::path::PathBuf;

const GUEST: &str = "A guest instead of this machine";
/// The fault of a guest that has next to no memory.
const TINY_MEMORY: &str = "tiny-memory";

/// Flags about a guest.
#[derive(Args)]
pub struct GuestArgs {
    /// Measure a guest in virtual time, such as lab:x86-64/rt, instead of this machine
    #[arg(long, value_name = "TARGET", help_heading = GUEST)]
    pub target: Option<String>,
    /// A kernel of one's own for a target without one, such as lab:arm64
    #[arg(long, value_name = "IMAGE", requires = "target", help_heading = GUEST)]
    pub kernel: Option<PathBuf>,
    /// The folder with its modules, of which those of virtio are needed unless they are built in
    #[arg(long, value_name = "DIR", requires = "kernel", help_heading = GUEST)]
    pub modules: Option<PathBuf>,
    /// The device tree, where QEMU has none of its own
    #[arg(long, value_name = "FILE", requires = "kernel", help_heading = GUEST)]
    pub dtb: Option<PathBuf>,
    /// In the host's time, by KVM where that works: noisy, and never the same again
    #[arg(long, requires = "target", help_heading = GUEST)]
    pub realtime: bool,
    /// CPUs of a guest in the host's time
    #[arg(long, value_name = "N", requires = "target", help_heading = GUEST)]
    pub smp: Option<u32>,
    /// Plant a fault, to see what it looks like: irqs-off@5s:2ms, fifo-hog@2s:500ms:prio95,
    /// printk-storm, softirq-flood, clock-step, tiny-memory; with --realtime also cpu-offline@4s:1,
    /// hypervisor-pause@3s:20ms
    #[arg(long, value_name = "FAULT[@AT][:LENGTH]", requires = "target", help_heading = GUEST)]
    pub fault: Vec<String>,
    /// Print what the guest's kernel says while it runs; for a sheet, of all its guests
    #[arg(long, help_heading = GUEST)]
    pub console: bool,
}

impl GuestArgs {
    /// The guest; an error is one line.
    pub fn target(&self) -> Result<Option<Target>, String> {
        let Some(text) = &self.target else { return Ok(None) };
        let mut words = text.clone();
        for (key, path) in
            [("kernel", &self.kernel), ("modules", &self.modules), ("dtb", &self.dtb)]
        {
            words.extend(path.iter().map(|path| format!(",{key}={}", path.display())));
        }
        if self.realtime {
            words += ",realtime";
        }
        words.extend(self.smp.map(|cpus| format!(",smp={cpus}")));
        if self.fault.iter().any(|fault| fault == TINY_MEMORY) {
            words += &format!(",memory={LEAST_MEMORY}");
        }
        words.parse().map(Some)
    }

    /// The loads that plant the faults.
    pub fn faults(&self, warm_up: Nanos) -> Result<Vec<Load>, String> {
        let planted = self.fault.iter().filter(|fault| *fault != TINY_MEMORY);
        let target = self.target()?;
        let load = |words: &String| {
            let wrong = |text: String| format!("--fault {words}: {text}");
            let fault = words.parse::<Fault>().map_err(wrong)?;
            let Some(target) = &target else { return Ok(fault.load(words, warm_up)) };
            if fault.kind.of_hosts_time() && !target.realtime {
                return Err(wrong("in virtual time it cannot be: add --realtime".to_string()));
            }
            if fault.kind == FaultKind::CpuOffline && !(1..target.cpus).contains(&fault.cpu) {
                let cpus = target.cpus;
                return Err(wrong(format!("expected a CPU after the first of {cpus}: add --smp")));
            }
            Ok(fault.load(words, warm_up))
        };
        planted.map(load).collect()
    }
}
