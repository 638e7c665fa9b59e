//! The machine that answers while an instrument measures: its loads, settings and conditions.

use super::args::RespondArgs;
use crate::commands::run::connector;
use crate::exit::ExitError;
use latlab_conduct::StopFlag;
use latlab_conduct::respond::AnsweringMachine;
use latlab_model::plan::{IdleStates, Keep, Method, OnMachine, Policy};
use latlab_model::shell::Line;
use latlab_model::target::Target;
use latlab_model::{Nanos, Plan};

/// Whether to start an agent on the machine that answers: if it is named, or loads or settings are
/// asked for. Otherwise latlab does not know which machine answers.
fn is_asked_for(args: &RespondArgs) -> bool {
    let asked = &args.linux;
    let has_instrument = args.scope.is_some() || args.logic.is_some();
    let does = !(asked.load.is_empty() && asked.tune.is_empty() && asked.set.is_empty());
    has_instrument && (asked.guest.target.is_some() || does)
}

/// Adds loads and settings of that machine to the plan.
pub fn with_machine(mut plan: Plan, args: &RespondArgs) -> Result<Plan, ExitError> {
    if !is_asked_for(args) {
        return Ok(plan);
    }
    let target = args.linux.guest.target().map_err(ExitError::usage)?;
    if let Method::Respond(asked) = &mut plan.method {
        asked.with_machine = true;
    }
    plan.seed = Some(0);
    // The policy of the agent's waiting thread. Nothing else is changed unless asked for.
    plan.who.policy = Some(Policy::Other);
    plan.until.warm_up_ns = Some(Nanos::ZERO);
    plan.keep.telemetry = Keep::default().telemetry;
    plan.on = OnMachine {
        target,
        idle_states: Some(IdleStates::System),
        kernel_files: args.linux.set.clone(),
        tunings: args.linux.tune.clone(),
        loads: args.linux.loads(Nanos::ZERO).map_err(ExitError::usage)?,
        ..plan.on
    };
    plan.check().map_err(ExitError::usage)?;
    Ok(plan)
}

/// Starts the agent. `None` if the plan has none.
pub fn start(plan: &Plan, id: &str, stop: &StopFlag) -> anyhow::Result<Option<AnsweringMachine>> {
    if !plan.method.has_agent() {
        return Ok(None);
    }
    let (link, plan) = connector()?.connect(plan.clone()).map_err(ExitError::from)?;
    let started = AnsweringMachine::start(link, &plan, id, stop);
    Ok(Some(started.map_err(ExitError::from)?))
}

/// A command with `--target local` if the plan observes this machine: with an instrument it does only on request.
pub fn named(line: Line, plan: &Plan) -> Line {
    match plan.method.has_agent() && plan.on.target == Target::Local {
        true => line.text("--target local"),
        false => line,
    }
}
