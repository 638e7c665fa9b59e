//! Findings about what the machine did.

use super::kinds::{FindingEntry, findings};
use super::{ERROR, INFO, INVALID, VerdictEffect, WARNING, Weight};
use crate::Nanos;
use crate::run::KernelReserve;
use crate::shell::Line;
use crate::units::{counted, grouped, percent, ratio};
use serde::{Deserialize, Serialize};

findings! {
    /// What the machine did.
    MachineFinding {
        /// A setting was requested, but a different value was read back: a priority, the memory
        /// lock, the idle states.
        SettingRefused = "setting-refused" (
            "warning, error",
            "invalid where it matters",
            "See the remedy of the finding, and [rights without \
             root](../guide/cron-and-systemd.md)."
        ) {
            /// What was set: `memory lock`, `scheduling`, the path of a kernel file.
            setting: String,
            /// What was asked for.
            asked: String,
            /// What was read back.
            applied: String,
            /// Whether the difference makes the figures worthless.
            matters: bool,
        }
        /// The machine was suspended during the run.
        Suspended = "suspended" (
            "error",
            "invalid",
            "Measure under `systemd-inhibit --what=sleep`, or turn automatic suspend off."
        ) {
            /// How long.
            length_ns: Nanos,
        }
        /// CLOCK_REALTIME was set during the run.
        ClockStepped = "clock-stepped" (
            "warning, error",
            "invalid with `--clock realtime`, or `tai` when that was set as well",
            "Let the time service finish its first synchronisation before the run. With another \
             clock only the times of day are wrong."
        ) {
            /// How far, forward or back.
            by_ns: Nanos,
            /// Whether releases were planned on a clock that was set.
            measured_with: bool,
        }
        /// The offset between CLOCK_TAI and CLOCK_REALTIME changed: because of a time service or a
        /// leap second.
        TaiOffsetChanged = "tai-offset-changed" (
            "info, error",
            "invalid with `--clock tai`, if CLOCK_TAI itself was changed",
            "Nothing, or measure again when the time service has synchronised."
        ) {
            /// How much.
            by_ns: Nanos,
            /// Whether releases were planned on a clock that jumped.
            measured_with: bool,
        }
        /// The clocks were never compared, so a suspend or a clock change would not be detected.
        ClocksUnknown = "clocks-unknown" (
            "warning",
            "none",
            "Measure for longer than a second."
        ) {}
        /// A thread woke before its release: the clock went backwards, or was set.
        NegativeLatency = "negative-latency" (
            "error",
            "invalid",
            "Use `--clock monotonic`; look for messages about the clock source in the kernel log."
        ) {
            /// How many latencies are below zero.
            count: u64,
            /// The smallest.
            min_ns: Nanos,
        }
        /// A measured CPU was taken offline. Its thread ended there, and the verdict is
        /// `inconclusive` unless it was a `fail` before.
        CpuOffline = "cpu-offline" (
            "error",
            "no pass",
            "Turn CPU hotplug off for the run."
        ) {
            /// The CPU.
            cpu: u32,
            /// The thread's cycles of this last time may have run on another CPU.
            noticed_within_ns: Nanos,
        }
        /// The period is a multiple or a fraction of the kernel tick, so all releases meet the tick
        /// at the same few points.
        Stroboscope = "stroboscope" (
            "warning",
            "none",
            "Use the period in the remedy of the finding."
        ) {
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
        }
        /// A spinning real-time thread lost the CPU for about as long as the fair server or RT
        /// throttling takes for ordinary threads.
        TakenBack = "taken-back" (
            "warning",
            "none",
            "Keep other threads off that CPU, or spin with `--policy other`; see [the \
             instruments](../guide/instruments.md)."
        ) {
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
        }
        /// A spinning thread slept for more than 1 % of the time, so that a machine without a free
        /// CPU does not hang. What happened then was not watched.
        SpinRested = "spin-rested" (
            "info",
            "none",
            "Leave a CPU free with `--cpus`."
        ) {
            /// How long it slept.
            rested_ns: Nanos,
            /// Of this time.
            spun_ns: Nanos,
        }
        /// A thread missed more than a tenth of its releases: it cannot keep its period.
        OftenMissed = "often-missed" (
            "warning",
            "none",
            "Use a longer `--period`; find out what uses the CPU."
        ) {
            /// Missed releases.
            missed: u64,
            /// Releases that were due.
            due: u64,
            /// The period.
            period_ns: Nanos,
        }
        /// Page faults happened in the measuring loop, and are part of its latencies.
        PageFaults = "page-faults" (
            "warning, error",
            "invalid if the memory could not be locked under a real-time policy",
            "Raise RLIMIT_MEMLOCK, or run as root."
        ) {
            /// How many.
            count: u64,
            /// Whether the memory lock was refused under a real-time policy.
            lock_refused: bool,
        }
    }
}

const KEEP_OFF: &str = "Keep other threads off this CPU (isolcpus, cpusets), or use --policy \
                        other to measure what they take.";

impl MachineFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use MachineFinding::*;
        match self {
            SettingRefused { matters: true, .. }
            | Suspended { .. }
            | ClockStepped { measured_with: true, .. }
            | TaiOffsetChanged { measured_with: true, .. }
            | NegativeLatency { .. }
            | PageFaults { lock_refused: true, .. } => INVALID,
            // Its thread measured for a shorter time than asked.
            CpuOffline { .. } => Weight { effect: VerdictEffect::ForbidsPass, ..ERROR },
            TaiOffsetChanged { .. } | SpinRested { .. } => INFO,
            SettingRefused { .. }
            | ClockStepped { .. }
            | ClocksUnknown { .. }
            | Stroboscope { .. }
            | TakenBack { .. }
            | OftenMissed { .. }
            | PageFaults { .. } => WARNING,
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        use MachineFinding::*;
        match self {
            SettingRefused { setting, asked, applied, .. } => {
                format!("The setting '{setting}' should be '{asked}', but is '{applied}'.")
            }
            Suspended { length_ns } => {
                format!("The machine was suspended for {length_ns} during the run.")
            }
            ClockStepped { by_ns, .. } => {
                format!("CLOCK_REALTIME was set by {by_ns} during the run.")
            }
            TaiOffsetChanged { by_ns, .. } => {
                format!("The offset between CLOCK_TAI and CLOCK_REALTIME changed by {by_ns}.")
            }
            ClocksUnknown {} => "The clocks were never compared, so a suspend or a clock change \
                                 during the run would not be detected."
                .to_string(),
            NegativeLatency { count, min_ns } => format!(
                "{} below zero (smallest: {min_ns}): the clock went backwards, or was set.",
                counted(*count, "latency is", "latencies are")
            ),
            CpuOffline { cpu, noticed_within_ns } => format!(
                "CPU {cpu} went offline, and its thread ended. The last {noticed_within_ns} of \
                 its cycles may have run on another CPU."
            ),
            Stroboscope { period_ns, tick_hz, tick_is_known, points, .. } => {
                stroboscope(*period_ns, *tick_hz, *tick_is_known, *points)
            }
            TakenBack { gaps, taken_ns, spun_ns, longest_ns, in_pieces, reserve } => {
                let share = percent(ratio(*taken_ns, *spun_ns));
                match in_pieces {
                    false => taken_back(*gaps, *taken_ns, &share, reserve),
                    true => taken_in_pieces(*gaps, *longest_ns, &share, reserve),
                }
            }
            SpinRested { rested_ns, spun_ns } => format!(
                "The thread slept for {} of the time, so that a machine whose CPUs all spin does \
                 not hang. Noise during that time was not recorded.",
                percent(ratio(*rested_ns, *spun_ns))
            ),
            OftenMissed { missed, due, period_ns } => format!(
                "{} of {} releases were missed ({}): the thread cannot keep a period of \
                 {period_ns} here.",
                grouped(*missed),
                grouped(*due),
                percent(*missed as f64 / (*due).max(1) as f64)
            ),
            PageFaults { count, .. } => format!(
                "{} happened in the measuring loop; the figures include {}.",
                counted(*count, "page fault", "page faults"),
                if *count == 1 { "it" } else { "them" }
            ),
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        use MachineFinding::*;
        let remedy = match self {
            SettingRefused { setting, .. } => return of_setting(setting),
            Suspended { .. } => {
                "Measure under `systemd-inhibit --what=sleep`, or turn automatic suspend off."
            }
            ClockStepped { .. } => {
                "Let the time service finish its first synchronisation before the run."
            }
            NegativeLatency { .. } => {
                "Use --clock monotonic, and look for messages about the clock source in the \
                 kernel log."
            }
            Stroboscope { better_period_ns, .. } => {
                return Some(Line::new("Use a period of").time(*better_period_ns).end("."));
            }
            TakenBack { .. } => KEEP_OFF,
            SpinRested { .. } => {
                "Leave a CPU free with --cpus; the thread then sleeps for only 50 us a second."
            }
            OftenMissed { .. } => "Use a longer --period, or find out what uses the CPU.",
            PageFaults { lock_refused: true, .. } => {
                "Let the program lock its memory: raise RLIMIT_MEMLOCK, or use sudo."
            }
            ClocksUnknown { .. }
            | TaiOffsetChanged { .. }
            | CpuOffline { .. }
            | PageFaults { .. } => return None,
        };
        Some(Line::new(remedy))
    }
}

/// What makes the machine take a setting, by the setting's name.
fn of_setting(setting: &str) -> Option<Line> {
    let remedy = match setting {
        "memory lock" => "Raise the limit (`ulimit -l unlimited`), or use sudo.",
        "idle states" => {
            "Use sudo, or let the user write to /dev/cpu_dma_latency. Otherwise every latency \
             includes the exit from deep idle states; if you want to measure that, use \
             --idle-states system."
        }
        tuning if tuning.starts_with("tuning ") => {
            "Another program may set it at the same time, such as irqbalance, tuned or a power \
             daemon: stop it for the run."
        }
        staying if staying.ends_with(" that cannot be moved") => {
            "The kernel or the driver binds them to their CPUs. /proc/interrupts shows how often \
             they occur: measure a CPU without them."
        }
        // A command with this path and value would be the text of a stranger's run.
        path if path.contains('/') => "Write it by hand, and see what the kernel says.",
        _ => return None,
    };
    Some(Line::new(remedy))
}

fn stroboscope(period: Nanos, hz: u32, is_known: bool, points: u64) -> String {
    let tick = Nanos(crate::nanos::SECOND.0 / i64::from(hz.max(1)));
    let points = match points {
        1 => "one point".to_string(),
        points => format!("{} points", grouped(points)),
    };
    let (hit, is) = match is_known {
        true => ("hit", "is"),
        false => ("may hit", "would then be"),
    };
    format!(
        "Releases every {period} {hit} a kernel tick of {tick} ({hz} Hz) at the same {points} \
         each time: a disturbance by the tick {is} seen never or far too often."
    )
}

fn taken_back(gaps: u64, taken: Nanos, share: &str, reserve: &KernelReserve) -> String {
    let KernelReserve { by, taken_ns, period_ns } = reserve;
    format!(
        "The kernel took the CPU for other threads: {} as long as {by} takes it from a real-time \
         thread ({taken_ns} of each {period_ns}). That is {share} of the time, and {taken} of \
         this thread's noise.",
        counted(gaps, "gap was", "gaps were")
    )
}

fn taken_in_pieces(gaps: u64, longest: Nanos, share: &str, reserve: &KernelReserve) -> String {
    let KernelReserve { by, taken_ns, period_ns } = reserve;
    format!(
        "Other threads took {share} of the time in {} of up to {longest}. This may be the time \
         that {by} takes from a real-time thread, in pieces: {} of the time ({taken_ns} of each \
         {period_ns}).",
        counted(gaps, "gap", "gaps"),
        percent(ratio(*taken_ns, *period_ns)),
    )
}
