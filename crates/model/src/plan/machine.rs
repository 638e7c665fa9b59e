//! Machine settings for the duration of a run.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A file under `/proc/sys` or `/sys` that is set for the duration of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelFile {
    /// Absolute path.
    pub path: String,
    /// Value to write.
    pub value: String,
}

/// Parses `/sys/…=VALUE` and, as for `sysctl`, `kernel.sched_rt_runtime_us=VALUE`.
impl std::str::FromStr for KernelFile {
    type Err = String;

    fn from_str(text: &str) -> Result<KernelFile, String> {
        let expected = "expected /sys/FILE=VALUE, /proc/sys/FILE=VALUE or NAME.OF.SYSCTL=VALUE";
        let (file, value) = text.split_once('=').ok_or(expected)?;
        let (file, value) = (file.trim(), value.trim());
        let path = match file.starts_with('/') {
            true => file.to_string(),
            false => format!("/proc/sys/{}", file.replace('.', "/")),
        };
        let below = ["/proc/sys/", "/sys/"].iter().find_map(|root| path.strip_prefix(root));
        let is_file = |rest: &str| rest.split('/').all(|part| !matches!(part, "" | "." | ".."));
        match below.is_some_and(is_file) && !value.is_empty() && !text.contains(char::is_control) {
            true => Ok(KernelFile { path, value: value.to_string() }),
            false => Err(expected.to_string()),
        }
    }
}

impl fmt::Display for KernelFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.path, self.value)
    }
}

/// Limit for idle states during a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IdleStates {
    /// Hold `/dev/cpu_dma_latency` at this value: no idle state with a longer exit latency.
    ExitWithin(Nanos),
    /// Leave the system's setting.
    System,
}

impl fmt::Display for IdleStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IdleStates::ExitWithin(limit) => write!(f, "{limit}"),
            IdleStates::System => f.pad("system"),
        }
    }
}
