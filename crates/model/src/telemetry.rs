//! The conditions of a run: numbers read every second, on the clock of the latencies.
//!
//! A series is announced once, with a number. Each reading then holds only changed values, and each
//! [`WHOLE_EVERY`]th holds all of them, so that a reader that lost one recovers.

use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

/// Number of readings from one complete reading to the next.
pub const WHOLE_EVERY: u64 = 60;

/// Description of a series.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Number of the series in its stream.
    pub number: u32,
    /// What is measured: `temperature`, `interrupts`.
    pub metric: String,
    /// What it belongs to: `cpu0`, `thermal_zone0 cpu-thermal`; empty for the whole machine.
    pub subject: String,
    /// Its unit: `mC`, `kHz`, `us`, `1`.
    pub unit: String,
    /// Whether it is a counter that only grows, so that its rate matters.
    pub counter: bool,
    /// Whether it is read each time, so that a reading without it means no change; other series are
    /// unknown between two readings.
    pub steady: bool,
}

/// One reading of all series.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reading {
    /// Time of the reading, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Sequence number; a gap means lost readings.
    pub sequence: u64,
    /// Whether it holds every steady series, not only changed ones.
    pub whole: bool,
    /// Changed values; `None` for a value that is gone.
    pub values: Vec<(u32, Option<i64>)>,
    /// Earlier values of series that were not sent until now.
    pub earlier: Vec<(Nanos, u32, i64)>,
    /// When its files were read: from the series with this number on, the offset from `at_ns`.
    /// Without an entry, all series were read at `at_ns`.
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

/// The conditions of a finished run, summarised.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Number of readings in telemetry.parquet.
    pub readings: u64,
    /// Readings that did not arrive.
    pub lost: u64,
    /// Share of one CPU used by the readings; `None` if fewer than two are known.
    pub cost_share: Option<f64>,
    /// Metrics read only at the start and end of the run, because every CPU was measured and
    /// reading them holds a CPU for long.
    pub at_ends_only: Vec<String>,
    /// Number of shares left out because they exceed what their definition allows.
    pub shares_refused: u64,
    /// Figures by metric and subject.
    pub figures: Vec<Figure>,
    /// Threads that took much CPU time, or that run before all SCHED_OTHER threads; busiest first.
    pub threads: Vec<BusyThread>,
}

/// One condition over the whole run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figure {
    /// What was measured: `temperature`, `cpu_busy`.
    pub metric: String,
    /// What it belongs to; empty for the whole machine.
    pub subject: String,
    /// Its unit: `C`, `MHz`, `%`, `1/s`, `MiB`.
    pub unit: String,
    /// Minimum; for rates, of one reading.
    pub min: f64,
    /// Mean over the run.
    pub mean: f64,
    /// Maximum; for rates, of one reading.
    pub max: f64,
    /// Mean over the first tenth of the run; `None` with fewer than ten readings.
    pub first_tenth: Option<f64>,
    /// Mean over the last tenth of the run; `None` with fewer than ten readings.
    pub last_tenth: Option<f64>,
}

impl Figure {
    /// Whether both have the same metric and subject.
    pub fn is_same_as(&self, other: &Figure) -> bool {
        (&self.metric, &self.subject) == (&other.metric, &other.subject)
    }
}

/// A thread that used a CPU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BusyThread {
    /// Thread name.
    pub name: String,
    /// Thread id.
    pub id: u32,
    /// Its policy and priority: `fifo 50`, `other`.
    pub policy: String,
    /// CPUs it was seen on.
    pub cpus: CpuSet,
    /// Mean share of one CPU over the run.
    pub mean_share: f64,
    /// Largest share of one CPU between two of its readings.
    pub peak_share: f64,
    /// Time of that peak, on CLOCK_MONOTONIC.
    pub peak_at_ns: Nanos,
}

/// A share that is at most one by definition: a slight excess comes from inexact reading times and
/// is cut to one; a large excess is rejected.
pub fn bounded_share(share: f64) -> Option<f64> {
    (share <= 1.1).then(|| share.min(1.0))
}

/// Names of the metrics, shared by agent and reader.
pub mod metric {
    /// Metrics whose files hold a CPU for long when they are read.
    pub const LONG_TO_READ: [&str; 3] = [INTERRUPTS, SOFTIRQS, PAGES];
    /// Metrics whose files hold a CPU so long that no release may fall due during the read.
    pub const BETWEEN_RELEASES: [&str; 6] =
        [CPU_TIME, CONTEXT_SWITCHES, FORKS, TASKS, MEMORY, PRESSURE];

    /// Temperature of a sensor, mC.
    pub const TEMPERATURE: &str = "temperature";
    /// CPU frequency as the kernel believes it, kHz.
    pub const FREQUENCY: &str = "cpu_frequency";
    /// Highest CPU frequency allowed by the policy, kHz.
    pub const FREQUENCY_LIMIT: &str = "cpu_frequency_limit";
    /// Throttle flags of the Raspberry Pi firmware, bits.
    pub const THROTTLE_FLAGS: &str = "throttle_flags";
    /// Number of times a CPU was throttled because of heat.
    pub const THERMAL_THROTTLES: &str = "thermal_throttles";
    /// Time a CPU spent in an idle state, us.
    pub const IDLE_RESIDENCY: &str = "idle_residency";
    /// Interrupts per CPU and source.
    pub const INTERRUPTS: &str = "interrupts";
    /// Softirqs per CPU and kind.
    pub const SOFTIRQS: &str = "softirqs";
    /// Network softirqs per CPU: a figure of runs over a link.
    pub const NETWORK_SOFTIRQS: &str = "network_softirqs";
    /// Context switches of the machine.
    pub const CONTEXT_SWITCHES: &str = "context_switches";
    /// Processes and threads started.
    pub const FORKS: &str = "forks";
    /// Tasks that are runnable or waiting for a disk.
    pub const TASKS: &str = "tasks";
    /// CPU time by kind of use, in ticks of 10 ms.
    pub const CPU_TIME: &str = "cpu_time";
    /// Time in which tasks waited for a resource (PSI), us.
    pub const PRESSURE: &str = "pressure_stall";
    /// Memory, kB.
    pub const MEMORY: &str = "memory";
    /// Page faults and swapped pages.
    pub const PAGES: &str = "pages";
    /// CPU time of a thread, ns.
    pub const THREAD_CPU: &str = "thread_cpu_time";
    /// CPU a thread was last seen on.
    pub const THREAD_PLACE: &str = "thread_last_cpu";
    /// Scheduling policy of a thread as the kernel's number: 0 other, 1 fifo, 2 rr, 3 batch, 5
    /// idle, 6 deadline.
    pub const THREAD_POLICY: &str = "thread_policy";
    /// Real-time priority of a thread.
    pub const THREAD_PRIORITY: &str = "thread_priority";
    /// System-management interrupts.
    pub const SMI: &str = "smi";
    /// 1 for the clock source in use.
    pub const CLOCKSOURCE: &str = "clocksource";
    /// Kernel log lines of a relevant kind.
    pub const KERNEL_EVENTS: &str = "kernel_events";
    /// CPU time used by the readings themselves, ns.
    pub const OWN_COST: &str = "telemetry_cpu_time";
}
