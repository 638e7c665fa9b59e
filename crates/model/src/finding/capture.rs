//! Findings about the responses in a capture.

use super::kinds::{FindingRow, findings};
use super::{ERROR, INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use serde::{Deserialize, Serialize};

findings! {
    /// Observations about a capture.
    CaptureFinding {
        "response-not-measured" ResponseNotMeasured {
            /// Responses without a value.
            count: u64,
            /// Number of stimuli.
            stimuli: u64,
        } => WARNING;
        "response-timed-out" ResponseTimedOut {
            /// Readings that timed out.
            count: u64,
            /// Number of readings.
            stimuli: u64,
            /// Timeout of a reading.
            timeout_ns: Nanos,
        } => WARNING;
        "instrument-ended" InstrumentEnded {
            /// Readings taken until then.
            readings: u64,
            /// Readings requested.
            asked: u64,
            /// Error that ended the readings.
            why: String,
        } => WARNING;
        "machine-lost" MachineLost {
            /// Whether loads were requested, which may have ended as well.
            has_loads: bool,
        } => WARNING, INVALID if *has_loads;
        "response-impossible" ResponseImpossible {
            /// Number of negative readings.
            count: u64,
            /// The first of them.
            readings: Vec<ImpossibleReading>,
            /// The first reading if its writer used 1 000 000 ns for a second; `None` if that does
            /// not fit the other readings.
            first_meant_ns: Option<Nanos>,
        } => ERROR;
        "response-missing" ResponseMissing {
            /// Stimuli without a response.
            count: u64,
            /// Number of stimuli.
            stimuli: u64,
        } => WARNING;
        "response-late" ResponseLate {
            /// Stimuli with a late response.
            count: u64,
            /// Number of stimuli.
            stimuli: u64,
            /// Response window; `None` if it ends at the next stimulus.
            window_ns: Option<Nanos>,
        } => WARNING;
        "response-double" ResponseDouble {
            /// Number of extra responses.
            count: u64,
        } => WARNING;
        "response-spurious" ResponseSpurious {
            /// Number of such responses.
            count: u64,
        } => WARNING;
        "probes-swapped" ProbesSwapped {
            /// Channel used as the stimulus.
            stimulus: String,
            /// Channel used as the response.
            response: String,
            /// Median time from a response to the next stimulus.
            median_ns: Nanos,
        } => WARNING;
        "slow-in-step" SlowInStep {
            /// Channel of the marker.
            marker: String,
            /// Responses during which the marker was high.
            marked: u64,
            /// Number of responses.
            responses: u64,
            /// Longest response with the marker high.
            longest_ns: Nanos,
            /// Longest other response.
            longest_other_ns: Nanos,
            /// Responses longer than all those with the marker low; the marker was high during
            /// each.
            slower: u64,
        } => INFO;
        "first-row-no-sample" FirstRowNoSample {} => INFO;
        "stimuli-untimed" StimuliUntimed {} => INFO;
        "levels-in-doubt" LevelsInDoubt {
            /// Channel name.
            channel: String,
            /// Levels the channel rests at, ascending.
            levels: Vec<f64>,
            /// Threshold used.
            used: f64,
            /// Thresholds that separate its levels.
            thresholds: Vec<f64>,
            /// Number of values at the rarer level, if there are hardly any.
            rare: Option<u64>,
            /// Whether its levels drift so far that no single threshold separates them throughout.
            wanders: bool,
        } => NO_PASS;
        "channel-noise" ChannelNoise {
            /// Channel name.
            channel: String,
            /// Lowest level of the noise.
            low: f64,
            /// Highest level of the noise.
            high: f64,
            /// Evidence, as a clause.
            why: String,
        } => WARNING;
        "values-outside" ValuesOutside {
            /// Channel name.
            channel: String,
            /// Number of values far outside of the levels.
            count: u64,
            /// Low level.
            low: f64,
            /// High level.
            high: f64,
        } => INFO;
        "chunk-missing" ChunkMissing {
            /// Names of the missing parts.
            parts: Vec<String>,
        } => NO_PASS;
        "capture-left-out" CaptureLeftOut {
            /// Number of unreadable items.
            count: u64,
            /// Kind of item, such as `rows`.
            items: String,
            /// Position of the first, and why it could not be read.
            first: String,
        } => NO_PASS;
        "capture-incomplete" CaptureIncomplete {
            /// Number of places with gaps.
            places: u64,
            /// What is missing at the first place.
            missing: String,
        } => NO_PASS;
        "deadline-within-resolution" DeadlineWithinResolution {
            /// Number of responses that kept the deadline by less than the resolution.
            count: u64,
            /// Resolution, rounded up to nanoseconds.
            resolution_ns: Nanos,
        } => NO_PASS;
        "capture-note" CaptureNote {
            /// Note of the format's reader.
            note: String,
        } => INFO;
    }
}

/// A reading in a list of responses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImpossibleReading {
    /// Position in the list, from 1.
    pub number: u64,
    /// Value of the reading.
    pub value_ns: Nanos,
}

impl CaptureFinding {
    /// Whether responses of any length may be missing.
    pub(super) fn hides_responses(&self) -> bool {
        let is_known = matches!(self, CaptureFinding::DeadlineWithinResolution { .. });
        self.weight() == NO_PASS && !is_known
    }
}
