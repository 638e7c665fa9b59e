//! Findings about what an imported file does not tell, or tells twice in different words.

use super::kinds::{FindingEntry, findings};
use super::{INFO, NO_PASS, WARNING, Weight};
use crate::Nanos;
use crate::shell::Line;
use crate::units::{counted, grouped, within_sentence};
use serde::{Deserialize, Serialize};

findings! {
    /// What an imported file does not tell.
    ImportFinding {
        /// Latencies lie beyond the last bin of the histogram: their number and the largest are
        /// known, but not how long each was. The mean leaves them out.
        ImportOverflow = "import-overflow" (
            "warning",
            "none",
            "Record with more bins."
        ) {
            /// How many.
            count: u64,
            /// Where the histogram ends.
            end_ns: Nanos,
            /// The largest; none where the file does not say it.
            largest_ns: Option<Nanos>,
            /// The mean of all latencies as the file states it; none where it does not.
            stated_mean_ns: Option<Nanos>,
        }
        /// The file does not say how many latencies lie beyond the last bin.
        ImportOverflowUnknown = "import-overflow-unknown" (
            "warning",
            "none",
            "Import the complete output of the tool."
        ) {
            /// Where the histogram ends.
            end_ns: Nanos,
            /// A maximum beyond that, which the file states; none where it states none.
            largest_ns: Option<Nanos>,
        }
        /// Two statements of the file contradict each other.
        ImportContradiction = "import-contradiction" (
            "warning",
            "no pass",
            "Find out which one is right; the bins count."
        ) {
            /// What they are about.
            about: String,
            /// What the file states.
            stated: String,
            /// What its bins or samples come to.
            counted: String,
        }
        /// The file ends too early, or a part of it is missing.
        ImportIncomplete = "import-incomplete" (
            "warning",
            "no pass",
            "Import the complete file, if there is one."
        ) {
            /// What is missing.
            missing: String,
        }
        /// Lines or values of the file could not be read, and were left out.
        ImportLeftOut = "import-left-out" (
            "warning",
            "no pass",
            "Look at the first of them."
        ) {
            /// How many.
            count: u64,
            /// What they are: `lines`, `negative values`.
            items: String,
            /// Line of the first, from 1; none in a file without lines.
            first_line: Option<u64>,
            /// The first of them.
            first: String,
        }
        /// Lines of the file are none of its format, and hold no value.
        ImportOtherText = "import-other-text" (
            "info",
            "none",
            "Nothing: they are prompts, messages or the output of other programs."
        ) {
            /// How many.
            count: u64,
            /// Line of the first, from 1.
            first_line: u64,
            /// The first of them.
            first: String,
        }
        /// The file holds only figures: no histogram and no samples, so there are no quantiles and
        /// no chart.
        ImportSummaryOnly = "import-summary-only" (
            "info",
            "none",
            "Record with a histogram, as with `cyclictest -h 400`."
        ) {}
        /// The file does not tell whether some latencies were later than the deadline.
        DeadlineUndecided = "import-deadline-undecided" (
            "warning",
            "no pass",
            "Record with finer bins, or more of them."
        ) {
            /// How many; none where not even that is known.
            count: Option<u64>,
        }
        /// Something that a reader of the file should know.
        ImportNote = "import-note" ("info", "none", "As the note says.") {
            /// The note of the reader of that format.
            note: String,
        }
    }
}

impl ImportFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use ImportFinding::*;
        match self {
            ImportOtherText { .. } | ImportSummaryOnly {} | ImportNote { .. } => INFO,
            ImportOverflow { .. } | ImportOverflowUnknown { .. } => WARNING,
            ImportContradiction { .. }
            | ImportIncomplete { .. }
            | ImportLeftOut { .. }
            | DeadlineUndecided { .. } => NO_PASS,
        }
    }

    /// Whether a larger latency than all known ones may be missing.
    pub(super) fn hides_maximum(&self) -> bool {
        match self {
            ImportFinding::ImportOverflowUnknown { largest_ns, .. } => largest_ns.is_none(),
            _ => self.hides_latencies(),
        }
    }

    /// Whether latencies may be missing.
    pub(super) fn hides_latencies(&self) -> bool {
        use ImportFinding::*;
        match self {
            ImportContradiction { .. }
            | ImportIncomplete { .. }
            | ImportLeftOut { .. }
            | ImportOverflowUnknown { .. } => true,
            ImportOverflow { .. }
            | ImportOtherText { .. }
            | ImportSummaryOnly {}
            | DeadlineUndecided { .. }
            | ImportNote { .. } => false,
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        use ImportFinding::*;
        match self {
            ImportOverflow { count, end_ns, largest_ns, stated_mean_ns } => {
                overflow(*count, *end_ns, *largest_ns, *stated_mean_ns)
            }
            ImportOverflowUnknown { end_ns, largest_ns } => match largest_ns {
                Some(largest) => format!(
                    "The histogram ends at {end_ns}, and the file states a maximum of {largest}. It \
                     does not say how many latencies lie beyond the last bin."
                ),
                None => format!(
                    "The histogram ends at {end_ns}, and the file does not say how many latencies \
                     lie beyond the last bin."
                ),
            },
            ImportContradiction { about, stated, counted } => {
                format!(
                    "The file contradicts itself: it states {stated} as {}, and its data come to \
                     {counted}.",
                    within_sentence(about)
                )
            }
            ImportIncomplete { missing } => format!("The file is incomplete: {missing}."),
            ImportLeftOut { count, items, first_line, first } => {
                left_out(*count, items, *first_line, first)
            }
            ImportOtherText { count, first_line, first } => format!(
                "{} no value; the first is line {first_line}: '{first}'.",
                counted(*count, "other line holds", "other lines hold")
            ),
            ImportSummaryOnly {} => "The file has neither a histogram nor samples, only figures. \
                                     Quantiles are unknown."
                .to_string(),
            DeadlineUndecided { count } => match count {
                Some(count) => format!(
                    "The file does not say whether {} later than the deadline.",
                    counted(*count, "latency was", "latencies were")
                ),
                None => {
                    "The file does not say how many latencies it leaves out, and these may have \
                         been later than the deadline."
                        .to_string()
                }
            },
            ImportNote { note } => note.clone(),
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        use ImportFinding::*;
        let remedy = match self {
            ImportOverflow { .. } => "Record with more bins.",
            ImportOverflowUnknown { .. } => "Import the complete output of the tool.",
            ImportSummaryOnly {} => "Record with a histogram, as with `cyclictest -h 400`.",
            DeadlineUndecided { .. } => "Record with finer bins, or more of them.",
            ImportContradiction { .. }
            | ImportIncomplete { .. }
            | ImportLeftOut { .. }
            | ImportOtherText { .. }
            | ImportNote { .. } => return None,
        };
        Some(Line::new(remedy))
    }
}

fn left_out(count: u64, items: &str, first_line: Option<u64>, first: &str) -> String {
    let lost = match items {
        "lines" => "that may hold latencies could not be read",
        _ => "could not be used",
    };
    let at = first_line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let (items, which) = match count {
        1 => (singular(items), ":"),
        _ => (items.to_string(), "; the first is"),
    };
    format!("{} {items} {lost}{which} {at}'{first}'.", grouped(count))
}

/// `lines` as `line`, `entries` as `entry`.
fn singular(items: &str) -> String {
    match items.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => items.strip_suffix('s').unwrap_or(items).to_string(),
    }
}

fn overflow(count: u64, end: Nanos, largest: Option<Nanos>, mean: Option<Nanos>) -> String {
    let known = match (count, largest) {
        (1, Some(largest)) => format!("1 latency of {largest} is known only as the maximum"),
        (count, Some(largest)) => {
            format!(
                "{} lie beyond, the largest is {largest}",
                counted(count, "latency", "latencies")
            )
        }
        (count, None) => format!(
            "{} beyond, and the file does not say how large",
            counted(count, "latency lies", "latencies lie")
        ),
    };
    let leaves = if count == 1 { "it" } else { "them" };
    let stated = mean.map(|mean| format!("; the file states {mean} for all")).unwrap_or_default();
    format!("The histogram ends at {end}: {known}. The mean of the bins excludes {leaves}{stated}.")
}
