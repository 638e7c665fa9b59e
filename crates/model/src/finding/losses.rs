//! Findings about data that was lost, or does not fit together.

use super::kinds::{FindingRow, findings};
use super::{INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use serde::{Deserialize, Serialize};

findings! {
    /// What was lost.
    LossFinding {
        "intervals-grown" IntervalsGrown {
            /// How often.
            count: u64,
        } => INFO;
        "intervals-merged" IntervalsMerged {
            /// How many.
            count: u64,
        } => INFO;
        "stored-file-changed" StoredFileChanged {
            /// Its name.
            name: String,
            /// Its length; none where it is not there.
            bytes: Option<u64>,
            /// The length that it was stored with.
            stored_bytes: u64,
        } => NO_PASS;
        "spikes-lost" SpikesLost {
            /// How many.
            count: u64,
        } => WARNING;
        "spikes-uncounted" SpikesUncounted {
            /// How many.
            count: u64,
            /// The largest.
            largest_ns: Nanos,
        } => WARNING;
        "trace-lost" TraceLost {
            /// Lost events; none where a frame of them cannot be read.
            events: Option<u64>,
            /// Whether the latencies come from the trace, so that they are lost with it.
            with_latencies: bool,
            /// What is wrong with the frame.
            damage: Option<String>,
        } => WARNING, INVALID if *with_latencies;
        "legs-unsound" LegsUnsound {
            /// Cycles whose legs were left out; none where a whole frame of them was.
            count: Option<u64>,
            /// Cycles that were traced.
            traced: Option<u64>,
        } => WARNING;
        "legs-missing" LegsMissing {
            /// Cycles that were traced.
            traced: u64,
            /// Of these, those with an IRQ leg.
            irq: u64,
            /// Of these, those with a thread leg.
            thread_leg: u64,
        } => WARNING;
        "spikes-not-recorded" SpikesNotRecorded {
            /// Spikes that were seen.
            seen: u64,
            /// Of these, those that came too fast.
            rate_limited: u64,
            /// Of these, those that the stream did not take in time.
            stream_full: u64,
        } => INFO;
        "events-overwritten" EventsOverwritten {
            /// Spikes whose begin is not recorded.
            spikes: u64,
            /// Size of the ring buffer of each CPU.
            ring_kib: u32,
        } => WARNING;
        "recording-unreadable" RecordingUnreadable {
            /// What is wrong with it.
            reason: String,
        } => WARNING;
        "samples-lost" SamplesLost {
            /// How many; none where a frame cannot be read.
            count: Option<u64>,
            /// The time in which they were lost, up to the finding's.
            within_ns: Option<Nanos>,
            /// What is wrong with the frame.
            damage: Option<String>,
            /// Whether `--samples` was given; else samples were sent for the legs only.
            asked_for: bool,
        } => WARNING, INVALID if *asked_for;
        "samples-missing" SamplesMissing {
            /// How many.
            count: u64,
            /// Whether the run was cut off, so that the last moment may be missing.
            cut_off: bool,
        } => INVALID, WARNING if *cut_off;
        "interval-lost" IntervalLost {
            /// The time before the finding's.
            length_ns: Nanos,
        } => INVALID;
        "interval-unsound" IntervalUnsound {
            /// What is wrong with it.
            flaw: IntervalFlaw,
        } => INVALID;
        "counts-differ" CountsDiffer {
            /// What was counted: `cycles`, `missed releases`.
            what: String,
            /// The count of the thread.
            by_thread: u64,
            /// The sum of the intervals.
            by_intervals: u64,
        } => INVALID;
        "unknown-thread" UnknownThread {
            /// What it holds: `samples`, `spikes`, `legs`, `an interval`.
            what: String,
            /// The number of the thread.
            number: u32,
        } => INVALID;
    }
}

/// What contradicts itself in an interval.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IntervalFlaw {
    /// It ends before it begins.
    EndsBeforeItBegins,
    /// It begins before the end of the one before it.
    Overlaps,
    /// A count is larger than any can be.
    ImpossibleCount,
    /// Its bins are unknown or not in order.
    DisorderedBins,
    /// Its bins do not add up to its cycles.
    WrongBinSum,
    /// Its sum does not fit its smallest and largest latency.
    ImpossibleSum,
    /// Its bins have other edges than those before it.
    OtherEdges,
}
