//! `latlab lab` of a build without the feature `guests`.

use crate::exit::ExitError;
use args::LabArgs;
use latlab_conduct::guests::ABSENT;
use std::process::ExitCode;

pub mod args {
    use clap::Args;
    use std::ffi::OsString;

    #[derive(Args)]
    #[command(disable_help_flag = true)]
    pub struct LabArgs {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        words: Vec<OsString>,
    }
}

pub fn lab(_: &LabArgs) -> anyhow::Result<ExitCode> {
    Err(ExitError::cannot_measure(ABSENT).into())
}
