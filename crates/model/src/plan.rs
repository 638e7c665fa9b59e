//! What a run is asked to do: the meaning of the command line, and the first frame of a journal.
//!
//! What all methods share stands in [`Plan`], and what only one of them has in its variant of
//! [`Method`]. A value that nobody knows or that means nothing, such as the period of a capture, is
//! absent; a [`Measurement`] is a plan of which all is known that measuring needs.

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
pub use cyclic::{ClockName, Cyclic, Cyclictest, Mechanism, MissedPolicy, Phase, Releases};
pub use handoff::{Handoff, WakeBy};
pub use machine::{IdleStates, KernelFile};
pub use measurement::{Measurement, Task};
pub use method::{Instrument, Method, Recorded};
pub use policy::Policy;
use serde::{Deserialize, Serialize};
pub use spin::{Spin, Workload};
pub use timerlat::Timerlat;
pub use tuning::{Thp, Tuning};

/// The whole plan of one run; what of it could be applied stands in `applied` of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Name of the run, used in the name of its folder.
    pub name: String,
    /// A free remark of the user.
    pub note: Option<String>,
    /// The command that asked for it, where that was not `latlab run`.
    pub command: Option<String>,
    /// Which run of a campaign it is.
    pub cell: Option<Cell>,
    /// How it measures.
    pub method: Method,
    /// What is measured.
    pub target: Target,
    /// What the target was made of, where it is a machine of the laboratory.
    pub guest: Option<Box<Guest>>,
    /// The place of labgrid that was held for it, where the target is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Box<HeldPlace>>,
    /// How a board measures without the link to it; none where the link stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detached: Option<Detached>,
    /// Scheduling of the measuring threads; none where nobody knows it or no thread measures.
    pub policy: Option<Policy>,
    /// CPUs to measure; none means all that may be used.
    pub cpus: Option<CpuSet>,
    /// Number of measuring threads; none means one for each CPU.
    pub threads: Option<u32>,
    /// CPUs for everything of ours that does not measure.
    pub helpers_on: Option<CpuSet>,
    /// Whether CPUs may be measured that another latlab measures already.
    pub share_cpus: bool,
    /// Length of the measuring window; none means until `cycles` or an interrupt.
    pub duration_ns: Option<Nanos>,
    /// Cycles of each thread; none means until `duration_ns` or an interrupt.
    pub cycles: Option<u64>,
    /// Cycles are run but not counted for this long; none where nobody knows it or nothing cycles.
    pub warm_up_ns: Option<Nanos>,
    /// The instant, after each release, that must not be exceeded.
    pub deadline_ns: Option<Nanos>,
    /// Bursts of deadline misses that are tolerated in an hour; none where every miss fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_per_hour: Option<f64>,
    /// Whether the run ends as soon as it has decided whether it keeps that limit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub until_decided: bool,
    /// A latency above this ends the run.
    pub stop_above_ns: Option<Nanos>,
    /// A latency above this is a spike, for `on_spike` and for the flight recorder; the recorder finds
    /// a bound of its own where there is none.
    pub spike_above_ns: Option<Nanos>,
    /// Command to run for a spike.
    pub on_spike: Option<String>,
    /// Whether the kernel's events around each spike are recorded, to tell its cause.
    #[serde(default, skip_serializing_if = "is_false")]
    pub explain: bool,
    /// What is asked of the idle states; none where nobody knows it or no machine is measured.
    pub idle_states: Option<IdleStates>,
    /// Kernel files to be written for the time of the run.
    pub kernel_files: Vec<KernelFile>,
    /// Named settings of the machine, made for the time of the run.
    pub tunings: Vec<Tuning>,
    /// Programs that load the machine meanwhile.
    pub loads: Vec<Load>,
    /// Which CPUs they may run on.
    pub load_on: LoadCpus,
    /// Distance of two readings of the machine's conditions; none where nobody wants them.
    pub telemetry_ns: Option<Nanos>,
    /// Whether files are read each time that hold a CPU for long, also where every CPU is measured.
    pub telemetry_is_full: bool,
    /// Length of an interval of the stream.
    pub interval_ns: Nanos,
    /// Whether every latency is stored with its release.
    pub samples: bool,
    /// Seed of everything random; none where nothing is. It may be beyond 2^53, which doubles do
    /// not hold exactly.
    pub seed: Option<u64>,
}

/// How a board measures without the link: its stream goes to a file there, which is collected later.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detached {
    /// The folder there in which the run has one of its own; none means that of the user's cache.
    pub folder: Option<String>,
    /// Bytes of the stream at which the run ends, so that it never fills the board.
    pub most_bytes: u64,
}

/// The defaults of the house, in this one place: what `latlab run` does without any flag, and what
/// the command that repeats a run leaves out.
impl Default for Plan {
    fn default() -> Plan {
        Plan {
            name: "run".into(),
            note: None,
            command: None,
            cell: None,
            method: Method::Cyclic(Cyclic::default()),
            target: Target::Local,
            guest: None,
            place: None,
            detached: None,
            policy: Some(Policy::Fifo { priority: Policy::DEFAULT_PRIORITY }),
            cpus: None,
            threads: None,
            helpers_on: None,
            share_cpus: false,
            duration_ns: None,
            cycles: None,
            warm_up_ns: Some(SECOND),
            deadline_ns: None,
            limit_per_hour: None,
            until_decided: false,
            stop_above_ns: None,
            spike_above_ns: None,
            on_spike: None,
            explain: false,
            idle_states: Some(IdleStates::ExitWithin(Nanos::ZERO)),
            kernel_files: Vec::new(),
            tunings: Vec::new(),
            loads: Vec::new(),
            load_on: LoadCpus::Everywhere,
            telemetry_ns: Some(SECOND),
            telemetry_is_full: false,
            interval_ns: SECOND,
            samples: false,
            seed: Some(0),
        }
    }
}

/// What is off stands in no document.
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Half a second, in nanoseconds.
const LONGEST_PART: u64 = 500_000_000;

impl Plan {
    /// A plan of what was measured elsewhere: nothing is known of a machine, nor asked of one.
    pub fn without_machine(name: String, method: Method) -> Plan {
        Plan {
            name,
            method,
            policy: None,
            warm_up_ns: None,
            idle_states: None,
            telemetry_ns: None,
            seed: None,
            ..Plan::default()
        }
    }

    /// Whether the measuring threads run before all ordinary ones, as far as anybody knows.
    pub fn is_realtime(&self) -> bool {
        self.policy.is_some_and(Policy::is_realtime)
    }

    /// Whether the stream goes over a link that can break while the agent goes on.
    pub fn is_behind_a_link(&self) -> bool {
        self.target.is_behind_a_link() && self.detached.is_none()
    }

    /// Policy of a thread by its number, as far as anybody knows; the steps of `latlab cyclictest`
    /// end at the lowest priority there is.
    pub fn policy_of(&self, thread: u32) -> Option<Policy> {
        let step = self.method.cyclictest().map_or(0, |asked| asked.priority_step);
        self.policy.map(|policy| policy.lowered(u32::from(step).saturating_mul(thread)))
    }

    /// The scheduling of the measuring threads, in words.
    pub fn scheduling(&self) -> String {
        self.policy.map_or("unknown scheduling".to_string(), |policy| policy.to_string())
    }

    /// The number of the interval that a release lies in.
    pub fn interval_of(&self, first_release: Nanos, release: Nanos) -> i64 {
        (release - first_release).0.div_euclid(self.interval_ns.0.max(1))
    }

    /// Length of the parts in which an interval is sent: half a second at most, because what was
    /// not sent is lost to a kill.
    pub fn frame_interval(&self) -> Nanos {
        let interval = self.interval_ns.0.unsigned_abs();
        let parts = interval.div_ceil(LONGEST_PART).max(1);
        Nanos(interval.div_ceil(parts) as i64)
    }
}
