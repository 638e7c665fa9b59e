//! Turns captures of oscilloscopes and logic analysers into edges, and edges into responses.
//!
//! A capture is read from start to end in constant memory, as often as needed. Times are whole
//! picoseconds from the zero of the capture: finer than any usual capture, with a range of 106
//! days.
//!
//! `open.rs` recognises a format by its first bytes. Each reader (`sigrok.rs`, `vcd.rs`, `csv`,
//! `isf.rs`) yields a head and points in time order; `merge.rs` joins several files.
//! `capture_survey.rs` finds the levels of each channel (`levels.rs`, from the states in
//! `states.rs`) and the step of the times (`grid.rs`) in a first pass; `matcher.rs` cuts levels
//! into edges (`edges.rs`) and matches responses to stimuli (`pairing.rs`) in a second. Up to a
//! million delays are kept.
//!
//! The layout of a table is derived from its first 400 lines: a column holds times by its name, its
//! unit, or because it rises. An ambiguous table is refused. A list of readings (`list.rs`) has
//! only delays.

#![forbid(unsafe_code)]

mod capture;
mod capture_survey;
mod csv;
mod edges;
mod error;
mod figures;
mod grid;
mod isf;
mod levels;
mod lines;
mod list;
mod losses;
mod marks;
mod matcher;
mod measure;
mod merge;
mod open;
mod pairing;
mod query;
mod range_over_time;
mod sigrok;
mod states;
mod stretches;
mod values;
mod vcd;
mod wires;
mod zip;

pub use capture::{Capture, Channel, Head, Kind, LevelCapture, Point, Source};
pub use capture_survey::{CaptureSurvey, ChannelSurvey, survey};
pub use edges::{EdgeKind, EdgeRule, Hysteresis, ParseRuleError, Threshold};
pub use error::{Error, ParseError, Position};
pub use figures::DelayFigures;
pub use grid::common_step;
pub use levels::{LevelPair, Levels, NoiseReason};
pub use list::{List, ListReading, ListUnit, Value};
pub use losses::{Loss, LossKind};
pub use marks::Mark;
pub use measure::{CaptureResult, Preparation, measure};
pub use open::{open, open_joined};
pub use pairing::{Counts, Response, ResponseClass};
pub use query::CaptureQuery;
pub use wires::WireLevels;

/// Picoseconds in a second.
pub const SECOND_PS: i64 = 1_000_000_000_000;
/// Picoseconds in a nanosecond.
pub const NANO_PS: i64 = 1_000;
