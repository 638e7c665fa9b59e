//! Text for the terminal, and the same as Markdown.

pub mod answer;
pub mod blocks;
pub mod markdown;
pub mod style;
pub mod table;
pub mod text;
pub mod window;
