//! Findings about how threads, agent and guest ended.

use super::kinds::{FindingRow, findings};
use super::{ERROR, INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::run::EndReason;
use crate::{CpuSet, Nanos, Target};
use serde::{Deserialize, Serialize};

/// How often something was done on a CPU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuRate {
    /// The CPU.
    pub cpu: u32,
    /// Times a second.
    pub per_second: f64,
}

findings! {
    /// How threads, agent and guest ended.
    EndFinding {
        "thread-ended-early" ThreadEndedEarly {
            /// Why.
            reason: EndReason,
        } => INVALID, ERROR if matches!(reason, EndReason::CpuOffline | EndReason::RanAway);
        "thread-starved" ThreadStarved {
            /// Its CPU; `None` for a floating thread.
            cpu: Option<u32>,
            /// The CPUs that it was given; none if there were no others.
            moved_to: CpuSet,
        } => NO_PASS;
        "agent-stopped" AgentStopped {
            /// How often.
            times: u64,
            /// How long in all, seen every 50 ms.
            length_ns: Nanos,
        } => NO_PASS;
        "thread-lost" ThreadLost {} => INVALID;
        "stream-lost" StreamLost {
            /// End of the last stored interval, in UTC; none without an interval.
            measured_to: Option<String>,
        } => ERROR;
        "virtual-time" VirtualTime {
            /// The guest.
            target: Target,
        } => INFO;
        "wire-by-host" WireByHost {
            /// The wires, in words.
            wires: Vec<String>,
            /// Whether responses have legs, of which only one contains a wire.
            has_legs: bool,
        } => INFO;
        "guest-noisy" GuestNoisy {
            /// The guest.
            target: Target,
            /// What it ran by: `kvm`, `tcg`.
            accelerator: String,
        } => WARNING;
        "planted-fault" PlantedFault {
            /// The fault, as it was asked for.
            fault: String,
        } => INFO;
        "guest-ended" GuestEnded {} => INFO;
        "guest-time-limit" GuestTimeLimit {
            /// The limit, in wall time.
            limit_ns: Nanos,
        } => WARNING;
        "emulator-failed" EmulatorFailed {
            /// How it ended.
            status: String,
            /// The last line that it printed.
            last_line: Option<String>,
        } => ERROR;
        "host-crowded" HostCrowded {
            /// Share of the wall time in which the emulator waited for its CPU.
            waited_share: f64,
        } => INFO;
        "board-lost" BoardLost {
            /// The board.
            target: String,
            /// What ended it.
            reason: String,
        } => ERROR;
        "board-clock-off" BoardClockOff {
            /// How far it is ahead.
            off_ns: Nanos,
        } => INFO;
        "board-traffic" BoardTraffic {
            /// Bytes that came while it was measured.
            bytes: u64,
            /// In this time.
            length_ns: Nanos,
        } => INFO;
        "board-interrupts" BoardInterrupts {
            /// Of each CPU that had any.
            cpus: Vec<CpuRate>,
        } => INFO;
        "detached-bound" DetachedBound {
            /// The bound.
            most_bytes: u64,
        } => WARNING;
        "spike-command-failed" SpikeCommandFailed {
            /// Times it failed.
            failed: u64,
            /// Times it was started.
            started: u64,
        } => WARNING;
    }
}
