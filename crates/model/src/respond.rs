//! How fast a pin answers a pin: what is asked, and what comes of it.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Where responses come from, and how they are found.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Respond {
    /// The captures, by their names; several are the channels of one.
    pub files: Vec<String>,
    /// What was simulated, where nobody held a probe: `uno:irq`.
    pub simulated: Option<String>,
    /// The wires and what an edge on them is; none of a list of readings.
    pub wires: Option<Wires>,
    /// A stimulus comes after so long without one, so that a burst is one.
    pub quiet_ns: Option<Nanos>,
    /// How long a response may take; none up to the next stimulus.
    pub window_ns: Option<Nanos>,
}

/// The wires of a capture, and what an edge on them is.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wires {
    /// The channel with the stimuli.
    pub stimulus: String,
    /// The channel with the responses.
    pub response: String,
    /// Channel that is high while a possible disturbance lasts.
    pub marker: Option<String>,
    /// Where an edge is: a share of the way from low to high, or a level.
    pub threshold: String,
    /// Hysteresis around the threshold, as a share or a voltage.
    pub hysteresis: String,
    /// Which edges are stimuli.
    pub edge: String,
    /// Which edges are responses.
    pub response_edge: String,
}

/// What became of stimuli and responses.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Responses {
    /// The format of the capture, in words.
    pub format: String,
    /// Stimuli whose fate is known; those that were answered in time are the cycles of the run.
    pub stimuli: u64,
    /// Stimuli without a response before the next one.
    pub missing: u64,
    /// Stimuli whose response came after the window.
    pub late: u64,
    /// Stimuli whose response the instrument could not measure.
    pub censored: u64,
    /// Stimuli whose stored response cannot be.
    pub impossible: u64,
    /// Further responses within the window of a stimulus that had been answered.
    pub double: u64,
    /// Responses that belong to no stimulus.
    pub spurious: u64,
    /// A first response before any stimulus, which may answer one before the capture.
    pub before_first: u64,
    /// Stimuli at the end whose answer the capture does not show any more.
    pub cut_off: u64,
    /// No time of the capture is known better than this.
    pub resolution_ns: Option<f64>,
    /// Whether the times of the stimuli are known; of a list of readings they are not, and each
    /// stands for a second.
    pub is_timed: bool,
    /// The figures, more exact than the bins of the histogram.
    pub figures: ResponseFigures,
    /// What went on in step with the slow ones.
    pub marked: Option<MarkerFigures>,
    /// How low was parted from high on the channels whose values are measured levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<ChannelLevels>,
}

/// How low was parted from high on a channel.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChannelLevels {
    /// The channel.
    pub channel: String,
    /// The usual low level.
    pub low: f64,
    /// The usual high level.
    pub high: f64,
    /// The level at which an edge is; none where the channel shows noise only.
    pub threshold: Option<f64>,
    /// How far an edge goes beyond the threshold, both ways together.
    pub hysteresis: Option<f64>,
    /// Deviation of the noise around the noisier of both levels.
    pub noise: f64,
}

impl Responses {
    /// Stimuli that may have been answered at any time, for all that is known.
    pub fn unmeasured(&self) -> u64 {
        self.censored + self.impossible
    }
}

/// The figures of all responses that were measured, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResponseFigures {
    /// The smallest.
    pub min_ns: Option<f64>,
    /// Median: of an even count the middle of the two in the middle.
    pub median_ns: Option<f64>,
    /// Mean.
    pub mean_ns: Option<f64>,
    /// Standard deviation.
    pub deviation_ns: Option<f64>,
    /// 95 %, nearest rank; none below 20 responses.
    pub p95_ns: Option<f64>,
    /// 99 %, nearest rank; none below 100 responses.
    pub p99_ns: Option<f64>,
    /// 99.9 %, nearest rank; none below 1000 responses.
    pub p99_9_ns: Option<f64>,
    /// Observed maximum.
    pub max_ns: Option<f64>,
}

/// Responses during which a marker was high, against all others.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkerFigures {
    /// The channel of the marker.
    pub by: String,
    /// How many responses met it.
    pub count: u64,
    /// Of these, how many took longer than each of the others.
    pub slower: u64,
    /// The longest that met it.
    pub max_ns: Option<f64>,
    /// The longest of the others.
    pub others_max_ns: Option<f64>,
    /// Period of its rises.
    pub period_ns: Option<f64>,
    /// Its first rise, from the start of the capture.
    pub first_ns: Option<f64>,
}
