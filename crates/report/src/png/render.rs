//! Renders a picture to pixels.

use super::draw::{Painter, number};
use super::standalone::plain_colours;
use super::style::SvgStyle;
use roxmltree::Document;
use tiny_skia::{Color, Pixmap, Transform};

const NAMESPACE: &str = "http://www.w3.org/2000/svg";
/// The longest side of a PNG; viewers fail on more.
const LONGEST: f32 = 16_384.0;
/// Pixel limit, which bounds the memory to a quarter of a gigabyte.
const MOST_PIXELS: f32 = 64e6;

/// Why there is no PNG.
#[derive(thiserror::Error, Clone, PartialEq, Debug)]
pub enum PngError {
    /// The input is not a picture.
    #[error("cannot read the SVG: {0}")]
    Svg(String),
    /// The picture would have too many pixels.
    #[error(
        "{width:.0} x {height:.0} pixels are too large for a PNG (at most 16384 per side and 64 \
         million in total): use a smaller scale, or SVG"
    )]
    TooLarge { width: f32, height: f32 },
    /// The scale is not a positive number.
    #[error("cannot scale a picture by {0}")]
    Scale(f32),
    /// The PNG could not be encoded.
    #[error("cannot create the PNG: {0}")]
    Encoding(String),
}

impl PngError {
    /// An invalid SVG, described on one line.
    pub(crate) fn svg(text: impl ToString) -> PngError {
        PngError::Svg(text.to_string().replace(|c: char| c.is_control(), " "))
    }
}

/// Renders the picture as a PNG with `scale` pixels for each of its units; the output is
/// reproducible. Only elements that latlab's charts use are supported; any other is an error, so
/// that nothing is silently left out. Text uses the embedded font, and nothing else is read from
/// the machine. The background is white.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let svg = plain_colours(svg);
    let document = Document::parse(&svg).map_err(PngError::svg)?;
    let root = document.root_element();
    let (width, height) = (number(root, "width")?, number(root, "height")?);
    if !root.has_tag_name((NAMESPACE, "svg")) || width <= 0.0 || height <= 0.0 {
        return Err(PngError::svg("expected an <svg> with a width and a height"));
    }
    let mut pixels = paper(width, height, scale)?;
    let style = SvgStyle::default().of_element(root)?;
    let transform = Transform::from_scale(scale, scale);
    Painter::new(&document, (width, height)).paint_children(
        root,
        &style,
        transform,
        &mut pixels,
    )?;
    pixels.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
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
