//! Runs of two sides against each other: in sentences, as a table, as Markdown, as JUnit XML.

mod changes;
mod junit;
mod sentences;
mod text;

pub use changes::plan_changes;
pub use junit::junit;
pub use text::{markdown, show};
