//! `latlab respond` of a build without the feature `pins`.

use crate::exit::ExitError;
use args::RespondArgs;
use std::process::ExitCode;

pub mod args {
    use clap::Args;
    use std::ffi::OsString;

    #[derive(Args)]
    #[command(disable_help_flag = true)]
    pub struct RespondArgs {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        words: Vec<OsString>,
    }
}

pub fn respond(_: &RespondArgs) -> anyhow::Result<ExitCode> {
    let absent = "this latlab was built without measuring from pin to pin (feature `pins`)";
    Err(ExitError::cannot_measure(absent).into())
}
