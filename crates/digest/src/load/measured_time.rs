//! The time that a load is judged by, and the steps that it falls into.

use latlab_model::Nanos;

/// The time in which was measured.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredTime {
    /// First counted release.
    pub from: Nanos,
    /// End of the last interval.
    pub to: Nanos,
    /// Whether the stream has its last frame, so that what is missing did not happen.
    pub whole: bool,
}

/// From one reading to the next.
pub struct Step {
    /// How long it is, inside of the window.
    pub seconds: f64,
    /// Share of one CPU.
    pub cpu_share: f64,
    /// Growth of the counter each second.
    pub evidence: Option<f64>,
}
