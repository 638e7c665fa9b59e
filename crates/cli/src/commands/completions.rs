//! `latlab completions`: shell completion scripts.

use crate::output::print;
use clap::{Args, ValueEnum};
use flate2::read::ZlibDecoder;
use std::io::Read;
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
    /// The script, which `make reference` generates from the flags and `build.rs` packs.
    pub fn script(self) -> String {
        let packed: &[u8] = match self {
            Shell::Bash => include_bytes!(concat!(env!("OUT_DIR"), "/latlab.bash")),
            Shell::Zsh => include_bytes!(concat!(env!("OUT_DIR"), "/_latlab")),
            Shell::Fish => include_bytes!(concat!(env!("OUT_DIR"), "/latlab.fish")),
        };
        let mut script = String::new();
        ZlibDecoder::new(packed).read_to_string(&mut script).expect("build.rs packed a text");
        script
    }
}

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    print(&args.shell.script())?;
    Ok(ExitCode::SUCCESS)
}
