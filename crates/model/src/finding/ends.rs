//! Findings about how threads, the agent and the guest ended.

use super::kinds::{FindingRow, findings};
use super::{ERROR, INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::run::EndReason;
use crate::{CpuSet, Nanos, Target};
use serde::{Deserialize, Serialize};

/// Rate of an event on one CPU.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuRate {
    /// CPU number.
    pub cpu: u32,
    /// Events per second.
    pub per_second: f64,
}

findings! {
    /// How threads, the agent and the guest ended.
    EndFinding {
        "thread-ended-early" ThreadEndedEarly {
            /// Reason for the end.
            reason: EndReason,
        } => INVALID, ERROR if matches!(reason, EndReason::CpuOffline | EndReason::RanAway);
        "thread-starved" ThreadStarved {
            /// CPU of the thread; `None` for a floating thread.
            cpu: Option<u32>,
            /// CPUs it was moved to; empty if there were no others.
            moved_to: CpuSet,
        } => NO_PASS;
        "agent-stopped" AgentStopped {
            /// Number of occurrences.
            times: u64,
            /// Total length, sampled every 50 ms.
            length_ns: Nanos,
        } => NO_PASS;
        "thread-lost" ThreadLost {} => INVALID;
        "stream-lost" StreamLost {
            /// End of the last stored interval, UTC; `None` without an interval.
            measured_to: Option<String>,
        } => ERROR;
        "virtual-time" VirtualTime {
            /// The guest.
            target: Target,
        } => INFO;
        "wire-by-host" WireByHost {
            /// The wires, in words.
            wires: Vec<String>,
            /// Whether responses have a breakdown, of which only one part contains a wire.
            has_breakdown: bool,
        } => INFO;
        "guest-noisy" GuestNoisy {
            /// The guest.
            target: Target,
            /// Accelerator of the emulator: `kvm`, `tcg`.
            accelerator: String,
        } => WARNING;
        "planted-fault" PlantedFault {
            /// The fault as requested.
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
            /// The last line it printed; `None` if it printed nothing.
            last_line: Option<String>,
        } => ERROR;
        "host-crowded" HostCrowded {
            /// Share of the wall time in which the emulator waited for a CPU.
            waited_share: f64,
        } => INFO;
        "board-lost" BoardLost {
            /// The board.
            target: String,
            /// Why the agent or its link was lost.
            reason: String,
        } => ERROR;
        "board-clock-off" BoardClockOff {
            /// How far the board's clock is ahead.
            off_ns: Nanos,
        } => INFO;
        "board-traffic" BoardTraffic {
            /// Bytes received during the measurement.
            bytes: u64,
            /// Length of the measurement.
            length_ns: Nanos,
        } => INFO;
        "board-interrupts" BoardInterrupts {
            /// Rate of network softirqs on each CPU with any.
            cpus: Vec<CpuRate>,
        } => INFO;
        "detached-bound" DetachedBound {
            /// Size limit, in bytes.
            most_bytes: u64,
        } => WARNING;
        "spike-command-failed" SpikeCommandFailed {
            /// Times the command ended with an error.
            failed: u64,
            /// Times it was started.
            started: u64,
        } => WARNING;
    }
}
