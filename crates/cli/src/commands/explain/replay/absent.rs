//! `latlab explain --replay` of a build without the feature `guests`.

use super::args::ExplainArgs;
use crate::exit::ExitError;
use latlab_conduct::guests::ABSENT;
use latlab_model::Run;
use std::path::Path;
use std::process::ExitCode;

pub fn explain_by_replay(_: &ExplainArgs, _: &Path, _: &Run) -> anyhow::Result<ExitCode> {
    Err(ExitError::cannot_measure(ABSENT).into())
}
