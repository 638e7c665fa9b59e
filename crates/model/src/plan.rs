//! What a run is asked to do: the meaning of the command line, and the first frame of a journal.

mod check;
mod machine;
mod methods;
mod older;
mod policy;
mod spin;
mod tuning;

use crate::campaign::Cell;
use crate::guest::Guest;
use crate::load::{Load, LoadOn};
use crate::nanos::{MICROSECOND, SECOND};
use crate::respond::Respond;
use crate::target::Target;
use crate::{CpuSet, Nanos};
pub use check::MOST_THREADS;
pub use machine::{IdleStates, KernelFile};
pub use methods::{ClockName, Instrument, Mechanism, MissedPolicy, Phase, WakeBy};
pub use policy::Policy;
use serde::{Deserialize, Serialize};
pub use spin::{Spin, Workload};
pub use tuning::{Thp, Tuning};

/// The whole order for one run; what of it could be applied stands in `applied` of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
// Read and written by way of `older`.
#[serde(remote = "Self")]
pub struct Plan {
    /// Name of the run, part of its folder's name.
    pub name: String,
    /// A free remark of the user.
    pub note: Option<String>,
    /// What is measured.
    #[serde(default)]
    pub target: Target,
    /// Method of measuring.
    pub instrument: Instrument,
    /// How a thread sleeps until its release.
    pub mechanism: Mechanism,
    /// The clock that releases are planned on.
    pub clock: ClockName,
    /// Scheduling of the measuring threads.
    pub policy: Policy,
    /// CPUs to measure; none means all that may be used.
    pub cpus: Option<CpuSet>,
    /// Number of measuring threads; none means one for each CPU.
    pub threads: Option<u32>,
    /// CPUs for everything of ours that does not measure.
    pub helpers_on: Option<CpuSet>,
    /// Distance of releases of the first thread.
    pub period_ns: Nanos,
    /// What each further thread's period is longer by.
    pub period_step_ns: Nanos,
    /// Offsets of the threads' releases.
    pub phase: Phase,
    /// What happens to releases that are already past.
    pub missed: MissedPolicy,
    /// Length of the measuring window; none means until `cycles` or an interrupt.
    pub duration_ns: Option<Nanos>,
    /// Cycles of each thread; none means until `duration_ns` or an interrupt.
    pub cycles: Option<u64>,
    /// Cycles are run but not counted for this long.
    pub warm_up_ns: Nanos,
    /// The instant, after each release, that must not be exceeded.
    pub deadline_ns: Option<Nanos>,
    /// A latency above this ends the run.
    pub stop_above_ns: Option<Nanos>,
    /// A latency above this is a spike for `on_spike`.
    pub spike_above_ns: Option<Nanos>,
    /// Command to run for a spike.
    pub on_spike: Option<String>,
    /// What is asked of the idle states.
    pub idle_states: IdleStates,
    /// Length of an interval of the stream.
    pub interval_ns: Nanos,
    /// Whether every latency is stored with its release.
    #[serde(default)]
    pub samples: bool,
    /// Whether the legs of each latency are told apart by the kernel's tracepoints.
    #[serde(default)]
    pub legs: bool,
    /// Whether CPUs may be measured that another latlab measures already.
    #[serde(default)]
    pub share_cpus: bool,
    /// Kernel files to be written for the time of the run.
    #[serde(default)]
    pub kernel_files: Vec<KernelFile>,
    /// Named settings of the machine, made for the time of the run.
    #[serde(default)]
    pub tunings: Vec<Tuning>,
    /// Distance of two readings of the machine's conditions; none where nobody wants them.
    #[serde(default)]
    pub telemetry_ns: Option<Nanos>,
    /// Whether the threads may run on all usable CPUs instead of one each.
    #[serde(default)]
    pub floating: bool,
    /// What each further thread's priority is lower by.
    #[serde(default)]
    pub priority_step: u8,
    /// What each further thread's first release is later by, beyond its phase.
    #[serde(default)]
    pub phase_step_ns: Nanos,
    /// The first release lies this long after a full second of the clock; none means anywhere.
    #[serde(default)]
    pub second_offset_ns: Option<Nanos>,
    /// Whether the first thread that has its cycles ends all.
    #[serde(default)]
    pub ends_with_first: bool,
    /// Whether a latency above `stop_above` is marked in the kernel's trace, and stops it.
    #[serde(default)]
    pub mark_trace: bool,
    /// How the measured threads are woken; none where they sleep by themselves.
    #[serde(default)]
    pub wake: Option<WakeBy>,
    /// CPUs of the threads that wake them, in turn; none means that of the woken thread.
    #[serde(default)]
    pub wakers_on: Option<CpuSet>,
    /// The command that asked for it, where that was not `latlab run`.
    #[serde(default)]
    pub command: Option<String>,
    /// How it spins; only with the instrument `spin`.
    #[serde(default)]
    pub spin: Option<Spin>,
    /// How responses are found; only with the instrument `respond`.
    #[serde(default)]
    pub respond: Option<Box<Respond>>,
    /// Programs that load the machine meanwhile.
    #[serde(default)]
    pub loads: Vec<Load>,
    /// Which CPUs they may run on.
    #[serde(default)]
    pub load_on: LoadOn,
    /// Which run of a campaign it is.
    #[serde(default)]
    pub cell: Option<Cell>,
    /// What the target was made of, where it is a machine of the laboratory.
    #[serde(default)]
    pub guest: Option<Box<Guest>>,
    /// Seed of the random phase; it may be beyond 2^53, which doubles do not hold exactly.
    pub seed: u64,
}

/// The defaults of the house, in this one place: what `latlab run` does without any flag, and what
/// the command that repeats a run leaves out.
impl Default for Plan {
    fn default() -> Plan {
        Plan {
            name: "run".into(),
            note: None,
            target: Target::Local,
            instrument: Instrument::Cyclic,
            mechanism: Mechanism::Nanosleep,
            clock: ClockName::Monotonic,
            policy: Policy::Fifo { priority: Policy::DEFAULT_PRIORITY },
            cpus: None,
            threads: None,
            helpers_on: None,
            period_ns: MICROSECOND * 997,
            period_step_ns: Nanos::ZERO,
            phase: Phase::Spread,
            missed: MissedPolicy::Skip,
            duration_ns: None,
            cycles: None,
            warm_up_ns: SECOND,
            deadline_ns: None,
            stop_above_ns: None,
            spike_above_ns: None,
            on_spike: None,
            idle_states: IdleStates::ExitWithin(Nanos::ZERO),
            interval_ns: SECOND,
            samples: false,
            legs: false,
            share_cpus: false,
            kernel_files: Vec::new(),
            tunings: Vec::new(),
            telemetry_ns: Some(SECOND),
            floating: false,
            priority_step: 0,
            phase_step_ns: Nanos::ZERO,
            second_offset_ns: None,
            ends_with_first: false,
            mark_trace: false,
            wake: None,
            wakers_on: None,
            command: None,
            spin: None,
            respond: None,
            loads: Vec::new(),
            load_on: LoadOn::Everywhere,
            cell: None,
            guest: None,
            seed: 0,
        }
    }
}

/// Half a second, in nanoseconds.
const LONGEST_PART: u64 = 500_000_000;

impl Plan {
    /// Period of a thread by its number.
    pub fn period_of(&self, thread: u32) -> Nanos {
        self.period_ns + self.period_step_ns * i64::from(thread)
    }

    /// Policy of a thread by its number; the steps end at the lowest priority there is.
    pub fn policy_of(&self, thread: u32) -> Policy {
        let down = u32::from(self.priority_step).saturating_mul(thread);
        let lower = |priority: u8| u32::from(priority).saturating_sub(down).max(1) as u8;
        match self.policy {
            Policy::Fifo { priority } => Policy::Fifo { priority: lower(priority) },
            Policy::Rr { priority } => Policy::Rr { priority: lower(priority) },
            other => other,
        }
    }

    /// The instrument, with its way to sleep or to be woken where it has several.
    pub fn way(&self) -> String {
        let instrument = self.instrument;
        match (instrument, self.wake) {
            (Instrument::Cyclic, _) => format!("{instrument}, {}", self.mechanism),
            (_, Some(by)) => format!("{instrument} by {by}"),
            (_, None) => instrument.to_string(),
        }
    }

    /// Whether releases exist that can be missed.
    pub fn has_releases(&self) -> bool {
        !self.is_unpaced() && self.mechanism != Mechanism::Relative
    }

    /// Whether nothing of it has a period: gaps come when they please, stimuli from elsewhere.
    pub fn is_unpaced(&self) -> bool {
        matches!(self.instrument, Instrument::Spin | Instrument::Respond)
    }

    /// The number of the interval that a release lies in.
    pub fn interval_of(&self, first_release: Nanos, release: Nanos) -> i64 {
        (release - first_release).0.div_euclid(self.interval_ns.0.max(1))
    }

    /// Length of the parts in which an interval is sent: half a second at most, because what was
    /// not sent is lost to a kill.
    pub fn part_ns(&self) -> Nanos {
        let interval = self.interval_ns.0.unsigned_abs();
        let parts = interval.div_ceil(LONGEST_PART).max(1);
        Nanos(interval.div_ceil(parts) as i64)
    }
}
