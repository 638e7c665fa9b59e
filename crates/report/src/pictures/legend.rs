//! The legend of a chart, in as many columns as its width allows.

use crate::pictures::picture::MARGIN;
use crate::pictures::svg::{Anchor, INK, Pen, TEXT_SIZE, lines, n, text};
use maud::{Markup, html};

/// Height of a line of text.
const ENTRY: f64 = 20.0;
const LINE: f64 = 16.0;
/// Room for the sample.
const SWATCH: f64 = 42.0;

pub struct Entry {
    swatch: Swatch,
    words: String,
}

enum Swatch {
    Line(Pen),
    /// A line with a marker.
    Marked(Pen),
    /// An area with this style.
    Area(String),
    Nothing,
}

impl Entry {
    pub fn line(pen: Pen, words: String) -> Entry {
        Entry { swatch: Swatch::Line(pen), words }
    }

    pub fn area(style: String, words: String) -> Entry {
        Entry { swatch: Swatch::Area(style), words }
    }

    /// An entry without a sample.
    pub fn note(words: String) -> Entry {
        Entry { swatch: Swatch::Nothing, words }
    }

    /// Adds the marker of the line.
    pub fn with_mark(self) -> Entry {
        match self.swatch {
            Swatch::Line(pen) => Entry { swatch: Swatch::Marked(pen), ..self },
            _ => self,
        }
    }
}

pub struct Legend {
    /// Each entry with its lines of text and its position.
    placed: Vec<(Swatch, Vec<String>, f64, f64)>,
    height: f64,
}

impl Legend {
    /// Entries fill the columns top-down, so that the first ones are at the upper left.
    pub fn new(entries: Vec<Entry>, width: f64) -> Legend {
        let longest = entries.iter().map(|entry| entry.words.chars().count()).max();
        // Room for the longest entry, estimated without the font.
        let column = longest.unwrap_or(0) as f64 * TEXT_SIZE * 0.56 + SWATCH + 20.0;
        let columns = ((width - 2.0 * MARGIN) / column).max(1.0) as usize;
        let rows = entries.len().div_ceil(columns).max(1);
        let room = if columns > 1 { f64::INFINITY } else { width - 2.0 * MARGIN - SWATCH };
        let mut legend = Legend { placed: Vec::new(), height: 0.0 };
        let mut y = 0.0;
        for (index, Entry { swatch, words }) in entries.into_iter().enumerate() {
            y = if index % rows == 0 { 0.0 } else { y };
            let words = lines(&words, room, TEXT_SIZE);
            let height = ENTRY + LINE * words.len().saturating_sub(1) as f64;
            legend.placed.push((swatch, words, MARGIN + (index / rows) as f64 * column, y));
            y += height;
            legend.height = legend.height.max(y);
        }
        legend
    }

    pub fn height(&self) -> f64 {
        self.height
    }

    pub fn render(&self, top: f64) -> Markup {
        html! {
            @for (swatch, words, x, y) in &self.placed {
                (swatch.render(*x, top + y))
                @for (index, words) in words.iter().enumerate() {
                    @let y = top + y + 4.5 + index as f64 * LINE;
                    (text(x + SWATCH, y, Anchor::Start, TEXT_SIZE, INK, words))
                }
            }
        }
    }
}

impl Swatch {
    fn render(&self, x: f64, y: f64) -> Markup {
        let line = format!("M{} {}h34", n(x), n(y));
        html! {
            @match self {
                Swatch::Line(pen) => path d=(line) style=(pen.style()) {},
                Swatch::Marked(pen) => {
                    path d=(line) style=(pen.style()) {}
                    (pen.mark(x + 17.0, y))
                }
                Swatch::Nothing => {}
                Swatch::Area(style) => {
                    rect x=(n(x)) y=(n(y - 6.0)) width="34" height="12" style=(style) {}
                }
            }
        }
    }
}
