//! What a capture shows.

use super::kinds::{FindingWords, Said, Worded, words};
use latlab_model::finding::{CaptureFinding, ImpossibleReading};
use latlab_model::shell::{self, Line};
use latlab_model::units::{counted, grouped};

words! { CaptureFinding {
    /// The instrument gave no value for some responses. With a deadline the verdict is at best `inconclusive`.
    /// A longer time base captures the whole response.
    ResponseNotMeasured { count, stimuli } =>
        says "{count} of {responses} were not measured: the instrument gave no value. They are in no figure, \
              and may have any length.",
            count = grouped(*count), responses = counted(*stimuli, "response", "responses");

    /// The instrument did not trigger, or did not answer, in the time that a reading may take. With a deadline
    /// the verdict is at best `inconclusive`.
    ResponseTimedOut { count, stimuli, timeout_ns } =>
        says "{count} of {readings} timed out after {timeout_ns}: the instrument did not trigger, or did not \
              answer. They are in no figure.",
            count = grouped(*count), readings = counted(*stimuli, "reading", "readings");
        remedy "Check the trigger and whether every stimulus comes; a longer --timeout waits longer.";

    /// The instrument ended the series; what was measured until then is kept.
    InstrumentEnded { readings, asked, why } =>
        says "The instrument ended the series after {readings} of {asked}: {why}.",
            readings = grouped(*readings), asked = counted(*asked, "reading", "readings");
        remedy "Check the instrument and its connection, and measure again.";

    /// The agent on the machine that answers ended before the series did. Invalid if loads were asked for.
    MachineLost { .. } =>
        says "The agent on the machine that answers ended before the series: its loads, settings and \
              conditions are unknown from then on.";
        remedy "Check that machine and the link to it, and measure again.";

    /// Readings of a list are negative: the program that wrote them is wrong.
    ResponseImpossible
    { count: 1, readings, first_meant_ns } =>
        says "1 reading is negative, which is impossible for a response: {named}. It is in no figure.{meant}",
            named = named(readings), meant = meant(readings, first_meant_ns.map(|meant| meant.0));
    { count, readings, first_meant_ns } =>
        says "{count} readings are negative, which is impossible for a response: {named}{more}. They are in no \
              figure.{meant}",
            count = grouped(*count), named = named(readings),
            more = if *count > readings.len() as u64 { ", and more" } else { "" },
            meant = meant(readings, first_meant_ns.map(|meant| meant.0));

    /// Stimuli got no response. Each is a miss of any deadline.
    ResponseMissing { count, stimuli } =>
        says "{count} of {stimuli} got no response.",
            count = grouped(*count), stimuli = counted(*stimuli, "stimulus", "stimuli");
        remedy "Check whether the responder was ready, and the level of the stimulus.";

    /// The first response to a stimulus came after the window.
    ResponseLate
    { count, stimuli, window_ns: Some(window_ns) } =>
        says "The response to {count} of {stimuli} came after the window of {window_ns}. These are counted, but \
              are in no figure.",
            count = grouped(*count), stimuli = counted(*stimuli, "stimulus", "stimuli");
        remedy LONGER_WINDOW;
    { count, stimuli, window_ns: None } =>
        says "The response to {count} of {stimuli} came after the window. These are counted, but are in no \
              figure.",
            count = grouped(*count), stimuli = counted(*stimuli, "stimulus", "stimuli");
        remedy LONGER_WINDOW;

    /// Further responses came within the window.
    ResponseDouble { count } =>
        says "{responses} came after a stimulus that already had a response.",
            responses = counted(*count, "further response", "further responses");
        remedy "Use a larger --hysteresis, or another --response-edge.";

    /// Responses belong to no stimulus: the probes may be swapped.
    ResponseSpurious { count } =>
        says "{responses} to no stimulus.",
            responses = counted(*count, "response belongs", "responses belong");
        remedy "Look at the capture with --look.";

    /// The time from each response to the next stimulus is much shorter than the other way round.
    ProbesSwapped { stimulus, response, median_ns } =>
        says "The probes may be swapped: the median time from {response} to the next {stimulus} is only \
              {median_ns}.";
        remedy "If so, use --stimulus {response} --response {stimulus}.",
            response = shell::word(response), stimulus = shell::word(stimulus);

    /// Responses that coincide with the marker took longer. The chart of the latency against the phase shows
    /// them.
    SlowInStep { marker, marked, responses, longest_ns, longest_other_ns, slower } =>
        says "{marked} of {responses} coincided with {marker} and took up to {longest_ns}; the others took at \
              most {longest_other_ns}. All {slower} that took longer coincided with it.",
            marked = grouped(*marked), responses = counted(*responses, "response", "responses"),
            slower = grouped(*slower);

    /// The first row of a list is 0.
    FirstRowNoSample {} =>
        says "The first row of the list is 0, which is not a reading: the program that wrote it starts with \
              this row. It is left out.";

    /// A list has no times of the stimuli.
    StimuliUntimed {} =>
        says "The list has no times of the stimuli. In charts over time, each reading counts as one second.";

    /// The channel's threshold is ambiguous: it rests at more than two levels, was hardly ever at one of them,
    /// or its levels drift past the threshold. `--look` shows the capture.
    LevelsInDoubt
    { channel, used, wanders: true, .. } =>
        says "The levels of the channel {channel} drift past each other: no threshold parts low from high all \
              the time, and edges that do not cross {used} are missing.",
            used = level(*used);
        remedy "Couple the channel to AC, check its ground, or capture a shorter time.";
    { channel, levels, rare: Some(1), thresholds, .. } =>
        says "The channel {channel} was at one of its levels ({levels}) only once: that may be a disturbance.",
            levels = all(levels);
        if !thresholds.is_empty() => remedy GIVE_THRESHOLDS, thresholds = options(thresholds);
    { channel, levels, rare: Some(rare), thresholds, .. } =>
        says "The channel {channel} was at one of its levels ({levels}) only {rare} times: that may be a \
              disturbance.",
            levels = all(levels);
        if !thresholds.is_empty() => remedy GIVE_THRESHOLDS, thresholds = options(thresholds);
    { channel, levels, used, rare: None, thresholds, .. } =>
        says "The channel {channel} rests at more than two levels ({levels}). Its edges are where it crosses \
              {used}.",
            levels = all(levels), used = level(*used);
        if !thresholds.is_empty() => remedy GIVE_THRESHOLDS, thresholds = options(thresholds);

    /// A channel shows noise and no signal.
    ChannelNoise { channel, low, high, why } =>
        says "The channel {channel} shows noise from {low} to {high} and no signal: {why}; nothing on it is an \
              edge.",
            low = level(*low), high = level(*high);
        remedy "Check the probe; if it has a signal, give its --threshold or --response-threshold as a voltage.";

    /// Single values lie a swing or more outside of the levels of a channel.
    ValuesOutside
    { channel, count: 1, low, high } =>
        says "There is 1 value of the channel {channel} far outside of its levels {low} and {high}: no edge is \
              made of such a value.",
            low = level(*low), high = level(*high);
    { channel, count, low, high } =>
        says "There are {count} values of the channel {channel} far outside of its levels {low} and {high}: no \
              edge is made of such a value.",
            count = grouped(*count), low = level(*low), high = level(*high);

    /// A session lacks parts of its samples.
    ChunkMissing { parts } =>
        says "The session lacks {parts}. What was in there is unknown; it counts as long as the other parts.",
            parts = parts.join(", ");
        remedy "Save the capture again.";

    /// Rows or values of a file could not be read.
    CaptureLeftOut
    { count: 1, items, first } =>
        says "1 {item} that may hold an edge or a reading could not be read: {first}.",
            item = items.trim_end_matches('s');
        remedy EXPORT_AGAIN;
    { count, items, first } =>
        says "{count} {items} that may hold edges or readings could not be read; the first is {first}.",
            count = grouped(*count);
        remedy EXPORT_AGAIN;

    /// A part of a file is missing: it ends within a line, has fewer samples than it states, lacks samples
    /// between others, or the level of a channel is unknown for a while.
    CaptureIncomplete
    { places: 1, missing } =>
        says "The capture is incomplete: {missing}.";
        remedy WHOLE_CAPTURE;
    { places, missing } =>
        says "The capture is incomplete in {places} places; the first is {missing}.", places = grouped(*places);
        remedy WHOLE_CAPTURE;

    /// Responses kept the deadline by less than the resolution of the times.
    DeadlineWithinResolution
    { count: 1, resolution_ns } =>
        says "1 response kept the deadline by less than the resolution of the capture, {resolution_ns}: it may \
              have missed it.";
        remedy "Capture with a higher sample rate.";
    { count, resolution_ns } =>
        says "{count} responses kept the deadline by less than the resolution of the capture, {resolution_ns}: \
              they may have missed it.",
            count = grouped(*count);
        remedy "Capture with a higher sample rate.";

    /// Something in a file was left out, or looks wrong.
    CaptureNote { note } =>
        says "{note}";
}}

const LONGER_WINDOW: &str = "Use a longer --window if they should count.";
const GIVE_THRESHOLDS: &str = "Give {thresholds}.";
const EXPORT_AGAIN: &str = "Look at the first of them, and export the capture again.";
const WHOLE_CAPTURE: &str = "Save or export the whole capture again.";

/// A level with three digits.
fn level(level: f64) -> String {
    let digits = 10f64.powi(2 - level.abs().max(1e-9).log10().floor() as i32);
    format!("{}", (level * digits).round() / digits + 0.0)
}

fn all(levels: &[f64]) -> String {
    levels.iter().map(|one| level(*one)).collect::<Vec<_>>().join(", ")
}

/// `--threshold 1.5V or --threshold 3V`.
fn options(thresholds: &[f64]) -> Line {
    let each =
        thresholds.iter().map(|one| Line::new("--threshold").word(format!("{}V", level(*one))));
    each.reduce(|all, next| all.then(" or ", &next)).unwrap_or(Line::new("--threshold"))
}

fn named(readings: &[ImpossibleReading]) -> String {
    let named = readings.iter().map(|ImpossibleReading { number, value_ns }| {
        // Exact, because the user will search the list for it.
        format!("number {number} is {} ns", value_ns.0)
    });
    named.collect::<Vec<_>>().join(", ")
}

fn meant(readings: &[ImpossibleReading], first_meant_ns: Option<i64>) -> String {
    match (first_meant_ns, readings.first()) {
        (Some(meant), Some(first)) => format!(
            " The program that wrote them may count a second as 1 000 000 nanoseconds: number {} would then be \
             {meant} ns.",
            first.number
        ),
        _ => String::new(),
    }
}
