//! What the flight recorder sends: raw pages of the kernel's trace around each spike, and what is
//! needed to read them, then or years later.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// How the pages and events of this kernel lie, as its own files describe them.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceFormats {
    /// `events/header_page`.
    pub header_page: String,
    /// Each recorded event, such as `sched/sched_switch`, with its `format` file.
    pub events: Vec<EventDescription>,
    /// Size of the ring buffer of each CPU.
    pub ring_kib: u32,
    /// Names of the kernel's functions whose addresses stand in the pages, sent when the run ends.
    pub functions: Vec<KernelFunction>,
    /// Threads that ran around the spikes.
    pub threads: Vec<KnownThread>,
}

/// A thread that ran around a spike, as `/proc` described it soon after.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownThread {
    /// Its number in the kernel.
    pub id: i32,
    /// The number of its process.
    pub process: i32,
    /// The name of its process.
    pub name: String,
    /// Its cgroup; none where the kernel has none.
    pub cgroup: Option<String>,
}

/// The format of one event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventDescription {
    /// Its folder and its name.
    pub event: String,
    /// Its `format` file.
    pub format: String,
}

/// A function of the kernel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelFunction {
    /// Where it begins.
    pub address: u64,
    /// Its name.
    pub name: String,
}

/// Pages of one CPU that follow each other. A page is sent once, however many spikes lie in it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TracePages {
    /// The CPU.
    pub cpu: u32,
    /// Number of the first of them, among all that were read of this CPU.
    pub first: u32,
    /// The pages, each as far as it is filled.
    pub pages: Vec<Vec<u8>>,
}

/// A spike whose pages have been sent before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecordedSpike {
    /// Number of the spike, from 1.
    pub spike: u32,
    /// Number of the measuring thread.
    pub thread: u32,
    /// Its release, on CLOCK_MONOTONIC.
    pub release_ns: Nanos,
    /// The latency.
    pub latency_ns: Nanos,
    /// The pages of each CPU that was looked at; the CPU of the thread comes first.
    pub pages: Vec<PageRange>,
    /// Time stolen from the thread's CPU between the last two readings around the spike; none where
    /// the kernel does not count it.
    pub stolen: Option<StolenTime>,
}

/// Pages of a CPU that follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PageRange {
    /// The CPU.
    pub cpu: u32,
    /// The first.
    pub first: u32,
    /// The one after the last.
    pub end: u32,
}

/// Everything of a recording but its pages: `recording.json` of a run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// How the pages lie.
    pub formats: TraceFormats,
    /// The spikes.
    pub spikes: Vec<RecordedSpike>,
}

/// By how much the time that a hypervisor took from a CPU rose between two readings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StolenTime {
    /// The reading before, on CLOCK_MONOTONIC.
    pub from_ns: Nanos,
    /// The reading after.
    pub to_ns: Nanos,
    /// What it rose by; the kernel counts in steps of 10 ms.
    pub rose_ns: Nanos,
}

/// A time in which the recorder was on or off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecorderWindow {
    /// Its begin, on CLOCK_MONOTONIC.
    pub from_ns: Nanos,
    /// Its end.
    pub to_ns: Nanos,
    /// Whether events were recorded.
    pub on: bool,
    /// CPU time of the measuring threads in it.
    pub cpu_ns: Nanos,
}

/// What became of the spikes so far.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct RecorderReport {
    /// Times in which the recorder was on or off that have ended since the last report.
    pub windows: Vec<RecorderWindow>,
    /// Spikes since the last report, by what became of them.
    pub spikes: SpikeTally,
    /// Names of functions, in the last report.
    pub functions: Vec<KernelFunction>,
}

/// Spikes by what became of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpikeTally {
    /// Latencies above the bound of their moment.
    pub seen: u64,
    /// Those whose pages were stored.
    pub stored: u64,
    /// Those that came while the recorder was off to measure what it costs.
    pub while_off: u64,
    /// Those that came too soon after another one, or after too many.
    pub rate_limited: u64,
    /// Those whose pages the stream did not take in time.
    pub stream_full: u64,
}

impl SpikeTally {
    /// Adds another to this one.
    pub fn add(&mut self, other: &SpikeTally) {
        let sums = [
            (&mut self.seen, other.seen),
            (&mut self.stored, other.stored),
            (&mut self.while_off, other.while_off),
            (&mut self.rate_limited, other.rate_limited),
            (&mut self.stream_full, other.stream_full),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum = sum.saturating_add(more));
    }
}
