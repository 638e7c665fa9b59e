//! The time that a load is judged by, and its steps.

use latlab_model::Nanos;

#[derive(Clone, Copy, Debug)]
pub struct MeasuredTime {
    /// First counted release.
    pub from: Nanos,
    /// End of the last interval.
    pub to: Nanos,
    /// Whether the stream has its last frame, so that a missing message means that nothing
    /// happened.
    pub whole: bool,
}

/// From one reading to the next.
pub struct Step {
    /// Length within the window.
    pub seconds: f64,
    /// Share of one CPU.
    pub cpu_share: f64,
    /// Growth of the counter per second.
    pub evidence: Option<f64>,
}
