//! Text for the terminal, and the same as Markdown.

pub mod blocks;
pub mod markdown;
pub mod style;
pub mod summary;
pub mod table;
pub mod text;
pub mod window;
