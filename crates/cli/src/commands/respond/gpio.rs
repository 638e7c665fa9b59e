//! `latlab respond --gpio`: a wire between two GPIO lines of this board.

use super::args::{RespondArgs, is_shared};
use crate::commands::run::{Shown, measure_plan};
use crate::exit::ExitError;
use latlab_conduct::StopFlag;
use latlab_model::Plan;
use latlab_model::gpio::{GpioLine, GpioWire};
use latlab_model::nanos::duration;
use latlab_model::plan::{Keep, Method, OnMachine, Until, Who};
use latlab_model::respond::Respond;
use latlab_model::shell::Line;
use latlab_store::{Finished, Store};

/// Default name of a run.
const NAME: &str = "wire";

/// Edges before the first that counts, to warm up the code path.
const WARM_UP: i64 = 10;

/// Measures the wire and stores the run.
pub fn record_wire(
    args: &RespondArgs,
    stimulus: &GpioLine,
    store: &Store,
    stop: &StopFlag,
) -> anyhow::Result<Finished> {
    let plan = plan(args, stimulus).map_err(ExitError::usage)?;
    measure_plan(
        plan,
        store,
        stop,
        Shown { quiet: false, console: args.linux.guest.console, command: "latlab respond" },
    )
}

fn plan(args: &RespondArgs, stimulus: &GpioLine) -> Result<Plan, String> {
    let (from_ns, to_ns) = args.stimuli()?.between();
    let warm_up_ns = to_ns * WARM_UP;
    let wire = GpioWire {
        stimulus: stimulus.clone(),
        loopback: args.loopback.clone().ok_or("--gpio needs --loopback")?,
        answer: args.answer.clone(),
        external: args.external,
        from_ns,
        to_ns,
    };
    let respond = Respond { gpio: Some(wire), window_ns: args.window, ..Respond::default() };
    let mut plan = Plan {
        name: args.runs.name.clone().unwrap_or_else(|| NAME.to_string()),
        note: args.runs.note.clone(),
        method: Method::Respond(Box::new(respond)),
        seed: Some(args.seed),
        on: OnMachine {
            target: args.linux.guest.target()?,
            kernel_files: args.linux.set.clone(),
            tunings: args.linux.tune.clone(),
            loads: args.linux.loads(warm_up_ns)?,
            ..OnMachine::default()
        },
        who: Who {
            policy: Some(args.linux.policy()?),
            cpus: args.linux.cpus.clone(),
            threads: Some(1),
            ..Who::default()
        },
        until: Until {
            cycles: Some(args.count),
            warm_up_ns: Some(warm_up_ns),
            deadline_ns: args.runs.deadline,
            ..Until::default()
        },
        keep: Keep { samples: true, ..Keep::default() },
        ..Plan::default()
    };
    plan.command = Some(command(args, stimulus, &plan));
    plan.check()?;
    Ok(plan)
}

/// The command that repeats such a run.
fn command(args: &RespondArgs, stimulus: &GpioLine, plan: &Plan) -> String {
    let line = Line::new("latlab respond")
        .option("--gpio", Some(stimulus.to_string()))
        .option("--loopback", args.loopback.as_ref().map(GpioLine::to_string))
        .option("--answer", args.answer.as_ref().map(GpioLine::to_string))
        .option("--count", Some(args.count.to_string()))
        .option("--stimulus", args.stimulus.as_ref())
        .option("--window", args.window.map(duration));
    let line = if args.external { line.text("--external") } else { line };
    plan.with_options(line, is_shared).to_string()
}
