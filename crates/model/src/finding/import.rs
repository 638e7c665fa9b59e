//! Findings about what an imported file lacks or contradicts.

use super::kinds::{FindingRow, findings};
use super::{INFO, NO_PASS, WARNING, Weight};
use crate::Nanos;
use serde::{Deserialize, Serialize};

findings! {
    /// What an imported file does not say.
    ImportFinding {
        "import-overflow" ImportOverflow {
            /// Number of latencies beyond the histogram.
            count: u64,
            /// End of the histogram.
            end_ns: Nanos,
            /// Largest latency; `None` if the file does not state it.
            largest_ns: Option<Nanos>,
            /// Mean of all latencies as stated in the file; `None` if it states none.
            stated_mean_ns: Option<Nanos>,
        } => WARNING;
        "import-overflow-unknown" ImportOverflowUnknown {
            /// End of the histogram.
            end_ns: Nanos,
            /// Stated maximum beyond that end; `None` if the file states none.
            largest_ns: Option<Nanos>,
        } => WARNING;
        "import-contradiction" ImportContradiction {
            /// Quantity concerned.
            about: String,
            /// Value stated in the file.
            stated: String,
            /// Value computed from its bins or samples.
            counted: String,
        } => NO_PASS;
        "import-incomplete" ImportIncomplete {
            /// What is missing.
            missing: String,
        } => NO_PASS;
        "import-left-out" ImportLeftOut {
            /// Number of items that could not be read.
            count: u64,
            /// Kind of item: `lines`, `negative values`.
            items: String,
            /// Line of the first, from 1; `None` if the file has no lines.
            first_line: Option<u64>,
            /// Text of the first.
            first: String,
        } => NO_PASS;
        "import-other-text" ImportOtherText {
            /// Number of lines without a value.
            count: u64,
            /// Line of the first, from 1.
            first_line: u64,
            /// Text of the first.
            first: String,
        } => INFO;
        "import-summary-only" ImportSummaryOnly {} => INFO;
        "import-deadline-undecided" DeadlineUndecided {
            /// Number of latencies that may be later than the deadline; `None` if unknown.
            count: Option<u64>,
        } => NO_PASS;
        "import-note" ImportNote {
            /// Note of the format's reader.
            note: String,
        } => INFO;
    }
}

impl ImportFinding {
    /// Whether a latency larger than the known maximum may be missing.
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
