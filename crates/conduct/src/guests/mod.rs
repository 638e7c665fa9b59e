//! Guests of the laboratory: their link, and their replay. Part of the feature `guests`; `absent.rs` stands in for it.

mod link;
mod pauses;
mod replay;

use crate::Failure;
use crate::link::Link;
use latlab_lab::{Cache, GuestConfig};
use latlab_model::Plan;
use latlab_model::respond::LinuxResponderName;
use latlab_model::target::LabTarget;
use link::GuestLink;
pub use replay::{Replay, ReplayRequest, record, replay, why_no_replay};
use std::path::Path;

impl From<latlab_lab::Error> for Failure {
    fn from(error: latlab_lab::Error) -> Failure {
        Failure::NoGuest(error.to_string())
    }
}

/// Connects to a guest for a plan; returns the plan with what the guest is made of. `folder` has the kernels and
/// programs of guests.
pub(crate) fn connect(
    target: &LabTarget,
    folder: &Path,
    mut plan: Plan,
) -> Result<(Box<dyn Link>, Plan), Failure> {
    let config = GuestConfig::resolve(target).map_err(Failure::wrong_plan)?;
    let (link, guest) = GuestLink::new(&config, &Cache::new(folder.to_path_buf()), &plan)?;
    plan.on.guest = Some(Box::new(guest));
    Ok((Box::new(link), plan))
}

/// The target without settings that equal the default; an error is one line.
pub fn without_defaults(target: &LabTarget) -> Result<LabTarget, String> {
    Ok(GuestConfig::resolve(target)?.target())
}

/// Number of CPUs of a guest; an error is one line.
pub fn cpus(target: &LabTarget) -> Result<u32, String> {
    Ok(GuestConfig::resolve(target)?.cpus)
}

/// The command of a responder in a guest, on lines of its board or of the pin pair; empty if the kernel answers. An
/// error is one line.
pub fn responder_command(
    target: &LabTarget,
    name: LinuxResponderName,
    board_pins: bool,
) -> Result<Vec<String>, String> {
    let machine = GuestConfig::resolve(target)?.machine;
    if board_pins && machine.gpio_controllers.is_none() {
        return Err(format!(
            "--board-pins: {} has no GPIO controller for it, imx8mp-evk has",
            machine.name
        ));
    }
    Ok(latlab_lab::responder_command(name, machine, board_pins))
}
