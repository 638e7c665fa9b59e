//! The legend of a picture, in as many columns as its width allows.

use crate::svg::{Anchor, INK, Pen, TEXT_SIZE, n, text};
use maud::{Markup, html};

const LINE: f64 = 20.0;
const LEFT: f64 = 12.0;

/// One line of a legend.
pub struct Entry {
    pub pen: Pen,
    pub words: String,
    /// Whether the pen's mark is in the picture too.
    pub marked: bool,
}

/// The entries and where they stand.
pub struct Legend {
    entries: Vec<Entry>,
    rows: usize,
    column_width: f64,
}

impl Legend {
    pub fn new(entries: Vec<Entry>, width: f64) -> Legend {
        let longest = entries.iter().map(|entry| entry.words.chars().count()).max();
        // Room for the longest entry, as far as that can be told without the font.
        let column_width = longest.unwrap_or(0) as f64 * TEXT_SIZE * 0.56 + 62.0;
        let columns = ((width - 2.0 * LEFT) / column_width).max(1.0) as usize;
        Legend { rows: entries.len().div_ceil(columns), entries, column_width }
    }

    pub fn height(&self) -> f64 {
        self.rows as f64 * LINE
    }

    /// Entries go down the columns, so that the first ones are at the upper left.
    pub fn render(&self, top: f64) -> Markup {
        html! {
            @for (index, entry) in self.entries.iter().enumerate() {
                (entry.render(
                    LEFT + (index / self.rows) as f64 * self.column_width,
                    top + (index % self.rows) as f64 * LINE,
                ))
            }
        }
    }
}

impl Entry {
    fn render(&self, x: f64, y: f64) -> Markup {
        let swatch = format!("M{} {}h34", n(x), n(y));
        html! {
            path d=(swatch) style=(self.pen.style()) {}
            @if self.marked { (self.pen.mark(x + 17.0, y)) }
            (text(x + 42.0, y + 4.5, Anchor::Start, TEXT_SIZE, INK, &self.words))
        }
    }
}
