//! The method `handoff`: a thread that another thread wakes at each release.

use super::cyclic::Releases;
use super::{Plan, Policy};
use crate::CpuSet;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

text_enum! {
    /// How one thread wakes another.
    WakeBy {
        /// A futex.
        Futex = "futex",
        /// A byte through a pipe.
        Pipe = "pipe",
        /// A real-time signal.
        Signal = "signal",
        /// An event file descriptor.
        Eventfd = "eventfd",
        /// A POSIX message queue.
        Mq = "mq",
        /// A System V semaphore.
        Sysv = "sysv",
    }
}

/// A thread that another one wakes at each release; the waker skips releases for which it is late.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Handoff {
    /// Wake-up mechanism.
    pub wake: WakeBy,
    /// CPUs of the waking threads, in turn; `None` for the CPU of the woken thread.
    pub wakers_on: Option<CpuSet>,
    /// Times of the wake-ups.
    pub releases: Releases,
}

impl Default for Handoff {
    fn default() -> Handoff {
        Handoff { wake: WakeBy::Futex, wakers_on: None, releases: Releases::default() }
    }
}

impl Handoff {
    /// Checks the parameters within their plan; an error is one line for the user.
    pub(super) fn check(&self, plan: &Plan) -> Result<(), String> {
        self.releases.check()?;
        match plan.who.policy {
            Some(Policy::Deadline { .. }) => {
                Err("--instrument handoff pins its threads: --policy deadline is not possible"
                    .to_string())
            }
            _ => Ok(()),
        }
    }
}
