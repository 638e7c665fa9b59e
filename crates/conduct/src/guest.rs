//! A guest of the lab in the place of a machine.

use crate::{By, Failure, agents};
use latlab_lab::{Cache, Guest, Identity, Target};
use latlab_model::fault::{Fault, FaultKind};
use latlab_model::guest::{self, IN_VIRTUAL_TIME, MARK};
use latlab_model::run::{Finding, Severity};
use latlab_model::{Nanos, Plan};
use latlab_store::{CONSOLE, OpenRun};
use latlab_sys::spool::Spool;
use latlab_sys::{child, sched};
use std::fs;
use std::io::{self, Read};
use std::process::{Command, ExitStatus};
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
    let time = if target.realtime { "in the host's time" } else { IN_VIRTUAL_TIME };
    guest.add_file(MARK, format!("lab:{} {time}", target.machine.name));
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
    (plan.duration_ns.or(cycles).unwrap_or(Nanos::ZERO) + plan.warm_up_ns).duration()
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

/// What the run says of an emulator that did not end as it should.
pub(crate) fn crashed(status: ExitStatus, complaint: Option<&str>) -> Finding {
    let said = complaint.map(|said| format!(" It said: {said}.")).unwrap_or_default();
    let text = format!("The emulator ended with {status}.{said}");
    Finding::new("emulator-failed", Severity::Error, text)
}

/// What the emulator has said of itself when it had ended; it only speaks of what went wrong.
pub(crate) fn complaint(mut said: Spool) -> Option<String> {
    said.end().reached();
    let mut words = Vec::new();
    let _ = said.read_to_end(&mut words);
    last_line(&words)
}

/// A guest that measured nothing, or its emulator, says why; `cut` is why it was ended, if it was.
pub(crate) fn failed(open: &OpenRun, cut: Option<&Finding>, complaint: Option<&str>) -> Failure {
    let why = match (cut, complaint) {
        (Some(cut), _) => cut.text.clone(),
        (None, Some(complaint)) => format!("its emulator said: {complaint}"),
        (None, None) => "it turned itself off".to_string(),
    };
    let said = fs::read(open.path().join(CONSOLE)).unwrap_or_default();
    let kernel = match (last_line(&said), open.keep_console()) {
        (Some(last), Some(kept)) => {
            format!("its console is in {}, whose last line is: {last}", kept.display())
        }
        _ => "its kernel said nothing".to_string(),
    };
    Failure::Guest(format!("the guest measured nothing: {why}; {kernel}"))
}

/// The last line that says anything.
fn last_line(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_string)
}
