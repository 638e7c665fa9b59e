//! The method `spin`: a busy loop that detects time taken from it.

use super::{Plan, Policy};
use crate::Nanos;
use crate::nanos::{MICROSECOND, SECOND};
use serde::{Deserialize, Serialize};
use std::fmt;

/// No processor has a larger cache.
const LARGEST_WORKLOAD: u32 = 256 << 20;
/// A shorter warm-up cannot establish the usual pass.
const LEAST_LEARNING: Nanos = Nanos(10_000_000);

/// Work of a spinning thread in each pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum Workload {
    /// Only reads the counter.
    None,
    /// Copies a block of memory.
    Memmove {
        /// Size of the block, in bytes.
        bytes: u32,
    },
}

impl Workload {
    /// Default size of a workload's memory, in bytes.
    pub const DEFAULT_BYTES: u32 = 4096;

    /// Names on the command line.
    pub const NAMES: [&str; 2] = ["none", "memmove"];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Workload::None => Workload::NAMES[0],
            Workload::Memmove { .. } => Workload::NAMES[1],
        }
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A busy loop that detects time taken from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spin {
    /// A pass that exceeds the usual one by more than this is a gap.
    pub gap_above_ns: Nanos,
    /// Work of each pass.
    pub workload: Workload,
}

/// latlab's defaults.
impl Default for Spin {
    fn default() -> Spin {
        Spin { gap_above_ns: MICROSECOND, workload: Workload::None }
    }
}

impl Spin {
    /// Checks the parameters within their plan; an error is one line for the user.
    pub(super) fn check(&self, plan: &Plan) -> Result<(), String> {
        if self.gap_above_ns < Nanos(100) || self.gap_above_ns > SECOND {
            return Err(format!("--gap-above {}: expected 100ns to 1s", self.gap_above_ns));
        }
        if let Workload::Memmove { bytes } = self.workload
            && !(8..=LARGEST_WORKLOAD).contains(&bytes)
        {
            return Err(format!("--workload-size {bytes}: expected 8 to 256M"));
        }
        if matches!(plan.who.policy, Some(Policy::Deadline { .. })) {
            return Err(
                "--policy deadline does not apply to spin, which would exhaust its budget: \
                        use other, fifo or rr"
                    .to_string(),
            );
        }
        match plan.until.warm_up_ns.is_none_or(|warm_up| warm_up < LEAST_LEARNING) {
            true => Err("--warm-up: spin needs at least 10ms to learn the usual pass".to_string()),
            false => Ok(()),
        }
    }
}
