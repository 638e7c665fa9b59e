//! Findings about the responses in a capture.

use super::kinds::{FindingRow, findings};
use super::{ERROR, INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use serde::{Deserialize, Serialize};

findings! {
    /// What a capture shows.
    CaptureFinding {
        "response-not-measured" ResponseNotMeasured {
            /// Responses without a value.
            count: u64,
            /// Stimuli.
            stimuli: u64,
        } => WARNING;
        "response-timed-out" ResponseTimedOut {
            /// Readings that timed out.
            count: u64,
            /// Readings.
            stimuli: u64,
            /// How long a reading may take.
            timeout_ns: Nanos,
        } => WARNING;
        "instrument-ended" InstrumentEnded {
            /// Readings until then.
            readings: u64,
            /// Readings that were wanted.
            asked: u64,
            /// What went wrong.
            why: String,
        } => WARNING;
        "machine-lost" MachineLost {
            /// Whether loads were asked for, which may have ended as well.
            has_loads: bool,
        } => WARNING, INVALID if *has_loads;
        "response-impossible" ResponseImpossible {
            /// How many.
            count: u64,
            /// The first of them.
            readings: Vec<Reading>,
            /// What the first one would be if its writer took a second for 1 000 000 ns; none where
            /// that does not fit the other readings.
            first_meant_ns: Option<Nanos>,
        } => ERROR;
        "response-missing" ResponseMissing {
            /// Stimuli without a response.
            count: u64,
            /// Stimuli.
            stimuli: u64,
        } => WARNING;
        "response-late" ResponseLate {
            /// Stimuli whose response was late.
            count: u64,
            /// Stimuli.
            stimuli: u64,
            /// The window; none where it ends at the next stimulus.
            window_ns: Option<Nanos>,
        } => WARNING;
        "response-double" ResponseDouble {
            /// Further responses.
            count: u64,
        } => WARNING;
        "response-spurious" ResponseSpurious {
            /// Such responses.
            count: u64,
        } => WARNING;
        "probes-swapped" ProbesSwapped {
            /// The channel taken for the stimuli.
            stimulus: String,
            /// The channel taken for the responses.
            response: String,
            /// Median time from a response to the next stimulus.
            median_ns: Nanos,
        } => WARNING;
        "slow-in-step" SlowInStep {
            /// The channel of the marker.
            marker: String,
            /// Responses that met it.
            marked: u64,
            /// All responses.
            responses: u64,
            /// The longest that met it.
            longest_ns: Nanos,
            /// The longest of the others.
            longest_other_ns: Nanos,
            /// Responses that took longer than all others; each met the marker.
            slower: u64,
        } => INFO;
        "first-row-no-sample" FirstRowNoSample {} => INFO;
        "stimuli-untimed" StimuliUntimed {} => INFO;
        "levels-in-doubt" LevelsInDoubt {
            /// The channel.
            channel: String,
            /// The levels that it rests at, in rising order.
            levels: Vec<f64>,
            /// The threshold that was used.
            used: f64,
            /// The thresholds that part its levels.
            thresholds: Vec<f64>,
            /// How many values were seen at the rarer level, where these are hardly any.
            rare: Option<u64>,
            /// Whether its levels drift so far that no threshold parts them all the time.
            wanders: bool,
        } => NO_PASS;
        "channel-noise" ChannelNoise {
            /// The channel.
            channel: String,
            /// From which level on.
            low: f64,
            /// Up to which level.
            high: f64,
            /// What shows it, as a clause.
            why: String,
        } => WARNING;
        "values-outside" ValuesOutside {
            /// The channel.
            channel: String,
            /// How many.
            count: u64,
            /// Its low level.
            low: f64,
            /// Its high level.
            high: f64,
        } => INFO;
        "chunk-missing" ChunkMissing {
            /// The parts by their names.
            parts: Vec<String>,
        } => NO_PASS;
        "capture-left-out" CaptureLeftOut {
            /// How many.
            count: u64,
            /// What they are, such as `rows`.
            items: String,
            /// Where the first of them is, and why it could not be read.
            first: String,
        } => NO_PASS;
        "capture-incomplete" CaptureIncomplete {
            /// In how many places.
            places: u64,
            /// What is missing in the first of them.
            missing: String,
        } => NO_PASS;
        "deadline-within-resolution" DeadlineWithinResolution {
            /// How many.
            count: u64,
            /// The resolution, rounded up to nanoseconds.
            resolution_ns: Nanos,
        } => NO_PASS;
        "capture-note" CaptureNote {
            /// The note of the reader of that format.
            note: String,
        } => INFO;
    }
}

/// A reading of a list of responses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reading {
    /// Its number in the list, from 1.
    pub number: u64,
    /// Its value.
    pub value_ns: Nanos,
}

impl CaptureFinding {
    /// Whether responses may be missing, of any length.
    pub(super) fn hides_responses(&self) -> bool {
        let is_known = matches!(self, CaptureFinding::DeadlineWithinResolution { .. });
        self.weight() == NO_PASS && !is_known
    }
}
