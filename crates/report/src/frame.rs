//! What stands around the lines of a picture: heading, grid and axes, and where they are.

use crate::axis::{HorizontalAxis, VerticalAxis};
use crate::svg::{Anchor, GRID, INK, MUTED, TEXT_SIZE, TITLE_SIZE, line, lines, n, text};
use maud::{Markup, html};

/// How much wider bold type is.
const BOLD: f64 = 1.25;
const TITLE_LINE: f64 = 21.0;
const CONDITIONS_LINE: f64 = 18.0;
/// Room beside the axis for what lies outside of it.
pub const STRIP: f64 = 34.0;

/// The plotted area in its picture.
pub struct Frame {
    pub width: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// Left end of the axes: that of the plotted area, or of the strip beside it.
    axis_left: f64,
    pub axis: HorizontalAxis,
    densities: VerticalAxis,
    title: Vec<String>,
    conditions: Vec<String>,
}

/// What a frame has to hold.
pub struct Contents<'a> {
    pub axis: HorizontalAxis,
    pub densities: VerticalAxis,
    pub title: &'a str,
    pub conditions: &'a str,
    /// Whether something lies below the axis, which needs a strip.
    pub below: bool,
    /// Whether something lies beyond the axis.
    pub beyond: bool,
}

impl Frame {
    /// The area below a heading of as many lines as its words need.
    pub fn new(width: f64, plot_height: f64, contents: Contents) -> Frame {
        let title = lines(contents.title, width - 24.0, TITLE_SIZE * BOLD);
        let conditions = lines(contents.conditions, width - 24.0, TEXT_SIZE);
        let heading = title.len() as f64 * TITLE_LINE + conditions.len() as f64 * CONDITIONS_LINE;
        let top = 22.0 + heading + 8.0;
        let axis_left = 78.0;
        Frame {
            width,
            left: axis_left + if contents.below { STRIP } else { 0.0 },
            right: width - 34.0 - if contents.beyond { STRIP } else { 0.0 },
            top,
            bottom: top + plot_height,
            axis_left,
            axis: contents.axis,
            densities: contents.densities,
            title,
            conditions,
        }
    }

    /// Where a legend begins.
    pub fn legend_top(&self) -> f64 {
        self.bottom + 66.0
    }

    pub fn middle(&self) -> (f64, f64) {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    /// Where a latency lies across.
    pub fn x(&self, latency: f64) -> f64 {
        self.left + self.axis.place(latency) * (self.right - self.left)
    }

    /// Where a density lies in height.
    pub fn y(&self, density: f64) -> f64 {
        self.bottom - self.densities.place(density) * (self.bottom - self.top)
    }

    /// The grid with the numbers of both axes.
    pub fn grid(&self) -> Markup {
        html! {
            @for (density, words) in self.densities.ticks() {
                (line((self.left, self.y(density)), (self.right, self.y(density)), GRID, 1.0))
                (text(self.axis_left - 8.0, self.y(density) + 4.5, Anchor::End, TEXT_SIZE, INK, &words))
            }
            @for (at, words) in self.axis.ticks(self.right - self.left) {
                (line((self.x(at), self.top), (self.x(at), self.bottom), GRID, 1.0))
                (line((self.x(at), self.bottom), (self.x(at), self.bottom + 5.0), INK, 1.0))
                (text(self.x(at), self.bottom + 20.0, Anchor::Middle, TEXT_SIZE, INK, &words))
            }
        }
    }

    /// The axes with their titles.
    pub fn axes(&self, density_title: &str) -> Markup {
        let (left, bottom) = (self.axis_left, self.bottom);
        let (middle, high) = self.middle();
        let turn = format!("rotate(-90 16 {})", n(high));
        html! {
            (line((left, self.top), (left, bottom), INK, 1.2))
            (line((left, bottom), (self.right, bottom), INK, 1.2))
            (text(middle, bottom + 42.0, Anchor::Middle, TEXT_SIZE, INK, &self.axis.title()))
            g transform=(turn) {
                (text(16.0, high, Anchor::Middle, TEXT_SIZE, INK, density_title))
            }
        }
    }

    /// The title and what was measured under.
    pub fn heading(&self) -> Markup {
        let title = self.title.len() as f64 * TITLE_LINE;
        html! {
            g font-weight="600" {
                @for (index, words) in self.title.iter().enumerate() {
                    (text(12.0, 22.0 + index as f64 * TITLE_LINE, Anchor::Start, TITLE_SIZE, INK, words))
                }
            }
            @for (index, words) in self.conditions.iter().enumerate() {
                (text(12.0, 22.0 + title + index as f64 * CONDITIONS_LINE, Anchor::Start, TEXT_SIZE, MUTED, words))
            }
        }
    }
}
