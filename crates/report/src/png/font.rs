//! The font of the charts, and the width of text in it. `scripts/font.sh` made the subsets in
//! `fonts/` from DejaVu Sans Condensed.

use flate2::read::ZlibDecoder;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider, charmap::Charmap};
use std::io::Read;
use std::sync::OnceLock;

/// The family name of the embedded font.
pub const FAMILY: &str = "DejaVu Sans Condensed";

/// Width of a character that is not in the font, relative to the font size.
const UNKNOWN: f64 = 0.6;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    Regular,
    Bold,
}

impl Weight {
    pub const ALL: [Weight; 2] = [Weight::Regular, Weight::Bold];

    /// The font as a TrueType file, decompressed once.
    pub fn truetype(self) -> &'static [u8] {
        static FONTS: [OnceLock<Vec<u8>>; 2] = [const { OnceLock::new() }; 2];
        FONTS[self as usize].get_or_init(|| {
            let packed: &[u8] = match self {
                Weight::Regular => include_bytes!(concat!(env!("OUT_DIR"), "/regular.ttf")),
                Weight::Bold => include_bytes!(concat!(env!("OUT_DIR"), "/bold.ttf")),
            };
            let mut font = Vec::new();
            ZlibDecoder::new(packed).read_to_end(&mut font).expect("build.rs packed a font");
            font
        })
    }

    /// The smallest WOFF2 file with all of these characters that the font has.
    pub(crate) fn woff2(self, mut characters: impl Iterator<Item = char>) -> &'static [u8] {
        let common = characters.all(is_common);
        match (self, common) {
            (Weight::Regular, true) => include_bytes!("../../fonts/regular-common.woff2"),
            (Weight::Regular, false) => include_bytes!("../../fonts/regular.woff2"),
            (Weight::Bold, true) => include_bytes!("../../fonts/bold-common.woff2"),
            (Weight::Bold, false) => include_bytes!("../../fonts/bold.woff2"),
        }
    }

    /// The font metrics, parsed once.
    fn metrics(self) -> Option<&'static Metrics> {
        static FONTS: [OnceLock<Option<Metrics>>; 2] = [const { OnceLock::new() }; 2];
        FONTS[self as usize].get_or_init(|| Metrics::parse(self.truetype())).as_ref()
    }
}

/// Whether the subsets of common characters from `scripts/font.sh` contain a character.
fn is_common(c: char) -> bool {
    c.is_control()
        || matches!(c, ' '..='~' | '\u{a0}'..='\u{ff}' | '\u{2010}'..='\u{2026}'
            | '\u{2030}'..='\u{2033}' | '\u{2070}'..='\u{208e}' | '\u{2190}'..='\u{2193}'
            | '\u{2212}' | '\u{2248}' | '\u{2260}'..='\u{2265}' | '▲' | '▼' | '●' | '\u{fffd}')
}

struct Metrics {
    charmap: Charmap<'static>,
    glyphs: GlyphMetrics<'static>,
}

impl Metrics {
    fn parse(file: &'static [u8]) -> Option<Metrics> {
        let font = FontRef::new(file).ok()?;
        let glyphs = font.glyph_metrics(Size::new(1.0), LocationRef::default());
        Some(Metrics { charmap: font.charmap(), glyphs })
    }

    /// Width of a character relative to the font size.
    fn advance(&self, character: char) -> Option<f64> {
        self.glyphs.advance_width(self.charmap.map(character)?).map(f64::from)
    }
}

/// Width of a character relative to the font size.
pub(crate) fn advance(character: char, weight: Weight) -> f64 {
    let known = weight.metrics().and_then(|metrics| metrics.advance(character));
    known.unwrap_or(UNKNOWN)
}

/// Width of a line of text at this font size. Exact in the PNG and wherever the picture embeds its
/// font, approximate with the reader's own font.
pub fn text_width(text: &str, size: f64, weight: Weight) -> f64 {
    text.chars().map(|character| advance(character, weight)).sum::<f64>() * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_files_have_every_common_character() {
        let listed = include_str!("../../../../scripts/font.sh");
        let common = listed.lines().find_map(|line| line.strip_prefix("common=")).unwrap();
        let hex = |text: &str| u32::from_str_radix(text.trim_start_matches("U+"), 16).unwrap();
        let ranges: Vec<(u32, u32)> = common
            .split(',')
            .map(|range| range.split_once('-').unwrap_or((range, range)))
            .map(|(first, last)| (hex(first), hex(last)))
            .collect();
        for c in (' '..'\u{ffff}').filter(|c| !c.is_control()) {
            let cut = ranges.iter().any(|(first, last)| (*first..=*last).contains(&u32::from(c)));
            assert_eq!(is_common(c), cut, "{:x}", u32::from(c));
        }
        assert_eq!(Weight::Bold.woff2("a\u{416}".chars()).len(), 25_148);
        assert!(Weight::Bold.woff2("10⁻⁴ ≥ µs →\n".chars()).len() < 12_000);
    }
}
