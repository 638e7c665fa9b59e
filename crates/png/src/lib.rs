//! Pure: the font of the pictures, pictures that stand alone, and PNG.
//!
//! Nothing here reads a clock or a file: the same picture gives the same bytes.

#![forbid(unsafe_code)]

mod draw;
mod font;
mod render;
mod standalone;
mod style;
mod type_setting;

pub use font::{FAMILY, Weight, text_width};
pub use render::{PngError, png};
pub use standalone::{font_faces, standalone};
