//! Lost or inconsistent data.

use super::kinds::{FindingWords, Said, Worded, words};
use latlab_model::finding::{IntervalFlaw, LossFinding};
use latlab_model::shell::Line;
use latlab_model::units::{counted, grouped};

words! { LossFinding {
    /// The thread that collects the counts was late, so an interval is longer than planned. `--helpers-on`
    /// keeps a CPU free for it.
    IntervalsGrown { count } =>
        says "An interval became longer {times}, because latlab was late to collect the one before. No count \
              is lost.",
            times = counted(*count, "time", "times");

    /// The stream was not read in time, so intervals were merged. A faster disk helps, or `--helpers-on`.
    IntervalsMerged { count } =>
        says "{intervals} merged with the next one, because the stream was not read in time. No count is lost.",
            intervals = counted(*count, "interval was", "intervals were");

    /// A file of the stored run was removed, cut or changed.
    StoredFileChanged
    { name, bytes: Some(bytes), stored_bytes } =>
        says "{name} was changed after the run: it has {bytes} bytes instead of {stored_bytes}.",
            bytes = grouped(*bytes), stored_bytes = grouped(*stored_bytes);
        remedy FROM_BACKUP;
    { name, bytes: None, .. } =>
        says "{name} was removed after the run.";
        remedy FROM_BACKUP;

    /// Large latencies came faster than they could be stored. This does not matter if only the maximum does.
    SpikesLost { count } =>
        says "The times of {latencies} are lost: they came faster than they could be stored. The histogram \
              contains them all.",
            latencies = counted(*count, "large latency", "large latencies");

    /// An interrupted run had latencies after its last stored interval.
    SpikesUncounted { count, largest_ns } =>
        says "{latencies} after the last stored interval (largest: {largest_ns}). They are in spikes.parquet \
              and in the verdict, and in no other figure.",
            latencies = counted(*count, "latency occurred", "latencies occurred");

    /// Events of the kernel's trace were not read in time, or cannot be read. Invalid for timerlat,
    /// whose latencies come from them.
    TraceLost
    { events: Some(events), with_latencies: true, .. } =>
        says "{events} lost, because the trace was not read in time. The latencies of that time are not \
              counted.",
            events = counted(*events, "kernel trace event was", "kernel trace events were");
        remedy RELIEVE_TRACE;
    { events: Some(events), with_latencies: false, .. } =>
        says "{events} lost, because the trace was not read in time. The cycles around them have no breakdown; \
              their latencies are all counted.",
            events = counted(*events, "kernel trace event was", "kernel trace events were");
        remedy RELIEVE_TRACE;
    { events: None, damage, .. } =>
        says "A trace frame was left out: {damage}. Its cycles have no breakdown.", damage = unreadable(damage);
        remedy CHECK;

    /// With `--breakdown`: the breakdown of some cycles contradicts their latencies and was left out. The latencies are
    /// counted.
    BreakdownUnsound
    { count: Some(count), traced } =>
        says "The breakdown of {count} of {traced} contradicts their latencies and was left out.",
            count = grouped(*count),
            traced = counted(traced.unwrap_or_default(), "traced cycle", "traced cycles");
    { count: None, .. } =>
        says "A breakdown frame was left out, because its counts contradict each other.";

    /// With `--breakdown`: the IRQ part or the thread part is known in less than half of a thread's traced cycles.
    BreakdownMissing { traced, irq, thread_part } =>
        says "Of {traced} the IRQ part is known in {irq} and the thread part in {thread_part}, so their figures \
              may not be representative: the timer had expired before the thread slept, or the trace lacks the \
              switch to it. Some kernels, such as 6.18, do not trace the switch from an idle CPU.",
            traced = counted(*traced, "traced cycle", "traced cycles"), irq = grouped(*irq),
            thread_part = grouped(*thread_part);
        remedy "Run other work on the measured CPUs, or use a longer period.";

    /// With `--explain`: spikes came faster than their events could be copied. Their latencies are counted.
    SpikesNotRecorded { seen, rate_limited, stream_full } =>
        says "Of {seen}, the events of {rate_limited} were not copied because they came too fast, and of \
              {stream_full} because the stream was not read in time.",
            seen = counted(*seen, "spike", "spikes"), rate_limited = grouped(*rate_limited),
            stream_full = grouped(*stream_full);
        remedy "Use a higher --spike-above, or a faster disk.";

    /// With `--explain`: the events of some spikes were overwritten before they could be copied.
    EventsOverwritten { spikes, ring_kib } =>
        says "The start of {spikes} was overwritten in the kernel's ring buffer, which holds {ring_kib} KiB for \
              each CPU.",
            spikes = counted(*spikes, "spike", "spikes");
        remedy RELIEVE_TRACE;

    /// With `--explain`: a part of the recorded events cannot be read. A newer latlab may read it: `latlab
    /// explain`.
    RecordingUnreadable { reason } =>
        says "The recorded events of the kernel cannot be read: {reason}.";

    /// Samples were not read in time, or a frame of them cannot be read. Invalid with `--samples`; without it
    /// only the breakdown needed them.
    SamplesLost
    { count: Some(count), within_ns: Some(within_ns), .. } =>
        says "{samples} lost in the {within_ns} before this, because the stream was not read in time. The \
              histogram contains them all.",
            samples = counted(*count, "sample was", "samples were");
        remedy RELIEVE_DISK;
    { damage, .. } =>
        says "A frame of samples was left out: {damage}.", damage = unreadable(damage);
        remedy CHECK;

    /// Cycles of a thread have no row in `samples.parquet`. Invalid unless the run was interrupted.
    SamplesMissing { count, cut_off } =>
        says "{cycles} no row in samples.parquet.",
            cycles = counted(*count, "cycle of the thread has", "cycles of the thread have");
        if !cut_off => remedy RELIEVE_DISK;

    /// The counts of some time are not in the journal. A finding about the journal says why.
    IntervalLost { length_ns } =>
        says "The counts of the {length_ns} before this are lost.";

    /// An interval contradicts itself and was left out.
    IntervalUnsound { flaw } =>
        says "An interval was left out, because {flaw}.", flaw = in_words(*flaw);
        remedy CHECK;

    /// A thread's own counts differ from those of its intervals.
    CountsDiffer { what, by_thread, by_intervals } =>
        says "The thread counted {by_thread} {what}, but the intervals contain {by_intervals}: data was lost.",
            by_thread = grouped(*by_thread), by_intervals = grouped(*by_intervals);
        remedy CHECK;

    /// The journal holds data of a thread that was never set up.
    UnknownThread { what, number } =>
        says "The stream has {what} of thread {number}, which was not set up.";
        remedy CHECK;
}}

const RELIEVE_DISK: &str = "Use --out on a faster disk, fewer threads, or a longer period.";
const RELIEVE_TRACE: &str =
    "Leave a CPU free for --helpers-on, or use fewer threads or a longer period.";
const CHECK: &str = "Check the disk and the memory; if it happens again, report it.";
const FROM_BACKUP: &str = "Look at the folder with `latlab verify`, and take it from a backup.";

fn unreadable(damage: &Option<String>) -> &str {
    damage.as_deref().unwrap_or("it cannot be read")
}

fn in_words(flaw: IntervalFlaw) -> &'static str {
    match flaw {
        IntervalFlaw::EndsBeforeItBegins => "it ends before it begins",
        IntervalFlaw::Overlaps => "it begins before the end of the one before it",
        IntervalFlaw::ImpossibleCount => "a count is impossible",
        IntervalFlaw::DisorderedBins => "its bins are not in order",
        IntervalFlaw::WrongBinSum => "its bins do not add up to its cycles",
        IntervalFlaw::ImpossibleSum => "its sum does not fit its minimum and maximum",
        IntervalFlaw::OtherEdges => "its bins differ from those before it",
    }
}
