//! Findings about the conditions of a run, each with its time and the latencies of that time.

use super::condition_parts::{LatencyComparison, RivalThread, ThreadShare, Throttling, When};
use super::kinds::{FindingRow, findings};
use super::{ERROR, INFO, WARNING, Weight};
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

findings! {
    /// What the conditions did.
    ConditionFinding {
        "throttled" Throttled {
            /// What shows it.
            by: Throttling,
            /// When.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => WARNING;
        "frequency-changed" FrequencyChanged {
            /// The CPUs.
            cpus: CpuSet,
            /// The lowest frequency.
            low_mhz: f64,
            /// The highest frequency.
            high_mhz: f64,
            /// When it was below the highest.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => WARNING;
        "temperature-drift" TemperatureDrift {
            /// The sensor.
            sensor: String,
            /// Mean of the first tenth of the run, in degrees Celsius.
            first_c: f64,
            /// Mean of the last tenth.
            last_c: f64,
            /// The latencies of the last tenth.
            beside: LatencyComparison,
        } => WARNING, INFO if (last_c - first_c).abs() < 10.0;
        "steal" Steal {
            /// The CPU.
            cpu: u32,
            /// Share of the run.
            mean_share: f64,
            /// Largest share between two readings.
            worst_share: f64,
            /// When it was large; none where no single step stands out.
            when: Option<When>,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => WARNING;
        "swapped" Swapped {
            /// How many.
            pages: u64,
            /// When.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => WARNING;
        "rival-thread" RivalThread {
            /// The measured CPUs that such threads ran on.
            cpus: CpuSet,
            /// The busiest of them.
            threads: Vec<RivalThread>,
            /// Further ones.
            others: u64,
            /// The latencies while they ran.
            beside: LatencyComparison,
        } => WARNING;
        "load-changed" LoadChanged {
            /// The CPU.
            cpu: u32,
            /// Share of its time that it was busy then.
            share: f64,
            /// Share of its time that is usual in this run.
            usual_share: f64,
            /// When.
            when: When,
            /// The busiest threads of that time.
            threads: Vec<ThreadShare>,
            /// Shorter changes on this CPU that are not listed.
            shorter_changes: u64,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => WARNING;
        "other-work" OtherWork {
            /// The measured CPUs of which it took so much.
            cpus: CpuSet,
            /// Its share of the busiest of them, over the run.
            share: f64,
            /// The busiest threads on these CPUs.
            threads: Vec<ThreadShare>,
        } => INFO;
        "memory-taken" MemoryTaken {
            /// How much.
            taken_bytes: u64,
            /// All memory.
            total_bytes: u64,
            /// The least that was available.
            least_bytes: u64,
            /// Whether that is less than 5 % of all.
            scarce: bool,
            /// When; none where it was taken before.
            when: Option<When>,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => INFO, WARNING if *scarce;
        "clocksource-changed" ClocksourceChanged {
            /// The clock source at the beginning.
            before: String,
            /// The clock source that followed.
            after: String,
            /// When it changed, since the first counted release.
            since_start_ns: Nanos,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => ERROR;
        "smi" Smi {
            /// How often.
            count: u64,
            /// When.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => WARNING;
        "kernel-event" KernelEvent {
            /// What.
            event: String,
            /// How often.
            count: u64,
            /// When.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => WARNING;
        "telemetry-lost" TelemetryLost {
            /// How many.
            readings: u64,
        } => INFO;
        "telemetry-gap" TelemetryGap {
            /// How many such gaps there are.
            gaps: u64,
            /// The longest one.
            when: When,
            /// Usual distance of two readings.
            usual_ns: Nanos,
            /// The latencies of that time.
            beside: LatencyComparison,
        } => WARNING;
        "telemetry-dear" TelemetryDear {
            /// Share of a CPU that they took.
            cpu_share: f64,
            /// Share that should be enough.
            limit_share: f64,
        } => WARNING;
    }
}

/// What the kernel's log is searched for when it has throttled real-time threads.
pub const RT_THROTTLING: &str = "rt-throttling";

impl ConditionFinding {
    /// Whether latencies were smaller in its time than otherwise, so that they do not come from it.
    pub fn made_nothing_larger(&self) -> bool {
        self.latency_comparison().is_some_and(LatencyComparison::is_smaller_then)
    }

    fn latency_comparison(&self) -> Option<&LatencyComparison> {
        use ConditionFinding::*;
        match self {
            Throttled { beside, .. }
            | FrequencyChanged { beside, .. }
            | TemperatureDrift { beside, .. }
            | Steal { beside, .. }
            | Swapped { beside, .. }
            | RivalThread { beside, .. }
            | LoadChanged { beside, .. }
            | MemoryTaken { beside, .. }
            | ClocksourceChanged { beside, .. }
            | Smi { beside, .. }
            | KernelEvent { beside, .. }
            | TelemetryGap { beside, .. } => Some(beside),
            OtherWork { .. } | TelemetryLost { .. } | TelemetryDear { .. } => None,
        }
    }
}
