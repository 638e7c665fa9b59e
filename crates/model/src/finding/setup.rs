//! Findings about other runs of latlab on the machine, and about what was set.

use super::kinds::{FindingEntry, findings};
use super::{INFO, WARNING, Weight};
use crate::CpuSet;
use serde::{Deserialize, Serialize};

findings! {
    /// Other runs of latlab, and what was set.
    SetupFinding {
        /// Another run of latlab measured the same CPUs at the same time, and `--share` allowed it.
        CpusShared = "cpus-shared" (
            "warning",
            "no",
            "Measure one after the other."
        ) {
            /// The CPUs.
            cpus: CpuSet,
            /// The other run's process and its command line.
            holder: String,
        }
        /// Neither `/run/lock` nor `/tmp` could be written, so another run of latlab on the same
        /// CPUs would not have shown.
        CpusNotHeld = "cpus-not-held" (
            "info",
            "no",
            "Make sure that there was none."
        ) {
            /// Why they could not be written.
            error: String,
        }
        /// A kernel file that the run changed does not hold what it held before.
        SettingNotRestored = "setting-not-restored" (
            "warning",
            "no",
            "Set it by hand, or try `latlab doctor --restore`."
        ) {
            /// The file or the thread.
            setting: String,
            /// What it held before the run.
            before: String,
            /// What another program wrote to it during the run; none where writing failed.
            now: Option<String>,
            /// Why it could not be written.
            error: Option<String>,
        }
    }
}

impl SetupFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        match self {
            SetupFinding::CpusNotHeld { .. } => INFO,
            SetupFinding::CpusShared { .. } | SetupFinding::SettingNotRestored { .. } => WARNING,
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        match self {
            SetupFinding::CpusShared { cpus, holder } => format!(
                "{holder} measured CPU {cpus} at the same time: the two runs disturbed each other."
            ),
            SetupFinding::CpusNotHeld { error } => format!(
                "Neither /run/lock nor /tmp can be written ({error}), so another run of latlab on \
                 these CPUs would not show."
            ),
            SetupFinding::SettingNotRestored { setting, before, now, error } => {
                let why = match (now, error) {
                    (Some(now), _) => format!("another program set it to '{now}' during the run"),
                    (None, Some(error)) => error.clone(),
                    (None, None) => "writing to it failed".to_string(),
                };
                format!("{setting} was not set back to '{before}': {why}.")
            }
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<String> {
        let remedy = match self {
            SetupFinding::CpusShared { .. } => "Measure one after the other.",
            SetupFinding::CpusNotHeld { .. } => return None,
            SetupFinding::SettingNotRestored { .. } => {
                "Set it by hand, or try `latlab doctor --restore`."
            }
        };
        Some(remedy.to_string())
    }
}
