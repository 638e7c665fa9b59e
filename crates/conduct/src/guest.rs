//! A guest of the lab in the place of a machine.

use crate::{By, Failure, agents};
use latlab_lab::{Cache, Guest, Identity, Target};
use latlab_model::{Nanos, Plan, guest};
use std::io;
use std::time::Duration;

/// A guest that takes longer to boot is ended.
const BOOT: Duration = Duration::from_secs(120);
/// Under load a second of the guest takes much longer than one of ours, but not so long.
const SLOWEST: u32 = 60;

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
    let guest = Guest::new(target, cache, agent, plan.seed)?;
    let Identity { emulator, kernel, kernel_sha256, files_sha256 } = guest.identity()?;
    let asked = guest::Guest {
        target: target.to_string(),
        seed: plan.seed,
        emulator,
        kernel,
        kernel_sha256,
        files_sha256,
    };
    let limit = BOOT + SLOWEST * virtual_length(&plan);
    Ok((By::Guest(Box::new(guest), limit), Plan { guest: Some(asked), ..plan }))
}

fn virtual_length(plan: &Plan) -> Duration {
    let cycles =
        plan.cycles.map(|cycles| plan.period_ns * i64::try_from(cycles).unwrap_or(i64::MAX));
    let length = plan.duration_ns.or(cycles).unwrap_or(Nanos::ZERO) + plan.warm_up_ns;
    Duration::from_nanos(length.0.max(0) as u64)
}
