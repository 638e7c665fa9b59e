//! The arithmetic of a run: frames of a stream in, the document of the run and its rows out.
//!
//! Nothing here reads a clock or a file: the id and the start time are parameters. So a run can be
//! made from a journal, from a stream in progress, or in a test.

mod arrivals;
mod attach;
mod bins;
mod breakdown;
mod builder;
mod chains;
mod clocks;
pub mod conditions;
mod edges;
mod explanation;
mod findings;
pub mod load;
mod outliers;
mod remedies;
mod rows;
mod self_interference;
mod slices;
mod statistics;
mod stream_end;
mod summary;
mod telemetry;
#[doc(hidden)]
pub mod testing;
mod thread;
mod trace;
mod wall;
pub mod window;

pub use builder::{RunBuilder, RunDigest, StreamError, StreamRow};
pub use explanation::explain_spikes;
pub use outliers::OutlierDigest;
pub use remedies::with_remedies;
pub use rows::{
    BinRow, BreakdownRow, CycleRow, IntervalRow, PageRow, SampleRow, SpikeRow, TraceRow,
    coarse_edges,
};
pub use statistics::StatisticsDigest;
pub use stream_end::StreamEnd;
pub use telemetry::TelemetryRow;
pub use wall::WallClock;
