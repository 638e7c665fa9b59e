//! A picture in pixels.

use crate::font::{FAMILY, Weight};
use crate::standalone::plain_colours;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// The longest side of a PNG; more no viewer shows.
const LONGEST: f32 = 16_384.0;
/// Pixels at most, so that a picture takes a quarter of a gigabyte at most while it is made.
const MOST_PIXELS: f32 = 64e6;

/// Why there is no PNG.
#[derive(thiserror::Error, Clone, PartialEq, Debug)]
pub enum PngError {
    /// What was given is no picture.
    #[error("cannot read the SVG: {0}")]
    Svg(String),
    /// More pixels than anybody can look at.
    #[error(
        "{width:.0} x {height:.0} pixels are too large for a PNG (at most 16384 per side and 64 \
         million in total): use a smaller scale, or SVG"
    )]
    TooLarge {
        /// Pixels across.
        width: f32,
        /// Pixels in height.
        height: f32,
    },
    /// A scale that is none.
    #[error("cannot scale a picture by {0}")]
    Scale(f32),
    /// What was drawn could not be packed.
    #[error("cannot create the PNG: {0}")]
    Encoding(String),
}

/// The picture as a PNG with so many pixels for each of its own; the same bytes each time.
///
/// Text is set in the font that the program carries, and nothing else of the machine is looked
/// at; what has no colour becomes white.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let tree = tree(svg)?;
    let mut pixels = paper(tree.size().width(), tree.size().height(), scale)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

fn tree(svg: &str) -> Result<Tree, PngError> {
    let mut options = Options { font_family: FAMILY.to_string(), ..Options::default() };
    // A picture is one file: what it names beside itself is not read.
    options.image_href_resolver.resolve_string = Box::new(|_, _| None);
    let fonts = options.fontdb_mut();
    Weight::ALL.into_iter().for_each(|weight| fonts.load_font_data(weight.truetype().to_vec()));
    fonts.set_sans_serif_family(FAMILY);
    Tree::from_str(&plain_colours(svg), &options).map_err(|error| {
        let text = error.to_string().replace(|c: char| c.is_control(), " ");
        PngError::Svg(text)
    })
}

fn paper(width: f32, height: f32, scale: f32) -> Result<Pixmap, PngError> {
    if !(scale.is_finite() && scale > 0.0) {
        return Err(PngError::Scale(scale));
    }
    let (width, height) = ((width * scale).ceil().max(1.0), (height * scale).ceil().max(1.0));
    let too_large = PngError::TooLarge { width, height };
    if width.max(height) > LONGEST || width * height > MOST_PIXELS {
        return Err(too_large);
    }
    let mut pixels = Pixmap::new(width as u32, height as u32).ok_or(too_large)?;
    pixels.fill(Color::WHITE);
    Ok(pixels)
}
