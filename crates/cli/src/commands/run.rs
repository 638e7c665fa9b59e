//! `latlab run`.

use crate::exit::{ExitError, exit_code};
use crate::flags::Format;
use crate::flags::run::RunArgs;
use crate::flags::test_results::TestResultArgs;
use crate::leftovers::undo_leftovers;
use crate::output::{print_json, print_text, sanitize_run, warn};
use crate::progress::Progress;
use crate::render::{summary_lines, with_largest, with_statistics};
use crate::store::{lab_folder, open_store, recover};
use anyhow::Context;
use latlab_conduct::link::{self, Connector, DetachedStart};
use latlab_conduct::{RunRequest, StopFlag, Timing, check_disk_space};
use latlab_model::{Plan, shell};
use latlab_report::rendered;
use latlab_report::test_suite::of_run;
use latlab_store::{Finished, Store, new_id};
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures, stores the run, prints and judges it.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    args.results.check(args.common.format == Format::Json)?;
    let seed = jiff::Timestamp::now().as_nanosecond() as u64;
    let measure = &args.measure;
    let plan = measure.plan(seed).map_err(ExitError::usage)?;
    if plan.on.detached.is_some() {
        args.results.refuse_detached()?;
        return detach(args, plan);
    }
    let store = open_store(args.common.out.as_deref());
    recover(&store);
    if let Some(arithmetic) = check_disk_space(&plan, &store).map_err(ExitError::from)?
        && !args.quiet
    {
        warn(arithmetic);
    }
    let shown = Shown { quiet: args.quiet, console: measure.guest.console, command: "latlab run" };
    let stop = StopFlag::on_signals(args.keep_going)?;
    let name = plan.name.clone();
    let measured = measure_plan(plan, &store, stop, shown);
    let finished = args.results.note_failure(&name, measured)?;
    print_finished(&finished, args.common.format, &args.results)?;
    Ok(ExitCode::from(exit_code(&finished.run)))
}

/// Prints a run's result and where it is stored.
pub fn print_finished(
    finished: &Finished,
    format: Format,
    results: &TestResultArgs,
) -> anyhow::Result<()> {
    let path = finished.path.display();
    let shown = with_largest(&finished.path, finished.run.clone());
    let printed = match format {
        _ if results.replace_text() => Ok(()),
        Format::Json => {
            let shown = with_statistics(&finished.path, shown, latlab_report::stored::statistics);
            print_json(&rendered(&shown))
        }
        Format::Text => {
            let shown =
                with_statistics(&finished.path, shown, latlab_report::stored::quantile_statistics);
            let text = summary_lines(&shown)?;
            let [more, page] =
                ["show", "report"].map(|command| shell::latlab(command, &finished.path));
            print_text(&format!("{text}Stored in {path}\nMore: {more}\nAs a page: {page}\n"))
        }
    };
    let tests = || Ok(of_run(&sanitize_run(&finished.run)?));
    printed
        .and_then(|()| results.write(tests))
        .with_context(|| format!("the run is stored in {path}"))
}

/// A run that goes on without us, as `latlab run --detach --format json` has it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DetachedRunStart {
    /// Its id.
    id: String,
    /// The board.
    target: String,
    /// The folder on the board in which that of the run lies.
    folder: String,
    /// Bytes of its stream at which it ends.
    most_bytes: u64,
}

/// Starts a detached run on a board.
fn detach(args: &RunArgs, plan: Plan) -> anyhow::Result<ExitCode> {
    let board = args.measure.guest.target.clone().unwrap_or_default();
    let id = new_id(jiff::Timestamp::now(), &plan.name);
    let lasts = plan.until.duration_ns.map(|time| format!(" for {time}"));
    let started =
        link::detach(plan, &id, StopFlag::on_signals(args.keep_going)?).map_err(ExitError::from)?;
    let DetachedStart { board: target, id, folder, most_bytes, notes } = started;
    if !args.quiet {
        notes.iter().for_each(warn);
    }
    let target = target.to_string();
    match args.common.format {
        Format::Json => print_json(&DetachedRunStart { id, target, folder, most_bytes })?,
        Format::Text => print_text(&format!(
            "{target} measures {id}{} without the link, in {folder} there.\n\
             Status: {}\nCollect: {}\n",
            lasts.unwrap_or_default(),
            shell::latlab("target status", &board),
            shell::latlab("collect", &board),
        ))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// How a run's progress is shown.
pub struct Shown {
    /// Print no progress.
    pub quiet: bool,
    /// Print the guest's console.
    pub console: bool,
    /// The command that starts the run.
    pub command: &'static str,
}

/// Runs a plan, shows its progress, and stores the run.
pub fn measure_plan(
    plan: Plan,
    store: &Store,
    stop: &StopFlag,
    shown: Shown,
) -> anyhow::Result<Finished> {
    let (mut link, plan) = connector()?.connect(plan).map_err(ExitError::from)?;
    let id = new_id(jiff::Timestamp::now(), &plan.name);
    let title = format!("{} {}", shown.command, plan.name);
    let mut progress = Progress::new(&plan, shown.quiet, shown.console, title);
    let request = RunRequest {
        plan: &plan,
        link: link.as_mut(),
        store,
        id: &id,
        stop,
        timing: Timing::default(),
    };
    let finished = latlab_conduct::run(request, |live| progress.show(live));
    drop(progress);
    link.restore().iter().for_each(warn);
    Ok(finished.map_err(ExitError::from)?)
}

/// The path of this program, which is also the agent of this machine.
pub fn own_program() -> Result<PathBuf, ExitError> {
    std::env::current_exe().map_err(|error| {
        ExitError::cannot_measure(format!("cannot find the program file of latlab: {error}"))
    })
}

/// Connects to agents: this program, boards and guests.
pub fn connector() -> anyhow::Result<Connector> {
    let program = own_program()?;
    Ok(Connector { program, lab_folder: lab_folder(), may_ask: true, restore: undo_leftovers })
}
