//! Findings about what an imported file does not tell, or tells twice in different words.

use super::kinds::{FindingRow, findings};
use super::{INFO, NO_PASS, WARNING, Weight};
use crate::Nanos;
use serde::{Deserialize, Serialize};

findings! {
    /// What an imported file does not tell.
    ImportFinding {
        "import-overflow" ImportOverflow {
            /// How many.
            count: u64,
            /// Where the histogram ends.
            end_ns: Nanos,
            /// The largest; none where the file does not say it.
            largest_ns: Option<Nanos>,
            /// The mean of all latencies as the file states it; none where it does not.
            stated_mean_ns: Option<Nanos>,
        } => WARNING;
        "import-overflow-unknown" ImportOverflowUnknown {
            /// Where the histogram ends.
            end_ns: Nanos,
            /// A maximum beyond that, which the file states; none where it states none.
            largest_ns: Option<Nanos>,
        } => WARNING;
        "import-contradiction" ImportContradiction {
            /// What they are about.
            about: String,
            /// What the file states.
            stated: String,
            /// What its bins or samples come to.
            counted: String,
        } => NO_PASS;
        "import-incomplete" ImportIncomplete {
            /// What is missing.
            missing: String,
        } => NO_PASS;
        "import-left-out" ImportLeftOut {
            /// How many.
            count: u64,
            /// What they are: `lines`, `negative values`.
            items: String,
            /// Line of the first, from 1; none in a file without lines.
            first_line: Option<u64>,
            /// The first of them.
            first: String,
        } => NO_PASS;
        "import-other-text" ImportOtherText {
            /// How many.
            count: u64,
            /// Line of the first, from 1.
            first_line: u64,
            /// The first of them.
            first: String,
        } => INFO;
        "import-summary-only" ImportSummaryOnly {} => INFO;
        "import-deadline-undecided" DeadlineUndecided {
            /// How many; none where not even that is known.
            count: Option<u64>,
        } => NO_PASS;
        "import-note" ImportNote {
            /// The note of the reader of that format.
            note: String,
        } => INFO;
    }
}

impl ImportFinding {
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
}
