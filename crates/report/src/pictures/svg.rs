//! Helpers for all charts: colours, line patterns, markers, numbers and lines of text.

use crate::png::Weight;
use crate::units::with_fixed_spaces;
use maud::{Markup, html};

/// The reader's system sans-serif font.
pub const FONT: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";
/// Font size of a title.
pub const TITLE_SIZE: f64 = 16.0;
/// Font size of all other text.
pub const TEXT_SIZE: f64 = 13.0;
/// Colour of text and axes; the page sets the variable, a standalone picture uses the default.
pub const INK: &str = "var(--ll-ink,#1b1f24)";
/// Colour of less important text.
pub const MUTED: &str = "var(--ll-muted,#57606a)";
pub const GRID: &str = "var(--ll-grid,#dfe3e8)";
/// Background colour.
pub const PAPER: &str = "var(--ll-paper,#ffffff)";

/// Colours that people with any colour vision can tell apart, dark enough for white paper.
const SERIES: [&str; 6] = [
    "var(--ll-1,#0062a3)",
    "var(--ll-2,#c84e00)",
    "var(--ll-3,#00795a)",
    "var(--ll-4,#a8437f)",
    "var(--ll-5,#1b1f24)",
    "var(--ll-6,#8a6a00)",
];
/// Line patterns, so that a print without colour distinguishes the lines too.
const DASHES: [&str; 4] = ["none", "6 2", "2 1.5", "9 2 2 2"];

/// Distance between the strokes of a hatched area.
const HATCH: f64 = 9.0;

pub fn hatch_style() -> String {
    format!("fill:{MUTED};fill-opacity:.1;stroke:{MUTED};stroke-dasharray:2 2")
}

/// An area hatched from corner to corner: latencies lie in it at unknown positions.
pub fn hatched((left, top): (f64, f64), (right, bottom): (f64, f64), count: u64) -> Markup {
    let (width, height) = ((right - left).max(2.0), bottom - top);
    let mut strokes = String::new();
    let mut offset = HATCH - height;
    while offset < width {
        let begin = (left + offset.max(0.0), bottom + offset.min(0.0));
        let end = (offset + height).min(width);
        let end = (left + end, bottom - (end - offset));
        strokes += &format!("M{} {}L{} {}", n(begin.0), n(begin.1), n(end.0), n(end.1));
        offset += HATCH;
    }
    html! {
        rect x=(n(left)) y=(n(top)) width=(n(width)) height=(n(height)) style=(hatch_style())
            data-open=(count) {}
        path d=(strokes) style={ "fill:none;stroke:" (MUTED) ";stroke-opacity:.5;stroke-width:1" } {}
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pen {
    pub colour: &'static str,
    pub dash: &'static str,
    pub width: f64,
    mark: usize,
}

impl Pen {
    /// The pen of the line with this number; twelve in a row differ.
    pub fn number(index: usize) -> Pen {
        Pen {
            colour: SERIES[index % SERIES.len()],
            dash: DASHES[index % DASHES.len()],
            width: 1.5,
            mark: index,
        }
    }

    /// The pen of a line for the total.
    pub fn all() -> Pen {
        Pen { colour: INK, dash: "none", width: 1.5, mark: 0 }
    }

    /// The pen of a line in the background.
    pub fn background() -> Pen {
        Pen { colour: MUTED, dash: "none", width: 0.6, mark: 0 }
    }

    /// Removes the pattern, for lines that their colour already distinguishes.
    pub fn solid(self) -> Pen {
        Pen { dash: "none", ..self }
    }

    /// Thin enough for a small chart.
    pub fn thin(self) -> Pen {
        Pen { width: 1.1, ..self }
    }

    pub fn style(&self) -> String {
        format!(
            "fill:none;stroke:{};stroke-width:{};stroke-dasharray:{}",
            self.colour, self.width, self.dash
        )
    }

    /// The marker of this pen at a point.
    pub fn mark(&self, x: f64, y: f64) -> Markup {
        let solid = (self.mark / 4).is_multiple_of(2);
        let fill = if solid { self.colour } else { PAPER };
        let style = format!("fill:{fill};stroke:{};stroke-width:1.3", self.colour);
        let corners: &[(f64, f64)] = match self.mark % 4 {
            0 => return html! { circle cx=(n(x)) cy=(n(y)) r="3.6" style=(style) {} },
            1 => &[(-3.4, -3.4), (3.4, -3.4), (3.4, 3.4), (-3.4, 3.4)],
            2 => &[(0.0, -4.4), (4.2, 3.2), (-4.2, 3.2)],
            _ => &[(0.0, -4.8), (4.8, 0.0), (0.0, 4.8), (-4.8, 0.0)],
        };
        let points: Vec<String> =
            corners.iter().map(|(dx, dy)| format!("{},{}", n(x + dx), n(y + dy))).collect();
        html! { polygon points=(points.join(" ")) style=(style) {} }
    }
}

/// A coordinate with at most two decimals and no trailing zeros.
pub fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" | "" => "0".to_string(),
        text => text.to_string(),
    }
}

/// How a text is aligned to its point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

pub fn text(x: f64, y: f64, anchor: Anchor, size: f64, colour: &str, content: &str) -> Markup {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let style = format!("fill:{colour}");
    html! {
        text x=(n(x)) y=(n(y)) text-anchor=(anchor) font-size=(n(size)) style=(style) {
            (printable(content))
        }
    }
}

/// A line of text that stays readable on top of lines.
pub fn outlined(x: f64, y: f64, anchor: Anchor, size: f64, content: &str) -> Markup {
    let style = format!(
        "stroke:{PAPER};stroke-width:4;stroke-linejoin:round;paint-order:stroke;fill:{INK}"
    );
    html! { g style=(style) { (text(x, y, anchor, size, INK, content)) } }
}

/// The width of a line of text in the font of the pictures.
pub fn text_width(content: &str, size: f64) -> f64 {
    crate::png::text_width(content, size, Weight::Regular)
}

pub fn line(from: (f64, f64), to: (f64, f64), colour: &str, width: f64) -> Markup {
    let style = format!("stroke:{colour};stroke-width:{}", n(width));
    html! { line x1=(n(from.0)) y1=(n(from.1)) x2=(n(to.0)) y2=(n(to.1)) style=(style) {} }
}

/// Wraps text to a width; a single word that is wider is cut.
pub fn lines(content: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in with_fixed_spaces(content).split(' ').filter(|word| !word.is_empty()) {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|line| text_width(line, size) <= width) {
            Some(longer) => *lines.last_mut().expect("a line that was made longer") = longer,
            None => lines.push(cut(word, width, size)),
        }
    }
    lines
}

/// As much of a word as fits.
fn cut(word: &str, width: f64, size: f64) -> String {
    let mut room = width;
    let fits = |c: &char| {
        room -= text_width(c.encode_utf8(&mut [0; 4]), size);
        room >= 0.0
    };
    word.chars().take_while(fits).collect()
}

/// Removes the control characters that XML forbids; a hostname may contain some.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
