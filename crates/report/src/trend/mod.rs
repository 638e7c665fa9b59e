//! A series of builds: in sentences, as a table, as Markdown, as tests, as a page.

mod page;
mod sections;
mod sentences;
mod test_suite;
mod text;

pub use page::page;
pub(crate) use sentences::change;
pub use test_suite::test_suite;
pub use text::{markdown, show};
