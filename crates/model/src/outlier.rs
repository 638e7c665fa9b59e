//! The largest latencies of a run, with what is known of their moments.

use crate::Nanos;
use crate::legs::CycleLegs;
use crate::own_work::OwnThread;
use serde::{Deserialize, Serialize};

/// Outliers that are listed of a run.
pub const LISTED_OUTLIERS: usize = 10;

/// One of the largest latencies of a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlier {
    /// Number of the measuring thread.
    pub thread: u32,
    /// CPU the thread is pinned to; none when it floats.
    pub cpu: Option<u32>,
    /// The latency.
    pub latency_ns: Nanos,
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// Its release, since the first counted release of the run.
    pub since_start_ns: Nanos,
    /// Its legs, where they were recorded.
    pub legs: Option<CycleLegs>,
    /// latlab's own threads that worked on its CPU between release and wake-up.
    pub own_threads: Vec<OwnThread>,
    /// Loads that ran then, in the words that asked for them.
    pub loads: Vec<String>,
    /// What its CPU did between the readings before and after it; none where telemetry does not tell.
    pub surroundings: Option<Surroundings>,
}

/// What a CPU did between two readings, mostly a second apart.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Surroundings {
    /// Share of its time in which it worked, interrupts included.
    pub busy_share: Option<f64>,
    /// Share of its time that the hypervisor gave to others.
    pub stolen_share: Option<f64>,
    /// Share of its time that interrupts and softirqs took.
    pub interrupts_share: Option<f64>,
    /// Its frequency at the reading before, kHz.
    pub frequency_khz: Option<i64>,
    /// The sources with the most interrupts, most first.
    pub interrupts: Vec<InterruptRate>,
    /// Threads other than the measuring ones that took CPU time and were last seen on this CPU, or
    /// nobody knows where; busiest first.
    pub threads: Vec<ThreadShare>,
}

/// Interrupts of one source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterruptRate {
    /// Its name in `/proc/interrupts`, with its device.
    pub source: String,
    /// Interrupts a second.
    pub per_second: f64,
}

/// CPU time of one thread.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadShare {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: u32,
    /// Its share of one CPU.
    pub share: f64,
}
