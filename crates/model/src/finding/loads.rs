//! Findings about the programs that load the machine.

use super::kinds::{FindingEntry, findings};
use super::{INVALID, NO_PASS, WARNING, Weight};
use crate::load::{Evidence, ExitStatus};
use crate::shell::Line;
use crate::units::{counted, percent};
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

findings! {
    /// What the loads did.
    LoadFinding {
        /// A load had not used its expected CPU time before the first counted release.
        LoadStartedLate = "load-started-late" (
            "error",
            "invalid",
            "Use a longer `--warm-up`; run the load's command by hand."
        ) {
            /// The load.
            load: String,
            /// When it did.
            start: LoadStart,
        }
        /// A load ended before the measurement did.
        LoadEndedEarly = "load-ended-early" (
            "error",
            "invalid",
            "Let it run longer, or set `restart = true` in its definition."
        ) {
            /// The load.
            load: String,
            /// How long before the end of the measurement.
            early_ns: Nanos,
            /// How its last process ended.
            status: ExitStatus,
            /// The last line that it printed.
            last_line: Option<String>,
        }
        /// A load was never started, failed, or lost the process that watches it.
        LoadDied = "load-died" (
            "error",
            "invalid",
            "Run its command by hand: the section on the load shows it."
        ) {
            /// The load.
            load: String,
            /// How.
            death: LoadDeath,
        }
        /// A load took less CPU, or its counter of the kernel grew less, than its definition
        /// demands.
        LoadTooWeak = "load-too-weak" (
            "error",
            "invalid",
            "Find out what else uses the CPUs, or use a stronger load."
        ) {
            /// The load.
            load: String,
            /// What was too little.
            shortfall: LoadShortfall,
        }
        /// Processes of a load moved to other CPUs than those they were placed on.
        LoadElsewhere = "load-elsewhere" (
            "warning",
            "no pass",
            "Remove the placement from its command, or use `--load-on` with these CPUs."
        ) {
            /// The load.
            load: String,
            /// The CPUs it was put on.
            asked: CpuSet,
            /// The CPUs it was on.
            seen: CpuSet,
        }
        /// During a run, the threads of a load were given fewer CPUs than they had used when it began.
        LoadLostCpus = "load-lost-cpus" (
            "warning",
            "no pass",
            "Find out who set its CPUs (`taskset`, a cpuset); measure again."
        ) {
            /// The load.
            load: String,
            /// The CPUs that none of its threads could use any more.
            lost: CpuSet,
            /// The CPUs that were left to them.
            left: CpuSet,
        }
        /// During a run, a thread of a load was given a lower priority than it had when it began: another
        /// policy, such as SCHED_IDLE, or a higher nice value.
        LoadLostPriority = "load-lost-priority" (
            "warning",
            "no pass",
            "Find out who changed it (`chrt`, `renice`, a daemon); measure again."
        ) {
            /// The load.
            load: String,
            /// Its policy with priority or nice value before.
            held: String,
            /// The same since then.
            now: String,
        }
        /// A load used almost no CPU time for more than a quarter of the time, although it had used
        /// more before.
        LoadPaused = "load-paused" (
            "warning",
            "no pass",
            "Find out what stopped it; measure again."
        ) {
            /// The load.
            load: String,
            /// How long it took next to nothing.
            idle_ns: Nanos,
            /// Of this time.
            watched_ns: Nanos,
            /// Share of one CPU that it took before.
            share_before: f64,
        }
        /// Processes of a load could not be stopped, most often because they hang in the kernel.
        LoadNotEnded = "load-not-ended" (
            "warning",
            "none",
            "Look for them with `ps`; they disturb the next run."
        ) {
            /// The load.
            load: String,
            /// How many.
            processes: u32,
        }
    }
}

/// When a load that started late began to take its CPU.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadStart {
    /// After the first counted release.
    Late {
        /// How long after.
        late_ns: Nanos,
    },
    /// Never.
    Never {
        /// Share of one CPU that it should have taken; 0 for any.
        least_share: f64,
    },
}

/// How a load died.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadDeath {
    /// It was never started.
    NotStarted,
    /// The process that watched it was killed, so it is unknown whether it ran.
    Unwatched,
    /// It failed.
    Failed {
        /// How long before the end of the measurement.
        early_ns: Nanos,
        /// How its last process ended.
        status: ExitStatus,
        /// The last line that it printed.
        last_line: Option<String>,
    },
}

/// What a load did too little of.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LoadShortfall {
    /// It took too little CPU.
    Cpu {
        /// Mean share of one CPU.
        mean_share: f64,
        /// Share that its definition demands.
        least_share: f64,
        /// How long it was below that.
        weak_ns: Nanos,
        /// Of this time.
        measured_ns: Nanos,
    },
    /// Its counter of the kernel grew too slowly.
    Counter {
        /// The counter.
        counter: Evidence,
        /// Its unit: `1/s`, `B/s`.
        unit: String,
        /// Mean growth each second.
        mean_per_second: f64,
        /// Growth that its definition demands.
        least_per_second: f64,
    },
}

const TRY_IT: &str = "Run it by hand: the section on the load shows the command.";

impl LoadFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use LoadFinding::*;
        match self {
            LoadStartedLate { .. }
            | LoadEndedEarly { .. }
            | LoadDied { .. }
            | LoadTooWeak { .. } => INVALID,
            // The run was not under the load that was asked for.
            LoadElsewhere { .. }
            | LoadLostCpus { .. }
            | LoadLostPriority { .. }
            | LoadPaused { .. } => NO_PASS,
            LoadNotEnded { .. } => WARNING,
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        use LoadFinding::*;
        match self {
            LoadStartedLate { load, start } => match start {
                LoadStart::Late { late_ns } => format!(
                    "The load {load} started to use its CPU {late_ns} after the first counted \
                     release."
                ),
                LoadStart::Never { least_share } => {
                    let share = match *least_share {
                        0.0 => "any CPU time".to_string(),
                        least => format!("{} of a CPU", percent(least)),
                    };
                    format!("The load {load} had not used {share} when the measurement began.")
                }
            },
            LoadEndedEarly { load, early_ns, status, last_line } => {
                ended(load, "ended", *early_ns, *status, last_line.as_deref())
            }
            LoadDied { load, death } => match death {
                LoadDeath::NotStarted => format!("The load {load} was never started."),
                LoadDeath::Unwatched => format!(
                    "The process that supervised the load {load} was killed, so it is unknown \
                     whether the load ran."
                ),
                LoadDeath::Failed { early_ns, status, last_line } => {
                    ended(load, "failed", *early_ns, *status, last_line.as_deref())
                }
            },
            LoadTooWeak { load, shortfall } => too_weak(load, shortfall),
            LoadElsewhere { load, asked, seen } => {
                format!(
                    "The load {load} was placed on CPU {asked}, but moved itself to CPU \
                         {seen}."
                )
            }
            LoadLostCpus { load, lost, left } => format!(
                "The load {load} was moved away from CPU {lost} during the run; CPU {left} was left to \
                 it."
            ),
            LoadLostPriority { load, held, now } => {
                format!(
                    "A thread of the load {load} was set from '{held}' to '{now}' during the run."
                )
            }
            LoadPaused { load, idle_ns, watched_ns, share_before } => format!(
                "The load {load} used almost no CPU time for {} of {}, after {} before.",
                seconds(*idle_ns),
                seconds(*watched_ns),
                percent(*share_before)
            ),
            LoadNotEnded { load, processes } => format!(
                "{} of the load {load} could not be stopped.",
                counted(u64::from(*processes), "process", "processes")
            ),
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        use LoadFinding::*;
        let remedy = match self {
            LoadStartedLate { start: LoadStart::Late { .. }, .. } => "Use a longer --warm-up.",
            LoadDied { death: LoadDeath::Unwatched, .. } => {
                "Measure again, and stop none of its processes by hand."
            }
            LoadStartedLate { .. } | LoadDied { .. } => TRY_IT,
            LoadEndedEarly { .. } => {
                "Let it run longer, or set `restart = true` in its definition."
            }
            LoadTooWeak { .. } => "Find out what else uses the CPUs, or use a stronger load.",
            LoadElsewhere { .. } => {
                "Remove `taskset` and the like from its command, or place it there with --load-on."
            }
            LoadLostCpus { .. } => {
                "Find out who set its CPUs (`taskset`, a cpuset), and measure again."
            }
            LoadLostPriority { .. } => {
                "Find out who changed it (`chrt`, `renice`, a daemon), and measure again."
            }
            LoadPaused { .. } => {
                "Find out whether it was stopped or waited: its CPU time is in the telemetry."
            }
            LoadNotEnded { .. } => "Look for them with `ps`; they disturb the next run.",
        };
        Some(Line::new(remedy))
    }
}

fn ended(
    load: &str,
    how: &str,
    early: Nanos,
    status: ExitStatus,
    last_line: Option<&str>,
) -> String {
    let status = match status.code {
        // As shells report it.
        Some(127) => "exit code 127: a command was not found".to_string(),
        _ => status.to_string(),
    };
    let last = last_line.map(|line| format!(" Its last line: '{line}'.")).unwrap_or_default();
    format!("The load {load} {how} {early} before the end of the measurement ({status}).{last}")
}

fn too_weak(load: &str, shortfall: &LoadShortfall) -> String {
    match shortfall {
        LoadShortfall::Cpu { mean_share, least_share, weak_ns, measured_ns } => format!(
            "The load {load} used {} of a CPU on average, and was below {} for {} of {}.",
            percent(*mean_share),
            percent(*least_share),
            seconds(*weak_ns),
            seconds(*measured_ns)
        ),
        LoadShortfall::Counter { counter, unit, mean_per_second, least_per_second } => format!(
            "With the load {load}, the kernel counter of {counter} grew by {mean_per_second:.0} \
             {unit} on average; the load should make it grow by at least {least_per_second:.0}."
        ),
    }
}

fn seconds(time: Nanos) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
