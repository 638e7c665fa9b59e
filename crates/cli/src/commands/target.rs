//! `latlab target`: named boards.

use crate::exit::ExitError;
use crate::flags::{Format, asked_board, board_folder};
use crate::output::{print_json, print_text, style, width};
use crate::targets::{self, NamedTarget, NamedTargets, is_name};
use clap::{Args, Subcommand};
use latlab_conduct::StopFlag;
use latlab_conduct::link::board_state;
use latlab_model::shell::{self, Line};
use latlab_model::target::{BoardState, DetachedState};
use latlab_model::units::counted;
use latlab_model::{CpuSet, Nanos, Target};
use latlab_report::units::bytes;
use latlab_report::{Column, table, wrapped};
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
    /// Give a board a name; replaces what the name stood for.
    Add(AddArgs),
    /// List the boards that have a name.
    List,
    /// Remove a name.
    Remove {
        /// The name
        name: String,
    },
    /// Ask a board for its machine, your rights, and its current runs.
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
  latlab target status pi                      its machine, your rights there, its current runs

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
                Format::Text => {
                    print_text(&status(name, &asked.board.to_string(), &state, width()))?
                }
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
    let was = before.map(|before| format!(" (was {})", before.target)).unwrap_or_default();
    print_text(&format!(
        "{name} is {board}{was}\nStored in {}\nNext: {}\n",
        path.display(),
        Line::new("latlab run --target").word(name).text("--for 60s")
    ))
}

fn list(format: Format, all: &NamedTargets) -> anyhow::Result<()> {
    let listed: Vec<ListedTarget> =
        all.iter().map(|(name, target)| ListedTarget { name, target }).collect();
    match format {
        Format::Json => print_json(&listed),
        Format::Text if listed.is_empty() => {
            print_text("No board has a name. To give one: `latlab target add NAME ssh://HOST`\n")
        }
        Format::Text => print_text(&boards(&listed, width())),
    }
}

/// One row per board, and a column for each default that any board has.
fn boards(listed: &[ListedTarget], width: usize) -> String {
    let column = |head, cell: &dyn Fn(&NamedTarget) -> Option<String>| {
        let cells: Vec<Option<String>> = listed.iter().map(|one| cell(one.target)).collect();
        let is_known = cells.iter().any(Option::is_some);
        let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".to_string()));
        is_known.then(|| Column::new(head, 0, cells).left())
    };
    let columns = [
        Some(Column::new("name", 0, listed.iter().map(|one| one.name.to_string())).left()),
        column("board", &|one| Some(one.target.to_string())),
        column("CPUs", &|one| one.cpus.as_ref().map(CpuSet::to_string)),
        column("deadline", &|one| one.deadline.map(|deadline| deadline.to_string())),
        column("load", &|one| (!one.load.is_empty()).then(|| one.load.join(" + "))),
        column("detached runs in", &|one| one.folder.as_ref().map(ToString::to_string)),
    ];
    table(columns.into_iter().flatten().collect(), width, style())
}

fn status(name: &str, board: &str, state: &BoardState, width: usize) -> String {
    let BoardState { machine, kernel, cpus, right, has_agent, runs, detached, .. } = state;
    let is_quiet = runs.is_empty() && detached.is_empty();
    let agent = match (has_agent, is_quiet) {
        (false, _) => "no agent there yet, the first run copies it",
        (true, true) => "the agent is there, no run",
        (true, false) => "the agent is there",
    };
    let cpus = counted(u64::from(*cpus), "CPU", "CPUs");
    let mut lines = vec![format!("{board}: {machine}, {kernel}, {cpus}; {right}; {agent}")];
    let attached = runs.iter().filter(|run| !detached.iter().any(|one| one.id == **run));
    lines.extend(attached.map(|run| format!("measuring: {run}")));
    let collect = shell::latlab("collect", name);
    for run in detached {
        let state = match run.state {
            DetachedState::Measures => "is being measured".to_string(),
            DetachedState::Ended => format!("has ended; collect it with `{collect}`"),
            DetachedState::Cut => format!("was cut off; collect what there is with `{collect}`"),
        };
        let so_far = bytes(run.bytes);
        lines.push(format!("detached: {} {state} ({so_far} in {})", run.id, run.folder));
    }
    let wrap = |line: &String| format!("{}\n", wrapped(line, width, 2));
    let (head, runs) = lines.split_first().expect("there is a line on the board");
    let runs = runs.iter().map(|line| format!("  {}", wrap(line)));
    wrap(head) + &runs.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Invariant (command line): No table loses a run, a kernel or a verdict, however narrow the terminal is.
    #[test]
    fn no_width_costs_a_board_or_its_defaults() {
        let pi = NamedTarget {
            target: "ssh://measurer@board-in-the-cellar.example.org:2222".parse().unwrap(),
            cpus: "1-3".parse().ok(),
            deadline: "500us".parse().ok(),
            load: vec!["hackbench,groups=4".into(), "stressapptest,seconds=60".into()],
            folder: Some("/mnt/card/latlab".into()),
        };
        let plain = NamedTarget {
            target: "ssh://pi".parse().unwrap(),
            cpus: None,
            deadline: None,
            load: Vec::new(),
            folder: None,
        };
        let listed = [
            ListedTarget { name: "the-one-in-the-cellar", target: &pi },
            ListedTarget { name: "pi", target: &plain },
        ];
        for width in 60..=200 {
            let text = boards(&listed, width);
            for word in [
                "the-one-in-the-cellar",
                "ssh://measurer@board-in-the-cellar.example.org:2222",
                "1-3",
                "500 us",
                "hackbench,groups=4",
                "stressapptest,seconds=60",
                "/mnt/card/latlab",
                "ssh://pi",
            ] {
                assert!(text.contains(word), "{word} at {width}:\n{text}");
            }
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
        }
    }

    #[test]
    fn the_runs_of_a_board_are_told_and_none_as_well() {
        let mut state = BoardState { has_agent: true, ..BoardState::default() };
        assert!(status("pi", "ssh://pi", &state, 200).ends_with("; the agent is there, no run\n"));
        state.runs = vec!["20261124T000000Z_night".into()];
        let text = status("pi", "ssh://pi", &state, 200);
        assert!(
            text.ends_with("; the agent is there\n  measuring: 20261124T000000Z_night\n"),
            "{text}"
        );
        state.has_agent = false;
        state.runs.clear();
        let text = status("pi", "ssh://pi", &state, 200);
        assert!(text.ends_with("; no agent there yet, the first run copies it\n"), "{text}");
    }
}
