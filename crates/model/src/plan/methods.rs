//! How a plan measures, each choice a word.

use crate::words::words;
use serde::{Deserialize, Serialize};
use std::fmt;

words! {
    /// Method of measuring.
    Instrument {
        /// A thread that sleeps until each release and reads the clock.
        Cyclic = "cyclic",
        /// A thread that another one wakes at each release, counted from just before the call.
        Handoff = "handoff",
        /// A busy loop that finds the time taken from it.
        Spin = "spin",
        /// The kernel's own tracer: a thread of the kernel on each CPU, which we only read.
        Timerlat = "timerlat",
        /// Edges on wires: a stimulus, and the pin that answers it.
        Respond = "respond",
    }
}

words! {
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

words! {
    /// How one thread wakes another (instrument `handoff`).
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

words! {
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

words! {
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

words! {
    /// What happens to releases that are already past when a cycle ends.
    MissedPolicy {
        /// They are counted and left out.
        Skip = "skip",
        /// They are counted and served late, one after the other.
        CatchUp = "catch-up",
    }
}
