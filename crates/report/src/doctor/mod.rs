//! The doctor's findings, for the terminal and the page.

mod comparison;
mod examination;
pub(crate) mod summary;

pub use comparison::comparison;
pub use examination::{Detail, Subject, catalogue, examination};
pub(crate) use examination::{block, file, headline, names};
