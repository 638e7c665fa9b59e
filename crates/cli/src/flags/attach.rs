//! The options that say which program is measured, and how.

use super::plan::{OptionSet, TableArgs, named_loads};
use latlab_model::Plan;
use latlab_model::load::Load;
use latlab_model::options::{PlanOption, put};
use latlab_model::plan::{AttachTarget, Method};
use latlab_model::target::Target;

/// The options of `latlab attach`.
pub enum OfAttach {}

impl OptionSet for OfAttach {
    fn has(option: &PlanOption) -> bool {
        option.is_of_attach()
    }
}

/// Flags that say which program is measured, and how.
pub type AttachOptions = TableArgs<OfAttach>;

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
        plan.on.target = self.guest.target()?;
        put(&mut plan, self.given().to_vec())?;
        let is_here = plan.on.target == Target::Local;
        if let Method::Attach(attach) = &mut plan.method {
            if self.value("name").is_none() {
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
        named_loads(self.given(), Vec::new())
    }
}
