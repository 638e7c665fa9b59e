//! `latlab target`: boards by name.

use crate::exit::ExitError;
use crate::flags::{Format, asked_board, board_folder};
use crate::output::{print_json, print_text};
use crate::targets::{self, NamedTarget, NamedTargets, is_name};
use clap::{Args, Subcommand};
use latlab_conduct::StopFlag;
use latlab_conduct::link::board_state;
use latlab_model::target::{BoardState, DetachedState};
use latlab_model::{CpuSet, Nanos, Target};
use latlab_report::units::bytes;
use serde::Serialize;
use std::process::ExitCode;

/// Flags of `latlab target`.
#[derive(Args)]
#[command(subcommand_required = true, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct TargetArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: TargetCommand,
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

/// What `latlab target` does.
#[derive(Subcommand)]
pub enum TargetCommand {
    /// Remember a board by a name, in place of what the name meant before.
    Add(AddArgs),
    /// List the boards that have a name.
    List,
    /// Forget a name.
    Remove {
        /// The name
        name: String,
    },
    /// Ask a board what it is and what latlab does there.
    Status {
        /// The board.
        #[arg(help = "Its name, or ssh://[USER@]HOST[:PORT]")]
        name: String,
        /// Look into this folder there for detached runs as well
        #[arg(long, value_name = "DIR", value_parser = board_folder)]
        board_folder: Option<String>,
    },
}

/// Flags of `latlab target add`.
#[derive(Args)]
pub struct AddArgs {
    /// The name
    pub name: String,
    /// The board.
    #[arg(help = "The board: ssh://[USER@]HOST[:PORT]")]
    pub target: Target,
    /// CPUs to measure there, unless a run says otherwise
    #[arg(short = 'a', long, value_name = "LIST")]
    pub cpus: Option<CpuSet>,
    /// Deadline of runs there, unless a run says otherwise
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<Nanos>,
    /// Load of runs there, unless a run says otherwise; may be given several times
    #[arg(long, value_name = "NAME[,PARAMETER=VALUE]...")]
    pub load: Vec<String>,
    /// Folder there for detached runs, unless a run says otherwise
    #[arg(long, value_name = "DIR", value_parser = board_folder)]
    pub board_folder: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  latlab target add pi ssh://pi@board --cpus 2-3 --deadline 500us
  latlab run --target pi --for 60s
  latlab target status pi                      its machine, its rights, and the runs that go on there

Names are kept in $XDG_CONFIG_HOME/latlab/targets.toml (~/.config). No password or key is stored.";

/// A board, as `latlab target list --format json` has it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedTarget<'a> {
    /// Its name.
    name: &'a str,
    /// What is known of it.
    #[serde(flatten)]
    target: &'a NamedTarget,
}

/// Does what was asked of the names.
pub fn target(args: &TargetArgs) -> anyhow::Result<ExitCode> {
    let mut all = targets::read().map_err(ExitError::usage)?;
    match &args.command {
        TargetCommand::Add(add) => remember(&mut all, add)?,
        TargetCommand::List => list(args.format, &all)?,
        TargetCommand::Remove { name } => {
            if all.remove(name).is_none() {
                return Err(ExitError::usage(format!("no target '{name}'")).into());
            }
            targets::write(&all).map_err(ExitError::cannot_measure)?;
        }
        TargetCommand::Status { name, board_folder } => {
            let asked = asked_board(name, board_folder.as_deref()).map_err(ExitError::usage)?;
            let stop = StopFlag::on_signals(false)?;
            let state = board_state(&asked.board, asked.folder.as_deref(), stop)
                .map_err(ExitError::from)?;
            match args.format {
                Format::Json => print_json(&state)?,
                Format::Text => print_text(&status(name, &asked.board.to_string(), &state))?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn remember(all: &mut NamedTargets, add: &AddArgs) -> anyhow::Result<()> {
    let AddArgs { name, target, cpus, deadline, load, board_folder } = add;
    if !is_name(name) {
        let text = format!("'{name}': expected a name of letters, digits, '-', '_' and '.'");
        return Err(ExitError::usage(text).into());
    }
    crate::flags::check_positive([("--deadline", *deadline)]).map_err(ExitError::usage)?;
    let (target, cpus, deadline, load) = (target.clone(), cpus.clone(), *deadline, load.clone());
    let folder = board_folder.clone();
    let named = NamedTarget { target, cpus, deadline, load, folder };
    let board = named.board().map_err(ExitError::usage)?.to_string();
    let before = all.insert(name.clone(), named);
    let path = targets::write(all).map_err(ExitError::cannot_measure)?;
    let was = before.map(|before| format!(", before {}", before.target)).unwrap_or_default();
    print_text(&format!(
        "{name} is {board}{was}, by {}\nNext: latlab run --target {name} --for 60s\n",
        path.display()
    ))
}

fn list(format: Format, all: &NamedTargets) -> anyhow::Result<()> {
    let listed: Vec<ListedTarget> =
        all.iter().map(|(name, target)| ListedTarget { name, target }).collect();
    match format {
        Format::Json => print_json(&listed),
        Format::Text if listed.is_empty() => {
            print_text("No target has a name; add one by `latlab target add NAME ssh://HOST`.\n")
        }
        Format::Text => print_text(&listed.iter().map(line).collect::<String>()),
    }
}

fn line(listed: &ListedTarget) -> String {
    let NamedTarget { target, cpus, deadline, load, folder } = listed.target;
    let cpus = cpus.as_ref().map(|cpus| format!(", CPUs {cpus}"));
    let deadline = deadline.map(|deadline| format!(", deadline {deadline}"));
    let load = (!load.is_empty()).then(|| format!(", load {}", load.join(" + ")));
    let folder = folder.as_ref().map(|folder| format!(", detached runs in {folder}"));
    let defaults: String = [cpus, deadline, load, folder].into_iter().flatten().collect();
    format!("{}  {target}{defaults}\n", listed.name)
}

fn status(name: &str, board: &str, state: &BoardState) -> String {
    let BoardState { machine, kernel, cpus, right, has_agent, runs, detached, .. } = state;
    let is_quiet = runs.is_empty() && detached.is_empty();
    let agent = match (has_agent, is_quiet) {
        (false, _) => "no agent there yet",
        (true, true) => "the agent is there, and nothing runs",
        (true, false) => "the agent is there",
    };
    let mut lines = format!("{board}: {machine}, {kernel}, {cpus} CPUs; {right}; {agent}\n");
    let attached = runs.iter().filter(|run| !detached.iter().any(|one| one.id == **run));
    attached.for_each(|run| lines += &format!("  measures for {run}\n"));
    for run in detached {
        let state = match run.state {
            DetachedState::Measures => "measures".to_string(),
            DetachedState::Ended => format!("has ended; collect it by `latlab collect {name}`"),
            DetachedState::Cut => {
                format!("was cut off; collect what there is by `latlab collect {name}`")
            }
        };
        let so_far = bytes(run.bytes);
        lines += &format!("  without the link: {} {state} ({so_far} in {})\n", run.id, run.folder);
    }
    lines
}
