//! The conditions of a run: numbers read each second, on the clock of the latencies.
//!
//! A series is announced once, by a number. Each reading then holds only what has changed, and
//! each [`WHOLE_EVERY`]th holds everything, so that a reader who lost one knows again.

use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

/// Readings from one that holds everything to the next.
pub const WHOLE_EVERY: u64 = 60;

/// What a series is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Number of the series in its stream.
    pub number: u32,
    /// What is measured: `temperature`, `interrupts`.
    pub metric: String,
    /// Of what: `cpu0`, `thermal_zone0 cpu-thermal`; empty for the whole machine.
    pub subject: String,
    /// Its unit: `mC`, `kHz`, `us`, `1`.
    pub unit: String,
    /// Whether the number only ever grows, so that its rate is what counts.
    pub counter: bool,
    /// Whether it is read each time, so that a reading without it means that nothing has changed;
    /// of the others nothing is known between two readings.
    pub steady: bool,
}

/// One reading of the series.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reading {
    /// When it was taken, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Number of the reading; one that is missing was lost.
    pub sequence: u64,
    /// Whether it holds every steady series, and not only what has changed.
    pub whole: bool,
    /// What has changed; none for what is not there any more.
    pub values: Vec<(u32, Option<i64>)>,
    /// What was read before, of series that nobody cared for until now.
    pub earlier: Vec<(Nanos, u32, i64)>,
    /// When its files were read: from the series with this number on, the time since `at_ns`. Without
    /// an entry all series were read then.
    #[serde(skip)]
    pub instants: Vec<(u32, Nanos)>,
}

impl Reading {
    /// When a series was read.
    pub fn read_at(&self, number: u32) -> Nanos {
        let after = self.instants.partition_point(|(first, _)| *first <= number);
        let since = after.checked_sub(1).map_or(Nanos::ZERO, |at| self.instants[at].1);
        self.at_ns + since
    }
}

/// The conditions of a finished run, as far as numbers tell them.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Readings that are in telemetry.parquet.
    pub readings: u64,
    /// Readings that did not arrive.
    pub lost: u64,
    /// What the readings took of one CPU; none where fewer than two are known.
    pub cost_share: Option<f64>,
    /// Metrics that were read at the begin and at the end of the run only, because every CPU was
    /// measured and to read them holds a CPU for long.
    pub at_ends_only: Vec<String>,
    /// Shares that were larger than their definition allows, and are left out.
    pub shares_refused: u64,
    /// What was measured, by metric and subject.
    pub figures: Vec<Figure>,
    /// Threads that took much of a CPU, or that run before everything ordinary; busiest first.
    pub threads: Vec<BusyThread>,
}

/// One condition over the whole run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// What was measured: `temperature`, `cpu_busy`.
    pub metric: String,
    /// Of what.
    pub subject: String,
    /// Its unit: `C`, `MHz`, `%`, `1/s`, `MiB`.
    pub unit: String,
    /// Smallest, for rates over one reading.
    pub min: f64,
    /// Mean over the run.
    pub mean: f64,
    /// Largest.
    pub max: f64,
    /// Mean over the first tenth of the run; none of one with fewer than ten readings.
    pub first_tenth: Option<f64>,
    /// Mean over the last tenth of the run; none of one with fewer than ten readings.
    pub last_tenth: Option<f64>,
}

impl Figure {
    /// Whether both are of the same thing.
    pub fn is_same_as(&self, other: &Figure) -> bool {
        (&self.metric, &self.subject) == (&other.metric, &other.subject)
    }
}

/// A thread that took a CPU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyThread {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: u32,
    /// Its policy and priority: `fifo 50`, `other`.
    pub policy: String,
    /// CPUs it was seen on.
    pub cpus: CpuSet,
    /// Its share of one CPU over the run.
    pub mean_share: f64,
    /// Its largest share of one CPU between two readings of it.
    pub peak_share: f64,
    /// When that was, on CLOCK_MONOTONIC.
    pub peak_at_ns: Nanos,
}

/// A share that can be no larger than one by its definition: a little more comes from the instants of
/// two readings, which are not exact, and is one; much more says nothing.
pub fn bounded_share(share: f64) -> Option<f64> {
    (share <= 1.1).then(|| share.min(1.0))
}

/// Names of the metrics, where both sides must know them.
pub mod metric {
    /// Those whose files hold a CPU for long when they are read.
    pub const LONG_TO_READ: [&str; 3] = [INTERRUPTS, SOFTIRQS, PAGES];
    /// Those whose files hold a CPU for so long that a release must not fall due meanwhile.
    pub const BETWEEN_RELEASES: [&str; 6] =
        [CPU_TIME, CONTEXT_SWITCHES, FORKS, TASKS, MEMORY, PRESSURE];

    /// Temperature of a sensor, mC.
    pub const TEMPERATURE: &str = "temperature";
    /// Frequency that the kernel believes a CPU runs at, kHz.
    pub const FREQUENCY: &str = "cpu_frequency";
    /// Highest frequency that the policy allows a CPU, kHz.
    pub const FREQUENCY_LIMIT: &str = "cpu_frequency_limit";
    /// Throttle flags of a Raspberry Pi's firmware, bits.
    pub const THROTTLE_FLAGS: &str = "throttle_flags";
    /// Times a CPU was slowed down because of heat.
    pub const THERMAL_THROTTLES: &str = "thermal_throttles";
    /// Time a CPU spent in an idle state, us.
    pub const IDLE_RESIDENCY: &str = "idle_residency";
    /// Interrupts of a CPU by source.
    pub const INTERRUPTS: &str = "interrupts";
    /// Softirqs of a CPU by kind.
    pub const SOFTIRQS: &str = "softirqs";
    /// Of the softirqs those of the network, by CPU: a figure of runs over a link.
    pub const NETWORK_SOFTIRQS: &str = "network_softirqs";
    /// Context switches of the machine.
    pub const CONTEXT_SWITCHES: &str = "context_switches";
    /// Processes and threads started.
    pub const FORKS: &str = "forks";
    /// Tasks that want a CPU or wait for a disk.
    pub const TASKS: &str = "tasks";
    /// Time of a CPU by what it went into, in ticks of 10 ms.
    pub const CPU_TIME: &str = "cpu_time";
    /// Time in which somebody waited for a resource (PSI), us.
    pub const PRESSURE: &str = "pressure_stall";
    /// Memory, kB.
    pub const MEMORY: &str = "memory";
    /// Page faults and swapped pages.
    pub const PAGES: &str = "pages";
    /// CPU time of a thread, ns.
    pub const THREAD_CPU: &str = "thread_cpu_time";
    /// CPU a thread was last seen on.
    pub const THREAD_PLACE: &str = "thread_last_cpu";
    /// Scheduling policy of a thread, by the kernel's number: 0 other, 1 fifo, 2 rr, 3 batch,
    /// 5 idle, 6 deadline.
    pub const THREAD_POLICY: &str = "thread_policy";
    /// Real-time priority of a thread.
    pub const THREAD_PRIORITY: &str = "thread_priority";
    /// System-management interrupts.
    pub const SMI: &str = "smi";
    /// 1 for the clock source in use.
    pub const CLOCKSOURCE: &str = "clocksource";
    /// Lines of the kernel's log of a kind that matters.
    pub const KERNEL_EVENTS: &str = "kernel_events";
    /// CPU time that the readings themselves have taken, ns.
    pub const OWN_COST: &str = "telemetry_cpu_time";
}
