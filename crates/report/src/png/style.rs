//! How an element is painted: inherited and own properties.

use super::draw::{numbers, parse};
use super::font::Weight;
use super::render::PngError;
use roxmltree::Node;
use tiny_skia::{Color, LineCap, LineJoin, StrokeDash};

/// Attributes that are not style: those of shapes, read when drawing, and those for other readers.
const PLAIN: [&str; 21] = [
    "cx",
    "cy",
    "d",
    "font-family",
    "height",
    "id",
    "patternUnits",
    "points",
    "r",
    "role",
    "style",
    "transform",
    "version",
    "viewBox",
    "width",
    "x",
    "x1",
    "x2",
    "y",
    "y1",
    "y2",
];
/// Prefixes of further such attributes.
const DATA: &str = "data-";
const ARIA: &str = "aria-";

#[derive(Clone, Debug)]
pub enum Fill {
    None,
    Colour(Color),
    /// The id of a pattern.
    Pattern(String),
}

/// How a text is aligned to its point.
#[derive(Clone, Copy, Debug)]
pub enum TextAnchor {
    Start,
    Middle,
    End,
}

/// The SVG style properties that the charts use.
#[derive(Clone, Debug)]
pub struct SvgStyle {
    pub fill: Fill,
    pub fill_opacity: f32,
    pub stroke: Option<Color>,
    pub stroke_opacity: f32,
    pub stroke_width: f32,
    pub dash: Option<StrokeDash>,
    pub cap: LineCap,
    pub join: LineJoin,
    /// Whether the stroke is painted below the fill.
    pub stroke_first: bool,
    /// Whether edges are antialiased.
    pub is_smooth: bool,
    /// The product over the element and its ancestors.
    pub opacity: f32,
    pub weight: Weight,
    pub font_size: f32,
    pub anchor: TextAnchor,
}

impl Default for SvgStyle {
    fn default() -> SvgStyle {
        SvgStyle {
            fill: Fill::Colour(Color::BLACK),
            fill_opacity: 1.0,
            stroke: None,
            stroke_opacity: 1.0,
            stroke_width: 1.0,
            dash: None,
            cap: LineCap::Butt,
            join: LineJoin::Miter,
            stroke_first: false,
            is_smooth: true,
            opacity: 1.0,
            weight: Weight::Regular,
            font_size: 12.0,
            anchor: TextAnchor::Start,
        }
    }
}

impl SvgStyle {
    /// The style of a child element.
    pub fn of_element(&self, node: Node) -> Result<SvgStyle, PngError> {
        let mut style = self.clone();
        for attribute in node.attributes() {
            let (name, value) = (attribute.name(), attribute.value());
            let is_plain =
                PLAIN.contains(&name) || name.starts_with(DATA) || name.starts_with(ARIA);
            if !style.set(name, value)? && !is_plain {
                return Err(PngError::svg(format!("unknown attribute {name}={value}")));
            }
        }
        let properties = node.attribute("style").unwrap_or_default().split(';');
        for property in properties.filter(|property| !property.trim().is_empty()) {
            let unknown = || PngError::svg(format!("unknown style {property}"));
            let (name, value) = property.split_once(':').ok_or_else(unknown)?;
            if !style.set(name.trim(), value.trim())? {
                return Err(unknown());
            }
        }
        Ok(style)
    }

    /// Sets a property; returns false if it is not a style property.
    fn set(&mut self, name: &str, value: &str) -> Result<bool, PngError> {
        let unknown = || PngError::svg(format!("unknown {name} {value}"));
        match name {
            "fill" => {
                let pattern = value.strip_prefix("url(#").and_then(|id| id.strip_suffix(')'));
                self.fill = match (pattern, value) {
                    (Some(id), _) => Fill::Pattern(id.to_string()),
                    (_, "none") => Fill::None,
                    _ => Fill::Colour(colour(value)?),
                };
            }
            "stroke" => self.stroke = if value == "none" { None } else { Some(colour(value)?) },
            "fill-opacity" => self.fill_opacity = share(value)?,
            "stroke-opacity" => self.stroke_opacity = share(value)?,
            "opacity" => self.opacity *= share(value)?,
            "stroke-width" => self.stroke_width = parse(value)?,
            "stroke-dasharray" => {
                let lengths = if value == "none" { Vec::new() } else { numbers(value)? };
                self.dash = StrokeDash::new(lengths, 0.0);
            }
            "stroke-linecap" => {
                self.cap = match value {
                    "butt" => LineCap::Butt,
                    "round" => LineCap::Round,
                    "square" => LineCap::Square,
                    _ => return Err(unknown()),
                };
            }
            "stroke-linejoin" => {
                self.join = match value {
                    "miter" => LineJoin::Miter,
                    "round" => LineJoin::Round,
                    "bevel" => LineJoin::Bevel,
                    _ => return Err(unknown()),
                };
            }
            "shape-rendering" => self.is_smooth = value != "crispEdges",
            "paint-order" => self.stroke_first = value.starts_with("stroke"),
            "font-weight" => {
                self.weight = match value {
                    "400" | "normal" => Weight::Regular,
                    "600" | "700" | "bold" => Weight::Bold,
                    _ => return Err(unknown()),
                };
            }
            "font-size" => self.font_size = parse(value)?,
            "text-anchor" => {
                self.anchor = match value {
                    "start" => TextAnchor::Start,
                    "middle" => TextAnchor::Middle,
                    "end" => TextAnchor::End,
                    _ => return Err(unknown()),
                };
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn share(text: &str) -> Result<f32, PngError> {
    Ok(parse(text)?.clamp(0.0, 1.0))
}

/// A colour with three or six hex digits.
fn colour(text: &str) -> Result<Color, PngError> {
    let unknown = || PngError::svg(format!("unknown colour {text}"));
    let digits = text.strip_prefix('#').ok_or_else(unknown)?;
    let digit = |c: char| c.to_digit(16).map(|digit| digit as u8);
    let digits: Vec<u8> = digits.chars().map(digit).collect::<Option<_>>().ok_or_else(unknown)?;
    match digits[..] {
        [r, g, b] => Ok(Color::from_rgba8(r * 17, g * 17, b * 17, 255)),
        [r1, r0, g1, g0, b1, b0] => {
            Ok(Color::from_rgba8(r1 * 16 + r0, g1 * 16 + g0, b1 * 16 + b0, 255))
        }
        _ => Err(unknown()),
    }
}
