//! The plot area of a chart with its grid and axes.

use crate::pictures::deadline::Frame;
use crate::pictures::svg::{Anchor, GRID, INK, MUTED, TEXT_SIZE, TITLE_SIZE, line, n, text};
use crate::terms::Terms;
use maud::{Markup, html};

/// A labelled position on an axis, from 0 (lower end) to 1 (upper end).
pub struct Tick {
    pub place: f64,
    pub name: String,
}

/// Width of the strip next to an axis for values outside of it.
pub const STRIP: f64 = 34.0;
/// Room below a plot area for tick labels and axis title.
pub const BELOW: f64 = 58.0;
/// Width of a latency label on a horizontal axis.
pub const NAME_ACROSS: f64 = 90.0;
/// Whether values lie outside of the axis, which needs a strip next to the plot area.
#[derive(Clone, Copy, Default)]
pub struct Sides {
    pub below: bool,
    pub beyond: bool,
}

#[derive(Clone, Copy)]
pub struct Area {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    /// Left end of the axes: that of the plot area, or of the strip next to it.
    pub axis_left: f64,
}

impl Area {
    /// An area as wide as the picture, less the room for axis labels.
    pub fn across(width: f64, top: f64, height: f64, sides: Sides) -> Area {
        Area::between(78.0, width - 34.0, top, height, sides)
    }

    /// An area between two horizontal positions, strips included.
    pub fn between(axis_left: f64, right: f64, top: f64, height: f64, sides: Sides) -> Area {
        let strip = |there| if there { STRIP } else { 0.0 };
        Area {
            left: axis_left + strip(sides.below),
            right: right - strip(sides.beyond),
            top,
            bottom: top + height,
            axis_left,
        }
    }

    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// The plot area without strips.
    pub fn frame(&self) -> Frame {
        Frame { left: self.left, right: self.right, top: self.top, bottom: self.bottom }
    }

    pub fn middle(&self) -> (f64, f64) {
        ((self.left + self.right) / 2.0, (self.top + self.bottom) / 2.0)
    }

    /// Horizontal coordinate of a position on the lower axis.
    pub fn x(&self, place: f64) -> f64 {
        self.left + place * self.width()
    }

    /// Vertical coordinate of a position on the left axis.
    pub fn y(&self, place: f64) -> f64 {
        self.bottom - place * self.height()
    }

    pub fn grid(&self, across: &[Tick], up: &[Tick]) -> Markup {
        html! {
            @for y in up.iter().map(|tick| self.y(tick.place)) {
                (line((self.left, y), (self.right, y), GRID, 1.0))
            }
            @for x in across.iter().map(|tick| self.x(tick.place)) {
                (line((x, self.top), (x, self.bottom), GRID, 1.0))
            }
        }
    }

    /// Labels of the left axis.
    pub fn names_left(&self, up: &[Tick], size: f64) -> Markup {
        html! {
            @for tick in up {
                @let y = self.y(tick.place) + size * 0.35;
                (text(self.axis_left - 8.0, y, Anchor::End, size, INK, &tick.name))
            }
        }
    }

    /// Labels of the lower axis.
    pub fn names_below(&self, across: &[Tick], size: f64) -> Markup {
        html! {
            @for tick in across {
                @let x = self.x(tick.place);
                (line((x, self.bottom), (x, self.bottom + 5.0), INK, 1.0))
                (text(x, self.bottom + 7.0 + size, Anchor::Middle, size, INK, &tick.name))
            }
        }
    }

    pub fn axes(&self) -> Markup {
        let corner = (self.axis_left, self.bottom);
        html! {
            (line((self.axis_left, self.top), corner, INK, 1.2))
            (line(corner, (self.right, self.bottom), INK, 1.2))
        }
    }

    pub fn titles(&self, across: &str, up: &str) -> Markup {
        html! {
            (text(self.middle().0, self.bottom + 42.0, Anchor::Middle, TEXT_SIZE, INK, across))
            (self.title_left(up))
        }
    }

    pub fn title_left(&self, up: &str) -> Markup {
        let high = self.middle().1;
        html! {
            g transform={ "rotate(-90 16 " (n(high)) ")" } {
                (text(16.0, high, Anchor::Middle, TEXT_SIZE, INK, up))
            }
        }
    }

    /// Grid, axes, labels and titles, at full size.
    pub fn furniture(&self, across: (&[Tick], &str), up: (&[Tick], &str)) -> Markup {
        html! {
            (self.grid(across.0, up.0))
            (self.names_left(up.0, TEXT_SIZE))
            (self.names_below(across.0, TEXT_SIZE))
            (self.axes())
            (self.titles(across.1, up.1))
        }
    }

    /// Text shown in an empty area.
    pub fn empty_note(&self, terms: &Terms) -> Markup {
        let (x, y) = self.middle();
        let words = format!("No {} was recorded.", terms.one);
        text(x, y, Anchor::Middle, TITLE_SIZE, MUTED, &words)
    }
}
