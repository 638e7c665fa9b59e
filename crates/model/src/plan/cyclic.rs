//! The method `cyclic`, and when its threads and those of `handoff` are released.

use crate::Nanos;
use crate::nanos::MICROSECOND;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One day; a longer period is treated as a mistake.
const LONGEST_PERIOD: Nanos = Nanos(86_400_000_000_000);

/// A thread that sleeps until each release and reads the clock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cyclic {
    /// How it sleeps until its release.
    pub mechanism: Mechanism,
    /// Times of its releases.
    pub releases: Releases,
    /// How late the kernel may end a sleep of an ordinary thread; `None` for as little as possible.
    pub timer_slack_ns: Option<Nanos>,
    /// What happens to overruns, the releases that have already passed.
    pub overruns: OverrunPolicy,
    /// Whether the kernel's tracepoints split each latency into its breakdown.
    pub breakdown: bool,
    /// Parameters of `latlab cyclictest`; `None` for other commands.
    pub cyclictest: Option<Cyclictest>,
}

/// Times at which the threads are released.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Releases {
    /// Clock of the releases.
    pub clock: ClockName,
    /// Period of the first thread.
    pub period_ns: Nanos,
    /// Increment of the period for each further thread.
    pub period_step_ns: Nanos,
    /// Offsets of the threads' releases.
    pub phase: Phase,
}

/// Parameters of a cyclic thread that only `latlab cyclictest` sets.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cyclictest {
    /// Whether the threads may run on all usable CPUs instead of one each.
    pub floating: bool,
    /// Decrement of the priority for each further thread.
    pub priority_step: u8,
    /// Increment of the first release for each further thread, beyond its phase.
    pub phase_step_ns: Nanos,
    /// Time of the first release after a full second of the clock; `None` for any time.
    pub second_offset_ns: Option<Nanos>,
    /// Whether the first thread to reach its number of cycles ends the run.
    pub ends_with_first: bool,
    /// Whether a latency above `stop_above_ns` is marked in the kernel's trace and stops it.
    pub mark_trace: bool,
}

impl Releases {
    /// Default period of the first thread.
    pub const DEFAULT_PERIOD: Nanos = Nanos(997_000);

    /// Period of a thread by its number.
    pub fn period_of(&self, thread: u32) -> Nanos {
        self.period_ns + self.period_step_ns * i64::from(thread)
    }

    /// Checks the releases by themselves; an error is one line for the user.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.period_ns < MICROSECOND || self.period_ns > LONGEST_PERIOD {
            return Err(format!("--period {}: expected 1us to 24h", self.period_ns));
        }
        if self.period_step_ns < Nanos::ZERO || self.period_step_ns > LONGEST_PERIOD {
            return Err(format!("--period-step {}: expected 0 to 24h", self.period_step_ns));
        }
        Ok(())
    }
}

/// latlab's defaults.
impl Default for Releases {
    fn default() -> Releases {
        Releases {
            clock: ClockName::Monotonic,
            period_ns: Releases::DEFAULT_PERIOD,
            period_step_ns: Nanos::ZERO,
            phase: Phase::Spread,
        }
    }
}

/// latlab's defaults.
impl Default for Cyclic {
    fn default() -> Cyclic {
        Cyclic {
            mechanism: Mechanism::Nanosleep,
            releases: Releases::default(),
            timer_slack_ns: None,
            overruns: OverrunPolicy::Skip,
            breakdown: false,
            cyclictest: None,
        }
    }
}

impl Cyclic {
    /// A cyclic thread with this period and latlab's defaults otherwise.
    pub fn every(period_ns: Nanos) -> Cyclic {
        let releases = Releases { period_ns, ..Releases::default() };
        Cyclic { releases, ..Cyclic::default() }
    }

    /// Checks the parameters by themselves; an error is one line for the user.
    pub(super) fn check(&self) -> Result<(), String> {
        self.releases.check()?;
        let (mechanism, clock) = (self.mechanism, self.releases.clock);
        if mechanism == Mechanism::Timerfd && clock == ClockName::Tai {
            return Err("the kernel has no timer file descriptors on CLOCK_TAI: use --mechanism \
                        nanosleep or posix-timer, or another --clock"
                .into());
        }
        if mechanism == Mechanism::Relative && self.overruns == OverrunPolicy::CatchUp {
            return Err("--overruns catch-up does not apply to relative sleep, which has no \
                        releases: omit it, or use another --mechanism"
                .into());
        }
        if self.breakdown && (mechanism, clock) != (Mechanism::Nanosleep, ClockName::Monotonic) {
            return Err(BREAKDOWN_NEED_RELEASES.into());
        }
        Ok(())
    }
}

/// Error if the breakdown is requested for any other kind of cycle.
const BREAKDOWN_NEED_RELEASES: &str = "--breakdown requires --instrument cyclic, --mechanism nanosleep and \
                                  --clock monotonic";

text_enum! {
    /// How a thread sleeps until its release.
    Mechanism {
        /// `clock_nanosleep` with an absolute time.
        Nanosleep = "nanosleep",
        /// `clock_nanosleep` for a relative time: there are no releases, hence no overruns.
        Relative = "relative",
        /// A periodic timer file descriptor.
        Timerfd = "timerfd",
        /// A periodic POSIX timer, waiting for its signal.
        PosixTimer = "posix-timer",
    }
}

text_enum! {
    /// Clock of the releases.
    ClockName {
        /// CLOCK_MONOTONIC.
        Monotonic = "monotonic",
        /// CLOCK_TAI.
        Tai = "tai",
        /// CLOCK_REALTIME; setting it can make latencies negative.
        Realtime = "realtime",
    }
}

text_enum! {
    /// Offsets of the threads' releases.
    Phase {
        /// All threads are released at once.
        Aligned = "aligned",
        /// Threads are spread evenly over a period.
        Spread = "spread",
        /// Each thread starts at a random point in its period.
        Random = "random",
    }
}

text_enum! {
    /// What happens to releases that have already passed when a cycle ends.
    OverrunPolicy {
        /// Counted and skipped.
        Skip = "skip",
        /// Counted and served late, one after the other.
        CatchUp = "catch-up",
    }
}
