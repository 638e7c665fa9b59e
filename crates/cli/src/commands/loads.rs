//! `latlab loads`: the available loads and their parameters.

use crate::documents::ListedLoad;
use crate::exit::ExitError;
use crate::flags::{Format, board};
use crate::load_library::{Library, LibraryLoad};
use crate::output::{print_json, print_source, print_text, style, width};
use clap::{Args, Subcommand};
use latlab_conduct::StopFlag;
use latlab_conduct::link::programs_of_board;
use latlab_model::target::BoardTarget;
use latlab_report::load_entry;
use latlab_sys::child::program_path;
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
    /// Say what is installed on a board, such as ssh://pi@board
    #[arg(long, value_name = "TARGET", value_parser = board, global = true)]
    pub target: Option<BoardTarget>,
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
  latlab loads --target ssh://pi@board         the same of a board
  latlab loads show hackbench                  print a definition, as a template
  latlab run --load hackbench,groups=4 --for 30s

Definitions are searched in --loads DIR, $XDG_CONFIG_HOME/latlab/loads and /etc/latlab/loads, then
among the built-in ones.";

pub fn loads(args: &LoadsArgs) -> anyhow::Result<ExitCode> {
    let library = Library::new(args.loads.clone());
    match &args.command {
        Some(LoadsCommand::Show { name }) => {
            let found = library.find(name).map_err(ExitError::usage)?;
            match args.format {
                Format::Json => print_json(&listed(args, std::slice::from_ref(&found))?[0])?,
                Format::Text => print_source(&found.text)?,
            }
        }
        None => {
            let all = library.all().map_err(ExitError::usage)?;
            let listed = listed(args, &all)?;
            match args.format {
                Format::Json => print_json(&listed)?,
                Format::Text => print_text(&list(&listed))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The loads, each with its programs that are missing here or on a board.
fn listed<'a>(args: &LoadsArgs, loads: &'a [LibraryLoad]) -> anyhow::Result<Vec<ListedLoad<'a>>> {
    let Some(board) = &args.target else {
        let is_here = |name: &str| program_path(name).is_some();
        return Ok(loads.iter().map(|load| ListedLoad::new(load, is_here)).collect());
    };
    let mut programs: Vec<&str> = loads.iter().flat_map(ListedLoad::programs_of).collect();
    programs.sort_unstable();
    programs.dedup();
    let there = programs_of_board(board, &programs, StopFlag::on_signals(false)?);
    let there = there.map_err(ExitError::from)?;
    Ok(loads.iter().map(|load| ListedLoad::new(load, |name| there.contains(&name))).collect())
}

/// One paragraph per load.
fn list(loads: &[ListedLoad]) -> String {
    let (width, style) = (width(), style());
    loads.iter().map(|load| load_entry(&load.entry(), width, style)).collect()
}
