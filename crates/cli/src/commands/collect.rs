//! `latlab collect`: fetches runs that a board measured while detached.

use crate::commands::run::print_finished;
use crate::exit::{EXIT_CANNOT_MEASURE, EXIT_NO_ANSWER, ExitError, exit_code};
use crate::flags::test_results::TestResultArgs;
use crate::flags::{Common, Format, asked_board, board_folder};
use crate::output::{print_json, print_text, warn};
use crate::store::{open_store, recover};
use clap::Args;
use latlab_conduct::StopFlag;
use latlab_conduct::link::{DetachedRuns, FinishedDetachedRun};
use latlab_model::shell;
use latlab_model::target::{DetachedRun, DetachedState};
use latlab_report::units::bytes;
use latlab_sys::terminal;
use serde::Serialize;
use std::io::{Write, stderr};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Flags of `latlab collect`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CollectArgs {
    /// The board.
    #[arg(value_name = "BOARD", help = "Its name, or ssh://[USER@]HOST[:PORT]")]
    pub board: String,
    /// Collect this run alone: its id, or a part of it
    pub run: Option<String>,
    /// Stop the run that still measures there first, and collect it as well
    #[arg(long)]
    pub stop: bool,
    /// Also look in this folder of the board: the --board-folder of `latlab run --detach`
    #[arg(long, value_name = "DIR", value_parser = board_folder)]
    pub board_folder: Option<String>,
    /// Print no progress
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub common: Common,
}

const EXAMPLES: &str = "\
Examples:
  latlab run --target pi --detach --for 8h --deadline 500us
  latlab target status pi               what runs there
  latlab collect pi                     fetch the runs that have ended
  latlab collect pi --stop              stop what still measures, and fetch it

A run is removed from the board once it is stored here, complete and verified. If the link breaks, the next
collect continues where this one stopped.

Exit codes: of the runs that were collected the largest code of `latlab run`; 3 if one could not be collected;
4 if none was and one still measures.";

/// What became of a run, as `latlab collect --format json` has it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CollectedRun {
    /// Its id on the board.
    id: String,
    /// What became of it.
    #[serde(flatten)]
    outcome: CollectOutcome,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "kebab-case")]
enum CollectOutcome {
    /// It is stored here.
    Collected {
        /// Its folder.
        path: String,
    },
    /// It still measures.
    Measures,
    /// It stays on the board.
    Failed {
        /// Why.
        reason: String,
    },
}

pub fn collect(args: &CollectArgs) -> anyhow::Result<ExitCode> {
    let asked = asked_board(&args.board, args.board_folder.as_deref()).map_err(ExitError::usage)?;
    let store = open_store(args.common.out.as_deref());
    recover(&store);
    let stop = StopFlag::on_signals(false)?;
    let name = &args.board;
    let mut there =
        DetachedRuns::open(&asked.board, asked.folder.as_deref(), stop).map_err(ExitError::from)?;
    let runs = there.list().map_err(ExitError::from)?;
    let wanted = pick(&runs, args.run.as_deref(), name).map_err(ExitError::usage)?;
    let mut all = Vec::new();
    let (mut codes, mut measures) = (Vec::new(), false);
    for mut run in wanted {
        if run.state == DetachedState::Measures && args.stop {
            there.end(&run).map_err(ExitError::from)?;
            // The run has grown since the last listing.
            let now = there.list().map_err(ExitError::from)?;
            run = now.into_iter().find(|one| one.id == run.id).unwrap_or(run);
        }
        let outcome = match run.state {
            DetachedState::Measures => {
                measures = true;
                if args.common.format == Format::Text {
                    let so_far = bytes(run.bytes);
                    print_text(&format!(
                        "{} still measures ({so_far} so far); `{}` ends it\n",
                        run.id,
                        shell::latlab("collect --stop", name)
                    ))?;
                }
                CollectOutcome::Measures
            }
            DetachedState::Ended | DetachedState::Cut => {
                let mut progress = Progress::new(&run, args.quiet);
                let brought = there.collect(&run, &store, |bytes| progress.show(bytes));
                drop(progress);
                match brought {
                    Ok(FinishedDetachedRun { finished, notes }) => {
                        notes.iter().for_each(warn);
                        codes.push(exit_code(&finished.run));
                        if args.common.format == Format::Text {
                            print_finished(&finished, Format::Text, &TestResultArgs::default())?;
                        }
                        CollectOutcome::Collected { path: finished.path.display().to_string() }
                    }
                    Err(failure) => {
                        let reason = ExitError::from(failure).text;
                        warn(&reason);
                        codes.push(EXIT_CANNOT_MEASURE);
                        CollectOutcome::Failed { reason }
                    }
                }
            }
        };
        all.push(CollectedRun { id: run.id, outcome });
    }
    match args.common.format {
        Format::Json => print_json(&all)?,
        Format::Text if all.is_empty() => print_text(&format!("Nothing to collect on {name}.\n"))?,
        Format::Text => {}
    }
    let none = if measures { EXIT_NO_ANSWER } else { 0 };
    Ok(ExitCode::from(codes.into_iter().max().unwrap_or(none)))
}

/// Selects the runs to fetch; an error is one line.
fn pick(runs: &[DetachedRun], spec: Option<&str>, board: &str) -> Result<Vec<DetachedRun>, String> {
    let Some(spec) = spec else { return Ok(runs.to_vec()) };
    let exact = runs.iter().find(|run| run.id == spec);
    let fitting: Vec<&DetachedRun> = match exact {
        Some(run) => vec![run],
        None => runs.iter().filter(|run| run.id.contains(spec)).collect(),
    };
    let ids = |runs: Vec<&DetachedRun>| -> String {
        runs.iter().map(|run| run.id.as_str()).collect::<Vec<_>>().join(", ")
    };
    match &fitting[..] {
        [run] => Ok(vec![(*run).clone()]),
        [] if runs.is_empty() => Err(format!("no detached run is on {board}")),
        [] => {
            let there = ids(runs.iter().collect());
            Err(format!("no detached run '{spec}' is on {board}; there are {there}"))
        }
        several => Err(format!("'{spec}' is a part of {}", ids(several.to_vec()))),
    }
}

/// Shows on a terminal how much of a run has been copied.
struct Progress<'a> {
    run: &'a DetachedRun,
    shown: Option<Instant>,
    wanted: bool,
}

impl<'a> Progress<'a> {
    const EVERY: Duration = Duration::from_millis(250);

    fn new(run: &'a DetachedRun, quiet: bool) -> Progress<'a> {
        Progress { run, shown: None, wanted: !quiet && terminal::stderr_is_terminal() }
    }

    fn show(&mut self, here: u64) {
        if !self.wanted || self.shown.is_some_and(|at| at.elapsed() < Progress::EVERY) {
            return;
        }
        self.shown = Some(Instant::now());
        let (here, all) = (bytes(here), bytes(self.run.bytes));
        // Standard error may be closed.
        let _ = write!(stderr(), "\r{}: {here} of {all}\x1b[K", self.run.id);
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_named_by_a_part_that_no_other_has() {
        let run = |id: &str| DetachedRun {
            id: id.to_string(),
            state: DetachedState::Ended,
            bytes: 1,
            folder: "/x".to_string(),
        };
        let runs = [run("20261124T000000Z_night"), run("20261124T000000Z_night-2")];
        assert_eq!(pick(&runs, None, "pi").unwrap().len(), 2);
        assert_eq!(pick(&runs, Some("night-2"), "pi").unwrap(), [runs[1].clone()]);
        assert_eq!(pick(&runs, Some("20261124T000000Z_night"), "pi").unwrap(), [runs[0].clone()]);
        let error = pick(&runs, Some("night"), "pi").unwrap_err();
        assert!(error.ends_with("20261124T000000Z_night, 20261124T000000Z_night-2"), "{error}");
        assert!(pick(&runs, Some("x"), "pi").unwrap_err().contains("there are"));
        assert_eq!(pick(&[], Some("x"), "pi").unwrap_err(), "no detached run is on pi");
    }
}
