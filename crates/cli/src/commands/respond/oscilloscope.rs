//! `latlab respond --scope`: an oscilloscope measures each response.

use super::args::{RespondArgs, of_machine};
use super::{exit_error, machine, scope_commands};
use crate::exit::ExitError;
use latlab_capture::EdgeKind;
use latlab_conduct::StopFlag;
use latlab_conduct::respond::RespondFailure;
use latlab_conduct::respond::scope::{Connection, Resource, ScopeRequest, record_readings};
use latlab_model::Plan;
use latlab_model::nanos::duration;
use latlab_model::options::PlanOption;
use latlab_model::plan::Method;
use latlab_model::respond::{Respond, Scope};
use latlab_model::run::Setting;
use latlab_model::shell::Line;
use latlab_store::{Finished, Store, new_id};
use std::io::{IsTerminal, Write, stderr};
use std::time::Duration;

/// Default name of a run.
const NAME: &str = "oscilloscope";

/// Takes readings and stores the run.
pub fn record_scope(
    args: &RespondArgs,
    resource: &Resource,
    store: &Store,
    stop: &StopFlag,
) -> anyhow::Result<Finished> {
    let timeout = Duration::from_nanos(args.timeout.0.unsigned_abs());
    let open = |resource: &Resource| {
        let mut connection = Connection::open(resource, timeout, stop)?;
        let identity = connection.identity()?;
        Ok((connection, identity))
    };
    let failed = |error| exit_error(RespondFailure::Instrument(error));
    let (oscilloscope, identity) = open(resource).map_err(failed)?;
    let commands = scope_commands::commands_for(&identity, args.scope_commands.as_deref());
    let commands = commands.and_then(|commands| {
        let edges = (is_rising(args.edge)?, is_rising(args.response_edge.unwrap_or(args.edge))?);
        scope_commands::filled(commands, channels(args), edges)
    });
    let commands = commands.map_err(ExitError::usage)?;
    let mut settings = vec![setting("oscilloscope", &identity)];
    let generator = args.generator.as_ref().map(open).transpose().map_err(failed)?;
    let generator = generator.map(|(connection, identity)| {
        settings.push(setting("generator", &identity));
        connection
    });
    let scope = Scope {
        resource: resource.to_string(),
        generator: args.generator.as_ref().map(Resource::to_string),
        count: args.count,
        timeout_ns: args.timeout,
        commands,
    };
    let plan = plan(args, &scope)?;
    let id = new_id(jiff::Timestamp::now(), &plan.name);
    let machine = machine::start(&plan, &id, stop)?;
    let request = ScopeRequest {
        plan: &plan,
        scope: &scope,
        oscilloscope,
        generator,
        settings,
        machine,
        store,
        id: &id,
        stop,
    };
    let watched = stderr().is_terminal();
    let finished = record_readings(request, |done| {
        if watched {
            // Standard error may be closed.
            let _ = write!(stderr(), "\r{done} of {} readings ", args.count);
        }
    });
    if watched {
        let _ = write!(stderr(), "\r\x1b[K");
    }
    Ok(finished.map_err(exit_error)?)
}

fn setting(what: &str, identity: &str) -> Setting {
    Setting::new(what, identity.to_string(), identity.to_string())
}

/// Whether the edge is a rising one. Refuses both edges: an oscilloscope measures between two given
/// ones.
fn is_rising(edge: EdgeKind) -> Result<bool, String> {
    match edge {
        EdgeKind::Rising => Ok(true),
        EdgeKind::Falling => Ok(false),
        EdgeKind::Both => {
            Err("--edge both: an oscilloscope measures rising or falling".to_string())
        }
    }
}

fn channels(args: &RespondArgs) -> (&str, &str) {
    (args.stimulus.as_deref().unwrap_or("1"), args.response.as_deref().unwrap_or("2"))
}

fn plan(args: &RespondArgs, scope: &Scope) -> Result<Plan, ExitError> {
    let respond = Respond { scope: Some(scope.clone()), ..Respond::default() };
    let name = args.runs.name.clone().unwrap_or_else(|| NAME.to_string());
    let mut plan = Plan::without_machine(name, Method::Respond(Box::new(respond)));
    plan.note = args.runs.note.clone();
    plan.until.deadline_ns = args.runs.deadline;
    plan.until.cycles = Some(args.count);
    plan.keep.samples = true;
    let mut plan = machine::with_machine(plan, args)?;
    plan.command = Some(command(args, scope, &plan));
    Ok(plan)
}

/// The command that repeats such a run.
fn command(args: &RespondArgs, scope: &Scope, plan: &Plan) -> String {
    let (stimulus, response) = channels(args);
    let mut line = Line::new("latlab respond");
    let mut option = |flag, value: String| line = line.clone().option(flag, Some(value));
    option("--scope", scope.resource.clone());
    scope.generator.iter().for_each(|generator| option("--generator", generator.clone()));
    option("--count", scope.count.to_string());
    option("--timeout", duration(scope.timeout_ns));
    option("--stimulus", stimulus.to_string());
    option("--response", response.to_string());
    option("--edge", args.edge.as_str().to_string());
    let response_edge = args.response_edge.unwrap_or(args.edge);
    option("--response-edge", response_edge.as_str().to_string());
    let file = args.scope_commands.iter().map(|file| file.display().to_string());
    file.for_each(|file| option("--scope-commands", file));
    let is_asked = |option: &PlanOption| of_machine(option) || option.name == "deadline";
    plan.with_options(machine::named(line, plan), is_asked).to_string()
}
