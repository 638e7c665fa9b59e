//! The conditions of a run: numbers read each second, on the clock of the latencies.
//!
//! A series is announced once, by a number. Each reading then holds only what has changed, and
//! each [`WHOLE_EVERY`]th holds everything, so that a reader who lost one knows again.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// Readings from one that holds everything to the next.
pub const WHOLE_EVERY: u64 = 60;

/// What a series is.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Number of the series in its stream.
    pub number: u32,
    /// What is measured: `temperature`, `interrupts`.
    pub metric: String,
    /// Of what: `cpu0`, `thermal_zone0 cpu-thermal`; empty for the whole machine.
    pub subject: String,
    /// Its unit: `mC`, `kHz`, `us`, `1`.
    pub unit: String,
    /// Whether the number only ever grows, so that its rate is what counts.
    pub counter: bool,
}

/// One reading of all series.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reading {
    /// When it was taken, on CLOCK_MONOTONIC.
    pub at_ns: Nanos,
    /// Number of the reading; one that is missing was lost.
    pub sequence: u64,
    /// What has changed; none for what is not there any more.
    pub values: Vec<(u32, Option<i64>)>,
}

impl Reading {
    /// Whether it holds everything, and not only what has changed.
    pub fn is_whole(&self) -> bool {
        self.sequence.is_multiple_of(WHOLE_EVERY)
    }
}

/// Names of the metrics, where both sides must know them.
pub mod metric {
    /// Temperature of a sensor, mC.
    pub const TEMPERATURE: &str = "temperature";
    /// Frequency that the kernel believes a CPU runs at, kHz.
    pub const FREQUENCY: &str = "cpu_frequency";
    /// Highest frequency that the policy allows a CPU, kHz.
    pub const FREQUENCY_LIMIT: &str = "cpu_frequency_limit";
    /// Throttle flags of a Raspberry Pi's firmware, bits.
    pub const THROTTLE_FLAGS: &str = "throttle_flags";
    /// Times a CPU was slowed down because of heat.
    pub const THERMAL_THROTTLES: &str = "thermal_throttles";
    /// Time a CPU spent in an idle state, us.
    pub const IDLE_RESIDENCY: &str = "idle_residency";
    /// Interrupts of a CPU by source.
    pub const INTERRUPTS: &str = "interrupts";
    /// Softirqs of a CPU by kind.
    pub const SOFTIRQS: &str = "softirqs";
    /// Context switches of the machine.
    pub const CONTEXT_SWITCHES: &str = "context_switches";
    /// Processes and threads started.
    pub const FORKS: &str = "forks";
    /// Tasks that want a CPU or wait for a disk.
    pub const TASKS: &str = "tasks";
    /// Time of a CPU by what it went into, in ticks of 10 ms.
    pub const CPU_TIME: &str = "cpu_time";
    /// Time in which somebody waited for a resource (PSI), us.
    pub const PRESSURE: &str = "pressure_stall";
    /// Memory, kB.
    pub const MEMORY: &str = "memory";
    /// Page faults and swapped pages.
    pub const PAGES: &str = "pages";
    /// CPU time of a thread, ns.
    pub const THREAD_CPU: &str = "thread_cpu_time";
    /// CPU a thread was last seen on.
    pub const THREAD_PLACE: &str = "thread_last_cpu";
    /// Scheduling policy of a thread, by the kernel's number: 0 other, 1 fifo, 2 rr, 3 batch,
    /// 5 idle, 6 deadline.
    pub const THREAD_POLICY: &str = "thread_policy";
    /// Real-time priority of a thread.
    pub const THREAD_PRIORITY: &str = "thread_priority";
    /// System-management interrupts.
    pub const SMI: &str = "smi";
    /// 1 for the clock source in use.
    pub const CLOCKSOURCE: &str = "clocksource";
    /// Lines of the kernel's log of a kind that matters.
    pub const KERNEL_EVENTS: &str = "kernel_events";
    /// CPU time that the readings themselves have taken, ns.
    pub const OWN_COST: &str = "telemetry_cpu_time";
}
