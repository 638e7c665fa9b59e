//! Charts over time: `flow`, `heatmap` and `telemetry`. Rows are joined into a column for every
//! other pixel while they are read, so that a chart of any length needs little memory. Joining
//! preserves every maximum and every overrun.

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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Latencies of each thread, with the conditions below them.
    Flow,
    /// How many latencies had which size, over time.
    Heatmap,
    Telemetry,
}

impl Kind {
    pub const ALL: &[Kind] = &[Kind::Flow, Kind::Heatmap, Kind::Telemetry];

    /// Name on the command line and in file names.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Flow => "flow",
            Kind::Heatmap => "heatmap",
            Kind::Telemetry => "telemetry",
        }
    }

    /// The chart of a run as one SVG element.
    pub fn draw(self, run: &Run, data: &TimeData, options: &TimeOptions) -> String {
        match self {
            Kind::Flow => flow(run, data, options),
            Kind::Heatmap => heatmap(run, data, options),
            Kind::Telemetry => telemetry(run, data, options),
        }
    }
}

/// Options of a chart over time; the time range is part of its [`TimeData`].
#[derive(Clone, PartialEq, Debug)]
pub struct TimeOptions {
    /// Width of the picture; its height follows from its content.
    pub width: u32,
    pub scale: LatencyScale,
    /// Prefix of the ids in the picture; must be unique on a page.
    pub id: String,
}

impl Default for TimeOptions {
    fn default() -> TimeOptions {
        TimeOptions { width: 960, scale: LatencyScale::Auto, id: "time".to_string() }
    }
}

/// The scale of the latency axis.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LatencyScale {
    /// Logarithmic if the largest latency would squeeze all others into a corner.
    #[default]
    Auto,
    Linear,
    Log,
}
