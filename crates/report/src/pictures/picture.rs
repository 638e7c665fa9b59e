//! A whole picture: its heading, its accessible description, and the SVG element around it.

use crate::pictures::options::Options;
use crate::pictures::svg::{
    Anchor, FONT, INK, MUTED, PAPER, TEXT_SIZE, TITLE_SIZE, lines, n, printable, text,
};
use maud::{Markup, html};

/// How much wider bold type is.
const BOLD: f64 = 1.25;
const TITLE_LINE: f64 = 21.0;
const CONDITIONS_LINE: f64 = 18.0;
/// Left edge of everything but the plot area.
pub const MARGIN: f64 = 12.0;

/// A title and the conditions, wrapped to the width.
pub struct Heading {
    title: Vec<String>,
    conditions: Vec<String>,
    size: f64,
}

impl Heading {
    pub fn new(title: &str, conditions: &[String], width: f64) -> Heading {
        Heading::sized(title, conditions, width, TITLE_SIZE)
    }

    /// The heading of a part of a picture.
    pub fn of_part(title: &str, conditions: &[String], width: f64) -> Heading {
        Heading::sized(title, conditions, width, TEXT_SIZE)
    }

    fn sized(title: &str, conditions: &[String], width: f64, size: f64) -> Heading {
        let room = width - 2.0 * MARGIN;
        Heading {
            title: lines(title, room, size * BOLD),
            conditions: conditions.iter().flat_map(|all| lines(all, room, TEXT_SIZE)).collect(),
            size,
        }
    }

    pub fn height(&self) -> f64 {
        self.title.len() as f64 * TITLE_LINE + self.conditions.len() as f64 * CONDITIONS_LINE + 8.0
    }

    /// Renders the heading with its first line at `top`.
    pub fn render(&self, top: f64) -> Markup {
        let below = top + self.title.len() as f64 * TITLE_LINE;
        html! {
            g font-weight="600" {
                @for (index, words) in self.title.iter().enumerate() {
                    @let y = top + index as f64 * TITLE_LINE;
                    (text(MARGIN, y, Anchor::Start, self.size, INK, words))
                }
            }
            @for (index, words) in self.conditions.iter().enumerate() {
                @let y = below + index as f64 * CONDITIONS_LINE;
                (text(MARGIN, y, Anchor::Start, TEXT_SIZE, MUTED, words))
            }
        }
    }
}

/// Baseline of the first line of a picture.
pub const FIRST_LINE: f64 = 22.0;

/// A whole picture, including its description for screen readers.
pub struct Picture<'a> {
    pub options: &'a Options,
    pub height: f64,
    pub title: String,
    pub description: String,
    /// The number of latencies it shows.
    pub latencies: u64,
}

impl Picture<'_> {
    pub fn render(&self, drawn: Markup) -> String {
        let (width, height) = (n(self.options.drawn_width()), n(self.height));
        let ids = ["title", "desc"].map(|part| format!("{}-{part}", self.options.id));
        let picture = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) }
                width=(width) height=(height) role="img"
                aria-labelledby=(ids.join(" ")) font-family=(FONT)
                data-latencies=(self.latencies)
            {
                title id=(ids[0]) { (printable(&self.title)) }
                desc id=(ids[1]) { (printable(&self.description)) }
                rect width="100%" height="100%" style={ "fill:" (PAPER) } {}
                (drawn)
            }
        };
        picture.into_string()
    }
}
