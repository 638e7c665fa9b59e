//! What an imported file does not state, or states inconsistently.

use super::kinds::{FindingWords, Said, Worded, words};
use latlab_model::Nanos;
use latlab_model::finding::ImportFinding;
use latlab_model::shell::Line;
use latlab_model::units::{counted, grouped, within_sentence};

words! { ImportFinding {
    /// Latencies lie beyond the last bin of the histogram: how many is known, but not how long each was.
    ImportOverflow
    { count: 1, end_ns, largest_ns: Some(largest_ns), stated_mean_ns } =>
        says "The histogram ends at {end_ns}: 1 latency of {largest_ns} is known only as the maximum. The mean \
              of the bins excludes it{stated_mean}.",
            stated_mean = stated(*stated_mean_ns);
        remedy MORE_BINS;
    { count, end_ns, largest_ns: Some(largest_ns), stated_mean_ns } =>
        says "The histogram ends at {end_ns}: {latencies} lie beyond, the largest is {largest_ns}. The mean of \
              the bins excludes them{stated_mean}.",
            latencies = counted(*count, "latency", "latencies"), stated_mean = stated(*stated_mean_ns);
        remedy MORE_BINS;
    { count: 1, end_ns, largest_ns: None, stated_mean_ns } =>
        says "The histogram ends at {end_ns}: 1 latency lies beyond, and the file does not say how large. The \
              mean of the bins excludes it{stated_mean}.",
            stated_mean = stated(*stated_mean_ns);
        remedy MORE_BINS;
    { count, end_ns, largest_ns: None, stated_mean_ns } =>
        says "The histogram ends at {end_ns}: {latencies} beyond, and the file does not say how large. The mean \
              of the bins excludes them{stated_mean}.",
            latencies = counted(*count, "latency lies", "latencies lie"),
            stated_mean = stated(*stated_mean_ns);
        remedy MORE_BINS;

    /// The file does not say how many latencies lie beyond the last bin.
    ImportOverflowUnknown
    { end_ns, largest_ns: Some(largest_ns) } =>
        says "The histogram ends at {end_ns}, and the file states a maximum of {largest_ns}. It does not say \
              how many latencies lie beyond the last bin.";
        remedy "Import the complete output of the tool.";
    { end_ns, largest_ns: None } =>
        says "The histogram ends at {end_ns}, and the file does not say how many latencies lie beyond the last \
              bin.";
        remedy "Import the complete output of the tool.";

    /// Two statements of the file contradict each other. The bins count.
    ImportContradiction { about, stated, counted } =>
        says "The file contradicts itself: it states {stated} as {about}, and its data come to {counted}.",
            about = within_sentence(about);

    /// The file ends too early, or a part of it is missing.
    ImportIncomplete { missing } =>
        says "The file is incomplete: {missing}.";

    /// Lines or values of the file could not be read, and were left out.
    ImportLeftOut
    { count: 1, items, first_line, first } =>
        says "1 {item} {lost}: {line}'{first}'.",
            item = singular(items), lost = lost(items), line = before(*first_line);
    { count, items, first_line, first } =>
        says "{count} {items} {lost}; the first is {line}'{first}'.",
            count = grouped(*count), lost = lost(items), line = before(*first_line);

    /// Lines of the file are not of its format, and hold no value: prompts, messages or the output of other
    /// programs.
    ImportOtherText { count, first_line, first } =>
        says "{lines} no value; the first is line {first_line}: '{first}'.",
            lines = counted(*count, "other line holds", "other lines hold");

    /// The file holds only figures, so there are no quantiles and no chart.
    ImportSummaryOnly {} =>
        says "The file has neither a histogram nor samples, only figures. Quantiles are unknown.";
        remedy "Record with a histogram, as with `cyclictest -h 400`.";

    /// The file does not say whether some latencies were later than the deadline.
    DeadlineUndecided
    { count: Some(count) } =>
        says "The file does not say whether {latencies} later than the deadline.",
            latencies = counted(*count, "latency was", "latencies were");
        remedy "Record with finer bins, or more of them.";
    { count: None } =>
        says "The file does not say how many latencies it leaves out, and these may have been later than the \
              deadline.";
        remedy "Record with finer bins, or more of them.";

    /// Something that a reader of the file should know.
    ImportNote { note } =>
        says "{note}";
}}

const MORE_BINS: &str = "Record with more bins.";

fn stated(mean: Option<Nanos>) -> String {
    mean.map(|mean| format!("; the file states {mean} for all")).unwrap_or_default()
}

fn lost(items: &str) -> &'static str {
    match items {
        "lines" => "that may hold latencies could not be read",
        _ => "could not be used",
    }
}

fn before(line: Option<u64>) -> String {
    line.map(|line| format!("line {line}: ")).unwrap_or_default()
}

/// `lines` as `line`, `entries` as `entry`.
fn singular(items: &str) -> String {
    match items.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => items.strip_suffix('s').unwrap_or(items).to_string(),
    }
}
