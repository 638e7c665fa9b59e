//! The kinds of pictures, each of one run or of several on one scale.

use crate::pictures::boxes;
use crate::pictures::ccdf;
use crate::pictures::cdf;
use crate::pictures::cpus;
use crate::pictures::latency;
use crate::pictures::options::Options;
use crate::pictures::tail;
use crate::run_with_bins::RunWithBins;

/// What a picture shows.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Kind {
    /// How many latencies were how large.
    #[default]
    Latency,
    /// The quantiles up to the observed maximum, as bars.
    Tail,
    /// The share that was no later.
    Cdf,
    /// The share that was later, down to one latency.
    Ccdf,
    /// A small picture of latencies for each CPU.
    Cpus,
    /// How many latencies were how large, all runs in one area.
    Overlay,
    /// The middle half, the median and both ends, as boxes.
    Boxes,
}

impl Kind {
    /// All of them.
    pub const ALL: &[Kind] =
        &[Kind::Latency, Kind::Tail, Kind::Cdf, Kind::Ccdf, Kind::Cpus, Kind::Overlay, Kind::Boxes];

    /// Its name on the command line and in names of files.
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

/// The picture of these runs as one SVG element, for a file of its own or for a page.
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
