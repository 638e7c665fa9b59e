//! How a picture is to be.

use crate::pictures::axis::Axis;

/// No picture is narrower.
const NARROWEST: u32 = 280;
/// No plotted area is lower.
const LOWEST: u32 = 80;

/// What stands above a picture.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct PictureLabels {
    /// What is drawn.
    pub title: String,
    /// What was measured under, a paragraph each.
    pub conditions: Vec<String>,
    /// What its lines are called.
    pub names: Vec<String>,
}

/// How a picture is made.
#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Width of the picture; its height follows from what it holds.
    pub width: u32,
    /// Height of the plotted area.
    pub plot_height: u32,
    /// The axis of latencies.
    pub axis: Axis,
    /// Whether title and conditions stand above it; not where the page says them already.
    pub has_heading: bool,
    /// Title and conditions of the picture; none for what its runs say.
    pub labels: Option<PictureLabels>,
    /// Prefix of the ids in the picture; two pictures in one page need two.
    pub id: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            width: 960,
            plot_height: 400,
            axis: Axis::default(),
            has_heading: true,
            labels: None,
            id: "latency".to_string(),
        }
    }
}

impl Options {
    /// The width that is drawn.
    pub fn drawn_width(&self) -> f64 {
        f64::from(self.width.max(NARROWEST))
    }

    /// The height of a plotted area that is drawn.
    pub fn drawn_height(&self) -> f64 {
        f64::from(self.plot_height.max(LOWEST))
    }
}
