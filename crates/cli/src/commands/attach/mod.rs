//! `latlab attach`.

pub mod args;

use crate::commands::run::{Shown, measure_plan, print_finished};
use crate::exit::{ExitError, exit_code};
use crate::flags::Format;
use crate::load_library::{self, Library};
use crate::output::{print_json, print_text, warn};
use crate::render::attached_threads;
use crate::store::{open_store, recover};
use args::AttachArgs;
use latlab_conduct::{StopFlag, check_disk_space};
use latlab_model::nanos::SECOND;
use latlab_model::plan::{Attach, AttachTarget, IdleStates, JudgedTime, Method};
use latlab_model::sanitize::plain_name;
use latlab_model::shell;
use latlab_model::{Nanos, Plan};
use latlab_report::rendered;
use latlab_store::Store;
use std::process::ExitCode;

/// How long threads are watched that are only to be listed.
const LISTING: i64 = 2;

/// Measures a program, stores, shows and judges; or lists its threads.
pub fn attach(args: &AttachArgs) -> anyhow::Result<ExitCode> {
    args.results.check(args.common.format == Format::Json)?;
    let plan = plan(args).map_err(ExitError::usage)?;
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

/// Watches the threads for a moment, in a folder that goes away.
fn list(args: &AttachArgs, plan: Plan) -> anyhow::Result<ExitCode> {
    let folder = tempfile::tempdir()?;
    let store = Store::new(folder.path());
    recover(&store);
    let duration_ns = plan.duration_ns.or(Some(SECOND * LISTING));
    let plan = Plan { duration_ns, telemetry_ns: None, ..plan };
    let stop = StopFlag::on_signals(args.keep_going)?;
    let finished = measure_plan(plan, &store, stop, shown(true))?;
    match args.common.format {
        Format::Json => print_json(&rendered(&finished.run).attached)?,
        Format::Text => print_text(&attached_threads(&finished.run)?)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The plan that the flags make; an error is one line.
fn plan(args: &AttachArgs) -> Result<Plan, String> {
    let target = target(args)?;
    let name = args.name.clone().unwrap_or_else(|| name_of(&target));
    let asked = args.deadline;
    let plan = Plan {
        name,
        note: args.note.clone(),
        command: Some(command(args)),
        method: Method::Attach(Box::new(Attach {
            target,
            judged: asked.map_or(JudgedTime::Response, |asked| asked.judged),
            activation: args.activation.clone(),
            thread: args.thread.clone(),
        })),
        policy: None,
        duration_ns: args.duration,
        warm_up_ns: Some(Nanos::ZERO),
        deadline_ns: asked.map(|asked| asked.time),
        limit_per_hour: args.limit,
        // The program is measured as it is.
        idle_states: Some(IdleStates::System),
        kernel_files: args.set.clone(),
        tunings: args.tune.clone(),
        loads: load_library::resolve(&args.load, &Library::new(args.loads.clone()))?,
        load_on: args.load_on.clone(),
        interval_ns: args.interval,
        ..Plan::default()
    };
    plan.check()?;
    Ok(plan)
}

fn target(args: &AttachArgs) -> Result<AttachTarget, String> {
    let output = args.output.as_ref().map(|path| {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        absolute.to_string_lossy().into_owned()
    });
    match (args.program.is_empty(), args.pid, &args.comm) {
        (false, None, None) => {
            Ok(AttachTarget::Command { words: args.program.clone(), output, as_root: args.as_root })
        }
        (true, Some(id), None) => Ok(AttachTarget::Process { id }),
        (true, None, Some(pattern)) => Ok(AttachTarget::Name { pattern: pattern.clone() }),
        (true, None, None) => {
            Err("attach needs a program: `latlab attach -- PROGRAM`, --pid ID or --comm NAME"
                .into())
        }
        _ => Err("attach takes one of `-- PROGRAM`, --pid and --comm".into()),
    }
}

/// A name for the run.
fn name_of(target: &AttachTarget) -> String {
    let name = match target {
        AttachTarget::Command { words, .. } => {
            words.first().and_then(|word| word.rsplit('/').next()).unwrap_or_default().to_string()
        }
        AttachTarget::Process { id } => format!("process-{id}"),
        AttachTarget::Name { pattern } => pattern.replace('*', ""),
    };
    plain_name(&name).unwrap_or_else(|_| "attach".to_string())
}

/// The command that repeats the run.
fn command(args: &AttachArgs) -> String {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    // Called from elsewhere, as by a test, it has no words of its own.
    match words.first().is_some_and(|word| word == "attach") {
        true => format!("latlab {}", shell::words(&words)),
        false => format!("latlab attach -- {}", shell::words(&args.program)),
    }
}
