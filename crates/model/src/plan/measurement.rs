//! A plan that an agent can measure: checked once, with all that the measuring code needs.

use super::{
    Attach, ClockName, Cyclic, Cyclictest, Handoff, IdleStates, Method, Plan, Policy, Releases,
    Spin, Timerlat,
};
use crate::Nanos;
use crate::gpio::GpioWire;
use crate::respond::LinuxResponder;

/// What the measuring threads do: the methods that an agent has.
#[derive(Clone, PartialEq, Debug)]
pub enum Task {
    /// Each sleeps until its releases.
    Cyclic(Cyclic),
    /// Each is woken by another one.
    Handoff(Handoff),
    /// Each spins.
    Spin(Spin),
    /// Each reads what the kernel's tracer says of its CPU.
    Timerlat(Timerlat),
    /// None of ours measures: what is measured are the threads of a program.
    Attach(Box<Attach>),
    /// The one waits while something else answers the edges of a pin pair.
    Respond(LinuxResponder),
    /// The one answers the edges of a wire.
    Gpio(GpioWire),
    /// The one waits while an instrument measures what answers on this machine.
    Instrument,
}

/// A plan that makes sense, and of which nothing is unknown that measuring needs.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// The plan as it was sent.
    pub plan: Plan,
    /// Its method.
    pub task: Task,
    /// Scheduling of the measuring threads.
    pub policy: Policy,
    /// Cycles are run but not counted for this long.
    pub warm_up_ns: Nanos,
    /// What is asked of the idle states.
    pub idle_states: IdleStates,
    /// Seed of everything random.
    pub seed: u64,
}

impl Measurement {
    /// Checks the plan; an error is one line for the user.
    pub fn new(plan: Plan) -> Result<Measurement, String> {
        plan.check_applies()?;
        let task = match plan.method.clone() {
            Method::Cyclic(cyclic) => {
                cyclic.check()?;
                Task::Cyclic(cyclic)
            }
            Method::Handoff(handoff) => {
                handoff.check(&plan)?;
                Task::Handoff(handoff)
            }
            Method::Spin(spin) => {
                spin.check(&plan)?;
                Task::Spin(spin)
            }
            Method::Timerlat(timerlat) => {
                timerlat.check()?;
                Task::Timerlat(timerlat)
            }
            Method::Attach(attach) => {
                attach.check()?;
                Task::Attach(attach)
            }
            Method::Respond(asked) => match (asked.gpio, asked.linux) {
                (Some(wire), _) => {
                    wire.check()?;
                    Task::Gpio(wire)
                }
                (None, Some(linux)) => {
                    linux.check()?;
                    Task::Respond(linux)
                }
                (None, None) if asked.with_machine => Task::Instrument,
                (None, None) => {
                    return Err("--instrument respond: use `latlab respond`".to_string());
                }
            },
            Method::Import(_) => return Err("--instrument import: use `latlab import`".into()),
        };
        plan.check_shared()?;
        let unknown = |what: &str| format!("cannot measure: the plan lacks {what}");
        Ok(Measurement {
            policy: policy(&plan, &task).ok_or_else(|| unknown("its scheduling policy"))?,
            warm_up_ns: plan.until.warm_up_ns.ok_or_else(|| unknown("its warm-up"))?,
            idle_states: plan.on.idle_states.ok_or_else(|| unknown("its limit of idle states"))?,
            seed: plan.seed.ok_or_else(|| unknown("its seed"))?,
            task,
            plan,
        })
    }

    /// The releases that the agent plans; none where the thread spins or the kernel decides.
    pub fn releases(&self) -> Option<&Releases> {
        match &self.task {
            Task::Cyclic(cyclic) => Some(&cyclic.releases),
            Task::Handoff(handoff) => Some(&handoff.releases),
            Task::Spin(_)
            | Task::Timerlat(_)
            | Task::Attach(_)
            | Task::Respond(_)
            | Task::Gpio(_)
            | Task::Instrument => None,
        }
    }

    /// The clock of the releases, and of everything else where there are none.
    pub fn clock(&self) -> ClockName {
        self.releases().map_or(ClockName::Monotonic, |releases| releases.clock)
    }

    /// What only `latlab cyclictest` asks; none of a run of another command.
    pub fn cyclictest(&self) -> Option<&Cyclictest> {
        match &self.task {
            Task::Cyclic(cyclic) => cyclic.cyclictest.as_ref(),
            _ => None,
        }
    }

    /// Policy of a thread by its number.
    pub fn policy_of(&self, thread: u32) -> Policy {
        self.plan.policy_of(thread).unwrap_or(self.policy)
    }
}

/// Where the kernel answers, no thread of a plan does; then ours waits before all ordinary ones.
fn policy(plan: &Plan, task: &Task) -> Option<Policy> {
    match task {
        Task::Respond(linux) if !linux.name.is_program() => Plan::default().who.policy,
        // The threads that are measured have their own.
        Task::Attach(_) => Some(Policy::Other),
        _ => plan.who.policy,
    }
}
