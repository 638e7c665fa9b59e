//! The tables of a run folder: the columns of each type of row.

use crate::disk::Disk;
use crate::error::Result;
use crate::table::{ColumnData, ColumnSpec, Row, Table, TableReader};
use latlab_digest::{
    BinRow, BreakdownRow, CycleRow, IntervalRow, PageRow, SampleRow, SpikeRow, TelemetryRow,
    TraceRow, coarse_edges,
};
use latlab_model::run::{ClockReading, StoredFile};
use latlab_model::{Bin, Nanos, Run, ThreadBins};
use std::collections::BTreeMap;
use std::path::Path;

macro_rules! columns {
    ($($name:literal $cell:ident $get:expr),+ $(,)?) => {
        &[$(ColumnSpec { name: $name, cell: ColumnData::$cell($get) }),+]
    };
}

impl Row for BinRow {
    const FILE: &'static str = "histogram.parquet";
    const COLUMNS: &'static [ColumnSpec<BinRow>] = columns! {
        "thread" Int |row| row.thread as i32,
        "cpu" MaybeInt |row| row.cpu.map(|cpu| cpu as i32),
        "low_ns" Long |row| row.bin.low_ns.0,
        "high_ns" Long |row| row.bin.high_ns.0,
        "count" Long |row| long(row.bin.count),
    };
}

impl Row for IntervalRow {
    const FILE: &'static str = "intervals.parquet";
    const COLUMNS: &'static [ColumnSpec<IntervalRow>] = columns! {
        "thread" Int |row| row.thread as i32,
        "cpu" MaybeInt |row| row.cpu.map(|cpu| cpu as i32),
        "start_ns" Long |row| row.start_ns.0,
        "end_ns" Long |row| row.end_ns.0,
        "count" Long |row| long(row.count),
        "overruns" Long |row| long(row.overruns),
        "misses" Long |row| long(row.misses),
        "underflow" Long |row| long(row.underflow),
        "min_ns" MaybeLong |row| row.min_ns.map(|time| time.0),
        "mean_ns" MaybeReal |row| row.mean_ns,
        "p50_ns" MaybeLong |row| row.p50_ns.map(|time| time.0),
        "p99_ns" MaybeLong |row| row.p99_ns.map(|time| time.0),
        "p99_9_ns" MaybeLong |row| row.p99_9_ns.map(|time| time.0),
        "max_ns" MaybeLong |row| row.max_ns.map(|time| time.0),
        "coarse" Ints |row| &row.coarse,
    };

    fn notes() -> Vec<(&'static str, String)> {
        let edges: Vec<String> = coarse_edges().iter().map(i64::to_string).collect();
        vec![("coarse_edges_ns", format!("[{}]", edges.join(",")))]
    }
}

impl Row for SpikeRow {
    const FILE: &'static str = "spikes.parquet";
    const COLUMNS: &'static [ColumnSpec<SpikeRow>] = columns! {
        "thread" Int |row| row.thread as i32,
        "cpu" MaybeInt |row| row.cpu.map(|cpu| cpu as i32),
        "release_ns" Long |row| row.spike.release_ns.0,
        "latency_ns" Long |row| row.spike.latency_ns.0,
        "irq_ns" MaybeLong |row| row.breakdown.map(|breakdown| breakdown.irq_ns.0),
        "thread_ns" MaybeLong |row| row.breakdown.map(|breakdown| breakdown.thread_ns.0),
    };
}

impl Row for BreakdownRow {
    const FILE: &'static str = "breakdown.parquet";
    const COLUMNS: &'static [ColumnSpec<BreakdownRow>] = columns! {
        "thread" Int |row| row.thread as i32,
        "part" Word |row| row.part.as_str(),
        "low_ns" Long |row| row.bin.low_ns.0,
        "high_ns" Long |row| row.bin.high_ns.0,
        "count" Long |row| long(row.bin.count),
    };
}

impl Row for SampleRow {
    const FILE: &'static str = "samples.parquet";
    const COLUMNS: &'static [ColumnSpec<SampleRow>] = columns! {
        "thread" Int |row| row.thread as i32,
        "cpu" MaybeInt |row| row.cpu.map(|cpu| cpu as i32),
        "release_ns" Long |row| row.sample.release_ns.0,
        "latency_ns" Long |row| row.sample.latency_ns.0,
        // For captures with picosecond times.
        "latency_ps" MaybeLong |row| row.sample.rest_ps.map(|_| row.sample.latency_ps()),
    };
    const SQUEEZED: Option<&'static str> = Some("latency_ns");
}

impl Row for TraceRow {
    const FILE: &'static str = "trace.parquet";
    const COLUMNS: &'static [ColumnSpec<TraceRow>] = columns! {
        "thread" MaybeInt |row| row.thread.map(|thread| thread as i32),
        "cpu" MaybeInt |row| row.cpu.map(|cpu| cpu as i32),
        "time_ns" Long |row| row.time_ns.0,
        "event" Word |row| row.kind.as_str(),
        "release_ns" MaybeLong |row| row.release_ns.map(|release| release.0),
        "lost" MaybeLong |row| row.lost.map(long),
    };
    const GZIP: bool = true;
}

impl Row for PageRow {
    const FILE: &'static str = "pages.parquet";
    const COLUMNS: &'static [ColumnSpec<PageRow>] = columns! {
        "cpu" Int |row| row.cpu as i32,
        "number" Int |row| row.number as i32,
        "page" Bytes |row| &row.page,
    };
    const GZIP: bool = true;
}

impl Row for CycleRow {
    const FILE: &'static str = "cycles.parquet";
    const COLUMNS: &'static [ColumnSpec<CycleRow>] = columns! {
        "thread" Int |row| row.thread as i32,
        "release_ns" Long |row| row.cycle.release_ns.0,
        "released_by" Word |row| row.cycle.released_by.as_str(),
        "wake_up_ns" Long |row| row.cycle.wake_up_ns.0,
        "execution_ns" Long |row| row.cycle.execution_ns.0,
        "preempted_ns" Long |row| row.cycle.preempted_ns.0,
        "blocked_ns" Long |row| row.cycle.blocked_ns.0,
        "overruns" Int |row| row.cycle.overruns as i32,
    };
    const GZIP: bool = true;
}

impl ThreadRow for CycleRow {
    const GROUP: usize = 131_072;

    fn thread(&self) -> Option<u32> {
        Some(self.thread)
    }
}

/// A row of a table whose row groups each hold one thread, or what concerns all threads.
pub trait ThreadRow: Row + Copy {
    /// Rows of one thread per group: larger groups are fewer in a long run, but wait in memory.
    const GROUP: usize;

    fn thread(&self) -> Option<u32>;
}

impl ThreadRow for SampleRow {
    const GROUP: usize = 131_072;

    fn thread(&self) -> Option<u32> {
        Some(self.thread)
    }
}

impl ThreadRow for TraceRow {
    const GROUP: usize = 65_536;

    fn thread(&self) -> Option<u32> {
        self.thread
    }
}

/// A table grouped by thread while it is written.
pub struct ThreadTable<R: ThreadRow> {
    table: Table<R>,
    waiting: BTreeMap<Option<u32>, Vec<R>>,
}

impl<R: ThreadRow> ThreadTable<R> {
    pub fn create(disk: &Disk, folder: &Path) -> Result<ThreadTable<R>> {
        Ok(ThreadTable { table: Table::create(disk, folder)?, waiting: BTreeMap::new() })
    }

    /// Adds rows; those of a thread must be in order.
    pub fn push(&mut self, rows: &[R]) -> Result<()> {
        for rows in rows.chunk_by(|one, next| one.thread() == next.thread()) {
            let waiting = self.waiting.entry(rows[0].thread()).or_default();
            waiting.extend_from_slice(rows);
            if waiting.len() >= R::GROUP {
                self.table.push_group(waiting)?;
                waiting.clear();
            }
        }
        Ok(())
    }

    /// Writes the rest and the footer; returns size and checksum.
    pub fn close(mut self) -> Result<StoredFile> {
        for rows in self.waiting.values().filter(|rows| !rows.is_empty()) {
            self.table.push_group(rows)?;
        }
        self.table.close()
    }
}

impl Row for ClockReading {
    const FILE: &'static str = "clocks.parquet";
    const COLUMNS: &'static [ColumnSpec<ClockReading>] = columns! {
        "monotonic_ns" Long |row| row.monotonic_ns.0,
        "boottime_ns" Long |row| row.boottime_ns.0,
        "realtime_ns" Long |row| row.realtime_ns.0,
        "tai_ns" Long |row| row.tai_ns.0,
    };
}

impl Row for TelemetryRow {
    const FILE: &'static str = "telemetry.parquet";
    const COLUMNS: &'static [ColumnSpec<TelemetryRow>] = columns! {
        "time_ns" Long |row| row.time_ns.0,
        "metric" Word |row| &row.series.metric,
        "subject" Word |row| &row.series.subject,
        "unit" Word |row| &row.series.unit,
        "kind" Word |row| if row.series.counter { "counter" } else { "gauge" },
        "value" MaybeLong |row| row.value,
    };
}

/// Tables that only some runs have.
pub const MORE: [&str; 6] = [
    SampleRow::FILE,
    TelemetryRow::FILE,
    BreakdownRow::FILE,
    TraceRow::FILE,
    PageRow::FILE,
    CycleRow::FILE,
];
/// Tables that every run has.
pub const FILES: [&str; 4] = [BinRow::FILE, IntervalRow::FILE, SpikeRow::FILE, ClockReading::FILE];

fn long(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The histograms of a run folder, by thread; the table must be unchanged since the run stored it.
pub fn histograms(folder: &Path, run: &Run) -> Result<Vec<ThreadBins>> {
    bins(&TableReader::open_checked::<BinRow>(folder, run)?)
}

fn bins(table: &TableReader) -> Result<Vec<ThreadBins>> {
    let mut threads: BTreeMap<u32, Vec<Bin>> = BTreeMap::new();
    for group in 0..table.groups() {
        let [thread, low, high, count] =
            ["thread", "low_ns", "high_ns", "count"].map(|name| table.longs(group, name));
        let (thread, low, high, count) = (thread?, low?, high?, count?);
        for (((thread, low), high), count) in thread.into_iter().zip(low).zip(high).zip(count) {
            let (Ok(thread), Ok(count)) = (u32::try_from(thread), u64::try_from(count)) else {
                return Err(table.damaged("a thread or a count is negative"));
            };
            let bin = Bin { low_ns: Nanos(low), high_ns: Nanos(high), count };
            threads.entry(thread).or_default().push(bin);
        }
    }
    Ok(threads.into_iter().map(|(thread, bins)| ThreadBins { thread, bins }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use crate::table::Table;

    #[test]
    fn bins_come_back_over_several_row_groups() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = Table::create(&Disk::default(), folder.path()).unwrap();
        let row = |number: i64| BinRow {
            thread: (number / 50_000) as u32,
            cpu: (number % 3 > 0).then_some(number as u32),
            bin: Bin {
                low_ns: Nanos(number * 100 - 200),
                high_ns: Nanos(number * 100 - 100),
                count: number as u64 + 1,
            },
        };
        for number in 0..70_000 {
            table.push(row(number)).unwrap();
        }
        table.close().unwrap();
        let read = bins(&TableReader::open::<BinRow>(folder.path()).unwrap()).unwrap();
        assert_eq!(read.len(), 2);
        let bins: Vec<Bin> = read.into_iter().flat_map(|thread| thread.bins).collect();
        assert_eq!(bins, (0..70_000).map(|number| row(number).bin).collect::<Vec<_>>());
    }

    #[test]
    fn a_damaged_table_is_an_error_with_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let opened = || TableReader::open::<BinRow>(folder.path()).map(|_| ());
        assert!(opened().is_err());
        std::fs::write(folder.path().join(BinRow::FILE), b"PAR1 and no more").unwrap();
        let error = opened().unwrap_err().to_string();
        assert!(error.contains(BinRow::FILE), "{error}");
    }
}
