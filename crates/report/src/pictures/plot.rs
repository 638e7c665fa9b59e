//! The kinds of charts, each for one run or for several on one scale.

use crate::pictures::boxes;
use crate::pictures::ccdf;
use crate::pictures::cdf;
use crate::pictures::cpus;
use crate::pictures::latency;
use crate::pictures::options::Options;
use crate::pictures::tail;
use crate::run_with_bins::RunWithBins;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Kind {
    /// How many latencies have which size.
    #[default]
    Latency,
    /// The quantiles up to the observed maximum, as bars.
    Tail,
    /// The share no later than x.
    Cdf,
    /// The share later than x, down to one latency.
    Ccdf,
    /// A small latency chart for each CPU.
    Cpus,
    /// How many latencies have which size, all runs in one area.
    Overlay,
    /// The middle half, the median and both ends, as boxes.
    Boxes,
}

impl Kind {
    pub const ALL: &[Kind] =
        &[Kind::Latency, Kind::Tail, Kind::Cdf, Kind::Ccdf, Kind::Cpus, Kind::Overlay, Kind::Boxes];

    /// Name on the command line and in file names.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Latency => "latency",
            Kind::Tail => "tail",
            Kind::Cdf => "cdf",
            Kind::Ccdf => "ccdf",
            Kind::Cpus => "cpus",
            Kind::Overlay => "overlay",
            Kind::Boxes => "boxes",
        }
    }
}

/// The chart of these runs as one SVG element, for a file or a page.
pub fn plot(runs: &[RunWithBins], kind: Kind, options: &Options) -> String {
    match kind {
        Kind::Latency => latency::draw(runs, options),
        Kind::Tail => tail::draw(runs, options),
        Kind::Cdf => cdf::draw(runs, options),
        Kind::Ccdf => ccdf::draw(runs, options),
        Kind::Cpus => cpus::draw(runs, options),
        Kind::Overlay => latency::draw_in_one(runs, options),
        Kind::Boxes => boxes::draw(runs, options),
    }
}
