//! The types shared by all parts of latlab, and the frames of its stream.
//!
//! Nothing here opens a file or reads a clock: these types describe what the agent sends, what the
//! journal holds and what a run folder contains.

#![warn(missing_docs)]

pub mod attach;
pub mod breakdown;
pub mod call_site;
pub mod campaign;
pub mod cpu;
pub mod deadline;
pub mod doctor;
pub mod edges;
pub mod explanation;
pub mod fault;
pub mod finding;
pub mod flight;
pub mod frame;
pub mod gpio;
pub mod guest;
pub mod histogram;
pub mod import;
pub mod load;
pub mod machine;
pub mod nanos;
pub mod options;
pub mod outlier;
pub mod plan;
pub mod respond;
pub mod run;
pub mod samples;
pub mod sanitize;
pub mod self_interference;
pub mod shell;
pub mod snapshot;
mod spin;
pub mod statements;
pub mod statistics;
pub mod target;
pub mod telemetry;
pub mod template;
mod text_enum;
pub mod trace;
pub mod tune;
pub mod units;
pub mod verdict;

pub use cpu::CpuSet;
pub use histogram::{Bin, BinLayout, Histogram, ThreadBins};
pub use nanos::Nanos;
pub use plan::Plan;
pub use run::Run;
pub use snapshot::Snapshot;
pub use target::Target;

/// Version of this program; a build for a first run ends in `+first`.
pub const VERSION: &str = match option_env!("LATLAB_VERSION") {
    Some(version) => version,
    None => env!("CARGO_PKG_VERSION"),
};
