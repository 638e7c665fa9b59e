//! What a run says in the terminal, and the same as Markdown.

pub mod blocks;
pub mod list;
pub mod show;
pub mod summary;
pub mod window;
