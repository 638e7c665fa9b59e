//! Findings about data that was lost, or does not fit together.

use super::kinds::{FindingEntry, findings};
use super::{INFO, INVALID, NO_PASS, WARNING, Weight};
use crate::Nanos;
use crate::shell::Line;
use crate::units::{counted, grouped};
use serde::{Deserialize, Serialize};

findings! {
    /// What was lost.
    LossFinding {
        /// The thread that collects the counts was late, so an interval is longer than planned. No
        /// count is lost.
        IntervalsGrown = "intervals-grown" (
            "info",
            "none",
            "Keep a CPU free for latlab's other threads: `--helpers-on`."
        ) {
            /// How often.
            count: u64,
        }
        /// The stream was not read in time, so intervals were merged. No count is lost.
        IntervalsMerged = "intervals-merged" (
            "info",
            "none",
            "Use a faster disk, or `--helpers-on`."
        ) {
            /// How many.
            count: u64,
        }
        /// A file of the stored run is not there any more, or was cut or changed.
        StoredFileChanged = "stored-file-changed" (
            "warning",
            "no pass",
            "Look at the folder with `latlab verify`, and take it from a backup."
        ) {
            /// Its name.
            name: String,
            /// Its length; none where it is not there.
            bytes: Option<u64>,
            /// The length that it was stored with.
            stored_bytes: u64,
        }
        /// Large latencies came faster than they could be stored. Their times are lost, their
        /// counts are not.
        SpikesLost = "spikes-lost" (
            "warning",
            "none",
            "Nothing, if only the maximum matters."
        ) {
            /// How many.
            count: u64,
        }
        /// An interrupted run had latencies after its last stored interval. They are in
        /// `spikes.parquet` and in the verdict, and in no other figure.
        SpikesUncounted = "spikes-uncounted" ("warning", "none", "Nothing.") {
            /// How many.
            count: u64,
            /// The largest.
            largest_ns: Nanos,
        }
        /// Events of the kernel's trace were not read in time. With `--legs` the cycles around them
        /// have no legs; with `--instrument timerlat` their latencies are counted nowhere.
        TraceLost = "trace-lost" (
            "warning; error with timerlat",
            "invalid with timerlat",
            "Use a CPU for `--helpers-on`, fewer threads, or a longer period."
        ) {
            /// Lost events; none where a frame of them cannot be read.
            events: Option<u64>,
            /// Whether the latencies come from the trace, so that they are lost with it.
            with_latencies: bool,
            /// What is wrong with the frame.
            damage: Option<String>,
        }
        /// With `--legs`: the legs of some cycles contradict their latencies and were left out.
        LegsUnsound = "legs-unsound" (
            "warning",
            "none",
            "Nothing if they are few; their latencies are counted."
        ) {
            /// Cycles whose legs were left out; none where a whole frame of them was.
            count: Option<u64>,
            /// Cycles that were traced.
            traced: Option<u64>,
        }
        /// With `--legs`: the IRQ leg or the thread leg is known in less than half of a thread's
        /// traced cycles, because timers had expired before the thread slept, or the trace does not
        /// contain the switch to it. Kernel 6.18 traces no switch from an idle CPU.
        LegsMissing = "legs-missing" (
            "warning",
            "none",
            "Run other work on the measured CPUs, or use a longer period."
        ) {
            /// Cycles that were traced.
            traced: u64,
            /// Of these, those with an IRQ leg.
            irq: u64,
            /// Of these, those with a thread leg.
            thread_leg: u64,
        }
        /// With `--explain`: spikes came faster than their events could be copied. Their latencies are
        /// counted.
        SpikesNotRecorded = "spikes-not-recorded" (
            "info",
            "none",
            "Use a higher `--spike-above`, or a faster disk."
        ) {
            /// Spikes that were seen.
            seen: u64,
            /// Of these, those that came too fast.
            rate_limited: u64,
            /// Of these, those that the stream did not take in time.
            stream_full: u64,
        }
        /// With `--explain`: the events of some spikes were overwritten before they could be copied.
        EventsOverwritten = "events-overwritten" (
            "warning",
            "none",
            "Leave a CPU free for `--helpers-on`, or give the machine less to do."
        ) {
            /// Spikes whose begin is not recorded.
            spikes: u64,
            /// Size of the ring buffer of each CPU.
            ring_kib: u32,
        }
        /// With `--explain`: a part of the recorded events cannot be read.
        RecordingUnreadable = "recording-unreadable" (
            "warning",
            "none",
            "A newer latlab may read it: `latlab explain`."
        ) {
            /// What is wrong with it.
            reason: String,
        }
        /// Samples were not read in time, or a frame of them cannot be read. The histogram holds
        /// them all.
        SamplesLost = "samples-lost" (
            "error; warning without `--samples`",
            "invalid with `--samples`; without it only the legs needed them",
            "Use a faster disk, fewer threads, or a longer period."
        ) {
            /// How many; none where a frame cannot be read.
            count: Option<u64>,
            /// The time in which they were lost, up to the finding's.
            within_ns: Option<Nanos>,
            /// What is wrong with the frame.
            damage: Option<String>,
            /// Whether `--samples` was given; else samples were sent for the legs only.
            asked_for: bool,
        }
        /// Cycles of a thread have no row in `samples.parquet`.
        SamplesMissing = "samples-missing" (
            "warning, error",
            "invalid unless the run was interrupted",
            "Use a faster disk, fewer threads, or a longer period."
        ) {
            /// How many.
            count: u64,
            /// Whether the run was cut off, so that the last moment may be missing.
            cut_off: bool,
        }
        /// The counts of some time are not in the journal.
        IntervalLost = "interval-lost" (
            "error",
            "invalid",
            "See the finding about the journal."
        ) {
            /// The time before the finding's.
            length_ns: Nanos,
        }
        /// An interval contradicts itself and was left out.
        IntervalUnsound = "interval-unsound" (
            "error",
            "invalid",
            "Check the disk and the memory; if it happens again, report it."
        ) {
            /// What is wrong with it.
            flaw: IntervalFlaw,
        }
        /// A thread's own counts differ from those of its intervals.
        CountsDiffer = "counts-differ" (
            "error",
            "invalid",
            "Check the disk and the memory; if it happens again, report it."
        ) {
            /// What was counted: `cycles`, `missed releases`.
            what: String,
            /// The count of the thread.
            by_thread: u64,
            /// The sum of the intervals.
            by_intervals: u64,
        }
        /// The journal holds data of a thread that was never set up.
        UnknownThread = "unknown-thread" (
            "error",
            "invalid",
            "Check the disk and the memory; if it happens again, report it."
        ) {
            /// What it holds: `samples`, `spikes`, `legs`, `an interval`.
            what: String,
            /// The number of the thread.
            number: u32,
        }
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

const RELIEVE_DISK: &str = "Use --out on a faster disk, fewer threads, or a longer period.";
const RELIEVE_TRACE: &str =
    "Leave a CPU free for --helpers-on, or use fewer threads or a longer period.";
const CHECK: &str = "Check the disk and the memory; if it happens again, report it.";

impl LossFinding {
    /// How much it weighs.
    pub(super) fn weight(&self) -> Weight {
        use LossFinding::*;
        match self {
            IntervalsGrown { .. } | IntervalsMerged { .. } | SpikesNotRecorded { .. } => INFO,
            TraceLost { with_latencies: true, .. }
            | SamplesLost { asked_for: true, .. }
            | SamplesMissing { cut_off: false, .. }
            | IntervalLost { .. }
            | IntervalUnsound { .. }
            | CountsDiffer { .. }
            | UnknownThread { .. } => INVALID,
            StoredFileChanged { .. } => NO_PASS,
            SpikesLost { .. }
            | SpikesUncounted { .. }
            | TraceLost { .. }
            | LegsUnsound { .. }
            | LegsMissing { .. }
            | EventsOverwritten { .. }
            | RecordingUnreadable { .. }
            | SamplesLost { .. }
            | SamplesMissing { .. } => WARNING,
        }
    }

    /// What happened.
    pub(super) fn text(&self) -> String {
        use LossFinding::*;
        match self {
            StoredFileChanged { name, bytes: Some(bytes), stored_bytes } => format!(
                "{name} was changed after the run: it has {} bytes instead of {}.",
                grouped(*bytes),
                grouped(*stored_bytes)
            ),
            StoredFileChanged { name, bytes: None, .. } => {
                format!("{name} was removed after the run.")
            }
            IntervalsGrown { count } => format!(
                "An interval became longer {}, because latlab was late to collect the one before. \
                 No count is lost.",
                counted(*count, "time", "times")
            ),
            IntervalsMerged { count } => format!(
                "{} merged with the next one, because the stream was not read in time. No count \
                 is lost.",
                counted(*count, "interval was", "intervals were")
            ),
            SpikesLost { count } => format!(
                "The times of {} are lost: they came faster than they could be stored. The \
                 histogram contains them all.",
                counted(*count, "large latency", "large latencies")
            ),
            SpikesUncounted { count, largest_ns } => format!(
                "{} after the last stored interval (largest: {largest_ns}). They are in \
                 spikes.parquet and in the verdict, and in no other figure.",
                counted(*count, "latency occurred", "latencies occurred")
            ),
            TraceLost { events: Some(events), with_latencies, .. } => {
                trace_lost(*events, *with_latencies)
            }
            TraceLost { damage, .. } => format!(
                "A trace frame was left out: {}. Its cycles have no legs.",
                damage.as_deref().unwrap_or("it cannot be read")
            ),
            LegsUnsound { count: Some(count), traced } => format!(
                "The legs of {} of {} contradict their latencies and were left out.",
                grouped(*count),
                counted(traced.unwrap_or_default(), "traced cycle", "traced cycles")
            ),
            LegsUnsound { count: None, .. } => {
                "A frame of legs was left out, because its counts contradict each other."
                    .to_string()
            }
            LegsMissing { traced, irq, thread_leg } => legs_missing(*traced, *irq, *thread_leg),
            SpikesNotRecorded { seen, rate_limited, stream_full } => format!(
                "Of {}, the events of {} were not copied because they came too fast, and of {} \
                 because the stream was not read in time.",
                counted(*seen, "spike", "spikes"),
                grouped(*rate_limited),
                grouped(*stream_full)
            ),
            EventsOverwritten { spikes, ring_kib } => format!(
                "The start of {} was overwritten in the kernel's ring buffer, which holds {ring_kib} KiB \
                 for each CPU.",
                counted(*spikes, "spike", "spikes")
            ),
            RecordingUnreadable { reason } => {
                format!("The recorded events of the kernel cannot be read: {reason}.")
            }
            SamplesLost { count, within_ns, damage, .. } => {
                samples_lost(*count, *within_ns, damage.as_deref())
            }
            SamplesMissing { count, .. } => format!(
                "{} no row in samples.parquet.",
                counted(*count, "cycle of the thread has", "cycles of the thread have")
            ),
            IntervalLost { length_ns } => {
                format!("The counts of the {length_ns} before this are lost.")
            }
            IntervalUnsound { flaw } => {
                format!("An interval was left out, because {}.", flaw.reason())
            }
            CountsDiffer { what, by_thread, by_intervals } => format!(
                "The thread counted {} {what}, but the intervals contain {}: data was lost.",
                grouped(*by_thread),
                grouped(*by_intervals)
            ),
            UnknownThread { what, number } => {
                format!("The stream has {what} of thread {number}, which was not set up.")
            }
        }
    }

    /// What to do about it.
    pub(super) fn remedy(&self) -> Option<Line> {
        use LossFinding::*;
        let remedy = match self {
            StoredFileChanged { .. } => {
                "Look at the folder with `latlab verify`, and take it from a backup."
            }
            SamplesLost { damage: None, .. } | SamplesMissing { cut_off: false, .. } => {
                RELIEVE_DISK
            }
            TraceLost { damage: None, .. } | EventsOverwritten { .. } => RELIEVE_TRACE,
            SpikesNotRecorded { .. } => "Use a higher --spike-above, or a faster disk.",
            LegsMissing { .. } => "Run other work on the measured CPUs, or use a longer period.",
            IntervalUnsound { .. }
            | CountsDiffer { .. }
            | UnknownThread { .. }
            | SamplesLost { .. }
            | TraceLost { .. } => CHECK,
            IntervalsGrown { .. }
            | IntervalsMerged { .. }
            | SpikesLost { .. }
            | SpikesUncounted { .. }
            | LegsUnsound { .. }
            | RecordingUnreadable { .. }
            | SamplesMissing { .. }
            | IntervalLost { .. } => return None,
        };
        Some(Line::new(remedy))
    }
}

impl IntervalFlaw {
    fn reason(self) -> &'static str {
        match self {
            IntervalFlaw::EndsBeforeItBegins => "it ends before it begins",
            IntervalFlaw::Overlaps => "it begins before the end of the one before it",
            IntervalFlaw::ImpossibleCount => "a count is impossible",
            IntervalFlaw::DisorderedBins => "its bins are not in order",
            IntervalFlaw::WrongBinSum => "its bins do not add up to its cycles",
            IntervalFlaw::ImpossibleSum => "its sum does not fit its minimum and maximum",
            IntervalFlaw::OtherEdges => "its bins differ from those before it",
        }
    }
}

fn trace_lost(events: u64, with_latencies: bool) -> String {
    let lost = counted(events, "kernel trace event was", "kernel trace events were");
    let then = match with_latencies {
        true => "The latencies of that time are not counted.",
        false => "The cycles around them have no legs; their latencies are all counted.",
    };
    format!("{lost} lost, because the trace was not read in time. {then}")
}

fn legs_missing(traced: u64, irq: u64, thread_leg: u64) -> String {
    format!(
        "Of {} the IRQ leg is known in {} and the thread leg in {}, so their figures may not be \
         representative: the timer had expired before the thread slept, or the trace lacks the \
         switch to it. Some kernels, such as 6.18, do not trace the switch from an idle CPU.",
        counted(traced, "traced cycle", "traced cycles"),
        grouped(irq),
        grouped(thread_leg)
    )
}

fn samples_lost(count: Option<u64>, within: Option<Nanos>, damage: Option<&str>) -> String {
    match (count, within) {
        (Some(count), Some(within)) => format!(
            "{} lost in the {within} before this, because the stream was not read in time. The \
             histogram contains them all.",
            counted(count, "sample was", "samples were")
        ),
        _ => format!("A frame of samples was left out: {}.", damage.unwrap_or("it cannot be read")),
    }
}
