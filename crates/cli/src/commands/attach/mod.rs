//! `latlab attach`.

pub mod args;

use crate::commands::run::{Shown, measure_plan, print_finished};
use crate::exit::{ExitError, exit_code};
use crate::flags::Format;
use crate::output::{print_json, print_text, warn};
use crate::render::attached_threads;
use crate::store::{open_store, recover};
use args::AttachArgs;
use latlab_conduct::{StopFlag, check_disk_space};
use latlab_model::nanos::SECOND;
use latlab_model::{Plan, Run};
use latlab_report::rendered;
use latlab_store::Store;
use std::process::ExitCode;

/// How many seconds threads are watched if they are only listed.
const LISTING: i64 = 2;

/// Measures a program, stores the run, prints and judges it; or lists the program's threads.
pub fn attach(args: &AttachArgs) -> anyhow::Result<ExitCode> {
    args.results.check(args.common.format == Format::Json)?;
    let plan = args.options.plan().map_err(ExitError::usage)?;
    if args.list {
        return list(args, plan);
    }
    let store = open_store(args.common.out.as_deref());
    recover(&store);
    if let Some(arithmetic) = check_disk_space(&plan, &store).map_err(ExitError::from)?
        && !args.quiet
    {
        warn(arithmetic);
    }
    let stop = StopFlag::on_signals(args.keep_going)?;
    let name = plan.name.clone();
    let measured = measure_plan(plan, &store, stop, shown(args.quiet));
    let finished = args.results.note_failure(&name, measured)?;
    print_finished(&finished, args.common.format, &args.results)?;
    Ok(ExitCode::from(exit_code(&finished.run)))
}

fn shown(quiet: bool) -> Shown {
    Shown { quiet, console: false, command: "latlab attach" }
}

fn list(args: &AttachArgs, plan: Plan) -> anyhow::Result<ExitCode> {
    let run = watch_briefly(plan, StopFlag::on_signals(args.keep_going)?)?;
    match args.common.format {
        Format::Json => print_json(&rendered(&run).attached)?,
        Format::Text => print_text(&attached_threads(&run)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Watches the threads for a moment, in a temporary folder.
pub fn watch_briefly(mut plan: Plan, stop: &StopFlag) -> anyhow::Result<Run> {
    let folder = tempfile::tempdir()?;
    let store = Store::new(folder.path());
    recover(&store);
    plan.until.duration_ns.get_or_insert(SECOND * LISTING);
    plan.keep.telemetry = None;
    Ok(measure_plan(plan, &store, stop, shown(true))?.run)
}
