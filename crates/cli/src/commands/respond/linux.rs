//! `latlab respond --simulate linux:NAME`: a responder on Linux, in a guest with a pin pair.

use super::args::{LinuxArgs, RespondArgs, Simulated};
use crate::commands::run::{Shown, measure_plan};
use crate::exit::ExitError;
use latlab_conduct::StopFlag;
use latlab_conduct::respond::simulate::Stimulus;
use latlab_lab::{GuestConfig, responder_command};
use latlab_model::plan::{Method, Policy};
use latlab_model::respond::{LinuxResponder, LinuxResponderName, Respond};
use latlab_model::shell::Line;
use latlab_model::{Nanos, Plan, Target};
use latlab_report::command::duration;
use latlab_store::{Finished, Store};

/// Runs the responder and stores what it did.
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
    let config = GuestConfig::resolve(lab)?;
    let stimulus = args.stimuli()?;
    let (from_ns, to_ns) = stimulus.between();
    let edges = u32::try_from(args.edges).unwrap_or(u32::MAX);
    let board_pins = args.linux.board_pins;
    if board_pins && config.machine.gpio_controllers.is_none() {
        return Err(format!(
            "--board-pins: {} has no GPIO controller for it, imx8mp-evk has",
            config.machine.name
        ));
    }
    let argv = responder_command(name, config.machine, board_pins);
    let linux = LinuxResponder { name, argv, edges, from_ns, to_ns, board_pins };
    let respond = Respond {
        simulated: Some(description(args, stimulus)),
        window_ns: args.window,
        linux: Some(linux),
        ..Respond::default()
    };
    let loads = args.linux.loads(Nanos::ZERO)?;
    let busy = if loads.is_empty() { "" } else { "_busy" };
    let of = target.to_string();
    let default_name = format!("{name}_{}{busy}", lab.file_name());
    let plan = Plan {
        name: args.runs.name.clone().unwrap_or(default_name),
        note: args.runs.note.clone(),
        command: Some(command(args, &of)),
        method: Method::Respond(Box::new(respond)),
        target,
        policy: policy(args, name)?,
        warm_up_ns: Some(Nanos::ZERO),
        deadline_ns: args.runs.deadline,
        kernel_files: args.linux.set.clone(),
        tunings: args.linux.tune.clone(),
        loads,
        samples: true,
        seed: Some(args.seed),
        ..Plan::default()
    };
    plan.check()?;
    Ok(plan)
}

/// That of the program; where the kernel answers there is none.
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

/// The command that makes this run again.
fn command(args: &RespondArgs, target: &str) -> String {
    let linux = &args.linux;
    let mut line = Line::new("latlab respond");
    let mut option = |flag, value: Option<String>| line = line.clone().option(flag, value);
    option("--simulate", args.simulate.map(|simulated| simulated.as_str().to_string()));
    option("--target", Some(target.to_string()));
    option("--stimulus", args.stimulus.clone());
    option("--edges", Some(args.edges.to_string()));
    option("--seed", Some(args.seed.to_string()));
    linux.options(&mut option);
    if linux.board_pins {
        line = line.text("--board-pins");
    }
    line.option("--window", args.window.map(duration))
        .option("--deadline", args.runs.deadline.map(duration))
        .to_string()
}
