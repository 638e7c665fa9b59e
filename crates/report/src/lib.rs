//! Pure: a run to SVG, HTML page and terminal tables.
//!
//! Nothing here reads a clock or a file, so the same run always gives the same bytes.

#![forbid(unsafe_code)]

mod axis;
mod bins;
mod blocks;
pub mod command;
mod comparison;
mod conditions;
pub mod doctor;
mod figures;
mod frame;
pub mod latency;
mod legend;
mod markdown;
pub mod page;
mod said;
mod sentence;
mod series;
mod style;
mod svg;
mod table;
pub mod text;
pub mod units;
mod window;

pub use blocks::{Glyphs, histogram};
pub use command::command;
pub use comparison::comparison;
pub use doctor::{Detail, Subject, catalogue, examination};
pub use latency::{Axis, Options, latency_picture};
pub use latlab_png::{PngError, alone, png};

pub use markdown::{markdown, markdown_list};
pub use page::page;
pub use style::Style;
pub use text::{ListEntry, list, show, show_with};
pub use window::window;
