//! The font of the pictures, and how wide a text is in it.

use crate::subset::Font;
use std::sync::OnceLock;

/// The name by which a picture asks for the font that it carries.
pub const FAMILY: &str = "DejaVu Sans Condensed";

/// Room for a character that the font does not have, in parts of the size.
const UNKNOWN: f64 = 0.6;

/// How heavy type is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// That of most text.
    Regular,
    /// That of titles.
    Bold,
}

impl Weight {
    /// Both.
    pub const ALL: [Weight; 2] = [Weight::Regular, Weight::Bold];

    /// The font as a TrueType file.
    pub fn file(self) -> &'static [u8] {
        match self {
            Weight::Regular => include_bytes!(concat!(env!("OUT_DIR"), "/regular.ttf")),
            Weight::Bold => include_bytes!(concat!(env!("OUT_DIR"), "/bold.ttf")),
        }
    }

    /// The font, parsed once.
    pub(crate) fn font(self) -> Option<&'static Font<'static>> {
        static FONTS: [OnceLock<Option<Font>>; 2] = [const { OnceLock::new() }; 2];
        FONTS[self as usize].get_or_init(|| Font::parse(self.file())).as_ref()
    }
}

/// How wide a line of text is at this size, to the pixel in the PNG and wherever the picture
/// carries its font, and about so with the reader's own.
pub fn text_width(text: &str, size: f64, weight: Weight) -> f64 {
    let font = weight.font();
    let advance = |c| font.and_then(|font| font.advance(c)).unwrap_or(UNKNOWN);
    text.chars().map(advance).sum::<f64>() * size
}
