//! Pictures over time: `flow`, `heatmap` and `telemetry`.
//!
//! A day of a run is joined to a column for every other pixel while it is read, so that a picture
//! of any length takes little memory. Joining keeps every maximum and every missed release.

mod axis;
mod canvas;
mod cpu;
mod data;
mod dots;
mod findings;
mod flow;
mod heat;
mod heatmap;
mod palette;
mod panel;
mod scale;
mod strips;
mod telemetry;
mod threads;
mod track;

pub use data::TimeData;
pub use flow::flow;
pub use heatmap::heatmap;
use latlab_model::Run;
pub(crate) use strips::{Strip, measured_strips};
pub use telemetry::telemetry;

/// What a picture over time shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Latencies of each thread, with the conditions below them.
    Flow,
    /// How many latencies were how large, at each time.
    Heatmap,
    /// The conditions.
    Telemetry,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Kind] = &[Kind::Flow, Kind::Heatmap, Kind::Telemetry];

    /// Its name on the command line and in names of files.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Flow => "flow",
            Kind::Heatmap => "heatmap",
            Kind::Telemetry => "telemetry",
        }
    }

    /// The picture of a run as one SVG element.
    pub fn draw(self, run: &Run, data: &TimeData, options: &TimeOptions) -> String {
        match self {
            Kind::Flow => flow(run, data, options),
            Kind::Heatmap => heatmap(run, data, options),
            Kind::Telemetry => telemetry(run, data, options),
        }
    }
}

/// How a picture over time is made; from when to when is a matter of its [`TimeData`].
#[derive(Clone, PartialEq, Debug)]
pub struct TimeOptions {
    /// Width of the picture; its height follows from what it holds.
    pub width: u32,
    /// The axis of latencies.
    pub scale: LatencyScale,
    /// Prefix of the ids in the picture; two pictures in one page need two.
    pub id: String,
}

impl Default for TimeOptions {
    fn default() -> TimeOptions {
        TimeOptions { width: 960, scale: LatencyScale::Auto, id: "time".to_string() }
    }
}

/// How latencies are laid out in height.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LatencyScale {
    /// Logarithmic where the largest would squeeze all others into a corner.
    #[default]
    Auto,
    /// Linear.
    Linear,
    /// Logarithmic.
    Log,
}
