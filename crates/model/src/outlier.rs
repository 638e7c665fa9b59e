//! The largest latencies of a run, with what is known of the time around them.

use crate::Nanos;
use crate::breakdown::CycleBreakdown;
use crate::self_interference::OwnThread;
use serde::{Deserialize, Serialize};

/// Number of outliers listed for a run.
pub const LISTED_OUTLIERS: usize = 10;

/// One of the largest latencies of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlier {
    /// Number of the measuring thread.
    pub thread: u32,
    /// CPU the thread is pinned to; `None` if it floats.
    pub cpu: Option<u32>,
    /// The latency.
    pub latency_ns: Nanos,
    /// Release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// Release, from the first counted release of the run.
    pub since_start_ns: Nanos,
    /// Its breakdown, if recorded.
    pub breakdown: Option<CycleBreakdown>,
    /// latlab's own threads that ran on its CPU between release and wake-up.
    pub own_threads: Vec<OwnThread>,
    /// Loads that were running, as requested.
    pub loads: Vec<String>,
    /// Activity of its CPU between the readings around it; `None` without telemetry.
    pub surroundings: Option<Surroundings>,
}

/// Activity of a CPU between two readings, usually a second apart.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Surroundings {
    /// Share of time busy, including interrupts.
    pub busy_share: Option<f64>,
    /// Share of time the hypervisor gave to others.
    pub stolen_share: Option<f64>,
    /// Share of time in interrupts and softirqs.
    pub interrupts_share: Option<f64>,
    /// Frequency at the earlier reading, kHz.
    pub frequency_khz: Option<i64>,
    /// Interrupt sources with the highest rates, highest first.
    pub interrupts: Vec<InterruptRate>,
    /// Threads other than the measuring ones that took CPU time and were last seen on this CPU or
    /// at an unknown place; busiest first.
    pub threads: Vec<OutlierThread>,
}

/// Interrupt rate of one source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterruptRate {
    /// Name in `/proc/interrupts`, with its device.
    pub source: String,
    /// Interrupts per second.
    pub per_second: f64,
}

/// CPU time of one thread.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutlierThread {
    /// Thread name.
    pub name: String,
    /// Thread id.
    pub id: u32,
    /// Share of one CPU.
    pub share: f64,
}
