//! How the instrument `spin` spins.

use crate::Nanos;
use crate::nanos::{MICROSECOND, SECOND};
use crate::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;

/// More is no cache of any processor.
const LARGEST_WORKLOAD: u32 = 256 << 20;

words! {
    /// What a spinning thread does in each pass.
    Workload {
        /// Nothing but reading the counter.
        None = "none",
        /// Copies a piece of memory.
        Memmove = "memmove",
    }
}

/// How the instrument `spin` spins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spin {
    /// A pass longer than the usual one by more than this is a gap.
    pub gap_above_ns: Nanos,
    /// What each pass does.
    pub workload: Workload,
    /// Bytes that the workload works on.
    pub workload_bytes: u32,
}

impl Default for Spin {
    fn default() -> Spin {
        Spin { gap_above_ns: MICROSECOND, workload: Workload::None, workload_bytes: 4096 }
    }
}

impl Spin {
    /// Whether it makes sense by itself.
    pub(super) fn check(self) -> Result<(), String> {
        let Spin { gap_above_ns, workload_bytes, .. } = self;
        if gap_above_ns < Nanos(100) || gap_above_ns > SECOND {
            return Err(format!("--gap-above {gap_above_ns}: expected 100ns to 1s"));
        }
        if !(8..=LARGEST_WORKLOAD).contains(&workload_bytes) {
            return Err(format!("--workload-size {workload_bytes}: expected 8 to 256M"));
        }
        Ok(())
    }
}
