//! A guest of the lab in the place of a machine.

use crate::{By, Failure, agents};
use latlab_lab::{Cache, Guest, Identity, Target};
use latlab_model::fault::{Fault, FaultKind};
use latlab_model::run::{Finding, Severity};
use latlab_model::{Nanos, Plan, guest};
use latlab_store::{CONSOLE, OpenRun};
use latlab_sys::{child, sched};
use std::fs;
use std::io;
use std::process::Command;
use std::time::Duration;

/// A guest that takes longer to boot is ended.
const BOOT: Duration = Duration::from_secs(240);
/// Under load a second of the guest takes much longer than one of ours, but not so long.
const SLOWEST: u32 = 240;

/// Lays a plan over a guest: who measures it, and the plan with what makes it repeatable.
pub fn guest(target: &Target, cache: &Cache, plan: Plan) -> Result<(By, Plan), Failure> {
    let machine = target.machine.architecture;
    let agent = agents::program(machine).unwrap_or_else(|| {
        let text = format!(
            "this build carries no agent for {machine}, which a guest needs: `make dist` makes one \
             that does"
        );
        Err(io::Error::other(text))
    })?;
    let programs = plan.loads.iter().flat_map(|load| &load.processes);
    let programs = programs.filter_map(|process| process.argv.first()).map(String::as_str);
    let mut guest = Guest::new(target, cache, agent, plan.seed, programs)?;
    if Fault::among(&plan.loads).any(|fault| fault.kind == FaultKind::IrqsOff) {
        guest.add_fault(cache)?;
    }
    let Identity { emulator, accelerator, kernel, kernel_sha256, files_sha256 } =
        guest.identity()?;
    let asked = guest::Guest {
        target: target.to_string(),
        seed: plan.seed,
        emulator,
        accelerator: accelerator.map(str::to_string),
        kernel,
        kernel_sha256,
        files_sha256,
    };
    let limit = BOOT + SLOWEST * virtual_length(&plan);
    Ok((By::Guest(Box::new(guest), limit), Plan { guest: Some(Box::new(asked)), ..plan }))
}

fn virtual_length(plan: &Plan) -> Duration {
    let cycles =
        plan.cycles.map(|cycles| plan.period_ns * i64::try_from(cycles).unwrap_or(i64::MAX));
    let length = plan.duration_ns.or(cycles).unwrap_or(Nanos::ZERO) + plan.warm_up_ns;
    Duration::from_nanos(length.0.max(0) as u64)
}

/// The emulator's command: an ordinary process that ends with us.
pub(crate) fn emulator(guest: Guest, open: &OpenRun) -> Result<Command, Failure> {
    let mut command = guest.prepare(&open.path().join(CONSOLE))?;
    let cpus = sched::affinity().map_err(io::Error::from)?;
    child::ordinary(&mut command, cpus, child::niceness());
    Ok(command)
}

/// What the run says of a guest that its user ended.
pub(crate) fn stopped() -> Finding {
    let text = "The guest was ended from outside, so that what it had not yet sent, up to half a \
                second of its time, is not here.";
    Finding::new("guest-ended", Severity::Info, text)
}

/// What the run says of a guest that took too long.
pub(crate) fn too_slow(limit: Duration) -> Finding {
    let text = format!(
        "The guest was ended after {} s of wall time, which is the limit for a run of this \
         length: what it had not yet sent, up to half a second of its time, is not here.",
        limit.as_secs()
    );
    Finding::new(guest::TIME_LIMIT_FINDING, Severity::Warning, text)
}

/// A guest that measured nothing says on its console why; `cut` is why it was ended, if it was.
pub(crate) fn failed(open: &OpenRun, cut: Option<&Finding>) -> Failure {
    let Some(console) = open.keep_console() else { return Failure::Nothing };
    let said = fs::read(&console).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    Failure::Guest {
        why: cut.map_or("it turned itself off".to_string(), |cut| cut.text.clone()),
        console,
        last: last.unwrap_or("nothing").to_string(),
    }
}
