//! Reads the tables over time back into rows.
//!
//! Even for a day, one row group at a time is all the memory needed. Each table must be unchanged
//! since the run stored it.

use crate::error::Result;
use crate::pieces::ColumnPieces;
use crate::read_ahead::ReadAhead;
use crate::table::TableReader;
use latlab_digest::{IntervalRow, PageRow, SpikeRow, TelemetryRow, TraceRow};
use latlab_model::breakdown::CycleBreakdown;
use latlab_model::frame::Spike;
use latlab_model::telemetry::Series;
use latlab_model::trace::TraceRowKind;
use latlab_model::{Nanos, Run};
use parquet::data_type::ByteArray;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// The intervals of a run, some hundred at a time, in file order: for each thread, by time.
pub fn intervals(
    folder: &Path,
    run: &Run,
) -> Result<impl Iterator<Item = Result<Vec<IntervalRow>>>> {
    let table = TableReader::open_checked::<IntervalRow>(folder, run)?;
    Ok(ReadAhead::new(table, interval_rows))
}

/// Passes on the intervals of a run one by one, in the same order and reusing memory: for large
/// runs.
pub fn for_each_interval(
    folder: &Path,
    run: &Run,
    mut take: impl FnMut(&IntervalRow),
) -> Result<()> {
    let table = TableReader::open_checked::<IntervalRow>(folder, run)?;
    let mut pieces = ReadAhead::new(table, interval_rows);
    while let Some(rows) = pieces.next() {
        let rows = rows?;
        rows.iter().for_each(&mut take);
        pieces.reuse(rows);
    }
    Ok(())
}

/// The large latencies of a run whose releases are known.
pub fn spikes(folder: &Path, run: &Run) -> Result<Vec<SpikeRow>> {
    let table = TableReader::open_checked::<SpikeRow>(folder, run)?;
    let mut rows = Vec::new();
    for group in 0..table.groups() {
        rows.extend(spike_rows(&table, group)?);
    }
    Ok(rows)
}

/// The telemetry of a run, some thousand rows at a time, by time for each series; `None` if it was
/// not read. Series are numbered in order of appearance.
pub fn telemetry(
    folder: &Path,
    run: &Run,
) -> Result<Option<impl Iterator<Item = Result<Vec<TelemetryRow>>>>> {
    if !run.files.contains_key(<TelemetryRow as crate::table::Row>::FILE) {
        return Ok(None);
    }
    let table = TableReader::open_checked::<TelemetryRow>(folder, run)?;
    let mut names = Names::default();
    Ok(Some((0..table.groups()).map(move |group| names.rows(&table, group))))
}

/// The stored kernel trace, some ten thousand rows at a time, by time for each thread and for
/// events that concern all; `None` if it was not recorded.
pub fn trace(
    folder: &Path,
    run: &Run,
) -> Result<Option<impl Iterator<Item = Result<Vec<TraceRow>>>>> {
    if !run.files.contains_key(<TraceRow as crate::table::Row>::FILE) {
        return Ok(None);
    }
    let table = TableReader::open_checked::<TraceRow>(folder, run)?;
    Ok(Some((0..table.groups()).map(move |group| trace_rows(&table, group))))
}

/// The pages of the flight recorder, some at a time, in the order they were read; `None` if nothing
/// was recorded.
pub fn pages(
    folder: &Path,
    run: &Run,
) -> Result<Option<impl Iterator<Item = Result<Vec<PageRow>>>>> {
    if !run.files.contains_key(<PageRow as crate::table::Row>::FILE) {
        return Ok(None);
    }
    let table = TableReader::open_checked::<PageRow>(folder, run)?;
    Ok(Some((0..table.groups()).map(move |group| {
        let (cpus, numbers) = (table.longs(group, "cpu")?, table.longs(group, "number")?);
        let pages = table.words(group, "page")?;
        let row = |row: usize| {
            Ok(PageRow {
                cpu: narrow(&table, cpus[row])?,
                number: narrow(&table, numbers[row])?,
                page: pages[row].data().to_vec(),
            })
        };
        (0..pages.len()).map(row).collect()
    })))
}

fn trace_rows(table: &TableReader, group: usize) -> Result<Vec<TraceRow>> {
    let maybe = |name| table.maybe_longs(group, name);
    let (threads, cpus) = (maybe("thread")?, maybe("cpu")?);
    let (times, kinds) = (table.longs(group, "time_ns")?, table.words(group, "event")?);
    let (releases, losses) = (maybe("release_ns")?, maybe("lost")?);
    let kind = |word: &ByteArray| {
        let known = TraceRowKind::ALL.iter().find(|kind| kind.as_str().as_bytes() == word.data());
        known.copied().ok_or_else(|| table.damaged("an event has an unknown kind"))
    };
    let row = |row: usize| {
        Ok(TraceRow {
            thread: threads[row].map(|thread| narrow(table, thread)).transpose()?,
            cpu: cpus[row].map(|cpu| narrow(table, cpu)).transpose()?,
            time_ns: Nanos(times[row]),
            kind: kind(&kinds[row])?,
            release_ns: releases[row].map(Nanos),
            lost: losses[row].map(u64::try_from).transpose().map_err(|_| negative(table))?,
        })
    };
    (0..times.len()).map(row).collect()
}

/// Passes on the intervals of a row group, some hundred at a time.
fn interval_rows(
    table: &TableReader,
    group: usize,
    spare: &mut dyn FnMut() -> Vec<IntervalRow>,
    give: &mut dyn FnMut(Vec<IntervalRow>) -> bool,
) -> Result<()> {
    let mut columns = IntervalColumns::open(table, group)?;
    let mut left = table.rows_of(group);
    while left > 0 {
        let mut piece = spare();
        piece.resize_with(left.min(PIECE_ROWS), IntervalRow::default);
        left -= piece.len();
        columns.fill(table, &mut piece)?;
        if !give(piece) {
            break;
        }
    }
    Ok(())
}

/// Rows per piece.
const PIECE_ROWS: usize = 256;

/// The columns of the intervals.
struct IntervalColumns<'a> {
    thread: ColumnPieces<'a>,
    cpu: ColumnPieces<'a>,
    /// Times and counts, in the order of the row.
    whole: [ColumnPieces<'a>; 6],
    /// Figures of the latencies, in the order of the row.
    figures: [ColumnPieces<'a>; 5],
    mean: ColumnPieces<'a>,
    coarse: ColumnPieces<'a>,
}

impl<'a> IntervalColumns<'a> {
    fn open(table: &'a TableReader, group: usize) -> Result<IntervalColumns<'a>> {
        let column = |name| table.pieces(group, name);
        Ok(IntervalColumns {
            thread: column("thread")?,
            cpu: column("cpu")?,
            whole: [
                column("start_ns")?,
                column("end_ns")?,
                column("count")?,
                column("overruns")?,
                column("misses")?,
                column("underflow")?,
            ],
            figures: [
                column("min_ns")?,
                column("p50_ns")?,
                column("p99_ns")?,
                column("p99_9_ns")?,
                column("max_ns")?,
            ],
            mean: column("mean_ns")?,
            coarse: table.list_pieces(group, "coarse")?,
        })
    }

    /// Reads the next rows into `piece`.
    fn fill(&mut self, table: &TableReader, piece: &mut [IntervalRow]) -> Result<()> {
        let rows = piece.len();
        let (threads, cpus) = (self.thread.longs(rows)?, self.cpu.maybe_longs(rows)?);
        let [starts, ends, counts, overruns, misses, underflows] = &mut self.whole;
        let (starts, ends) = (starts.longs(rows)?, ends.longs(rows)?);
        let (counts, overruns) = (counts.longs(rows)?, overruns.longs(rows)?);
        let (misses, underflows) = (misses.longs(rows)?, underflows.longs(rows)?);
        let [min, p50, p99, p99_9, max] = &mut self.figures;
        let (min, max) = (min.maybe_longs(rows)?, max.maybe_longs(rows)?);
        let (p50, p99) = (p50.maybe_longs(rows)?, p99.maybe_longs(rows)?);
        let (p99_9, mean) = (p99_9.maybe_longs(rows)?, self.mean.maybe_reals(rows)?);
        let lists = self.coarse.int_lists(rows)?;
        let number = |value: i64| u64::try_from(value).map_err(|_| negative(table));
        for (row, one) in piece.iter_mut().enumerate() {
            let mut coarse = std::mem::take(&mut one.coarse);
            coarse.clear();
            coarse.extend_from_slice(lists.list(row));
            *one = IntervalRow {
                thread: narrow(table, threads[row])?,
                cpu: cpus[row].map(|cpu| narrow(table, cpu)).transpose()?,
                start_ns: Nanos(starts[row]),
                end_ns: Nanos(ends[row]),
                count: number(counts[row])?,
                overruns: number(overruns[row])?,
                misses: number(misses[row])?,
                underflow: number(underflows[row])?,
                min_ns: min[row].map(Nanos),
                mean_ns: mean[row],
                p50_ns: p50[row].map(Nanos),
                p99_ns: p99[row].map(Nanos),
                p99_9_ns: p99_9[row].map(Nanos),
                max_ns: max[row].map(Nanos),
                coarse,
            };
        }
        Ok(())
    }
}

fn spike_rows(table: &TableReader, group: usize) -> Result<Vec<SpikeRow>> {
    let (threads, cpus) = (table.longs(group, "thread")?, table.maybe_longs(group, "cpu")?);
    let (releases, latencies) =
        (table.longs(group, "release_ns")?, table.longs(group, "latency_ns")?);
    let (irqs, switches) =
        (table.maybe_longs(group, "irq_ns")?, table.maybe_longs(group, "thread_ns")?);
    let row = |row: usize| {
        let release_ns = Nanos(releases[row]);
        Ok(SpikeRow {
            thread: narrow(table, threads[row])?,
            cpu: cpus[row].map(|cpu| narrow(table, cpu)).transpose()?,
            spike: Spike { release_ns, latency_ns: Nanos(latencies[row]) },
            breakdown: irqs[row].zip(switches[row]).map(|(irq, thread)| CycleBreakdown {
                release_ns,
                irq_ns: Nanos(irq),
                thread_ns: Nanos(thread),
            }),
        })
    };
    (0..threads.len()).map(row).collect()
}

fn narrow(table: &TableReader, value: i64) -> Result<u32> {
    u32::try_from(value).map_err(|_| negative(table))
}

fn negative(table: &TableReader) -> crate::error::Error {
    table.damaged("a thread, a CPU or a count is negative or too large")
}

/// Interned series of a table.
#[derive(Default)]
struct Names(BTreeMap<(String, String), Arc<Series>>);

/// Addresses of a row's strings: equal strings mostly share their place, so few rows need a lookup
/// by content.
type WordPositions = (usize, usize, usize, usize);

impl Names {
    fn rows(&mut self, table: &TableReader, group: usize) -> Result<Vec<TelemetryRow>> {
        let times = table.longs(group, "time_ns")?;
        let values = table.maybe_longs(group, "value")?;
        let [metrics, subjects, units, kinds] =
            ["metric", "subject", "unit", "kind"].map(|name| table.words(group, name));
        let (metrics, subjects, units, kinds) = (metrics?, subjects?, units?, kinds?);
        let mut seen: HashMap<WordPositions, Arc<Series>> = HashMap::new();
        let mut rows = Vec::with_capacity(times.len());
        for (row, (time, value)) in times.into_iter().zip(values).enumerate() {
            let place = word_positions(&metrics[row], &subjects[row]);
            let series = match seen.get(&place) {
                Some(series) => Arc::clone(series),
                None => {
                    let words = [&metrics[row], &subjects[row], &units[row], &kinds[row]];
                    let series = self.series(table, words)?;
                    seen.insert(place, Arc::clone(&series));
                    series
                }
            };
            rows.push(TelemetryRow { time_ns: Nanos(time), series, value });
        }
        Ok(rows)
    }

    fn series(&mut self, table: &TableReader, words: [&ByteArray; 4]) -> Result<Arc<Series>> {
        let text = |word: &ByteArray| match word.as_utf8() {
            Ok(text) => Ok(text.to_string()),
            Err(_) => Err(table.damaged("a word is not text")),
        };
        let [metric, subject, unit, kind] = words.map(text);
        let (metric, subject) = (metric?, subject?);
        let number = self.0.len() as u32;
        let known = self.0.entry((metric.clone(), subject.clone()));
        let (unit, counter) = (unit?, kind? == "counter");
        // Only the series of threads are not read every time.
        let steady = !metric.starts_with("thread_");
        let series = Series { number, metric, subject, unit, counter, steady };
        Ok(Arc::clone(known.or_insert_with(|| Arc::new(series))))
    }
}

fn word_positions(metric: &ByteArray, subject: &ByteArray) -> WordPositions {
    let at = |word: &ByteArray| (word.data().as_ptr() as usize, word.len());
    let ((metric, metric_len), (subject, subject_len)) = (at(metric), at(subject));
    (metric, metric_len, subject, subject_len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::Disk;
    use crate::table::Table;

    fn interval(number: u64) -> IntervalRow {
        let some = |value: u64| (!number.is_multiple_of(7)).then_some(Nanos(value as i64 - 40));
        IntervalRow {
            thread: (number % 4) as u32,
            cpu: (!number.is_multiple_of(3)).then_some(number as u32),
            start_ns: Nanos(number as i64 * 1_000_000_007),
            end_ns: Nanos(number as i64 * 1_000_000_007 + 5),
            count: number,
            overruns: number % 5,
            misses: number % 11,
            underflow: number % 2,
            min_ns: some(number),
            mean_ns: (!number.is_multiple_of(5)).then_some(number as f64 / 3.0),
            p50_ns: some(number + 1),
            p99_ns: some(number + 2),
            p99_9_ns: some(number + 3),
            max_ns: some(number + 4),
            coarse: (0..number as i32 % 73).collect(),
        }
    }

    #[test]
    fn intervals_come_back_over_several_row_groups() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = Table::create(&Disk::default(), folder.path()).unwrap();
        (0..70_000).for_each(|number| table.push(interval(number)).unwrap());
        table.close().unwrap();
        let table = TableReader::open::<IntervalRow>(folder.path()).unwrap();
        assert_eq!(table.groups(), 3);
        let read = ReadAhead::new(table, interval_rows).flat_map(Result::unwrap);
        let count = read.zip(0..).map(|(row, number)| assert_eq!(row, interval(number))).count();
        assert_eq!(count, 70_000);
    }

    #[test]
    fn telemetry_comes_back_with_its_words() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = Table::create(&Disk::default(), folder.path()).unwrap();
        let series: Vec<Arc<Series>> = (0..60)
            .map(|number| {
                let metric = ["temperature", "interrupts", "thread_cpu_time"][number as usize % 3];
                let (counter, steady) = (number % 3 > 0, number % 3 < 2);
                let (subject, unit) = (format!("größe {number}"), "1".to_string());
                let metric = metric.to_string();
                Arc::new(Series { number, metric, subject, unit, counter, steady })
            })
            .collect();
        let row = |number: i64| TelemetryRow {
            time_ns: Nanos(number * 10),
            series: Arc::clone(&series[number as usize % 60]),
            value: (number % 9 > 0).then_some(number * number - 50),
        };
        (0..70_000).for_each(|number| table.push(row(number)).unwrap());
        table.close().unwrap();
        let table = TableReader::open::<TelemetryRow>(folder.path()).unwrap();
        let mut names = Names::default();
        let read = (0..table.groups()).flat_map(|group| names.rows(&table, group).unwrap());
        let count = read.zip(0..).map(|(read, number)| assert_eq!(read, row(number))).count();
        assert_eq!(count, 70_000);
    }
}
