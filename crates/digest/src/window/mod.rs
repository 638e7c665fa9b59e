//! A window of a run: how a user specifies it, and its figures from samples.

mod builder;
mod counts;
mod csv;
mod result;
mod spec;

pub use builder::{SampleBlock, WindowBuilder};
pub use csv::CSV_HEAD;
pub use result::{LargeLatency, Window, WindowThread};
pub use spec::{ParseWindowError, WindowError, WindowSpec};
