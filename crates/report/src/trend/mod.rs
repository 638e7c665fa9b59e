//! A series of builds: as sentences, table, Markdown, tests and page.

mod page;
mod sections;
mod sentences;
mod test_suite;
mod text;

pub use page::page;
pub(crate) use sentences::change;
pub use test_suite::test_suite;
pub use text::{markdown, show};
