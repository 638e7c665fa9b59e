//! Findings about data that was lost or is inconsistent.

use super::kinds::{FindingRow, findings};
use super::{INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use serde::{Deserialize, Serialize};

findings! {
    /// Data that was lost or is inconsistent.
    LossFinding {
        "intervals-grown" IntervalsGrown {
            /// Number of times an interval grew.
            count: u64,
        } => INFO;
        "intervals-merged" IntervalsMerged {
            /// Number of intervals merged.
            count: u64,
        } => INFO;
        "stored-file-changed" StoredFileChanged {
            /// File name.
            name: String,
            /// Length in bytes; `None` if the file is missing.
            bytes: Option<u64>,
            /// Length when it was stored, in bytes.
            stored_bytes: u64,
        } => NO_PASS;
        "spikes-lost" SpikesLost {
            /// Number of spikes.
            count: u64,
        } => WARNING;
        "spikes-uncounted" SpikesUncounted {
            /// Number of spikes.
            count: u64,
            /// Largest latency among them.
            largest_ns: Nanos,
        } => WARNING;
        "trace-lost" TraceLost {
            /// Lost events; `None` if a frame of them is unreadable.
            events: Option<u64>,
            /// Whether the latencies come from the trace and are lost with it.
            with_latencies: bool,
            /// Damage of the frame.
            damage: Option<String>,
        } => WARNING, INVALID if *with_latencies;
        "breakdown-unsound" BreakdownUnsound {
            /// Cycles whose breakdown was left out; `None` if a whole frame was.
            count: Option<u64>,
            /// Cycles traced.
            traced: Option<u64>,
        } => WARNING;
        "breakdown-missing" BreakdownMissing {
            /// Cycles traced.
            traced: u64,
            /// Traced cycles with an IRQ part.
            irq: u64,
            /// Traced cycles with a thread part.
            thread_part: u64,
        } => WARNING;
        "spikes-not-recorded" SpikesNotRecorded {
            /// Spikes seen.
            seen: u64,
            /// Spikes dropped by the rate limit.
            rate_limited: u64,
            /// Spikes the stream did not take in time.
            stream_full: u64,
        } => INFO;
        "events-overwritten" EventsOverwritten {
            /// Spikes whose start was overwritten.
            spikes: u64,
            /// Ring buffer size of each CPU, in KiB.
            ring_kib: u32,
        } => WARNING;
        "recording-unreadable" RecordingUnreadable {
            /// Why the recording cannot be read.
            reason: String,
        } => WARNING;
        "samples-lost" SamplesLost {
            /// Number of lost samples; `None` if a frame is unreadable.
            count: Option<u64>,
            /// Length of the time of the loss, which ends at the finding's time.
            within_ns: Option<Nanos>,
            /// Damage of the frame.
            damage: Option<String>,
            /// Whether `--samples` was given; otherwise samples were sent only for the breakdown.
            asked_for: bool,
        } => WARNING, INVALID if *asked_for;
        "samples-missing" SamplesMissing {
            /// Number of cycles without a sample.
            count: u64,
            /// Whether the run was cut off, so that its last moments may be missing.
            cut_off: bool,
        } => INVALID, WARNING if *cut_off;
        "interval-lost" IntervalLost {
            /// Length of the time, which ends at the finding's time.
            length_ns: Nanos,
        } => INVALID;
        "interval-unsound" IntervalUnsound {
            /// How the interval contradicts itself.
            flaw: IntervalFlaw,
        } => INVALID;
        "counts-differ" CountsDiffer {
            /// What was counted: `cycles`, `overruns`.
            what: String,
            /// Count reported by the thread.
            by_thread: u64,
            /// Sum over the intervals.
            by_intervals: u64,
        } => INVALID;
        "unknown-thread" UnknownThread {
            /// Contents of the frame: `samples`, `spikes`, `breakdown`, `an interval`.
            what: String,
            /// Number of the unknown thread.
            number: u32,
        } => INVALID;
    }
}

/// How an interval contradicts itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IntervalFlaw {
    /// It ends before it begins.
    EndsBeforeItBegins,
    /// It begins before the previous one ends.
    Overlaps,
    /// A count is impossibly large.
    ImpossibleCount,
    /// Its bins are unknown or out of order.
    DisorderedBins,
    /// Its bins do not add up to its cycles.
    WrongBinSum,
    /// Its sum contradicts its smallest and largest latency.
    ImpossibleSum,
    /// Its bins have other edges than those of earlier intervals.
    OtherEdges,
}
