//! What is known of a guest only once it was made.

use serde::{Deserialize, Serialize};

/// The file by which a guest says that it is one.
pub const MARK: &str = "lab/guest";
/// How what stands there ends where its time is virtual.
pub const IN_VIRTUAL_TIME: &str = "in virtual time";
/// Code of the finding that a guest took too long and was ended.
pub const TIME_LIMIT_FINDING: &str = "guest-time-limit";

/// What a guest was made of; in virtual time the same parts and the same plan give the same run, to
/// the last bit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Guest {
    /// What all randomness of the machine grows from.
    pub seed: u64,
    /// The emulator and its version, as it names itself.
    pub emulator: String,
    /// What it ran by, where its time was that of the host; none means virtual time.
    pub accelerator: Option<String>,
    /// Where the kernel came from: a package with its version, or a file.
    pub kernel: String,
    /// SHA-256 of the kernel's image.
    pub kernel_sha256: String,
    /// SHA-256 of the initial file system, but for the job in it.
    pub files_sha256: String,
}

/// What a guest in virtual time has sent, by which a replay knows that it is the same run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuestStream {
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}
