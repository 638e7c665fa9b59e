//! Pictures as SVG.

pub mod axis;
pub mod bars;
pub mod bins;
pub mod ccdf;
pub mod cdf;
pub mod cpus;
pub mod frame;
pub mod heights;
pub mod latency;
pub mod legend;
pub mod options;
pub mod panel;
pub mod phase;
pub mod picture;
pub mod plot;
pub mod series;
pub mod shares;
pub mod svg;
pub mod tail;
pub mod time;
