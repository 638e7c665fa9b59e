//! A series of builds: in sentences, as a table, as Markdown, as JUnit XML, as a page.

mod junit;
mod page;
mod sentences;
mod text;

pub use junit::junit;
pub use page::page;
pub(crate) use sentences::change;
pub use text::{markdown, show};
