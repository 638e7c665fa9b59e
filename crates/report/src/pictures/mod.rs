//! Pictures as SVG.

pub mod area;
pub mod axis;
pub mod bars;
pub mod bins;
pub mod boxes;
pub mod ccdf;
pub mod cdf;
pub mod cpus;
pub mod curve;
pub mod deadline;
pub mod latency;
pub mod legend;
pub mod options;
pub mod panel;
pub mod phase;
pub mod picture;
pub mod plot;
pub mod run_pens;
pub mod shares;
pub mod shift;
pub mod svg;
pub mod tail;
pub mod time;
pub mod trend;
pub mod vertical_axis;
