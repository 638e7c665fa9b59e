//! `latlab respond --simulate linux:NAME`: a responder on Linux, in a guest with a pin pair.

use super::args::{LinuxArgs, RespondArgs, Simulated, is_shared};
use crate::commands::run::{Shown, measure_plan};
use crate::exit::ExitError;
use latlab_conduct::StopFlag;
use latlab_conduct::guests::responder_command;
use latlab_conduct::respond::simulate::Stimulus;
use latlab_model::nanos::duration;
use latlab_model::plan::{Keep, Method, OnMachine, Policy, Until, Who};
use latlab_model::respond::{LinuxResponder, LinuxResponderName, Respond};
use latlab_model::shell::Line;
use latlab_model::{Nanos, Plan, Target};
use latlab_store::{Finished, Store};

/// Runs the responder and stores the run.
pub fn record(
    args: &RespondArgs,
    name: LinuxResponderName,
    store: &Store,
    stop: &StopFlag,
) -> anyhow::Result<Finished> {
    let plan = plan(args, name).map_err(ExitError::usage)?;
    let console = args.linux.guest.console;
    measure_plan(plan, store, stop, Shown { quiet: true, console, command: "latlab respond" })
}

fn plan(args: &RespondArgs, name: LinuxResponderName) -> Result<Plan, String> {
    let target = args.linux.guest.target()?;
    let Target::Lab(lab) = &target else {
        return Err("--simulate linux:NAME needs --target lab:MACHINE/KERNEL".into());
    };
    let stimulus = args.stimuli()?;
    let (from_ns, to_ns) = stimulus.between();
    let edges = u32::try_from(args.edges).unwrap_or(u32::MAX);
    let board_pins = args.linux.board_pins;
    let argv = responder_command(lab, name, board_pins)?;
    let linux = LinuxResponder { name, argv, edges, from_ns, to_ns, board_pins };
    let respond = Respond {
        simulated: Some(description(args, stimulus)),
        window_ns: args.window,
        linux: Some(linux),
        ..Respond::default()
    };
    let loads = args.linux.loads(Nanos::ZERO)?;
    let busy = if loads.is_empty() { "" } else { "_busy" };
    let default_name = format!("{name}_{}{busy}", lab.file_name());
    let mut plan = Plan {
        name: args.runs.name.clone().unwrap_or(default_name),
        note: args.runs.note.clone(),
        method: Method::Respond(Box::new(respond)),
        seed: Some(args.seed),
        on: OnMachine {
            target,
            kernel_files: args.linux.set.clone(),
            tunings: args.linux.tune.clone(),
            loads,
            ..OnMachine::default()
        },
        who: Who { policy: policy(args, name)?, ..Who::default() },
        until: Until {
            warm_up_ns: Some(Nanos::ZERO),
            deadline_ns: args.runs.deadline,
            ..Until::default()
        },
        keep: Keep { samples: true, ..Keep::default() },
        ..Plan::default()
    };
    plan.command = Some(command(args, &plan));
    plan.check()?;
    Ok(plan)
}

/// The program's policy. `None` if the kernel answers.
fn policy(args: &RespondArgs, name: LinuxResponderName) -> Result<Option<Policy>, String> {
    let LinuxArgs { policy, priority, .. } = &args.linux;
    if !name.is_program() {
        return match policy.is_some() || priority.is_some() {
            true => Err(format!("--policy does not apply to {name}, where the kernel answers")),
            false => Ok(None),
        };
    }
    args.linux.policy().map(Some)
}

fn description(args: &RespondArgs, stimulus: Stimulus) -> String {
    let simulated = args.simulate.map_or("", Simulated::as_str);
    format!("{simulated}, {} edges, {stimulus}, seed {}", args.edges, args.seed)
}

/// The command that repeats this run.
fn command(args: &RespondArgs, plan: &Plan) -> String {
    let edges = args.edges.to_string();
    let line = Line::new("latlab respond")
        .option("--simulate", args.simulate.map(Simulated::as_str))
        .option("--stimulus", args.stimulus.as_ref())
        .option("--edges", Some(edges))
        .option("--window", args.window.map(duration));
    let line = if args.linux.board_pins { line.text("--board-pins") } else { line };
    plan.with_options(line, is_shared).to_string()
}
