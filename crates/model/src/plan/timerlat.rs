//! The method `timerlat`: the kernel's own tracer, whose records are read.

use super::Releases;
use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Range accepted by the kernel's timerlat, which counts in microseconds.
const PERIODS: std::ops::RangeInclusive<Nanos> = Nanos(100_000)..=Nanos(1_000_000_000);

/// The kernel's tracer, with a thread on each measured CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timerlat {
    /// Period of its releases on all CPUs.
    pub period_ns: Nanos,
}

impl Default for Timerlat {
    fn default() -> Timerlat {
        Timerlat { period_ns: Releases::DEFAULT_PERIOD }
    }
}

impl Timerlat {
    /// Checks the parameters by themselves; an error is one line for the user.
    pub(super) fn check(&self) -> Result<(), String> {
        match PERIODS.contains(&self.period_ns) {
            true => Ok(()),
            false => Err("--instrument timerlat has a --period from 100us to 1s".to_string()),
        }
    }
}
