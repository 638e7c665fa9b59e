//! `latlab loads`: which loads there are, and what each takes.

use crate::documents::ListedLoad;
use crate::exit::ExitError;
use crate::flags::Format;
use crate::load_library::Library;
use crate::output::{print_json, print_source, print_text, style, width};
use clap::{Args, Subcommand};
use latlab_report::load_entry;
use std::path::PathBuf;
use std::process::ExitCode;

/// Flags of `latlab loads`.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub struct LoadsArgs {
    /// One of them.
    #[command(subcommand)]
    pub command: Option<LoadsCommand>,
    /// Folder with more definitions, searched first
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
    /// Print the definition of a load.
    Show {
        /// Its name
        name: String,
    },
}

const EXAMPLES: &str = "\
Examples:
  latlab loads                                 list all loads, their parameters, and whether they are installed
  latlab loads show hackbench                  print a definition, as a template
  latlab run --load hackbench,groups=4 --for 30s

Definitions are searched in --loads DIR, $XDG_CONFIG_HOME/latlab/loads and /etc/latlab/loads, then
among the built-in ones.";

/// Lists the loads, or shows one.
pub fn loads(args: &LoadsArgs) -> anyhow::Result<ExitCode> {
    let library = Library::new(args.loads.clone());
    match &args.command {
        Some(LoadsCommand::Show { name }) => {
            let found = library.find(name).map_err(ExitError::usage)?;
            match args.format {
                Format::Json => print_json(&ListedLoad::from(&found))?,
                Format::Text => print_source(&found.text)?,
            }
        }
        None => {
            let all = library.all().map_err(ExitError::usage)?;
            let listed: Vec<ListedLoad> = all.iter().map(ListedLoad::from).collect();
            match args.format {
                Format::Json => print_json(&listed)?,
                Format::Text => print_text(&list(&listed))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A paragraph for each.
fn list(loads: &[ListedLoad]) -> String {
    let (width, style) = (width(), style());
    loads.iter().map(|load| load_entry(&load.entry(), width, style)).collect()
}
