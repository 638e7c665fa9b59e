//! Findings about other runs of latlab on the machine, and about what was set.

use super::kinds::{FindingRow, findings};
use super::{INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::CpuSet;
use serde::{Deserialize, Serialize};

findings! {
    /// Other runs of latlab, and what was set.
    SetupFinding {
        "cpus-shared" CpusShared {
            /// The CPUs.
            cpus: CpuSet,
            /// The other run's process and its command line.
            holder: String,
        } => WARNING;
        "cpus-not-held" CpusNotHeld {
            /// Why none could be written.
            error: String,
        } => INFO;
        "setting-changed" SettingChanged {
            /// What was set: `scheduling`, `affinity`, the path of a kernel file.
            setting: String,
            /// What it was.
            held: String,
            /// What it is since then.
            now: String,
            /// Whether the change makes the figures worthless.
            matters: bool,
        } => NO_PASS, INVALID if *matters;
        "setting-unreadable" SettingUnreadable {
            /// What was set.
            setting: String,
            /// What it held when it was read last.
            held: String,
            /// Why it cannot be read.
            reason: String,
        } => NO_PASS;
        "setting-written" SettingWritten {
            /// What was set.
            setting: String,
            /// What it holds.
            value: String,
        } => NO_PASS;
        "setting-not-restored" SettingNotRestored {
            /// The file or the thread.
            setting: String,
            /// What it held before the run.
            before: String,
            /// What another program wrote to it during the run; none where writing failed.
            now: Option<String>,
            /// Why it could not be written.
            error: Option<String>,
        } => WARNING;
    }
}
