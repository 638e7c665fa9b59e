//! Small helpers of every picture: colours, line patterns, marks, numbers and lines of text.

use crate::png::Weight;
use crate::units::with_fixed_spaces;
use maud::{Markup, html};

/// Sans-serif type of the reader's system.
pub const FONT: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif";
/// Size of a title's type.
pub const TITLE_SIZE: f64 = 16.0;
/// Size of all other type.
pub const TEXT_SIZE: f64 = 13.0;
/// Colour of text and axes; the page sets the variable, a picture alone has the default.
pub const INK: &str = "var(--ll-ink,#1b1f24)";
/// Colour of what is less important.
pub const MUTED: &str = "var(--ll-muted,#57606a)";
/// Colour of grid lines.
pub const GRID: &str = "var(--ll-grid,#dfe3e8)";
/// Colour of what lies behind everything.
pub const PAPER: &str = "var(--ll-paper,#ffffff)";

/// Colours that people with any colour vision tell apart, as dark as white paper needs.
const SERIES: [&str; 6] = [
    "var(--ll-1,#0062a3)",
    "var(--ll-2,#c84e00)",
    "var(--ll-3,#00795a)",
    "var(--ll-4,#a8437f)",
    "var(--ll-5,#1b1f24)",
    "var(--ll-6,#8a6a00)",
];
/// Line patterns, so that a print without colour tells the lines apart too.
const DASHES: [&str; 4] = ["none", "6 2", "2 1.5", "9 2 2 2"];

/// Distance of the strokes of a hatched area.
const HATCH: f64 = 9.0;

/// The style of a hatched area in a legend.
pub fn hatch_style() -> String {
    format!("fill:{MUTED};fill-opacity:.1;stroke:{MUTED};stroke-dasharray:2 2")
}

/// An area with strokes across it, from one corner to another: something lies there, and nobody knows
/// where.
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

/// How one line is drawn.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pen {
    /// Its colour.
    pub colour: &'static str,
    /// Its pattern.
    pub dash: &'static str,
    /// Its width.
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

    /// The pen of a line that stands for everything together.
    pub fn all() -> Pen {
        Pen { colour: INK, dash: "none", width: 1.5, mark: 0 }
    }

    /// The pen of a line that only fills the background.
    pub fn background() -> Pen {
        Pen { colour: MUTED, dash: "none", width: 0.6, mark: 0 }
    }

    /// The same without a pattern, where its colour tells it from all others.
    pub fn solid(self) -> Pen {
        Pen { dash: "none", ..self }
    }

    /// The same as thin as a small picture needs it.
    pub fn thin(self) -> Pen {
        Pen { width: 1.1, ..self }
    }

    /// The style attribute of a line.
    pub fn style(&self) -> String {
        format!(
            "fill:none;stroke:{};stroke-width:{};stroke-dasharray:{}",
            self.colour, self.width, self.dash
        )
    }

    /// The mark that belongs to this pen, at a point.
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

/// A coordinate: two decimals at most, none that are zero.
pub fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text {
        "-0" | "" => "0".to_string(),
        text => text.to_string(),
    }
}

/// Where a text stands to its point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A line of text.
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

/// A straight line.
pub fn line(from: (f64, f64), to: (f64, f64), colour: &str, width: f64) -> Markup {
    let style = format!("stroke:{colour};stroke-width:{}", n(width));
    html! { line x1=(n(from.0)) y1=(n(from.1)) x2=(n(to.0)) y2=(n(to.1)) style=(style) {} }
}

/// Text in lines that fit a width; a word that alone is wider is cut.
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

/// As much of a word as fits a width.
fn cut(word: &str, width: f64, size: f64) -> String {
    let mut room = width;
    let fits = |c: &char| {
        room -= text_width(c.encode_utf8(&mut [0; 4]), size);
        room >= 0.0
    };
    word.chars().take_while(fits).collect()
}

/// Without the control characters that XML forbids, which a host's name may hold.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
