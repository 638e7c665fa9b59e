//! Parts of findings about conditions: times, threads, and the latencies of that time.

use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

/// A time span, relative to the first counted release.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct When {
    /// Start.
    pub from_ns: Nanos,
    /// End.
    pub to_ns: Nanos,
}

/// Latencies during a finding and in the rest of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyComparison {
    /// What was recorded: `latency` or `gap`.
    pub recorded: String,
    /// Latencies of that time; `None` if nothing was recorded.
    pub then: Option<Latencies>,
    /// Latencies of the rest of the run; `None` if the finding covers all of it.
    pub otherwise: Option<Latencies>,
}

/// Two figures of the latencies of several intervals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latencies {
    /// Median of the intervals' p99.
    pub p99_ns: Nanos,
    /// Largest latency.
    pub max_ns: Nanos,
}

/// Evidence that a CPU was slowed down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "sign", rename_all = "kebab-case")]
pub enum Throttling {
    /// Firmware: the supply voltage was too low.
    UnderVoltage,
    /// Firmware: the frequency was capped.
    FrequencyCapped,
    /// Firmware: the CPU was throttled.
    CpuThrottled,
    /// Firmware: the soft temperature limit was reached.
    SoftTemperatureLimit,
    /// A throttle counter of the kernel.
    Counter {
        /// What the counter belongs to: `cpu0`, `package0`.
        subject: String,
        /// Increase of the counter.
        count: u64,
    },
    /// The frequency limit was lowered.
    LowerLimit {
        /// The CPUs concerned.
        cpus: CpuSet,
        /// The lower limit, in MHz.
        low_mhz: f64,
        /// The usual limit, in MHz.
        high_mhz: f64,
    },
}

/// A thread that ran with precedence over the measuring threads.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompetingThread {
    /// Thread name.
    pub name: String,
    /// Thread id.
    pub id: u32,
    /// Scheduling policy and priority.
    pub policy: String,
    /// Mean share of one CPU over the run.
    pub mean_share: f64,
    /// Largest share of one CPU between two readings.
    pub peak_share: f64,
    /// Time of that peak, from the first counted release.
    pub peak_at_ns: Nanos,
}

/// A thread and its CPU share.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadShare {
    /// Thread name.
    pub name: String,
    /// Thread id.
    pub id: u32,
    /// Share of one CPU.
    pub share: f64,
}

/// Figures within this ratio count as equal: they are a few bins apart.
const LIKE: f64 = 1.1;

impl LatencyComparison {
    /// Whether the maximum of that time is below that of the rest, and its p99 not clearly above.
    pub(super) fn is_smaller_then(&self) -> bool {
        let is_above = |one: Nanos, other: Nanos| one.0 as f64 > LIKE * other.0 as f64;
        self.then.zip(self.otherwise).is_some_and(|(then, rest)| {
            then.max_ns < rest.max_ns && !is_above(then.p99_ns, rest.p99_ns)
        })
    }
}
