//! Pure: a run to SVG, HTML page and terminal tables.
//!
//! Nothing here reads a clock or a file, so the same run always gives the same bytes.

#![forbid(unsafe_code)]

mod axis;
mod bars;
mod bins;
mod blocks;
pub mod campaign;
mod ccdf;
mod cdf;
mod changed;
pub mod command;
mod comparison;
mod conditions;
mod cpus;
pub mod doctor;
mod escaped;
mod figures;
mod frame;
mod heights;
pub mod latency;
mod legend;
mod legs;
mod load;
mod markdown;
mod noise;
mod options;
pub mod page;
pub mod pairs;
mod panel;
pub mod phase;
mod picture;
mod place;
pub mod plot;
mod prose;
pub mod respond;
mod runs;
mod said;
mod sentence;
mod series;
mod shares;
mod style;
mod svg;
mod table;
mod tail;
pub mod terms;
pub mod text;
mod tick;
pub mod time;
pub mod units;
mod window;

pub use axis::{Axis, Spacing};
pub use blocks::{Glyphs, histogram};
pub use command::command;
pub use comparison::comparison;
pub use doctor::{Detail, Subject, catalogue, examination};
pub use latency::latency_picture;
pub use latlab_png::{PngError, alone, png};
pub use load::{LoadEntry, load_entry};
pub use markdown::{markdown, markdown_list};
pub use options::Options;
pub use page::{LIVE_SCRIPT, LIVE_STYLE, PageRun, is_interactive, page};
pub use plot::{Kind, plot};
pub use runs::Measured;
pub use style::Style;
pub use text::{ListEntry, list, show};
pub use window::window;
