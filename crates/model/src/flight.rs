//! What the flight recorder sends: raw pages of the kernel's trace around each spike, and the
//! formats needed to decode them later.

use crate::Nanos;
use crate::attach::LongCycle;
use serde::{Deserialize, Serialize};

/// Formats of this kernel's trace pages and events, from its own files.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceFormats {
    /// Content of `events/header_page`.
    pub header_page: String,
    /// Each recorded event, such as `sched/sched_switch`, with its `format` file.
    pub events: Vec<EventDescription>,
    /// Ring buffer size of each CPU, in KiB.
    pub ring_kib: u32,
    /// Kernel functions whose addresses occur in the pages; sent at the end of the run.
    pub functions: Vec<KernelFunction>,
    /// Threads that ran around the spikes.
    pub threads: Vec<KnownThread>,
}

/// A thread that ran around a spike, as read from `/proc` soon after.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownThread {
    /// Kernel thread id.
    pub id: i32,
    /// Process id.
    pub process: i32,
    /// Process name.
    pub name: String,
    /// Cgroup; `None` if the kernel has none.
    pub cgroup: Option<String>,
}

/// Format of one trace event.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventDescription {
    /// Group and name of the event.
    pub event: String,
    /// Content of its `format` file.
    pub format: String,
}

/// A kernel function.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelFunction {
    /// Start address.
    pub address: u64,
    /// Function name.
    pub name: String,
}

/// Consecutive pages of one CPU. A page is sent once, however many spikes it covers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TracePages {
    /// CPU number.
    pub cpu: u32,
    /// Number of the first page, counted over all pages read of this CPU.
    pub first: u32,
    /// Page contents, without unused space.
    pub pages: Vec<Vec<u8>>,
}

/// A spike whose pages have already been sent.
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
    /// Page ranges of each CPU recorded; the thread's CPU comes first.
    pub pages: Vec<PageRange>,
    /// Time stolen from the thread's CPU between the two readings around the spike; `None` if the
    /// kernel does not count it.
    pub stolen: Option<StolenTime>,
    /// For an attached thread: its cycle.
    pub cycle: Option<LongCycle>,
}

/// Consecutive pages of a CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PageRange {
    /// CPU number.
    pub cpu: u32,
    /// Number of the first page.
    pub first: u32,
    /// Number after the last page.
    pub end: u32,
}

/// Everything recorded except the pages: `recording.json` of a run.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct EventCapture {
    /// Formats of the pages.
    pub formats: TraceFormats,
    /// Recorded spikes.
    pub spikes: Vec<RecordedSpike>,
}

/// Increase of a CPU's stolen time between two readings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StolenTime {
    /// Time of the first reading, on CLOCK_MONOTONIC.
    pub from_ns: Nanos,
    /// Time of the second reading, on CLOCK_MONOTONIC.
    pub to_ns: Nanos,
    /// Increase; the kernel counts in steps of 10 ms.
    pub rose_ns: Nanos,
}

/// A time during which the recorder was either on or off.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecorderWindow {
    /// Start, on CLOCK_MONOTONIC.
    pub from_ns: Nanos,
    /// End, on CLOCK_MONOTONIC.
    pub to_ns: Nanos,
    /// Whether events were recorded.
    pub on: bool,
    /// CPU time of the measuring threads in this time.
    pub cpu_ns: Nanos,
}

/// The recorder's periodic report.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct RecorderReport {
    /// Times with the recorder on or off that ended since the last report.
    pub windows: Vec<RecorderWindow>,
    /// Spikes since the last report, by outcome.
    pub spikes: SpikeTally,
    /// Names of functions; only in the last report.
    pub functions: Vec<KernelFunction>,
}

/// Number of spikes by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpikeTally {
    /// Latencies above the spike threshold at the time.
    pub seen: u64,
    /// Spikes whose pages were stored.
    pub stored: u64,
    /// Spikes that came while the recorder was off to measure its cost.
    pub while_off: u64,
    /// Spikes dropped by the rate limit.
    pub rate_limited: u64,
    /// Spikes whose pages the stream did not take in time.
    pub stream_full: u64,
}

impl SpikeTally {
    /// Adds the counts of another tally.
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
