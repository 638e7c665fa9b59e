//! The answers of a build without the feature `guests`.

use crate::Failure;
use crate::link::Link;
use latlab_model::respond::LinuxResponderName;
use latlab_model::target::LabTarget;
use latlab_model::{Plan, Run};
use std::path::Path;

pub const ABSENT: &str = "this latlab was built without guests (feature `guests`)";

fn absent<T>() -> Result<T, String> {
    Err(ABSENT.to_string())
}

pub(crate) fn connect(_: &LabTarget, _: &Path, _: Plan) -> Result<(Box<dyn Link>, Plan), Failure> {
    absent().map_err(Failure::NoGuest)
}

pub fn without_defaults(_: &LabTarget) -> Result<LabTarget, String> {
    absent()
}

pub fn cpus(_: &LabTarget) -> Result<u32, String> {
    absent()
}

pub fn responder_command(
    _: &LabTarget,
    _: LinuxResponderName,
    _: bool,
) -> Result<Vec<String>, String> {
    absent()
}

pub fn why_no_replay(_: &Run) -> Option<String> {
    Some(ABSENT.to_string())
}
