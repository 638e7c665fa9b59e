//! Loads: real programs that run beside a measurement, and the evidence that they did.

mod frames;
mod plan;
mod run;

pub use frames::{ExitStatus, LoadBegin, LoadEnd, LoadLine, LoadSample, LostCpus, LostPriority};
pub use plan::{
    EndRule, EndSignal, Evidence, Load, LoadCpus, LoadProcess, MinimumRate, RateRule, Requirements,
    VersionRule,
};
pub use run::{EvidenceRun, LoadRate, LoadRun, Spread};

/// Names of the metrics of a load in `telemetry.parquet`.
pub mod metric {
    /// CPU time of the processes of a load, ns.
    pub const LOAD_CPU: &str = "load_cpu_time";
    /// Processes of a load.
    pub const LOAD_PROCESSES: &str = "load_processes";
    /// The counter of the kernel that shows a load.
    pub const LOAD_EVIDENCE: &str = "load_evidence";
    /// A figure that a load printed, in thousandths.
    pub const LOAD_RATE: &str = "load_rate";
}
