//! Pure: the font of the pictures, pictures that stand alone, and PNG.
//!
//! Nothing here reads a clock or a file: the same picture gives the same bytes.

#![forbid(unsafe_code)]

mod alone;
mod font;
mod render;

pub use alone::{alone, font_faces};
pub use font::{FAMILY, Weight, text_width};
pub use render::{PngError, png};
