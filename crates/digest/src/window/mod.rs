//! A window of a run: how a user names it, and what its samples come to.

mod builder;
mod counts;
mod csv;
mod spec;

pub use builder::{SampleBlock, WindowBuilder};
pub use csv::CSV_HEAD;
pub use spec::{ParseWindowError, WindowError, WindowSpec};
