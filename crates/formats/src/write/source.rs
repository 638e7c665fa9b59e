//! What an export reads of a stored run.

use crate::write::{Error, Result};
use latlab_digest::window::SampleBlock;
use latlab_digest::{IntervalRow, SpikeRow, TelemetryRow, WallClock};
use latlab_model::finding::{FindingKind, ImportFinding};
use latlab_model::run::ThreadRun;
use latlab_model::{Bin, Nanos, Run, ThreadBins};

/// Rows of a table, some thousand at a time.
pub type Rows<'a, T> = Box<dyn Iterator<Item = Result<T>> + 'a>;

/// The tables of a run, read only if a format needs them.
pub trait Tables {
    /// Every latency with its release; `None` if they were not stored.
    fn samples(&self) -> Result<Option<Rows<'_, SampleBlock>>>;
    /// The intervals, by time for each thread.
    fn intervals(&self) -> Result<Rows<'_, Vec<IntervalRow>>>;
    /// The largest latencies with known releases.
    fn spikes(&self) -> Result<Vec<SpikeRow>>;
    /// The conditions of the machine; `None` if they were not read.
    fn telemetry(&self) -> Result<Option<Rows<'_, Vec<TelemetryRow>>>>;
}

pub struct Source<'a> {
    pub run: &'a Run,
    /// Its histograms.
    pub bins: &'a [ThreadBins],
    /// Its wall time.
    pub wall: &'a WallClock,
    /// Its other tables.
    pub tables: &'a dyn Tables,
    /// The user's options.
    pub query: ExportQuery,
}

/// The user's options besides the format.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ExportQuery {
    /// The table for CSV and Parquet.
    pub table: Option<Table>,
    /// Number of equally wide bins of a histogram.
    pub bins: Option<u32>,
    /// The width of such a bin.
    pub unit: Option<OutputUnit>,
}

/// A table that CSV and Parquet can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Table {
    /// Every latency.
    Samples,
    /// The counts by bin.
    Histogram,
}

impl Table {
    pub const ALL: &[Table] = &[Table::Samples, Table::Histogram];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Table::Samples => "samples",
            Table::Histogram => "histogram",
        }
    }
}

/// The unit of numbers in cyclictest and related formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputUnit {
    /// Microseconds, as usual.
    Microseconds,
    /// Nanoseconds, as with `cyclictest -N`.
    Nanoseconds,
}

impl OutputUnit {
    pub const ALL: &[OutputUnit] = &[OutputUnit::Microseconds, OutputUnit::Nanoseconds];

    /// The name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            OutputUnit::Microseconds => "us",
            OutputUnit::Nanoseconds => "ns",
        }
    }

    pub fn nanos(self) -> i64 {
        match self {
            OutputUnit::Microseconds => 1_000,
            OutputUnit::Nanoseconds => 1,
        }
    }
}

impl Source<'_> {
    /// The requested unit, or that of the imported file, or microseconds.
    pub fn unit(&self) -> OutputUnit {
        let resolution = self.run.asked.method.import().and_then(|one| one.resolution_ns);
        let own = match resolution {
            Some(Nanos(1)) => OutputUnit::Nanoseconds,
            _ => OutputUnit::Microseconds,
        };
        self.query.unit.unwrap_or(own)
    }

    /// The histogram of a thread; empty if only its figures are known.
    pub fn rows_of(&self, thread: &ThreadRun) -> &[Bin] {
        rows_of(self.bins, thread)
    }

    /// Whether any thread has a histogram; an imported summary has none.
    pub fn has_histogram(&self) -> bool {
        self.bins.iter().any(|one| !one.bins.is_empty())
    }

    /// Refuses a run of which only figures are known.
    pub fn require_histogram(&self) -> Result<()> {
        match self.has_histogram() {
            true => Ok(()),
            false => Err(Error::Refused(
                "the run has no histogram, only figures; --to prometheus, cyclictest-json, junit and \
                 others can carry these"
                    .to_string(),
            )),
        }
    }

    /// What an imported file says about a thread's latencies beyond the last bin: where they begin,
    /// and the mean of all latencies.
    pub fn overflow_of(&self, thread: &ThreadRun) -> Option<(Nanos, Option<Nanos>)> {
        overflow_of(self.run, thread)
    }

    /// The period that all threads share.
    pub fn period(&self) -> Option<Nanos> {
        let mut periods = self.run.threads.iter().map(|one| one.setup.period_ns);
        let first = periods.next()??;
        periods.all(|one| one == Some(first)).then_some(first)
    }
}

/// The histogram of a thread; empty if only its figures are known.
pub(crate) fn rows_of<'a>(bins: &'a [ThreadBins], thread: &ThreadRun) -> &'a [Bin] {
    let own = bins.iter().find(|one| one.thread == thread.setup.thread);
    own.map_or(&[], |one| &one.bins)
}

/// What an imported file says about a thread's latencies beyond the last bin: where they begin, and
/// the mean of all latencies.
pub(crate) fn overflow_of(run: &Run, thread: &ThreadRun) -> Option<(Nanos, Option<Nanos>)> {
    run.findings.iter().find_map(|finding| match &finding.kind {
        FindingKind::Import(ImportFinding::ImportOverflow { end_ns, stated_mean_ns, .. })
            if finding.thread == Some(thread.setup.thread) =>
        {
            Some((*end_ns, *stated_mean_ns))
        }
        _ => None,
    })
}
