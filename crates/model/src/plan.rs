//! What a run is asked to do: the meaning of the command line, and the first frame of a journal.
//!
//! Parameters shared by all methods are in [`Plan`], those of one method in its variant of
//! [`Method`]. A value that is unknown or meaningless, such as the period of a capture, is absent;
//! a [`Measurement`] is a plan with everything a measurement needs.

mod attach;
mod check;
mod cyclic;
mod handoff;
mod machine;
mod measurement;
mod method;
mod policy;
mod spin;
mod timerlat;
mod tuning;

use crate::campaign::Cell;
use crate::guest::Guest;
use crate::load::{Load, LoadCpus};
use crate::nanos::SECOND;
use crate::target::{HeldPlace, Target};
use crate::{CpuSet, Nanos};
pub use attach::{Attach, AttachTarget, JudgedTime, fits};
pub use check::MOST_THREADS;
pub use cyclic::{ClockName, Cyclic, Cyclictest, Mechanism, OverrunPolicy, Phase, Releases};
pub use handoff::{Handoff, WakeBy};
pub use machine::{IdleStates, KernelFile};
pub use measurement::{Measurement, Task};
pub use method::{Instrument, Method, Recorded};
pub use policy::Policy;
use serde::{Deserialize, Serialize};
pub use spin::{Spin, Workload};
pub use timerlat::Timerlat;
pub use tuning::{Thp, Tuning};

/// The plan of one run; `applied` of the run says what could be applied.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Name of the run, used in the name of its folder.
    pub name: String,
    /// A remark of the user.
    pub note: Option<String>,
    /// The command that made it; `None` for `latlab run`, whose options follow from the plan
    /// itself.
    pub command: Option<String>,
    /// Place of the run in a campaign; `None` outside of campaigns.
    pub cell: Option<Cell>,
    /// Measuring method with its parameters.
    pub method: Method,
    /// The measuring threads and latlab's other threads.
    pub who: Who,
    /// End of the run and its limits.
    pub until: Until,
    /// The measured machine, its settings and loads.
    pub on: OnMachine,
    /// What the run stores.
    pub keep: Keep,
    /// Seed of everything random, possibly beyond 2^53; `None` if nothing is random.
    pub seed: Option<u64>,
}

/// The measuring threads and latlab's other threads.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Who {
    /// Scheduling of the measuring threads; `None` if they are not latlab's.
    pub policy: Option<Policy>,
    /// CPUs to measure; `None` for all usable CPUs.
    pub cpus: Option<CpuSet>,
    /// Number of measuring threads; `None` for one on each CPU.
    pub threads: Option<u32>,
    /// CPUs for latlab's threads that do not measure; `None` for those not measured.
    pub helpers_on: Option<CpuSet>,
    /// Whether CPUs that another latlab measures may be measured too.
    pub share_cpus: bool,
}

/// When a run begins to count, when it ends, and how it is judged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Until {
    /// Warm-up time, not counted; `None` if latlab does not measure, as for captures and imports.
    pub warm_up_ns: Option<Nanos>,
    /// Length of the measuring window; `None` if not limited by time.
    pub duration_ns: Option<Nanos>,
    /// Cycles of each thread; `None` if not limited by a count.
    pub cycles: Option<u64>,
    /// Longest time after a release that is not a deadline miss; `None` if the run is not judged.
    pub deadline_ns: Option<Nanos>,
    /// Tolerated bursts of deadline misses per hour; `None` if every miss fails.
    pub limit_per_hour: Option<f64>,
    /// Whether the run ends as soon as it passes or fails that limit.
    pub decided: bool,
    /// A latency above this ends the run; `None` for no such end.
    pub stop_above_ns: Option<Nanos>,
}

/// The measured machine: how it is reached, configured and loaded during the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OnMachine {
    /// The target.
    pub target: Target,
    /// What the target was made of; `None` if it is not a guest of the laboratory.
    pub guest: Option<Box<Guest>>,
    /// The labgrid place acquired for it; `None` for other targets.
    pub place: Option<Box<HeldPlace>>,
    /// How a board measures without a link to it; `None` if the link stays up.
    pub detached: Option<Detached>,
    /// Limit for idle states; `None` if latlab does not measure, as for captures and imports.
    pub idle_states: Option<IdleStates>,
    /// Kernel files to write for the duration of the run.
    pub kernel_files: Vec<KernelFile>,
    /// Named machine settings for the duration of the run.
    pub tunings: Vec<Tuning>,
    /// Programs that load the machine during the run.
    pub loads: Vec<Load>,
    /// CPUs the loads may run on.
    pub load_on: LoadCpus,
}

/// What a run stores, and its reaction to a spike.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Keep {
    /// Length of an interval of the stream.
    pub interval_ns: Nanos,
    /// Whether every latency is stored with its release.
    pub samples: bool,
    /// Whether kernel events around each spike are recorded to find its cause.
    pub explain: bool,
    /// A latency above this is a spike, for `on_spike` and the flight recorder; `None` if the
    /// recorder chooses its own threshold.
    pub spike_above_ns: Option<Nanos>,
    /// Command to run for a spike; `None` to run none.
    pub on_spike: Option<String>,
    /// How the machine's conditions are read; `None` if they are not.
    pub telemetry: Option<TelemetryPlan>,
}

/// How the machine's conditions are read during the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TelemetryPlan {
    /// Time between two readings.
    pub every_ns: Nanos,
    /// Whether files that hold a CPU for long are read each time even if every CPU is measured.
    pub is_full: bool,
}

/// How a board measures without a link: its stream goes to a file there, which is collected later.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detached {
    /// Parent folder on the board; `None` for the user's cache folder.
    pub folder: Option<String>,
    /// Stream size in bytes at which the run ends, so that it never fills the board.
    pub most_bytes: u64,
}

/// The defaults of `latlab run`, which the command that repeats a run leaves out.
impl Default for Plan {
    fn default() -> Plan {
        Plan::of(Method::Cyclic(Cyclic::default()))
    }
}

impl Default for Who {
    fn default() -> Who {
        Who {
            policy: Some(Policy::Fifo { priority: Policy::DEFAULT_PRIORITY }),
            cpus: None,
            threads: None,
            helpers_on: None,
            share_cpus: false,
        }
    }
}

impl Default for Until {
    fn default() -> Until {
        Until {
            warm_up_ns: Some(SECOND),
            duration_ns: None,
            cycles: None,
            deadline_ns: None,
            limit_per_hour: None,
            decided: false,
            stop_above_ns: None,
        }
    }
}

impl Default for OnMachine {
    fn default() -> OnMachine {
        OnMachine {
            target: Target::Local,
            guest: None,
            place: None,
            detached: None,
            idle_states: Some(IdleStates::ExitWithin(Nanos::ZERO)),
            kernel_files: Vec::new(),
            tunings: Vec::new(),
            loads: Vec::new(),
            load_on: LoadCpus::Everywhere,
        }
    }
}

impl Default for Keep {
    fn default() -> Keep {
        Keep {
            interval_ns: SECOND,
            samples: false,
            explain: false,
            spike_above_ns: None,
            on_spike: None,
            telemetry: Some(TelemetryPlan::default()),
        }
    }
}

impl Default for TelemetryPlan {
    fn default() -> TelemetryPlan {
        TelemetryPlan { every_ns: SECOND, is_full: false }
    }
}

/// Half a second, in nanoseconds.
const LONGEST_PART: u64 = 500_000_000;

impl Plan {
    /// The defaults of a method, from which the options of its command are derived.
    pub fn of(method: Method) -> Plan {
        let mut plan = Plan {
            name: "run".into(),
            note: None,
            command: None,
            cell: None,
            method,
            who: Who::default(),
            until: Until::default(),
            on: OnMachine::default(),
            keep: Keep::default(),
            seed: Some(0),
        };
        match &plan.method {
            // A busy loop above all other threads only on request.
            Method::Spin(_) => plan.who.policy = Some(Policy::Other),
            // The program is measured as it is.
            Method::Attach(attach) => {
                plan.name = attach.target.name();
                plan.who.policy = None;
                plan.until.warm_up_ns = Some(Nanos::ZERO);
                plan.on.idle_states = Some(IdleStates::System);
            }
            _ => {}
        }
        plan
    }

    /// A plan of a measurement made elsewhere, where the machine is unknown and not configured.
    pub fn without_machine(name: String, method: Method) -> Plan {
        Plan {
            name,
            method,
            who: Who { policy: None, ..Who::default() },
            until: Until { warm_up_ns: None, ..Until::default() },
            on: OnMachine { idle_states: None, ..OnMachine::default() },
            keep: Keep { telemetry: None, ..Keep::default() },
            seed: None,
            ..Plan::default()
        }
    }

    /// Whether the measuring threads run before all SCHED_OTHER threads, as far as known.
    pub fn is_realtime(&self) -> bool {
        self.who.policy.is_some_and(Policy::is_realtime)
    }

    /// Whether the stream uses a link that can break while the agent continues.
    pub fn is_behind_a_link(&self) -> bool {
        self.on.target.is_behind_a_link() && self.on.detached.is_none()
    }

    /// Scheduling policy of a thread by its number, as far as known; the priority steps of `latlab
    /// cyclictest` stop at the lowest priority.
    pub fn policy_of(&self, thread: u32) -> Option<Policy> {
        let step = self.method.cyclictest().map_or(0, |asked| asked.priority_step);
        self.who.policy.map(|policy| policy.lowered(u32::from(step).saturating_mul(thread)))
    }

    /// The scheduling of the measuring threads, in words.
    pub fn scheduling(&self) -> String {
        self.who.policy.map_or("unknown scheduling".to_string(), |policy| policy.to_string())
    }

    /// Number of the interval that contains a release.
    pub fn interval_of(&self, first_release: Nanos, release: Nanos) -> i64 {
        (release - first_release).0.div_euclid(self.keep.interval_ns.0.max(1))
    }

    /// Length of the parts in which an interval is sent: at most half a second, because unsent
    /// parts are lost if the process is killed.
    pub fn frame_interval(&self) -> Nanos {
        let interval = self.keep.interval_ns.0.unsigned_abs();
        let parts = interval.div_ceil(LONGEST_PART).max(1);
        Nanos(interval.div_ceil(parts) as i64)
    }
}
