//! Paints SVG elements, but only those that latlab's charts use.

use super::render::PngError;
use super::style::{Fill, SvgStyle, TextAnchor};
use super::type_setting::outline;
use roxmltree::{Document, Node};
use tiny_skia::{
    Color, FillRule, FilterQuality, Paint, Path, PathBuilder, Pattern, Pixmap, Rect, Shader,
    SpreadMode, Stroke, Transform,
};

/// The elements of a picture, by name for references such as patterns.
pub struct Painter<'a> {
    document: &'a Document<'a>,
    size: (f32, f32),
    /// Whether it paints a pattern. Patterns must not nest, since one could refer to itself.
    is_tile: bool,
}

impl<'a> Painter<'a> {
    pub fn new(document: &'a Document<'a>, size: (f32, f32)) -> Painter<'a> {
        Painter { document, size, is_tile: false }
    }

    pub fn paint_children(
        &self,
        node: Node,
        style: &SvgStyle,
        transform: Transform,
        pixels: &mut Pixmap,
    ) -> Result<(), PngError> {
        let mut elements = node.children().filter(Node::is_element);
        elements.try_for_each(|element| self.paint(element, style, transform, pixels))
    }

    fn paint(
        &self,
        node: Node,
        outer: &SvgStyle,
        transform: Transform,
        pixels: &mut Pixmap,
    ) -> Result<(), PngError> {
        let style = outer.of_element(node)?;
        let transform = match node.attribute("transform") {
            Some(moved) => transform.pre_concat(transform_of(moved)?),
            None => transform,
        };
        let path = match node.tag_name().name() {
            "title" | "desc" | "defs" | "style" | "pattern" => return Ok(()),
            "g" => return self.paint_children(node, &style, transform, pixels),
            "path" => path_of(node.attribute("d").unwrap_or_default())?,
            "line" => {
                let mut path = PathBuilder::new();
                path.move_to(number(node, "x1")?, number(node, "y1")?);
                path.line_to(number(node, "x2")?, number(node, "y2")?);
                path.finish()
            }
            "rect" => {
                let (x, y) = (number(node, "x")?, number(node, "y")?);
                let width = length(node, "width", self.size.0)?;
                let rect = Rect::from_xywh(x, y, width, length(node, "height", self.size.1)?);
                rect.filter(|rect| rect.width() > 0.0 && rect.height() > 0.0)
                    .map(PathBuilder::from_rect)
            }
            "circle" => PathBuilder::from_circle(
                number(node, "cx")?,
                number(node, "cy")?,
                number(node, "r")?,
            ),
            "polygon" => path_of(&format!("M{}Z", node.attribute("points").unwrap_or_default()))?,
            "text" => {
                let text: String = node.descendants().filter_map(|part| text_of(&part)).collect();
                let words: Vec<&str> = text.split_ascii_whitespace().collect();
                let (words, size) = (words.join(" "), style.font_size);
                let width = super::text_width(&words, size.into(), style.weight) as f32;
                let start = match style.anchor {
                    TextAnchor::Start => 0.0,
                    TextAnchor::Middle => width / 2.0,
                    TextAnchor::End => width,
                };
                outline(&words, number(node, "x")? - start, number(node, "y")?, size, style.weight)
            }
            name => return Err(PngError::svg(format!("unknown element <{name}>"))),
        };
        match path {
            Some(path) => self.paint_path(&path, &style, transform, pixels),
            None => Ok(()),
        }
    }

    fn paint_path(
        &self,
        path: &Path,
        style: &SvgStyle,
        transform: Transform,
        pixels: &mut Pixmap,
    ) -> Result<(), PngError> {
        if style.stroke_first {
            stroke(path, style, transform, pixels);
        }
        let alpha = style.opacity * style.fill_opacity;
        match &style.fill {
            Fill::None => {}
            Fill::Colour(colour) => {
                let shader = colour_shader(*colour, alpha);
                fill(path, shader, style.is_smooth, transform, pixels);
            }
            Fill::Pattern(id) => {
                let (tile, to_tile) = self.tile(id, transform)?;
                let quality = FilterQuality::Bicubic;
                let shader =
                    Pattern::new(tile.as_ref(), SpreadMode::Repeat, quality, alpha, to_tile);
                fill(path, shader, style.is_smooth, transform, pixels);
            }
        }
        if !style.stroke_first {
            stroke(path, style, transform, pixels);
        }
        Ok(())
    }

    /// One tile of a pattern in pixels, and the transform that scales it back to the picture's
    /// units.
    fn tile(&self, id: &str, transform: Transform) -> Result<(Pixmap, Transform), PngError> {
        let missing = || PngError::svg(format!("no pattern {id}"));
        if self.is_tile {
            return Err(PngError::svg(format!("pattern {id} inside a pattern")));
        }
        let mut patterns = self.document.descendants().filter(|node| node.has_tag_name("pattern"));
        let pattern = patterns.find(|node| node.attribute("id") == Some(id)).ok_or_else(missing)?;
        let (width, height) = (number(pattern, "width")?, number(pattern, "height")?);
        let (scale_x, scale_y) = transform.get_scale();
        let (across, down) =
            ((width * scale_x).round().max(1.0), (height * scale_y).round().max(1.0));
        let mut tile = Pixmap::new(across as u32, down as u32).ok_or_else(missing)?;
        let (to_x, to_y) = (across / width, down / height);
        let style = SvgStyle::default().of_element(pattern)?;
        let painter = Painter { is_tile: true, ..*self };
        painter.paint_children(pattern, &style, Transform::from_scale(to_x, to_y), &mut tile)?;
        Ok((tile, Transform::from_scale(1.0 / to_x, 1.0 / to_y)))
    }
}

fn colour_shader(mut colour: Color, alpha: f32) -> Shader<'static> {
    colour.apply_opacity(alpha);
    Shader::SolidColor(colour)
}

fn fill(path: &Path, shader: Shader, anti_alias: bool, transform: Transform, pixels: &mut Pixmap) {
    let paint = Paint { shader, anti_alias, ..Paint::default() };
    pixels.fill_path(path, &paint, FillRule::Winding, transform, None);
}

fn stroke(path: &Path, style: &SvgStyle, transform: Transform, pixels: &mut Pixmap) {
    let Some(colour) = style.stroke.filter(|_| style.stroke_width > 0.0) else { return };
    let shader = colour_shader(colour, style.opacity * style.stroke_opacity);
    let stroke = Stroke {
        width: style.stroke_width,
        line_cap: style.cap,
        line_join: style.join,
        dash: style.dash.clone(),
        ..Stroke::default()
    };
    let paint = Paint { shader, anti_alias: style.is_smooth, ..Paint::default() };
    pixels.stroke_path(path, &paint, &stroke, transform, None);
}

fn text_of<'a>(node: &Node<'a, '_>) -> Option<&'a str> {
    if node.is_text() { node.text() } else { None }
}

/// A numeric attribute; zero if it is missing.
pub fn number(node: Node, name: &str) -> Result<f32, PngError> {
    node.attribute(name).map_or(Ok(0.0), parse)
}

/// A numeric attribute, which may be a percentage of the whole.
fn length(node: Node, name: &str, whole: f32) -> Result<f32, PngError> {
    if node.attribute(name) == Some("100%") { Ok(whole) } else { number(node, name) }
}

pub fn parse(text: &str) -> Result<f32, PngError> {
    let number = text.trim().parse().ok().filter(|number: &f32| number.is_finite());
    number.ok_or_else(|| PngError::svg(format!("expected a number: {text}")))
}

/// Numbers separated by spaces or commas.
pub fn numbers(text: &str) -> Result<Vec<f32>, PngError> {
    let words = text.split([' ', ',', '\n']).filter(|word| !word.is_empty());
    words.map(parse).collect()
}

fn transform_of(text: &str) -> Result<Transform, PngError> {
    let unknown = || PngError::svg(format!("unknown transform {text}"));
    let call = text.trim().strip_suffix(')').and_then(|call| call.split_once('('));
    let (name, arguments) = call.ok_or_else(unknown)?;
    match (name, &numbers(arguments)?[..]) {
        ("translate", &[x, y]) => Ok(Transform::from_translate(x, y)),
        ("rotate", &[angle, x, y]) => Ok(Transform::from_rotate_at(angle, x, y)),
        _ => Err(unknown()),
    }
}

/// A path of straight lines, as the charts write them.
fn path_of(text: &str) -> Result<Option<Path>, PngError> {
    let mut path = PathBuilder::new();
    let (mut x, mut y) = (0.0, 0.0);
    let mut start = (0.0, 0.0);
    let mut rest = text.trim();
    while let Some(command) = rest.chars().next() {
        let unknown = || PngError::svg(format!("unknown path command {command}"));
        let after = &rest[command.len_utf8()..];
        let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(after.len());
        let values = numbers(&after[..end])?;
        rest = &after[end..];
        let size = match command {
            'M' | 'L' => 2,
            'H' | 'V' | 'h' | 'v' => 1,
            'Z' | 'z' if values.is_empty() => {
                path.close();
                (x, y) = start;
                continue;
            }
            _ => return Err(unknown()),
        };
        if values.is_empty() || !values.len().is_multiple_of(size) {
            return Err(unknown());
        }
        for (index, at) in values.chunks_exact(size).enumerate() {
            (x, y) = match command {
                'H' => (at[0], y),
                'h' => (x + at[0], y),
                'V' => (x, at[0]),
                'v' => (x, y + at[0]),
                _ => (at[0], at[1]),
            };
            // Further points of a move command are lines.
            if command == 'M' && index == 0 {
                start = (x, y);
                path.move_to(x, y);
            } else {
                path.line_to(x, y);
            }
        }
    }
    Ok(path.finish())
}
