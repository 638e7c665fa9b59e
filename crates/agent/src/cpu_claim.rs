//! Claims the CPUs of a run against every other latlab on this machine.

use crate::layout::{Cpus, Layout};
use crate::refusals::machine_refuses_all;
use latlab_model::finding::{Finding, SetupFinding};
use latlab_model::frame::{Message, Refusal};
use latlab_model::{CpuSet, Plan};
use latlab_sys::cpu_claim::{self, OtherClaim};
use latlab_sys::files::Root;
use std::io;
use std::time::{Duration, Instant};

/// An agent whose conductor has gone ends within this time.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// Holds a claim on CPUs until it is dropped.
pub struct HeldCpus {
    _claim: Option<cpu_claim::CpuClaim>,
    pub finding: Option<Message>,
}

/// Claims the CPUs to be measured; a refusal names the process that has them.
pub fn claim_cpus(
    root: &Root,
    plan: &Plan,
    layout: &Layout,
    cpus: &Cpus,
) -> Result<HeldCpus, Refusal> {
    if plan.method.attach().is_some() {
        // Several runs may measure one program's threads at the same time.
        return Ok(HeldCpus { _claim: None, finding: None });
    }
    let measured: Vec<u32> = layout.measured(cpus).iter().collect();
    let claim = match wait_for_cpus(root, &measured, plan.who.share_cpus) {
        Ok(claim) => claim,
        Err(error) => {
            let error = error.to_string();
            let finding = Message::Finding(Finding::new(SetupFinding::CpusNotHeld { error }));
            return Ok(HeldCpus { _claim: None, finding: Some(finding) });
        }
    };
    let Some(OtherClaim { holder, .. }) = claim.others.first() else {
        return Ok(HeldCpus { _claim: Some(claim), finding: None });
    };
    let holder = holder.clone();
    let taken: CpuSet = claim.others.iter().flat_map(|other| other.cpus.iter().copied()).collect();
    if !plan.who.share_cpus && is_refused(&claim) {
        let (cpus, are) = match taken.len() {
            1 => (format!("CPU {taken}"), "is"),
            _ => (format!("CPUs {taken}"), "are"),
        };
        return Err(machine_refuses_all(format!(
            "{cpus} {are} already measured by {holder}: wait for it, choose other --cpus, or use \
             --share"
        )));
    }
    let shared = Finding::new(SetupFinding::CpusShared { cpus: taken, holder });
    let finding = Message::Finding(shared);
    Ok(HeldCpus { _claim: Some(claim), finding: Some(finding) })
}

fn is_refused(claim: &cpu_claim::CpuClaim) -> bool {
    claim.others.iter().any(|other| other.is_trusted)
}

/// Claims the CPUs, waiting a moment for an agent that is about to end.
fn wait_for_cpus(root: &Root, cpus: &[u32], share: bool) -> io::Result<cpu_claim::CpuClaim> {
    let until = Instant::now() + PATIENCE;
    loop {
        let claim = cpu_claim::CpuClaim::take(root, cpus)?;
        if share || !is_refused(&claim) || Instant::now() >= until {
            return Ok(claim);
        }
        drop(claim);
        std::thread::sleep(PAUSE);
    }
}
