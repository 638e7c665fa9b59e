//! Findings about how threads, agent and guest ended.

use super::kinds::{FindingEntry, findings};
use super::{ERROR, INFO, INVALID, WARNING, Weight};
use crate::guest::VIRTUAL_TIME_SHOWS;
use crate::run::EndReason;
use crate::units::{counted, percent};
use crate::{Nanos, Target};
use serde::{Deserialize, Serialize};

findings! {
    /// How threads, agent and guest ended.
    EndFinding {
        /// A thread ended before the others. The sentence says why.
        ThreadEndedEarly = "thread-ended-early" (
            "error",
            "not for a CPU that went offline or a thread that ran away",
            "Look for what takes the whole CPU: a thread that never sleeps for seconds is stopped \
             so that the machine does not hang."
        ) {
            /// Why.
            reason: EndReason,
        }
        /// A thread did not report its end, so its counts cannot be checked.
        ThreadLost = "thread-lost" (
            "error",
            "yes",
            "Measure again; if it comes back, report it."
        ) {}
        /// latlab was killed, or the link to the agent was cut. What was measured up to then is
        /// there.
        StreamLost = "stream-lost" (
            "error",
            "no",
            "Look for what killed it (the kernel's log names it when memory ran out)."
        ) {
            /// End of the last stored interval, in UTC; none without an interval.
            measured_to: Option<String>,
        }
        /// A guest was measured in virtual time: one instruction takes one nanosecond.
        VirtualTime = "virtual-time" (
            "info",
            "no",
            "Read [what that shows](../guide/lab.md#what-it-shows-and-what-it-does-not)."
        ) {
            /// The guest.
            target: Target,
        }
        /// A guest was measured in the host's time (`--realtime`): emulator and host are in every
        /// latency.
        GuestNoisy = "guest-noisy" ("warning", "no", "Leave `--realtime` out.") {
            /// The guest.
            target: Target,
            /// What it ran by: `kvm`, `tcg`.
            accelerator: String,
        }
        /// A fault was planted on purpose (`--fault`).
        PlantedFault = "planted-fault" ("info", "no", "Nothing: it is there to be found.") {
            /// The fault, as it was asked for.
            fault: String,
        }
        /// A guest was ended by its user. It is not asked first, so up to half a second of its
        /// time is missing.
        GuestEnded = "guest-ended" ("info", "no", "Nothing.") {}
        /// A guest took longer than four minutes of wall time for each of its seconds, and was
        /// ended.
        GuestTimeLimit = "guest-time-limit" (
            "warning",
            "no",
            "Use a shorter run, a smaller load, or a host that is not busy."
        ) {
            /// The limit, in wall time.
            limit_ns: Nanos,
        }
        /// The emulator of a guest ended otherwise than by the guest's own end. Its last line is in
        /// the text.
        EmulatorFailed = "emulator-failed" (
            "error",
            "no",
            "Mend what it says; the console is among the files of the run."
        ) {
            /// How it ended.
            status: String,
            /// The last line that it printed.
            last_line: Option<String>,
        }
        /// The emulator of a guest in virtual time had to share its CPU of the host. QEMU may then
        /// set a timer some hundred instructions late, and a second run of this seed can differ in
        /// a few latencies.
        HostCrowded = "host-crowded" (
            "info",
            "no",
            "Where runs must be identical, leave a CPU of the host free for each guest."
        ) {
            /// Share of the wall time in which the emulator waited for its CPU.
            waited_share: f64,
        }
        /// The command of `--on-spike` ended with an error, could not be started, or ran too long.
        SpikeCommandFailed = "spike-command-failed" (
            "warning",
            "no",
            "Try it by hand with a line of JSON on its standard input."
        ) {
            /// Times it failed.
            failed: u64,
            /// Times it was started.
            started: u64,
        }
    }
}

impl EndFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use EndFinding::*;
        match self {
            ThreadEndedEarly { reason: EndReason::CpuOffline | EndReason::RanAway }
            | StreamLost { .. }
            | EmulatorFailed { .. } => ERROR,
            ThreadEndedEarly { .. } | ThreadLost { .. } => INVALID,
            GuestNoisy { .. } | GuestTimeLimit { .. } | SpikeCommandFailed { .. } => WARNING,
            VirtualTime { .. } | PlantedFault { .. } | GuestEnded { .. } | HostCrowded { .. } => {
                INFO
            }
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        use EndFinding::*;
        match self {
            ThreadEndedEarly { reason } => ended_early(*reason).to_string(),
            ThreadLost {} => {
                "The thread did not report its end, so its counts cannot be checked.".to_string()
            }
            StreamLost { measured_to } => {
                let last = match measured_to {
                    Some(to) => format!("What was measured up to {to} is in this run"),
                    None => "No interval was stored".to_string(),
                };
                format!(
                    "The stream broke off: latlab was killed, or the link to the agent was cut. \
                     {last}."
                )
            }
            VirtualTime { target } => format!(
                "Measured in virtual time on {target}: {VIRTUAL_TIME_SHOWS}. Times of day are the \
                 guest's own."
            ),
            GuestNoisy { target, accelerator } => format!(
                "Measured on {target} in the host's time, by {accelerator}: every latency contains \
                 the emulator and whatever else the host did. The figures are those of no machine."
            ),
            PlantedFault { fault } => format!("A fault was planted on purpose: {fault}."),
            GuestEnded {} => {
                "The guest was ended from outside. Up to half a second of its time is \
                              missing."
                    .to_string()
            }
            GuestTimeLimit { limit_ns } => format!(
                "The guest was ended after {limit_ns} of wall time, the limit for a run of this \
                 length. Up to half a second of its time is missing."
            ),
            EmulatorFailed { status, last_line } => {
                let said = last_line.as_ref().map(|line| format!(" Its last line: {line}."));
                format!("The emulator ended with {status}.{}", said.unwrap_or_default())
            }
            HostCrowded { waited_share } => format!(
                "The emulator waited for its CPU for {} of the wall time, because the host had \
                 other work there. QEMU may then set a timer some hundred instructions late: a \
                 second run of this seed can differ in a few latencies.",
                percent(*waited_share)
            ),
            SpikeCommandFailed { failed, started } => format!(
                "The spike command failed {}; it was started {}.",
                counted(*failed, "time", "times"),
                counted(*started, "time", "times")
            ),
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<String> {
        use EndFinding::*;
        let remedy = match self {
            ThreadLost {} => "Measure again; if it comes back, report it.",
            StreamLost { .. } => {
                "Look for what killed it: the kernel's log names it when memory ran out."
            }
            GuestNoisy { .. } => "Leave --realtime out to measure in virtual time.",
            GuestTimeLimit { .. } => {
                "Use a shorter run, a smaller load, or a host that is not busy."
            }
            HostCrowded { .. } => {
                "Where runs must be identical, leave a CPU of the host free for each guest."
            }
            SpikeCommandFailed { .. } => {
                "Try it by hand with a line of JSON on its standard input."
            }
            ThreadEndedEarly { reason: EndReason::RanAway } => {
                "Look for what takes the whole CPU, or use a longer --period."
            }
            ThreadEndedEarly { .. }
            | VirtualTime { .. }
            | PlantedFault { .. }
            | GuestEnded {}
            | EmulatorFailed { .. } => return None,
        };
        Some(remedy.to_string())
    }
}

fn ended_early(reason: EndReason) -> &'static str {
    match reason {
        EndReason::CpuOffline => "The thread ended, because its CPU was taken offline.",
        EndReason::RanAway => {
            "The thread was stopped, because it ran for seconds without sleeping."
        }
        EndReason::RecorderFull => "The thread ended, because its recorder was full.",
        EndReason::Failed => "The thread ended, because a system call of its loop failed.",
        EndReason::Lost => "The thread was lost before the end of the run.",
        EndReason::Finished | EndReason::Interrupted | EndReason::StopAbove => {
            "The thread ended before the others."
        }
    }
}
