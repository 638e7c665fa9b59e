//! Options of a chart.

use crate::pictures::axis::Axis;

/// Minimum width of a chart.
const NARROWEST: u32 = 280;
/// Minimum height of a plot area.
const LOWEST: u32 = 80;

#[derive(Clone, PartialEq, Default, Debug)]
pub struct PictureLabels {
    pub title: String,
    /// The measurement conditions, a paragraph each.
    pub conditions: Vec<String>,
    /// The names of its lines.
    pub names: Vec<String>,
}

#[derive(Clone, PartialEq, Debug)]
pub struct Options {
    /// Width of the picture; its height follows from its content.
    pub width: u32,
    /// Height of the plot area.
    pub plot_height: u32,
    pub axis: Axis,
    /// Whether title and conditions are included; not needed on a page that has them already.
    pub has_heading: bool,
    /// Title and conditions; `None` to derive them from the runs.
    pub labels: Option<PictureLabels>,
    /// Prefix of the ids in the picture; must be unique on a page.
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
    /// The width, no less than the minimum.
    pub fn drawn_width(&self) -> f64 {
        f64::from(self.width.max(NARROWEST))
    }

    /// The height of the plot area, no less than the minimum.
    pub fn drawn_height(&self) -> f64 {
        f64::from(self.plot_height.max(LOWEST))
    }
}
