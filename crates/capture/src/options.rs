//! What can be asked of a capture.

use crate::edges::{EdgeKind, Hysteresis, Threshold};
use crate::list::Unit;

/// What is asked of a capture.
#[derive(Clone, PartialEq, Debug)]
pub struct Asked {
    /// The channel with the stimuli.
    pub stimulus: Option<String>,
    /// The channel with the responses.
    pub response: Option<String>,
    /// A channel that is high while something goes on that may disturb.
    pub marker: Option<String>,
    /// Where an edge is.
    pub threshold: Threshold,
    /// How far a level must go beyond.
    pub hysteresis: Hysteresis,
    /// Which edges are stimuli.
    pub edge: EdgeKind,
    /// Which edges are responses.
    pub response_edge: EdgeKind,
    /// A stimulus comes after so long without one, so that a burst is one; none counts each edge.
    pub quiet_ps: Option<i64>,
    /// How long a response may take; none up to the next stimulus.
    pub window_ps: Option<i64>,
    /// The unit of a list of readings, where it does not say it.
    pub unit: Option<Unit>,
}

impl Asked {
    /// Rising edges of two channels at half of their height.
    pub fn between(stimulus: &str, response: &str) -> Asked {
        Asked {
            stimulus: Some(stimulus.to_string()),
            response: Some(response.to_string()),
            marker: None,
            threshold: Threshold::Share(0.5),
            hysteresis: Hysteresis::Share(0.1),
            edge: EdgeKind::Rising,
            response_edge: EdgeKind::Rising,
            quiet_ps: None,
            window_ps: None,
            unit: None,
        }
    }
}
