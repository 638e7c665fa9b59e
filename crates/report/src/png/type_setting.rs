//! A line of text as a path.

use super::font::{Weight, advance};
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use tiny_skia::{Path, PathBuilder};

/// The outlines of the characters, starting at this point.
pub fn outline(text: &str, x: f32, y: f32, size: f32, weight: Weight) -> Option<Path> {
    let font = FontRef::new(weight.truetype()).ok()?;
    let (charmap, glyphs) = (font.charmap(), font.outline_glyphs());
    let mut pen = Pen { path: PathBuilder::new(), x, y };
    for character in text.chars() {
        // Characters missing from the font are drawn as a box.
        let glyph = glyphs.get(charmap.map(character).unwrap_or(GlyphId::NOTDEF));
        let settings = || DrawSettings::unhinted(Size::new(size), LocationRef::default());
        if let Some(glyph) = glyph {
            glyph.draw(settings(), &mut pen).ok()?;
        }
        pen.x += (advance(character, weight) * f64::from(size)) as f32;
    }
    pen.path.finish()
}

/// Draws glyphs. Their y axis points up, that of the picture down.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
}

impl OutlinePen for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.x + x, self.y - y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.x + x, self.y - y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.quad_to(self.x + cx, self.y - cy, self.x + x, self.y - y);
    }

    fn curve_to(&mut self, cx0: f32, cy0: f32, cx1: f32, cy1: f32, x: f32, y: f32) {
        let (left, base) = (self.x, self.y);
        self.path.cubic_to(left + cx0, base - cy0, left + cx1, base - cy1, left + x, base - y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
