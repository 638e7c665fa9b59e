//! Findings about other runs of latlab on the machine, and about what was set.

use super::kinds::{FindingEntry, findings};
use super::{INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::CpuSet;
use crate::shell::Line;
use serde::{Deserialize, Serialize};

findings! {
    /// Other runs of latlab, and what was set.
    SetupFinding {
        /// Another run of latlab measured the same CPUs at the same time: `--share` allowed it, or it
        /// is of another user.
        CpusShared = "cpus-shared" (
            "warning",
            "none",
            "Measure one run after the other."
        ) {
            /// The CPUs.
            cpus: CpuSet,
            /// The other run's process and its command line.
            holder: String,
        }
        /// No record could be written below `/run` or `/tmp`, so another run of latlab on the same
        /// CPUs would not have been detected.
        CpusNotHeld = "cpus-not-held" (
            "info",
            "none",
            "Make sure that no other run measured the same CPUs."
        ) {
            /// Why none could be written.
            error: String,
        }
        /// A setting changed during the run: the scheduling or the CPUs of a thread, the memory
        /// lock, a file of `--set`, a part of a tuning. The time is that of the reading that found
        /// it.
        SettingChanged = "setting-changed" (
            "warning, error",
            "no pass, invalid where it matters",
            "Find the program that changed it, and stop it for the run; see \
             [what is read again](../guide/reading-the-result.md#settings-are-read-again)."
        ) {
            /// What was set: `scheduling`, `affinity`, the path of a kernel file.
            setting: String,
            /// What it was.
            held: String,
            /// What it is since then.
            now: String,
            /// Whether the change makes the figures worthless.
            matters: bool,
        }
        /// A setting could not be read any more, so it is unknown whether it held until the end.
        SettingUnreadable = "setting-unreadable" (
            "warning",
            "no pass",
            "Find out what took it away (an unmount, a removed device); measure again."
        ) {
            /// What was set.
            setting: String,
            /// What it held when it was read last.
            held: String,
            /// Why it cannot be read.
            reason: String,
        }
        /// Another program wrote to a kernel file that the run had set, and the file holds what it
        /// held. It may have held something else in between.
        SettingWritten = "setting-written" (
            "warning",
            "no pass",
            "Find the program that writes to it, and stop it for the run."
        ) {
            /// What was set.
            setting: String,
            /// What it holds.
            value: String,
        }
        /// A kernel file that the run changed does not hold what it held before.
        SettingNotRestored = "setting-not-restored" (
            "warning",
            "none",
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
            SetupFinding::SettingChanged { matters: true, .. } => INVALID,
            // The run may not have stayed as it was asked.
            SetupFinding::SettingChanged { .. }
            | SetupFinding::SettingUnreadable { .. }
            | SetupFinding::SettingWritten { .. } => NO_PASS,
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
                "The CPUs cannot be claimed ({error}), so another run of latlab on them would not \
                 show."
            ),
            SetupFinding::SettingChanged { setting, held, now, .. } => {
                format!("During the run, {setting} changed from '{held}' to '{now}'.")
            }
            SetupFinding::SettingUnreadable { setting, held, reason } => format!(
                "During the run, {setting} could not be read any more ({reason}): it is unknown \
                 whether it held '{held}' until the end."
            ),
            SetupFinding::SettingWritten { setting, value } => format!(
                "During the run, another program wrote to {setting}. It holds '{value}' as before, \
                 but may have held something else in between."
            ),
            SetupFinding::SettingNotRestored { setting, before, now, error } => {
                let why = match (now, error) {
                    (Some(now), _) => format!("another program set it to '{now}' during the run"),
                    (None, Some(error)) => error.clone(),
                    (None, None) => "writing to it failed".to_string(),
                };
                format!("{setting} was not restored to '{before}': {why}.")
            }
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        let remedy = match self {
            SetupFinding::CpusShared { .. } => "Measure one run after the other.",
            SetupFinding::CpusNotHeld { .. } => return None,
            SetupFinding::SettingChanged { setting, .. }
            | SetupFinding::SettingWritten { setting, .. } => of_changed(setting),
            SetupFinding::SettingUnreadable { .. } => {
                "Find out what took it away (an unmount, a removed device), and measure again."
            }
            SetupFinding::SettingNotRestored { .. } => {
                "Set it by hand, or try `latlab doctor --restore`."
            }
        };
        Some(Line::new(remedy))
    }
}

/// What may have changed a setting, by the setting's name.
fn of_changed(setting: &str) -> &'static str {
    match setting {
        "memory lock" | "timer slack" | "run-away guard" | "idle states" => {
            "Find the program that changed it, and measure again."
        }
        file if file.contains('/') || file.starts_with("tuning ") => {
            "Find the program that writes to it, such as irqbalance, tuned or a power daemon, and \
             stop it for the run."
        }
        _ => {
            "Find who changes threads of other programs, such as a person with chrt or taskset, a \
             cpuset or a daemon, and measure again."
        }
    }
}
