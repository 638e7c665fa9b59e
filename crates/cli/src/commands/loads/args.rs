//! The flags of `latlab loads`.

use crate::flags::Format;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Flags of `latlab loads`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct LoadsArgs {
    /// One of them.
    #[command(subcommand)]
    pub command: Option<LoadsCommand>,
    /// Folder of further definitions, before all others
    #[arg(long, value_name = "DIR", global = true)]
    pub loads: Option<PathBuf>,
    /// How to print: text, json
    #[arg(
        long,
        hide_possible_values = true,
        value_name = "FORMAT",
        default_value = "text",
        global = true
    )]
    pub format: Format,
}

/// What else `latlab loads` does.
#[derive(Subcommand)]
pub enum LoadsCommand {
    /// Print the definition of a load, to be used as it is or as a start for another.
    Show {
        /// Its name
        name: String,
    },
}

const EXAMPLES: &str = "\
Examples:
  latlab loads                                 all loads, what they take, and whether they are here
  latlab loads show hackbench                  the definition, to be changed under another name
  latlab run --load hackbench,groups=4 --for 30s

Definitions are read from --loads DIR, $XDG_CONFIG_HOME/latlab/loads and /etc/latlab/loads, then
come those of latlab.";
