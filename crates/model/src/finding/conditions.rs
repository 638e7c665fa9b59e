//! Findings about the conditions of a run, each with its time and the latencies of that time.

use super::condition_parts::{CompetingThread, LatencyComparison, ThreadShare, Throttling, When};
use super::kinds::{FindingRow, findings};
use super::{ERROR, INFO, WARNING, Weight};
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

findings! {
    /// Observations about the conditions of a run.
    ConditionFinding {
        "throttled" Throttled {
            /// Evidence.
            by: Throttling,
            /// Time span, from the first counted release.
            when: When,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING;
        "frequency-changed" FrequencyChanged {
            /// The CPUs concerned.
            cpus: CpuSet,
            /// Lowest frequency, in MHz.
            low_mhz: f64,
            /// Highest frequency, in MHz.
            high_mhz: f64,
            /// Time span below the highest frequency.
            when: When,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING;
        "temperature-drift" TemperatureDrift {
            /// Name of the sensor.
            sensor: String,
            /// Mean over the first tenth of the run, in degrees Celsius.
            first_c: f64,
            /// Mean over the last tenth of the run, in degrees Celsius.
            last_c: f64,
            /// The latencies of the last tenth, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING, INFO if (last_c - first_c).abs() < 10.0;
        "steal" Steal {
            /// CPU number.
            cpu: u32,
            /// Stolen share of the run.
            mean_share: f64,
            /// Largest stolen share between two readings.
            worst_share: f64,
            /// Time span with a large share; `None` if no reading stands out.
            when: Option<When>,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING;
        "swapped" Swapped {
            /// Number of swapped pages.
            pages: u64,
            /// Time span, from the first counted release.
            when: When,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING;
        "competing-thread" CompetingThread {
            /// The measured CPUs that such threads ran on.
            cpus: CpuSet,
            /// The busiest of these threads.
            threads: Vec<CompetingThread>,
            /// Number of further threads.
            others: u64,
            /// The latencies while they ran, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING;
        "load-changed" LoadChanged {
            /// CPU number.
            cpu: u32,
            /// Share of the CPU's time that was busy.
            share: f64,
            /// Share that is usual in this run.
            usual_share: f64,
            /// Time span, from the first counted release.
            when: When,
            /// The busiest threads of that time.
            threads: Vec<ThreadShare>,
            /// Shorter changes on this CPU that are not listed.
            shorter_changes: u64,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING;
        "other-work" OtherWork {
            /// The measured CPUs concerned.
            cpus: CpuSet,
            /// Share of the most affected CPU, over the run.
            share: f64,
            /// The busiest threads on these CPUs.
            threads: Vec<ThreadShare>,
        } => INFO;
        "memory-taken" MemoryTaken {
            /// Memory taken within a few seconds, in bytes.
            taken_bytes: u64,
            /// Total memory, in bytes.
            total_bytes: u64,
            /// Least memory available, in bytes.
            least_bytes: u64,
            /// Whether that is less than 5 % of the total.
            scarce: bool,
            /// Time span; `None` if the memory was taken before the run.
            when: Option<When>,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => INFO, WARNING if *scarce;
        "clocksource-changed" ClocksourceChanged {
            /// Clock source at the start.
            before: String,
            /// Clock source after the change.
            after: String,
            /// Time of the change, from the first counted release.
            since_start_ns: Nanos,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => ERROR;
        "smi" Smi {
            /// Number of occurrences.
            count: u64,
            /// Time span, from the first counted release.
            when: When,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING;
        "kernel-event" KernelEvent {
            /// Kind of event.
            event: String,
            /// Number of occurrences.
            count: u64,
            /// Time span, from the first counted release.
            when: When,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING;
        "telemetry-lost" TelemetryLost {
            /// Number of lost readings.
            readings: u64,
        } => INFO;
        "telemetry-gap" TelemetryGap {
            /// Number of such gaps.
            gaps: u64,
            /// Time span of the longest gap.
            when: When,
            /// Usual time between readings.
            usual_ns: Nanos,
            /// The latencies of that time, compared with the rest.
            latencies: LatencyComparison,
        } => WARNING;
        "telemetry-cost" TelemetryCost {
            /// Share of one CPU the readings took.
            cpu_share: f64,
            /// Share they should stay below.
            limit_share: f64,
        } => WARNING;
    }
}

/// Event name for the kernel's log message that it throttled real-time threads.
pub const RT_THROTTLING: &str = "rt-throttling";

impl ConditionFinding {
    /// Whether latencies were smaller during that time than otherwise, so that it did not cause
    /// them.
    pub fn made_nothing_larger(&self) -> bool {
        self.latency_comparison().is_some_and(LatencyComparison::is_smaller_then)
    }

    fn latency_comparison(&self) -> Option<&LatencyComparison> {
        use ConditionFinding::*;
        match self {
            Throttled { latencies, .. }
            | FrequencyChanged { latencies, .. }
            | TemperatureDrift { latencies, .. }
            | Steal { latencies, .. }
            | Swapped { latencies, .. }
            | CompetingThread { latencies, .. }
            | LoadChanged { latencies, .. }
            | MemoryTaken { latencies, .. }
            | ClocksourceChanged { latencies, .. }
            | Smi { latencies, .. }
            | KernelEvent { latencies, .. }
            | TelemetryGap { latencies, .. } => Some(latencies),
            OtherWork { .. } | TelemetryLost { .. } | TelemetryCost { .. } => None,
        }
    }
}
