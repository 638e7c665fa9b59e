//! What is known of a guest only after it was built.

use serde::{Deserialize, Serialize};

/// The file that identifies a guest.
pub const MARK: &str = "lab/guest";
/// Suffix of that file's text if the guest's time is virtual.
pub const IN_VIRTUAL_TIME: &str = "in virtual time";
/// Code of the finding that a guest exceeded its time limit and was stopped.
pub const TIME_LIMIT_FINDING: &str = "guest-time-limit";

/// What a guest was made of. In virtual time, the same parts and the same plan give the same run,
/// bit for bit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Guest {
    /// Seed of all randomness in the machine.
    pub seed: u64,
    /// Emulator and version, as it reports them.
    pub emulator: String,
    /// Accelerator of a guest in the host's time; `None` in virtual time.
    pub accelerator: Option<String>,
    /// Source of the kernel: a package with its version, or a file.
    pub kernel: String,
    /// SHA-256 of the kernel image.
    pub kernel_sha256: String,
    /// SHA-256 of the initial file system without the job in it.
    pub files_sha256: String,
}

/// Size and hash of what a guest in virtual time measured: the frames of its intervals, spikes,
/// samples and ends. Runs with equal hashes are the same to the last bit, whatever their ids and
/// names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuestMeasurement {
    /// Length in bytes.
    pub bytes: u64,
    /// SHA-256, in hexadecimal.
    pub sha256: String,
}
