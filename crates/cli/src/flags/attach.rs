//! The options that say which program is measured, and how.

use super::guest::GuestArgs;
use super::plan::{add_options, given_options, named_loads, values_of};
use clap::{ArgMatches, Args, Command, Error, FromArgMatches};
use latlab_model::Plan;
use latlab_model::load::Load;
use latlab_model::options::{Given, PlanOption, put};
use latlab_model::plan::{AttachTarget, Method};
use latlab_model::target::Target;

/// The options of the shared table that were given to `latlab attach`.
pub struct AttachOptions {
    /// The machine on which the program runs.
    pub target: GuestArgs,
    given: Vec<Given>,
}

impl Args for AttachOptions {
    fn augment_args(command: Command) -> Command {
        add_options(command, PlanOption::is_of_attach)
    }

    fn augment_args_for_update(command: Command) -> Command {
        AttachOptions::augment_args(command)
    }
}

impl FromArgMatches for AttachOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<AttachOptions, Error> {
        let given = given_options(matches, PlanOption::is_of_attach);
        let target = values_of(&given, "target").first().cloned();
        Ok(AttachOptions { target: GuestArgs { target, ..GuestArgs::default() }, given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = AttachOptions::from_arg_matches(matches)?;
        Ok(())
    }
}

impl AttachOptions {
    /// Makes the plan; an error is one line.
    pub fn plan(&self) -> Result<Plan, String> {
        let mut plan = self.plan_without_loads()?;
        plan.on.loads = self.loads()?;
        Ok(plan)
    }

    /// Makes the plan but for its loads, which need files; an error is one line.
    pub fn plan_without_loads(&self) -> Result<Plan, String> {
        let mut plan = Plan::of(Method::Attach(Box::default()));
        plan.on.target = self.target.target()?;
        put(&mut plan, self.given.clone())?;
        let is_here = plan.on.target == Target::Local;
        if let Method::Attach(attach) = &mut plan.method {
            if values_of(&self.given, "name").is_empty() {
                plan.name = attach.target.name();
            }
            if let AttachTarget::Command { output: Some(path), .. } = &mut attach.target
                && is_here
                && let Ok(absolute) = std::path::absolute(&path)
            {
                *path = absolute.to_string_lossy().into_owned();
            }
        }
        plan.check()?;
        Ok(plan)
    }

    /// The loads; an error is one line.
    pub fn loads(&self) -> Result<Vec<Load>, String> {
        named_loads(&self.given, Vec::new())
    }
}
