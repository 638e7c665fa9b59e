//! Compares two sides of runs: as sentences, table, Markdown, tests and page.

mod changes;
mod groups;
mod machines;
mod page;
mod result;
mod sections;
mod sentences;
mod sides;
mod test_suite;
mod text;

pub use changes::plan_changes;
pub(crate) use groups::judgements;
pub(crate) use page::class;
pub use page::page;
pub use result::ComparedSides;
pub(crate) use sentences::{
    about, factor, incomplete, probability, ratio, scenario_sentence, title, unsupported,
};
pub use sentences::{headline, scenario};
pub(crate) use test_suite::case;
pub use test_suite::test_suite;
pub(crate) use text::colour;
pub use text::{markdown, show};
