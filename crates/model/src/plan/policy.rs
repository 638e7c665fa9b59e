//! Scheduling of the measuring threads.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The kernel's smallest budget of SCHED_DEADLINE.
const SMALLEST_RUNTIME: Nanos = Nanos(1024);

/// Scheduling of the measuring threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "lowercase")]
pub enum Policy {
    /// SCHED_FIFO.
    Fifo {
        /// 1 (low) to 99 (high).
        priority: u8,
    },
    /// SCHED_RR.
    Rr {
        /// 1 (low) to 99 (high).
        priority: u8,
    },
    /// SCHED_OTHER.
    Other,
    /// SCHED_BATCH.
    Batch,
    /// SCHED_IDLE.
    Idle,
    /// SCHED_DEADLINE.
    Deadline {
        /// Budget per period.
        runtime_ns: Nanos,
        /// Deadline for the budget, from the start of a period.
        deadline_ns: Nanos,
        /// Period of the budget.
        period_ns: Nanos,
    },
}

impl Policy {
    /// Default priority of `fifo` and `rr`.
    pub const DEFAULT_PRIORITY: u8 = 90;

    /// Priority of `fifo` and `rr`; 0 for policies without one.
    pub fn priority(self) -> u8 {
        match self {
            Policy::Fifo { priority } | Policy::Rr { priority } => priority,
            _ => 0,
        }
    }

    /// The policy with a lower priority, if it has one; at least 1.
    pub fn lowered(self, by: u32) -> Policy {
        let lower = |priority: u8| u32::from(priority).saturating_sub(by).max(1) as u8;
        match self {
            Policy::Fifo { priority } => Policy::Fifo { priority: lower(priority) },
            Policy::Rr { priority } => Policy::Rr { priority: lower(priority) },
            other => other,
        }
    }

    /// Whether the policy runs before all SCHED_OTHER threads.
    pub fn is_realtime(self) -> bool {
        matches!(self, Policy::Fifo { .. } | Policy::Rr { .. } | Policy::Deadline { .. })
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Fifo { priority } => f.pad(&format!("fifo {priority}")),
            Policy::Rr { priority } => f.pad(&format!("rr {priority}")),
            Policy::Other => f.pad("other"),
            Policy::Batch => f.pad("batch"),
            Policy::Idle => f.pad("idle"),
            Policy::Deadline { runtime_ns, deadline_ns, period_ns } => {
                f.pad(&format!("deadline {runtime_ns} / {deadline_ns} / {period_ns}"))
            }
        }
    }
}

impl Policy {
    /// Checks the policy by itself.
    pub(super) fn check(self) -> Result<(), String> {
        match self {
            Policy::Fifo { priority } | Policy::Rr { priority }
                if !(1..=99).contains(&priority) =>
            {
                Err(format!("--priority {priority}: expected 1 (low) to 99 (high)"))
            }
            Policy::Deadline { runtime_ns, deadline_ns, period_ns }
                if !(SMALLEST_RUNTIME <= runtime_ns
                    && runtime_ns <= deadline_ns
                    && deadline_ns <= period_ns) =>
            {
                Err(format!(
                    "--policy deadline:{runtime_ns}/{deadline_ns}/{period_ns}: expected 1024 ns \
                     <= runtime <= deadline <= period"
                ))
            }
            _ => Ok(()),
        }
    }
}
