//! Findings about the machine.

use super::kinds::{FindingRow, findings};
use super::{ERROR_NO_PASS, INFO, INVALID, WARNING, Weight};
use crate::Nanos;
use crate::run::KernelReserve;
use serde::{Deserialize, Serialize};

findings! {
    /// What the machine did.
    MachineFinding {
        "setting-refused" SettingRefused {
            /// Name of the setting: `memory lock`, `scheduling`, the path of a kernel file.
            setting: String,
            /// Requested value.
            asked: String,
            /// Value read back.
            applied: String,
            /// Whether the difference makes the figures worthless.
            matters: bool,
        } => WARNING, INVALID if *matters;
        "suspended" Suspended {
            /// Length of the suspension.
            length_ns: Nanos,
        } => INVALID;
        "clock-stepped" ClockStepped {
            /// Size of the step; negative if the clock was set back.
            by_ns: Nanos,
            /// Whether releases were planned on a clock that was set.
            measured_with: bool,
        } => WARNING, INVALID if *measured_with;
        "tai-offset-changed" TaiOffsetChanged {
            /// Size of the jump.
            by_ns: Nanos,
            /// Whether releases were planned on a clock that jumped.
            measured_with: bool,
        } => INFO, INVALID if *measured_with;
        "clocks-unknown" ClocksUnknown {} => WARNING;
        "negative-latency" NegativeLatency {
            /// Number of negative latencies.
            count: u64,
            /// Smallest latency.
            min_ns: Nanos,
        } => INVALID;
        "cpu-offline" CpuOffline {
            /// CPU number.
            cpu: u32,
            /// Cycles of the thread within this time before the finding may have run on another
            /// CPU.
            noticed_within_ns: Nanos,
        } => ERROR_NO_PASS;
        "period-aliases-tick" PeriodAliasesTick {
            /// Period of the releases.
            period_ns: Nanos,
            /// Tick rate in Hz.
            tick_hz: u32,
            /// Whether the kernel reports the tick rate; otherwise it is the usual rate that fits.
            tick_is_known: bool,
            /// Number of distinct tick phases the releases meet.
            points: u64,
            /// A period close by that meets all phases.
            better_period_ns: Nanos,
        } => WARNING;
        "reserve-taken" ReserveTaken {
            /// Number of gaps: those as long as the reserve, or all in which other threads ran.
            gaps: u64,
            /// Total length of the gaps.
            taken_ns: Nanos,
            /// Total time spent spinning.
            spun_ns: Nanos,
            /// The longest gap.
            longest_ns: Nanos,
            /// Whether each gap is shorter than the reserve and only their sum matches it.
            in_pieces: bool,
            /// CPU time the kernel reserves for normal threads.
            reserve: KernelReserve,
        } => WARNING;
        "spin-rested" SpinRested {
            /// Time it slept.
            rested_ns: Nanos,
            /// Total time spent spinning.
            spun_ns: Nanos,
        } => INFO;
        "frequent-overruns" FrequentOverruns {
            /// Overruns.
            overruns: u64,
            /// Releases due.
            due: u64,
            /// Period of the releases.
            period_ns: Nanos,
        } => WARNING;
        "early-maximum" EarlyMaximum {
            /// Maximum of the first interval.
            max_ns: Nanos,
            /// Length of the first interval.
            within_ns: Nanos,
            /// Maximum of all later intervals.
            later_max_ns: Nanos,
            /// Time from the first to the last of the later intervals.
            later_ns: Nanos,
        } => INFO;
        "page-faults" PageFaults {
            /// Number of page faults.
            count: u64,
            /// Whether locking memory was refused under a real-time policy.
            lock_refused: bool,
        } => WARNING, INVALID if *lock_refused;
    }
}
