//! The method `cyclic`, and when its threads and those of `handoff` are released.

use crate::Nanos;
use crate::nanos::MICROSECOND;
use crate::text_enum::text_enum;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A day; a longer period is taken for a mistake.
const LONGEST_PERIOD: Nanos = Nanos(86_400_000_000_000);

/// A thread that sleeps until each release and reads the clock.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cyclic {
    /// How it sleeps until its release.
    pub mechanism: Mechanism,
    /// When its releases are.
    pub releases: Releases,
    /// What happens to releases that are already past.
    pub missed: MissedPolicy,
    /// Whether the legs of each latency are told apart by the kernel's tracepoints.
    pub legs: bool,
    /// What only `latlab cyclictest` asks; none of a run of another command.
    pub cyclictest: Option<Cyclictest>,
}

/// When the threads are released.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Releases {
    /// The clock that they are planned on.
    pub clock: ClockName,
    /// Distance of releases of the first thread.
    pub period_ns: Nanos,
    /// What each further thread's period is longer by.
    pub period_step_ns: Nanos,
    /// Offsets of the threads' releases.
    pub phase: Phase,
}

/// What only `latlab cyclictest` asks of a cyclic thread.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cyclictest {
    /// Whether the threads may run on all usable CPUs instead of one each.
    pub floating: bool,
    /// What each further thread's priority is lower by.
    pub priority_step: u8,
    /// What each further thread's first release is later by, beyond its phase.
    pub phase_step_ns: Nanos,
    /// The first release lies this long after a full second of the clock; none means anywhere.
    pub second_offset_ns: Option<Nanos>,
    /// Whether the first thread that has its cycles ends all.
    pub ends_with_first: bool,
    /// Whether a latency above `stop_above_ns` is marked in the kernel's trace, and stops it.
    pub mark_trace: bool,
}

impl Releases {
    /// Distance of the releases of the first thread, where nothing else is asked.
    pub const DEFAULT_PERIOD: Nanos = Nanos(997_000);

    /// Period of a thread by its number.
    pub fn period_of(&self, thread: u32) -> Nanos {
        self.period_ns + self.period_step_ns * i64::from(thread)
    }

    /// Whether they make sense by themselves; an error is one line for the user.
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

/// The defaults of the house.
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

/// The defaults of the house.
impl Default for Cyclic {
    fn default() -> Cyclic {
        Cyclic {
            mechanism: Mechanism::Nanosleep,
            releases: Releases::default(),
            missed: MissedPolicy::Skip,
            legs: false,
            cyclictest: None,
        }
    }
}

impl Cyclic {
    /// One with this period, and the defaults of the house else.
    pub fn every(period_ns: Nanos) -> Cyclic {
        let releases = Releases { period_ns, ..Releases::default() };
        Cyclic { releases, ..Cyclic::default() }
    }

    /// Whether it makes sense by itself; an error is one line for the user.
    pub(super) fn check(&self) -> Result<(), String> {
        self.releases.check()?;
        let (mechanism, clock) = (self.mechanism, self.releases.clock);
        if mechanism == Mechanism::Timerfd && clock == ClockName::Tai {
            return Err("the kernel has no timer file descriptors on CLOCK_TAI: use --mechanism \
                        nanosleep or posix-timer, or another --clock"
                .into());
        }
        if mechanism == Mechanism::Relative && self.missed == MissedPolicy::CatchUp {
            return Err("--missed catch-up does not apply to relative sleep, which has no \
                        releases: omit it, or use another --mechanism"
                .into());
        }
        if self.legs && (mechanism, clock) != (Mechanism::Nanosleep, ClockName::Monotonic) {
            return Err(LEGS_NEED_RELEASES.into());
        }
        Ok(())
    }
}

/// Why no other cycles can have their legs told apart.
const LEGS_NEED_RELEASES: &str = "--legs requires --instrument cyclic, --mechanism nanosleep and \
                                  --clock monotonic";

text_enum! {
    /// How a thread sleeps until its release.
    Mechanism {
        /// `clock_nanosleep` with an absolute time.
        Nanosleep = "nanosleep",
        /// `clock_nanosleep` for a relative time: there are no releases, so none can be missed.
        Relative = "relative",
        /// A periodic timer file descriptor.
        Timerfd = "timerfd",
        /// A periodic POSIX timer and a wait for its signal.
        PosixTimer = "posix-timer",
    }
}

text_enum! {
    /// The clock that releases are planned on.
    ClockName {
        /// CLOCK_MONOTONIC.
        Monotonic = "monotonic",
        /// CLOCK_TAI.
        Tai = "tai",
        /// CLOCK_REALTIME, which can be set and then makes negative latencies.
        Realtime = "realtime",
    }
}

text_enum! {
    /// Offsets of the threads' releases.
    Phase {
        /// All threads are released at once.
        Aligned = "aligned",
        /// The threads share a period evenly.
        Spread = "spread",
        /// Each thread starts somewhere in its period.
        Random = "random",
    }
}

text_enum! {
    /// What happens to releases that are already past when a cycle ends.
    MissedPolicy {
        /// They are counted and left out.
        Skip = "skip",
        /// They are counted and served late, one after the other.
        CatchUp = "catch-up",
    }
}
