//! Findings about the conditions of a run, each with its time and the latencies of that time.

use super::condition_parts::{
    LatencyComparison, RivalThread, ThreadShare, Throttling, When, since_start,
};
use super::kinds::{FindingEntry, findings};
use super::{ERROR, INFO, WARNING, Weight};
use crate::shell::Line;
use crate::units::{bytes, counted, percent};
use crate::{CpuSet, Nanos};
use serde::{Deserialize, Serialize};

findings! {
    /// What the conditions did.
    ConditionFinding {
        /// A CPU was slowed down by heat or a weak supply: the flags of a Raspberry Pi's firmware, a
        /// counter of throttling, or a lower limit of its frequency.
        Throttled = "throttled" ("warning", "none", "Cool the machine; use a stronger supply.") {
            /// What shows it.
            by: Throttling,
            /// When.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// A measured CPU ran at frequencies more than 5 % apart.
        FrequencyChanged = "frequency-changed" (
            "warning",
            "none",
            "Fix the frequency: see `latlab doctor`."
        ) {
            /// The CPUs.
            cpus: CpuSet,
            /// The lowest frequency.
            low_mhz: f64,
            /// The highest frequency.
            high_mhz: f64,
            /// When it was below the highest.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// The temperatures of the first and the last tenth of the run were at least 5 C apart.
        TemperatureDrift = "temperature-drift" (
            "info, warning from 10 C",
            "none",
            "Use a longer `--warm-up` under the load."
        ) {
            /// The sensor.
            sensor: String,
            /// Mean of the first tenth of the run, in degrees Celsius.
            first_c: f64,
            /// Mean of the last tenth.
            last_c: f64,
            /// The latencies of the last tenth.
            beside: LatencyComparison,
        }
        /// The hypervisor took time from a measured CPU: for more than 0.1 % of the run, or 2 %
        /// between two readings.
        Steal = "steal" (
            "warning",
            "none",
            "Use bare metal, or give the guest dedicated CPUs."
        ) {
            /// The CPU.
            cpu: u32,
            /// Share of the run.
            mean_share: f64,
            /// Largest share between two readings.
            worst_share: f64,
            /// When it was large; none where no single step stands out.
            when: Option<When>,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// Pages were swapped out or in.
        Swapped = "swapped" ("warning", "none", "`swapoff -a` for the run.") {
            /// How many.
            pages: u64,
            /// When.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// A thread with the same or a higher priority than the measuring threads ran on a measured
        /// CPU.
        RivalThread = "rival-thread" (
            "warning",
            "none",
            "Move it with `taskset`, or lower it with `chrt`."
        ) {
            /// The measured CPUs that such threads ran on.
            cpus: CpuSet,
            /// The busiest of them.
            threads: Vec<RivalThread>,
            /// Further ones.
            others: u64,
            /// The latencies while they ran.
            beside: LatencyComparison,
        }
        /// The utilisation of a measured CPU differed by more than 25 % of its time from its usual
        /// value in this run. The busiest threads of that time are named.
        LoadChanged = "load-changed" (
            "warning",
            "none",
            "Keep the load constant, or measure each load separately."
        ) {
            /// The CPU.
            cpu: u32,
            /// Share of its time that it was busy then.
            share: f64,
            /// Share of its time that is usual in this run.
            usual_share: f64,
            /// When.
            when: When,
            /// The busiest threads of that time.
            threads: Vec<ThreadShare>,
            /// Shorter changes on this CPU that are not listed.
            shorter_changes: u64,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// The run was to be without a load, and other work took more than 25 % of a measured CPU.
        OtherWork = "other-work" (
            "info",
            "none",
            "Stop the other programs, or name them as a load."
        ) {
            /// The measured CPUs of which it took so much.
            cpus: CpuSet,
            /// Its share of the busiest of them, over the run.
            share: f64,
            /// The busiest threads on these CPUs.
            threads: Vec<ThreadShare>,
        }
        /// A tenth of the memory or more was taken within ten readings.
        MemoryTaken = "memory-taken" (
            "info, warning below 5 % left",
            "none",
            "Find the program that took it."
        ) {
            /// How much.
            taken_bytes: u64,
            /// All memory.
            total_bytes: u64,
            /// The least that was available.
            least_bytes: u64,
            /// Whether that is less than 5 % of all.
            scarce: bool,
            /// When; none where it was taken before.
            when: Option<When>,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// The kernel switched to another clock source during the run.
        ClocksourceChanged = "clocksource-changed" (
            "error",
            "none",
            "Look for `clocksource` in the kernel log."
        ) {
            /// The clock source at the beginning.
            before: String,
            /// The clock source that followed.
            after: String,
            /// When it changed, since the first counted release.
            since_start_ns: Nanos,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// The firmware interrupted all CPUs (counted on Intel processors).
        Smi = "smi" (
            "warning",
            "none",
            "Check the firmware settings: legacy USB, power management."
        ) {
            /// How often.
            count: u64,
            /// When.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// The kernel log reported something that concerns latency, such as `rt-throttling`,
        /// `lockup`, `rcu-stall`, `heat`.
        KernelEvent = "kernel-event" (
            "warning",
            "none",
            "Read the kernel log of that time; after `rt-throttling` find the thread that never sleeps."
        ) {
            /// What.
            event: String,
            /// How often.
            count: u64,
            /// When.
            when: When,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// Readings are missing: the machine gave no time for them, the stream was not read in time, or
        /// is damaged.
        TelemetryLost = "telemetry-lost" (
            "info",
            "none",
            "Nothing; missing readings are not replaced."
        ) {
            /// How many.
            readings: u64,
        }
        /// Telemetry was not read for more than three times its usual distance: the conditions of that
        /// time are not known. The agent did not get a CPU, or a kernel file did not answer.
        TelemetryGap = "telemetry-gap" (
            "warning",
            "none",
            "Leave one CPU without a measuring thread, or load the machine less."
        ) {
            /// How many such gaps there are.
            gaps: u64,
            /// The longest one.
            when: When,
            /// Usual distance of two readings.
            usual_ns: Nanos,
            /// The latencies of that time.
            beside: LatencyComparison,
        }
        /// The readings took more than 0.5 % of a CPU.
        TelemetryDear = "telemetry-dear" ("warning", "none", "Use `--telemetry 5s`, or `off`.") {
            /// Share of a CPU that they took.
            cpu_share: f64,
            /// Share that should be enough.
            limit_share: f64,
        }
    }
}

/// What the kernel's log is searched for when it has throttled real-time threads.
pub const RT_THROTTLING: &str = "rt-throttling";

impl ConditionFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use ConditionFinding::*;
        match self {
            ClocksourceChanged { .. } => ERROR,
            TemperatureDrift { first_c, last_c, .. } if (last_c - first_c).abs() < 10.0 => INFO,
            OtherWork { .. } | MemoryTaken { scarce: false, .. } | TelemetryLost { .. } => INFO,
            Throttled { .. }
            | FrequencyChanged { .. }
            | TemperatureDrift { .. }
            | Steal { .. }
            | Swapped { .. }
            | RivalThread { .. }
            | LoadChanged { .. }
            | MemoryTaken { .. }
            | Smi { .. }
            | KernelEvent { .. }
            | TelemetryGap { .. }
            | TelemetryDear { .. } => WARNING,
        }
    }

    /// What happened, and the latencies beside it.
    pub(super) fn text(&self) -> String {
        let text = self.event();
        match self.latency_comparison() {
            Some(beside) => format!("{text} {}", beside.text()),
            None => text,
        }
    }

    fn event(&self) -> String {
        use ConditionFinding::*;
        match self {
            Throttled { by, when, .. } => format!("{} {}.", by.text(), when.text()),
            FrequencyChanged { cpus, low_mhz, high_mhz, when, .. } => format!(
                "CPU {cpus} ran at {low_mhz:.0} to {high_mhz:.0} MHz, below its highest frequency \
                 {}.",
                when.text()
            ),
            TemperatureDrift { sensor, first_c, last_c, .. } => format!(
                "The temperature of {sensor} changed from {first_c:.1} C in the first tenth of \
                 the run to {last_c:.1} C in the last tenth."
            ),
            Steal { cpu, mean_share, worst_share, when, .. } => format!(
                "The hypervisor took {} of CPU {cpu} over the run, and up to {} between two \
                 readings{}.",
                percent(*mean_share),
                percent(*worst_share),
                behind_comma(*when)
            ),
            Swapped { pages, when, .. } => {
                let pages = counted(*pages, "page was", "pages were");
                format!("{pages} swapped {}.", when.text())
            }
            RivalThread { cpus, threads, others, .. } => rival_threads(cpus, threads, *others),
            LoadChanged { cpu, share, usual_share, when, threads, shorter_changes, .. } => {
                let change = format!(
                    "The load changed: CPU {cpu} was {} busy {}, usually {}",
                    whole_percent(*share),
                    when.text(),
                    whole_percent(*usual_share)
                );
                format!("{change}{}.", load_details(threads, *shorter_changes))
            }
            OtherWork { cpus, share, threads } => format!(
                "The run is without a load, but other work took up to {} of CPU {cpus}{}.",
                whole_percent(*share),
                load_details(threads, 0)
            ),
            MemoryTaken { taken_bytes, total_bytes, least_bytes, when, .. } => format!(
                "Memory use rose: {} of {} were taken within a few seconds; at least {} were \
                 left{}.",
                bytes(*taken_bytes),
                bytes(*total_bytes),
                bytes(*least_bytes),
                behind_comma(*when)
            ),
            ClocksourceChanged { before, after, since_start_ns, .. } => format!(
                "The clock source changed from {before} to {after} at {}.",
                since_start(*since_start_ns)
            ),
            Smi { count, when, .. } => format!(
                "The firmware stopped all CPUs for {} {}.",
                counted(*count, "system-management interrupt", "system-management interrupts"),
                when.text()
            ),
            KernelEvent { event, count, when, .. } => format!(
                "The kernel log reported '{event}' {} {}.",
                counted(*count, "time", "times"),
                when.text()
            ),
            TelemetryLost { readings } => format!(
                "{} missing: the machine gave no time for them, or the stream was not read in time or \
                 is damaged.",
                counted(*readings, "telemetry reading is", "telemetry readings are")
            ),
            TelemetryGap { gaps, when, usual_ns, .. } => {
                let others = match gaps.saturating_sub(1) {
                    0 => String::new(),
                    more => format!(", and in {}", counted(more, "shorter gap", "shorter gaps")),
                };
                let length = (when.to_ns - when.from_ns).as_secs_f64();
                format!(
                    "Telemetry was not read for {length:.1} s {}{others}: the conditions of that \
                     time are not known. Usually it is read every {:.1} s.",
                    when.text(),
                    usual_ns.as_secs_f64()
                )
            }
            TelemetryDear { cpu_share, limit_share } => format!(
                "Telemetry took {} of a CPU; the limit is {}.",
                percent(*cpu_share),
                percent(*limit_share)
            ),
        }
    }

    /// Whether latencies were smaller in its time than otherwise, so that they do not come from it.
    pub fn made_nothing_larger(&self) -> bool {
        self.latency_comparison().is_some_and(LatencyComparison::is_smaller_then)
    }

    fn latency_comparison(&self) -> Option<&LatencyComparison> {
        use ConditionFinding::*;
        match self {
            Throttled { beside, .. }
            | FrequencyChanged { beside, .. }
            | TemperatureDrift { beside, .. }
            | Steal { beside, .. }
            | Swapped { beside, .. }
            | RivalThread { beside, .. }
            | LoadChanged { beside, .. }
            | MemoryTaken { beside, .. }
            | ClocksourceChanged { beside, .. }
            | Smi { beside, .. }
            | KernelEvent { beside, .. }
            | TelemetryGap { beside, .. } => Some(beside),
            OtherWork { .. } | TelemetryLost { .. } | TelemetryDear { .. } => None,
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        use ConditionFinding::*;
        let remedy = match self {
            FrequencyChanged { .. } => "Fix the frequency: see `latlab doctor`.",
            TemperatureDrift { .. } => {
                "Let the machine warm up under its load before the run: --warm-up."
            }
            Steal { .. } => "Measure on bare metal, or give the guest dedicated CPUs.",
            Swapped { .. } => "Turn swap off for the run: `swapoff -a`.",
            RivalThread { threads, .. } => {
                let id = threads.first()?.id;
                let id = id.to_string();
                let line = Line::new("Move them away (`taskset -cp CPUS").word(&id);
                let line = line.end("`) or lower their priority (`chrt -o -p 0").word(&id);
                return Some(line.end("`)."));
            }
            ClocksourceChanged { .. } => "Look for 'clocksource' in the kernel log.",
            TelemetryDear { .. } => {
                "Read telemetry less often: --telemetry 5s, or --telemetry \
                                     off."
            }
            OtherWork { .. } => "Stop the other programs, or name them as a load: --load.",
            Throttled { .. } => "Cool the machine; use a stronger supply.",
            TelemetryGap { .. } => {
                "Leave one CPU without a measuring thread (`--cpus`), or load the machine less."
            }
            Smi { .. } => "Check the firmware settings: legacy USB, power management.",
            KernelEvent { event, .. } if event == RT_THROTTLING => {
                "Find the real-time thread that never sleeps: `ps -eLo pid,tid,cls,rtprio,pcpu,comm`."
            }
            KernelEvent { .. } => "Read the kernel log of that time: `journalctl --dmesg`.",
            LoadChanged { .. } | MemoryTaken { .. } | TelemetryLost { .. } => return None,
        };
        Some(Line::new(remedy))
    }
}

fn behind_comma(when: Option<When>) -> String {
    when.map(|when| format!(", {}", when.text())).unwrap_or_default()
}

fn whole_percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

fn rival_threads(cpus: &CpuSet, threads: &[RivalThread], others: u64) -> String {
    let each = threads.iter().map(|thread| {
        let RivalThread { name, id, policy, mean_share, peak_share, peak_at_ns } = thread;
        format!(
            "'{name}' ({id}, {policy}) {} of a CPU, up to {} at {}",
            percent(*mean_share),
            whole_percent(*peak_share),
            since_start(*peak_at_ns)
        )
    });
    let others = match others {
        0 => String::new(),
        others => format!("; and {others} more"),
    };
    format!(
        "Threads of the same or a higher priority ran on CPU {cpus}: {}{others}.",
        each.collect::<Vec<_>>().join("; ")
    )
}

fn load_details(threads: &[ThreadShare], shorter_changes: u64) -> String {
    let each = threads.iter().map(|ThreadShare { name, id, share }| {
        format!("'{name}' ({id}) took {}", whole_percent(*share))
    });
    let each: Vec<String> = each.collect();
    let who = if each.is_empty() { String::new() } else { format!("; {}", each.join(", ")) };
    match shorter_changes {
        0 => who,
        more => format!("{who}; and {}", counted(more, "shorter change", "shorter changes")),
    }
}
