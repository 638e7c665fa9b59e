//! Loads: real programs that run during a measurement, and the evidence that they ran.

mod frames;
mod plan;
mod run;

pub use frames::{ExitStatus, LoadBegin, LoadEnd, LoadLine, LoadSample, LostCpus, LostPriority};
pub use plan::{
    EndRule, EndSignal, Evidence, Load, LoadCpus, LoadProcess, MinimumRate, RateRule, Requirements,
    VersionRule,
};
pub use run::{EvidenceRun, LoadRate, LoadRun, Spread};

/// Names of a load's metrics in `telemetry.parquet`.
pub mod metric {
    /// CPU time of a load's processes, ns.
    pub const LOAD_CPU: &str = "load_cpu_time";
    /// Number of processes of a load.
    pub const LOAD_PROCESSES: &str = "load_processes";
    /// The kernel counter that a load moves.
    pub const LOAD_EVIDENCE: &str = "load_evidence";
    /// A figure printed by a load, in thousandths.
    pub const LOAD_RATE: &str = "load_rate";
}
