//! Findings about other runs of latlab on the machine, and about settings.

use super::kinds::{FindingRow, findings};
use super::{INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::CpuSet;
use serde::{Deserialize, Serialize};

findings! {
    /// Other runs of latlab, and settings.
    SetupFinding {
        "cpus-shared" CpusShared {
            /// The CPUs concerned.
            cpus: CpuSet,
            /// Process and command line of the other run.
            holder: String,
        } => WARNING;
        "cpus-not-held" CpusNotHeld {
            /// Why the CPUs could not be locked.
            error: String,
        } => INFO;
        "setting-changed" SettingChanged {
            /// Name of the setting: `scheduling`, `affinity`, the path of a kernel file.
            setting: String,
            /// Value before the change.
            held: String,
            /// Value since the change.
            now: String,
            /// Whether the change makes the figures worthless.
            matters: bool,
        } => NO_PASS, INVALID if *matters;
        "setting-unreadable" SettingUnreadable {
            /// Name of the setting.
            setting: String,
            /// Value when last read.
            held: String,
            /// Why it cannot be read.
            reason: String,
        } => NO_PASS;
        "setting-written" SettingWritten {
            /// Name of the setting.
            setting: String,
            /// Current value.
            value: String,
        } => NO_PASS;
        "setting-not-restored" SettingNotRestored {
            /// The file or the thread.
            setting: String,
            /// Value before the run.
            before: String,
            /// Value another program wrote during the run; `None` if writing failed.
            now: Option<String>,
            /// Why it could not be written; `None` if another program had changed it.
            error: Option<String>,
        } => WARNING;
    }
}
