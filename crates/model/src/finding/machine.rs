//! Findings about what the machine did.

use super::kinds::{FindingRow, findings};
use super::{INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use crate::run::KernelReserve;
use serde::{Deserialize, Serialize};

findings! {
    /// What the machine did.
    MachineFinding {
        "setting-refused" SettingRefused {
            /// What was set: `memory lock`, `scheduling`, the path of a kernel file.
            setting: String,
            /// What was asked for.
            asked: String,
            /// What was read back.
            applied: String,
            /// Whether the difference makes the figures worthless.
            matters: bool,
        } => WARNING, INVALID if *matters;
        "suspended" Suspended {
            /// How long.
            length_ns: Nanos,
        } => INVALID;
        "clock-stepped" ClockStepped {
            /// How far, forward or back.
            by_ns: Nanos,
            /// Whether releases were planned on a clock that was set.
            measured_with: bool,
        } => WARNING, INVALID if *measured_with;
        "tai-offset-changed" TaiOffsetChanged {
            /// How much.
            by_ns: Nanos,
            /// Whether releases were planned on a clock that jumped.
            measured_with: bool,
        } => INFO, INVALID if *measured_with;
        "clocks-unknown" ClocksUnknown {} => WARNING;
        "negative-latency" NegativeLatency {
            /// How many latencies are below zero.
            count: u64,
            /// The smallest.
            min_ns: Nanos,
        } => INVALID;
        "cpu-offline" CpuOffline {
            /// The CPU.
            cpu: u32,
            /// The thread's cycles of this last time may have run on another CPU.
            noticed_within_ns: Nanos,
        } => NO_PASS;
        "stroboscope" Stroboscope {
            /// The period.
            period_ns: Nanos,
            /// Ticks a second.
            tick_hz: u32,
            /// Whether the kernel says so; else it is the usual rate that fits.
            tick_is_known: bool,
            /// Points of the tick that releases see.
            points: u64,
            /// A period near it that sees all points.
            better_period_ns: Nanos,
        } => WARNING;
        "taken-back" TakenBack {
            /// Gaps: those as long as the reserve, or all in which other threads ran.
            gaps: u64,
            /// Their time together.
            taken_ns: Nanos,
            /// Of this time of spinning.
            spun_ns: Nanos,
            /// The longest gap.
            longest_ns: Nanos,
            /// Whether the gaps are shorter than the reserve, and only together like it.
            in_pieces: bool,
            /// What the kernel takes for ordinary threads.
            reserve: KernelReserve,
        } => WARNING;
        "spin-rested" SpinRested {
            /// How long it slept.
            rested_ns: Nanos,
            /// Of this time.
            spun_ns: Nanos,
        } => INFO;
        "often-missed" OftenMissed {
            /// Missed releases.
            missed: u64,
            /// Releases that were due.
            due: u64,
            /// The period.
            period_ns: Nanos,
        } => WARNING;
        "page-faults" PageFaults {
            /// How many.
            count: u64,
            /// Whether the memory lock was refused under a real-time policy.
            lock_refused: bool,
        } => WARNING, INVALID if *lock_refused;
    }
}
