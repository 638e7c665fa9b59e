//! Reports on a run for the terminal, and as Markdown.

pub mod blocks;
pub mod list;
pub mod show;
pub mod summary;
pub mod window;
