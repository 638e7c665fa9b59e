//! Findings about the responses in a capture.

use super::kinds::{FindingEntry, findings};
use super::{ERROR, INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use crate::shell::Line;
use crate::units::{counted, grouped};
use serde::{Deserialize, Serialize};

findings! {
    /// What a capture shows.
    CaptureFinding {
        /// The instrument gave no value for some responses. They are in no figure, and with a
        /// deadline the verdict is at best `inconclusive`.
        ResponseNotMeasured = "response-not-measured" (
            "warning",
            "none",
            "Use a longer time base, so that the whole response is captured."
        ) {
            /// Responses without a value.
            count: u64,
            /// Stimuli.
            stimuli: u64,
        }
        /// The instrument did not trigger, or did not answer, in the time that a reading may take.
        /// These are in no figure, and with a deadline the verdict is at best `inconclusive`.
        ResponseTimedOut = "response-timed-out" (
            "warning",
            "none",
            "Check the trigger and whether every stimulus comes; a longer `--timeout` waits longer."
        ) {
            /// Readings that timed out.
            count: u64,
            /// Readings.
            stimuli: u64,
            /// How long a reading may take.
            timeout_ns: Nanos,
        }
        /// The instrument ended the series; what was measured until then is kept.
        InstrumentEnded = "instrument-ended" (
            "warning",
            "none",
            "Check the instrument and its connection, and measure again."
        ) {
            /// Readings until then.
            readings: u64,
            /// Readings that were wanted.
            asked: u64,
            /// What went wrong.
            why: String,
        }
        /// The agent on the machine that answers ended before the series did: what its loads, settings and
        /// conditions were from then on is unknown.
        MachineLost = "machine-lost" (
            "warning, error",
            "invalid if loads were asked for",
            "Check that machine and the link to it, and measure again."
        ) {
            /// Whether loads were asked for, which may have ended as well.
            has_loads: bool,
        }
        /// Readings of a list are negative, which is impossible for a response. They are listed,
        /// and are in no figure.
        ResponseImpossible = "response-impossible" (
            "error",
            "none",
            "Correct the program that wrote them."
        ) {
            /// How many.
            count: u64,
            /// The first of them.
            readings: Vec<Reading>,
            /// What the first one would be if its writer took a second for 1 000 000 ns; none where
            /// that does not fit the other readings.
            first_meant_ns: Option<Nanos>,
        }
        /// Stimuli got no response. Each is a miss of any deadline.
        ResponseMissing = "response-missing" (
            "warning",
            "none",
            "Check whether the responder was ready, and the level of the stimulus."
        ) {
            /// Stimuli without a response.
            count: u64,
            /// Stimuli.
            stimuli: u64,
        }
        /// The first response to a stimulus came after the window.
        ResponseLate = "response-late" (
            "warning",
            "none",
            "Use a longer `--window` if they should count."
        ) {
            /// Stimuli whose response was late.
            count: u64,
            /// Stimuli.
            stimuli: u64,
            /// The window; none where it ends at the next stimulus.
            window_ns: Option<Nanos>,
        }
        /// Further responses came within the window.
        ResponseDouble = "response-double" (
            "warning",
            "none",
            "Use a larger `--hysteresis`, or another `--response-edge`."
        ) {
            /// Further responses.
            count: u64,
        }
        /// Responses belong to no stimulus.
        ResponseSpurious = "response-spurious" (
            "warning",
            "none",
            "Look at the capture with `--look`: are the probes swapped?"
        ) {
            /// Such responses.
            count: u64,
        }
        /// The time from each response to the next stimulus is much shorter than the other way
        /// round.
        ProbesSwapped = "probes-swapped" (
            "warning",
            "none",
            "If so, swap `--stimulus` and `--response`."
        ) {
            /// The channel taken for the stimuli.
            stimulus: String,
            /// The channel taken for the responses.
            response: String,
            /// Median time from a response to the next stimulus.
            median_ns: Nanos,
        }
        /// Responses that coincide with the marker took longer; the sentence says how many, and how
        /// long.
        SlowInStep = "slow-in-step" (
            "info",
            "none",
            "See the chart of the latency against the phase."
        ) {
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
        }
        /// The first row of a list is 0, which is not a reading. It is left out.
        FirstRowNoSample = "first-row-no-sample" ("info", "none", "Nothing.") {}
        /// A list has no times of the stimuli, so each reading counts as one second.
        StimuliUntimed = "stimuli-untimed" (
            "info",
            "none",
            "Nothing; charts over time use the number of the reading."
        ) {}
        /// The channel's threshold is ambiguous: it rests at more than two levels,
        /// was hardly ever at one of them, or its levels drift past the threshold.
        LevelsInDoubt = "levels-in-doubt" (
            "warning",
            "no pass",
            "Look at the capture with `--look`, and give the `--threshold` as a voltage."
        ) {
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
            #[serde(default)]
            wanders: bool,
        }
        /// A channel shows noise and no signal, so that nothing on it is an edge.
        ChannelNoise = "channel-noise" (
            "warning",
            "none",
            "Check the probe; if it has a signal, give its `--threshold` or `--response-threshold` as a voltage."
        ) {
            /// The channel.
            channel: String,
            /// From which level on.
            low: f64,
            /// Up to which level.
            high: f64,
            /// What shows it, as a clause; empty in older runs.
            #[serde(default)]
            why: String,
        }
        /// Single values lie a swing or more outside of the levels of a channel. They make no edge.
        ValuesOutside = "values-outside" ("info", "none", "Nothing, if they are disturbances.") {
            /// The channel.
            channel: String,
            /// How many.
            count: u64,
            /// Its low level.
            low: f64,
            /// Its high level.
            high: f64,
        }
        /// A session lacks parts of its samples. What was in them is unknown; they count as long as
        /// the others.
        ChunkMissing = "chunk-missing" ("warning", "no pass", "Save the capture again.") {
            /// The parts by their names.
            parts: Vec<String>,
        }
        /// Rows or values of a file could not be read. They may have held an edge or a reading.
        CaptureLeftOut = "capture-left-out" (
            "warning",
            "no pass",
            "Look at the first of them, and export the capture again."
        ) {
            /// How many.
            count: u64,
            /// What they are, such as `rows`.
            items: String,
            /// Where the first of them is, and why it could not be read.
            first: String,
        }
        /// A part of a file is missing: it ends within a line, has fewer samples than it states, lacks
        /// samples between others, or the level of a channel is unknown for a while.
        CaptureIncomplete = "capture-incomplete" (
            "warning",
            "no pass",
            "Save or export the whole capture again."
        ) {
            /// In how many places.
            places: u64,
            /// What is missing in the first of them.
            missing: String,
        }
        /// Responses kept the deadline by less than the resolution of the times, so that they may have
        /// missed it.
        DeadlineWithinResolution = "deadline-within-resolution" (
            "warning",
            "no pass",
            "Capture with a higher sample rate."
        ) {
            /// How many.
            count: u64,
            /// The resolution, rounded up to nanoseconds.
            resolution_ns: Nanos,
        }
        /// Something in a file was left out, or looks wrong.
        CaptureNote = "capture-note" ("info", "none", "As the note says.") {
            /// The note of the reader of that format.
            note: String,
        }
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
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use CaptureFinding::*;
        match self {
            MachineLost { has_loads: true } => INVALID,
            ResponseImpossible { .. } => ERROR,
            SlowInStep { .. }
            | FirstRowNoSample {}
            | StimuliUntimed {}
            | ValuesOutside { .. }
            | CaptureNote { .. } => INFO,
            ResponseNotMeasured { .. }
            | ResponseTimedOut { .. }
            | InstrumentEnded { .. }
            | MachineLost { has_loads: false }
            | ResponseMissing { .. }
            | ResponseLate { .. }
            | ResponseDouble { .. }
            | ResponseSpurious { .. }
            | ProbesSwapped { .. }
            | ChannelNoise { .. } => WARNING,
            LevelsInDoubt { .. }
            | ChunkMissing { .. }
            | CaptureLeftOut { .. }
            | CaptureIncomplete { .. }
            | DeadlineWithinResolution { .. } => NO_PASS,
        }
    }

    /// Whether responses may be missing, of any length.
    pub(super) fn hides_responses(&self) -> bool {
        let is_known = matches!(self, CaptureFinding::DeadlineWithinResolution { .. });
        self.weight() == NO_PASS && !is_known
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        use CaptureFinding::*;
        match self {
            ResponseNotMeasured { count, stimuli } => format!(
                "{} of {} were not measured: the instrument gave no value. They are in no figure, \
                 and may have any length.",
                grouped(*count),
                counted(*stimuli, "response", "responses")
            ),
            ResponseTimedOut { count, stimuli, timeout_ns } => format!(
                "{} of {} timed out after {timeout_ns}: the instrument did not trigger, or did not \
                 answer. They are in no figure.",
                grouped(*count),
                counted(*stimuli, "reading", "readings")
            ),
            InstrumentEnded { readings, asked, why } => format!(
                "The instrument ended the series after {} of {}: {why}.",
                grouped(*readings),
                counted(*asked, "reading", "readings")
            ),
            MachineLost { .. } => "The agent on the machine that answers ended before the series: \
                                   its loads, settings and conditions are unknown from then on."
                .to_string(),
            ResponseImpossible { count, readings, first_meant_ns } => {
                impossible(*count, readings, *first_meant_ns)
            }
            ResponseMissing { count, stimuli } => format!(
                "{} of {} got no response.",
                grouped(*count),
                counted(*stimuli, "stimulus", "stimuli")
            ),
            ResponseLate { count, stimuli, window_ns } => {
                let window = window_ns.map(|window| format!(" of {window}")).unwrap_or_default();
                format!(
                    "The response to {} of {} came after the window{window}. These are counted, \
                     but are in no figure.",
                    grouped(*count),
                    counted(*stimuli, "stimulus", "stimuli")
                )
            }
            ResponseDouble { count } => format!(
                "{} came after a stimulus that already had a response.",
                counted(*count, "further response", "further responses")
            ),
            ResponseSpurious { count } => format!(
                "{} to no stimulus.",
                counted(*count, "response belongs", "responses belong")
            ),
            ProbesSwapped { stimulus, response, median_ns } => format!(
                "The probes may be swapped: the median time from {response} to the next {stimulus} \
                 is only {median_ns}."
            ),
            SlowInStep { marker, marked, responses, longest_ns, longest_other_ns, slower } => {
                format!(
                    "{} of {} coincided with {marker} and took up to {longest_ns}; the others \
                     took at most {longest_other_ns}. All {} that took longer coincided with it.",
                    grouped(*marked),
                    counted(*responses, "response", "responses"),
                    grouped(*slower)
                )
            }
            FirstRowNoSample {} => {
                "The first row of the list is 0, which is not a reading: the program that wrote \
                 it starts with this row. It is left out."
                    .to_string()
            }
            StimuliUntimed {} => "The list has no times of the stimuli. In charts over time, each \
                                  reading counts as one second."
                .to_string(),
            LevelsInDoubt { channel, used, wanders: true, .. } => format!(
                "The levels of the channel {channel} drift past each other: no threshold parts low from \
                 high all the time, and edges that do not cross {} are missing.",
                number(*used)
            ),
            LevelsInDoubt { channel, levels, used, rare, .. } => {
                let all: Vec<String> = levels.iter().map(|level| number(*level)).collect();
                let all = all.join(", ");
                match rare {
                    Some(1) => format!(
                        "The channel {channel} was at one of its levels ({all}) only once: that \
                         may be a disturbance."
                    ),
                    Some(count) => format!(
                        "The channel {channel} was at one of its levels ({all}) only {count} \
                         times: that may be a disturbance."
                    ),
                    None => format!(
                        "The channel {channel} rests at more than two levels ({all}). Its edges \
                         are where it crosses {}.",
                        number(*used)
                    ),
                }
            }
            ChannelNoise { channel, low, high, why } => {
                let why = if why.is_empty() { String::new() } else { format!(" {why};") };
                format!(
                    "The channel {channel} shows noise from {} to {} and no signal:{why} nothing on \
                     it is an edge.",
                    number(*low),
                    number(*high)
                )
            }
            ValuesOutside { channel, count, low, high } => format!(
                "{} of the channel {channel} far outside of its levels {} and {}: no edge is made \
                 of such a value.",
                match count {
                    1 => "There is 1 value".to_string(),
                    count => format!("There are {} values", grouped(*count)),
                },
                number(*low),
                number(*high)
            ),
            ChunkMissing { parts } => format!(
                "The session lacks {}. What was in there is unknown; it counts as long as the \
                 other parts.",
                parts.join(", ")
            ),
            CaptureLeftOut { count: 1, items, first } => format!(
                "1 {} that may hold an edge or a reading could not be read: {first}.",
                items.trim_end_matches('s')
            ),
            CaptureLeftOut { count, items, first } => format!(
                "{} {items} that may hold edges or readings could not be read; the first is {first}.",
                grouped(*count)
            ),
            CaptureIncomplete { places: 1, missing } => {
                format!("The capture is incomplete: {missing}.")
            }
            CaptureIncomplete { places, missing } => format!(
                "The capture is incomplete in {} places; the first is {missing}.",
                grouped(*places)
            ),
            DeadlineWithinResolution { count, resolution_ns } => format!(
                "{} the deadline by less than the resolution of the capture, {resolution_ns}: \
                 {} may have missed it.",
                counted(*count, "response kept", "responses kept"),
                if *count == 1 { "it" } else { "they" }
            ),
            CaptureNote { note } => note.clone(),
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        use CaptureFinding::*;
        let remedy = match self {
            ProbesSwapped { stimulus, response, .. } => {
                let line = Line::new("If so, use --stimulus").word(response);
                return Some(line.text("--response").word(stimulus).end("."));
            }
            LevelsInDoubt { wanders: true, .. } => {
                "Couple the channel to AC, check its ground, or capture a shorter time."
            }
            LevelsInDoubt { thresholds, .. } => {
                let each = thresholds
                    .iter()
                    .map(|one| Line::new("--threshold").word(format!("{}V", number(*one))));
                let all = each.reduce(|all, next| all.then(" or ", &next))?;
                return Some(Line::new("Give ").then("", &all).end("."));
            }
            ChannelNoise { .. } => {
                "Check the probe; if it has a signal, give its --threshold or --response-threshold as a \
                 voltage."
            }
            ChunkMissing { .. } => "Save the capture again.",
            CaptureLeftOut { .. } => "Look at the first of them, and export the capture again.",
            CaptureIncomplete { .. } => "Save or export the whole capture again.",
            DeadlineWithinResolution { .. } => "Capture with a higher sample rate.",
            ResponseLate { .. } => "Use a longer --window if they should count.",
            ResponseDouble { .. } => "Use a larger --hysteresis, or another --response-edge.",
            ResponseSpurious { .. } => "Look at the capture with --look.",
            ResponseMissing { .. } => {
                "Check whether the responder was ready, and the level of the stimulus."
            }
            ResponseTimedOut { .. } => {
                "Check the trigger and whether every stimulus comes; a longer --timeout waits longer."
            }
            InstrumentEnded { .. } => "Check the instrument and its connection, and measure again.",
            MachineLost { .. } => "Check that machine and the link to it, and measure again.",
            ResponseNotMeasured { .. }
            | ResponseImpossible { .. }
            | SlowInStep { .. }
            | FirstRowNoSample {}
            | StimuliUntimed {}
            | ValuesOutside { .. }
            | CaptureNote { .. } => return None,
        };
        Some(Line::new(remedy))
    }
}

/// A level to three digits.
fn number(level: f64) -> String {
    let digits = 10f64.powi(2 - level.abs().max(1e-9).log10().floor() as i32);
    format!("{}", (level * digits).round() / digits + 0.0)
}

fn impossible(count: u64, readings: &[Reading], first_meant: Option<Nanos>) -> String {
    let named = readings.iter().map(|Reading { number, value_ns }| {
        // Exact, because the reader looks for it in the list.
        format!("number {number} is {} ns", value_ns.0)
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = if count > readings.len() as u64 { ", and more" } else { "" };
    let are = counted(count, "reading is", "readings are");
    let they = if count == 1 { "It is" } else { "They are" };
    let mut text = format!(
        "{are} negative, which is impossible for a response: {named}{more}. {they} in no \
                 figure."
    );
    if let (Some(meant), Some(first)) = (first_meant, readings.first()) {
        text += &format!(
            " The program that wrote them may count a second as 1 000 000 nanoseconds: number {} \
             would then be {} ns.",
            first.number, meant.0
        );
    }
    text
}
