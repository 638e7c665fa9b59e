//! The font of the charts, standalone pictures, and PNG.

mod draw;
mod font;
mod render;
mod standalone;
mod style;
#[cfg(test)]
mod tests;
mod type_setting;

pub use font::{Weight, text_width};
pub use render::{PngError, png};
pub use standalone::{font_faces, standalone};
