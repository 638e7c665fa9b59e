//! What findings about conditions are made of: when, which threads, and the latencies of that time.

use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

/// From when to when, since the first counted release.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct When {
    /// Begin.
    pub from_ns: Nanos,
    /// End.
    pub to_ns: Nanos,
}

/// The latencies of the time of a finding, and those of the rest of the run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyComparison {
    /// What was recorded: `latency` or `gap`.
    pub recorded: String,
    /// In that time; none where nothing was recorded.
    pub then: Option<Latencies>,
    /// In the rest of the run; none where there is no rest.
    pub otherwise: Option<Latencies>,
}

/// Two figures of the latencies of some intervals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latencies {
    /// Median of the intervals' 99 % quantiles.
    pub p99_ns: Nanos,
    /// The largest.
    pub max_ns: Nanos,
}

/// What shows that a CPU was slowed down.
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
    /// A counter of the kernel.
    Counter {
        /// What it counts for: `cpu0`, `package0`.
        subject: String,
        /// How much it grew.
        count: u64,
    },
    /// The limit of the frequency was lowered.
    LowerLimit {
        /// The CPUs.
        cpus: CpuSet,
        /// The lower limit.
        low_mhz: f64,
        /// The usual limit.
        high_mhz: f64,
    },
}

/// A thread that ran before the measuring ones.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RivalThread {
    /// Its name.
    pub name: String,
    /// Its number.
    pub id: u32,
    /// Its scheduling.
    pub policy: String,
    /// Share of one CPU over the run.
    pub mean_share: f64,
    /// Largest share between two readings.
    pub peak_share: f64,
    /// When that was, since the first counted release.
    pub peak_at_ns: Nanos,
}

/// A thread and its share of a CPU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadShare {
    /// Its name.
    pub name: String,
    /// Its number.
    pub id: u32,
    /// Share of one CPU.
    pub share: f64,
}

/// Up to this ratio two figures are alike: they are within a few bins.
const LIKE: f64 = 1.1;

impl LatencyComparison {
    /// Whether the largest of that time is below that of the rest, and its p99 not clearly above.
    pub(super) fn is_smaller_then(&self) -> bool {
        let is_above = |one: Nanos, other: Nanos| one.0 as f64 > LIKE * other.0 as f64;
        self.then.zip(self.otherwise).is_some_and(|(then, rest)| {
            then.max_ns < rest.max_ns && !is_above(then.p99_ns, rest.p99_ns)
        })
    }
}
