//! `latlab completions`: scripts that complete the commands in a shell.

use crate::output::print;
use clap::{Args, ValueEnum};
use std::process::ExitCode;

/// Flags of `latlab completions`.
#[derive(Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell: bash, zsh, fish
    #[arg(hide_possible_values = true)]
    pub shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  source <(latlab completions bash)                       for the current bash
  latlab completions zsh >~/.zfunc/_latlab                for zsh, with ~/.zfunc in its fpath
  latlab completions fish >~/.config/fish/completions/latlab.fish

`make install` installs all three where the shells find them.";

/// The shells whose completions are shipped.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}

impl Shell {
    /// The script, made anew from the flags by `make reference`.
    pub fn script(self) -> &'static str {
        match self {
            Shell::Bash => include_str!("../../../../docs/reference/completions/latlab.bash"),
            Shell::Zsh => include_str!("../../../../docs/reference/completions/_latlab"),
            Shell::Fish => include_str!("../../../../docs/reference/completions/latlab.fish"),
        }
    }
}

/// Prints the script of a shell.
pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    print(args.shell.script())?;
    Ok(ExitCode::SUCCESS)
}
