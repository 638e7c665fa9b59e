//! A stretch of a run: how a user names it, and what its samples come to.

mod spec;
mod tally;

pub use spec::{ParseWindowError, RunTimes, WindowError, WindowSpec};
pub use tally::Tally;
