//! A plan that an agent can measure: checked once, with everything the measuring code needs.

use super::{
    Attach, ClockName, Cyclic, Cyclictest, Handoff, IdleStates, Method, Plan, Policy, Releases,
    Spin, Timerlat,
};
use crate::Nanos;
use crate::gpio::GpioWire;
use crate::respond::LinuxResponder;

/// Task of the measuring threads: the methods an agent has.
#[derive(Clone, PartialEq, Debug)]
pub enum Task {
    /// Each sleeps until its releases.
    Cyclic(Cyclic),
    /// Each is woken by another one.
    Handoff(Handoff),
    /// Each runs a busy loop.
    Spin(Spin),
    /// Each reads the records of the kernel's tracer on its CPU.
    Timerlat(Timerlat),
    /// No measuring threads: the threads of a program are measured.
    Attach(Box<Attach>),
    /// A single thread waits while a responder answers the edges of a pin pair.
    Respond(LinuxResponder),
    /// A single thread answers the edges of a wire.
    Gpio(GpioWire),
    /// A single thread waits while an instrument measures the responder on this machine.
    Instrument,
}

/// A checked plan in which everything a measurement needs is known.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// The plan as it was sent.
    pub plan: Plan,
    /// Task of the measuring threads.
    pub task: Task,
    /// Scheduling of the measuring threads.
    pub policy: Policy,
    /// Warm-up time, not counted.
    pub warm_up_ns: Nanos,
    /// Limit for idle states.
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

    /// Releases planned by the agent; `None` for a busy loop or if the kernel plans them.
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

    /// Clock of the releases, and of all other times if there are none.
    pub fn clock(&self) -> ClockName {
        self.releases().map_or(ClockName::Monotonic, |releases| releases.clock)
    }

    /// Parameters of `latlab cyclictest`; `None` for other commands.
    pub fn cyclictest(&self) -> Option<&Cyclictest> {
        match &self.task {
            Task::Cyclic(cyclic) => cyclic.cyclictest.as_ref(),
            _ => None,
        }
    }

    /// Scheduling policy of a thread by its number.
    pub fn policy_of(&self, thread: u32) -> Policy {
        self.plan.policy_of(thread).unwrap_or(self.policy)
    }
}

/// If the kernel responds, no thread of the plan does; then latlab's thread waits above all
/// SCHED_OTHER threads.
fn policy(plan: &Plan, task: &Task) -> Option<Policy> {
    match task {
        Task::Respond(linux) if !linux.name.is_program() => Plan::default().who.policy,
        // The measured threads keep their own policies.
        Task::Attach(_) => Some(Policy::Other),
        _ => plan.who.policy,
    }
}
