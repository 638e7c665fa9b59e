//! The CPUs of a run, held against every other latlab of this machine.

use crate::layout::{Cpus, Layout};
use crate::refusals::machine_refuses_all;
use latlab_model::finding::{Finding, SetupFinding};
use latlab_model::frame::Refusal;
use latlab_model::{CpuSet, Plan};
use latlab_sys::cpu_lock::{CpuLock, SETTINGS};
use latlab_sys::files::Root;
use latlab_sys::process::Stat;
use std::io;
use std::time::{Duration, Instant};

/// An agent whose conductor is gone has ended by then.
const ENDING: Duration = Duration::from_secs(2);

/// CPUs that are held as long as this lives.
pub struct CpuClaim {
    _lock: Option<CpuLock>,
    /// What must be said of it.
    pub finding: Option<Finding>,
}

/// Takes the CPUs that are to be measured; a refusal says who has them.
pub fn claim_cpus(
    root: &Root,
    plan: &Plan,
    layout: &Layout,
    cpus: &Cpus,
) -> Result<CpuClaim, Refusal> {
    let measured = layout.measured(cpus);
    // Two that tune would each put back what the other has made.
    let settings = (!plan.tunings.is_empty()).then_some(SETTINGS);
    let wanted: Vec<u32> = measured.iter().chain(settings).collect();
    let lock = match lock_cpus(root, &wanted, plan.share_cpus) {
        Ok(lock) => lock,
        Err(error) => {
            let error = error.to_string();
            let finding = Finding::new(SetupFinding::CpusNotHeld { error });
            return Ok(CpuClaim { _lock: None, finding: Some(finding) });
        }
    };
    if lock.held.is_empty() {
        return Ok(CpuClaim { _lock: Some(lock), finding: None });
    }
    if let Some((_, pid)) = lock.held.iter().find(|(held, _)| *held == SETTINGS) {
        return Err(machine_refuses_all(format!(
            "{} has tuned this machine: wait for it, or omit --tune",
            holder(root, *pid)
        )));
    }
    let taken: CpuSet = lock.held.iter().map(|(cpu, _)| *cpu).collect();
    let holder = holder(root, lock.held[0].1);
    if !plan.share_cpus {
        let (cpus, are) = match taken.len() {
            1 => (format!("CPU {taken}"), "is"),
            _ => (format!("CPUs {taken}"), "are"),
        };
        return Err(machine_refuses_all(format!(
            "{cpus} {are} already measured by {holder}: wait for it, choose other --cpus, or use \
             --share"
        )));
    }
    let finding = Finding::new(SetupFinding::CpusShared { cpus: taken, holder });
    Ok(CpuClaim { _lock: Some(lock), finding: Some(finding) })
}

/// The lock, after a moment for an agent that is about to end.
fn lock_cpus(root: &Root, wanted: &[u32], share: bool) -> io::Result<CpuLock> {
    let until = Instant::now() + ENDING;
    loop {
        let lock = CpuLock::lock(root, wanted.iter().copied())?;
        let ending = lock.held.iter().any(|(_, pid)| has_no_conductor(root, *pid));
        if share || !ending || Instant::now() >= until {
            return Ok(lock);
        }
        drop(lock);
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether the one who started this process was killed: it has another parent then.
fn has_no_conductor(root: &Root, pid: i32) -> bool {
    let Some(own) = Stat::read(root, pid as u32) else { return true };
    Stat::read(root, own.parent).is_none_or(|parent| parent.name != own.name)
}

/// A process as a person can find it.
fn holder(root: &Root, pid: i32) -> String {
    let words = root.read(format!("proc/{pid}/cmdline")).map(|line| line.replace('\n', " "));
    match words.filter(|words| !words.is_empty()) {
        Some(words) => format!("'{words}' (process {pid})"),
        None => format!("process {pid}"),
    }
}
