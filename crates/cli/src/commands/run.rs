//! `latlab run`.

use crate::exit::{ExitError, exit_code};
use crate::flags::Format;
use crate::flags::run::RunArgs;
use crate::leftovers::undo_leftovers;
use crate::output::{print_json, print_text, warn};
use crate::progress::Progress;
use crate::render::{answer_lines, with_largest, with_statistics};
use crate::store::{cache, open_store, recover};
use anyhow::Context;
use latlab_conduct::link::Connector;
use latlab_conduct::{RunRequest, StopFlag, Timing, check_disk_space};
use latlab_model::Plan;
use latlab_report::rendered;
use latlab_store::new_id;
use std::path::PathBuf;
use std::process::ExitCode;

/// Measures, stores, shows and judges.
pub fn run(args: &RunArgs) -> anyhow::Result<ExitCode> {
    let now = jiff::Timestamp::now();
    let seed = now.as_nanosecond() as u64;
    let loads = args.all_loads().map_err(ExitError::usage)?;
    let plan = Plan { loads, ..args.plan(seed).map_err(ExitError::usage)? };
    let store = open_store(args.common.out.as_deref());
    recover(&store);
    if let Some(arithmetic) = check_disk_space(&plan, &store).map_err(ExitError::from)?
        && !args.quiet
    {
        warn(arithmetic);
    }
    let (mut link, plan) = connector()?.connect(plan).map_err(ExitError::from)?;
    let id = new_id(now, &plan.name);
    let mut progress =
        Progress::new(&plan, args.quiet, args.guest.console, format!("latlab run {}", plan.name));
    let request = RunRequest {
        plan: &plan,
        link: link.as_mut(),
        store: &store,
        id: &id,
        stop: StopFlag::on_signals(args.keep_going)?,
        timing: Timing::default(),
    };
    let finished = latlab_conduct::run(request, |live| progress.show(live));
    drop(progress);
    link.restore().iter().for_each(warn);
    let finished = finished.map_err(ExitError::from)?;
    let path = finished.path.display();
    let shown = with_largest(&finished.path, finished.run.clone());
    let printed = match args.common.format {
        Format::Json => print_json(&rendered(&with_statistics(&finished.path, shown))),
        Format::Text => {
            let text = answer_lines(&shown)?;
            print_text(&format!(
                "{text}Stored in {path}\nMore: latlab show {path}\nAs a page: latlab report {path}\n"
            ))
        }
    };
    printed.with_context(|| format!("the run is stored in {path}"))?;
    Ok(ExitCode::from(exit_code(&finished.run)))
}

/// This program, which is the agent of this machine as well.
pub fn own_program() -> Result<PathBuf, ExitError> {
    std::env::current_exe()
        .map_err(|error| ExitError::cannot_measure(format!("cannot find the own program: {error}")))
}

/// The ways to agents from this program.
pub fn connector() -> anyhow::Result<Connector> {
    let program = own_program()?;
    Ok(Connector { program, cache: cache(), restore: undo_leftovers })
}
