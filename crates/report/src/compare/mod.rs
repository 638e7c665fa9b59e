//! Runs of two sides against each other: in sentences, as a table, as Markdown, as JUnit XML, as a page.

mod changes;
mod junit;
mod machines;
mod page;
mod sentences;
mod sides;
mod text;

pub use changes::plan_changes;
pub use junit::junit;
pub use page::page;
pub(crate) use sentences::probability;
pub use sentences::{headline, scenario};
pub use text::{markdown, show};
