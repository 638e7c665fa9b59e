//! The data of a run's charts over time: its intervals, or the samples of a window.

use super::Result;
use crate::time::TimeData;
use latlab_digest::window::WindowSpec;
use latlab_digest::{IntervalRow, OutlierDigest, SpikeRow, StatisticsDigest, coarse_edges};
use latlab_model::outlier::Outlier;
use latlab_model::run::ThreadRun;
use latlab_model::statistics::RunStatistics;
use latlab_model::{Nanos, Run};
use latlab_stats::Span;
use latlab_stats::span::JoinedIntervals;
use latlab_store::{WindowReader, for_each_interval, histograms, spikes, telemetry};
use std::ops::Range;
use std::path::Path;

/// A window with more samples is drawn from intervals, as the dots would be indistinguishable.
const MOST_SAMPLES: u64 = 10_000_000;

/// A run, or a window of it, for charts over time.
pub struct OverTime {
    /// The rows, joined into columns.
    pub data: TimeData,
    /// Approximate number of samples in the window, if there were too many to draw each.
    pub too_many: Option<u64>,
}

impl OverTime {
    /// Reads a run, or a window of it: cycle by cycle if there are samples, but not too many.
    pub fn read(folder: &Path, run: &Run, window: Option<&WindowSpec>) -> Result<OverTime> {
        let within = |window| latlab_store::window(folder, run, window);
        let mut read = match window {
            Some(window) if run.asked.keep.samples => of_samples(folder, run, window)?,
            window => of_intervals(folder, run, window.map(within).transpose()?)?,
        };
        fill_conditions(folder, run, &mut [&mut read.data], None)?;
        Ok(read)
    }
}

fn of_intervals(folder: &Path, run: &Run, within: Option<Range<Nanos>>) -> Result<OverTime> {
    let mut data = TimeData::new(run, coarse_edges(), within);
    fill_latencies(folder, run, &spikes(folder, run)?, &mut [&mut data], |_| ())?;
    Ok(OverTime { data, too_many: None })
}

/// Reads the intervals in one pass into all of these, and adds the large latencies with known
/// releases; `others` receives the intervals as well.
pub fn fill_latencies(
    folder: &Path,
    run: &Run,
    spikes: &[SpikeRow],
    all: &mut [&mut TimeData],
    mut others: impl FnMut(&IntervalRow),
) -> Result<()> {
    for_each_interval(folder, run, |row| {
        others(row);
        let span = row.span();
        all.iter_mut().for_each(|data| data.interval(row.thread, &span, &row.coarse));
    })?;
    for row in spikes {
        all.iter_mut().for_each(|data| data.spike(row.spike));
    }
    Ok(())
}

/// Reads the telemetry in one pass into all of these.
pub fn fill_conditions(
    folder: &Path,
    run: &Run,
    all: &mut [&mut TimeData],
    mut outliers: Option<&mut OutlierDigest>,
) -> Result<()> {
    for rows in telemetry(folder, run)?.into_iter().flatten() {
        for row in rows? {
            outliers.iter_mut().for_each(|outliers| outliers.push(&row));
            all.iter_mut().for_each(|data| data.telemetry(&row.series, row.time_ns, row.value));
        }
    }
    Ok(())
}

/// The statistics computed from a run.
pub fn statistics(folder: &Path, run: &Run) -> Result<RunStatistics> {
    with_statistics(folder, run, |digest| digest.finish())
}

/// The intervals of all threads of a run joined, for comparing runs.
pub fn joined_intervals(folder: &Path, run: &Run) -> Result<Vec<Span>> {
    let mut joined = JoinedIntervals::new(run.asked.keep.interval_ns);
    for_each_interval(folder, run, |row| joined.push(&row.span()))?;
    Ok(joined.finish())
}

/// Only the quantile statistics, which takes less time.
pub fn quantile_statistics(folder: &Path, run: &Run) -> Result<RunStatistics> {
    with_statistics(folder, run, |digest| digest.quantiles())
}

fn with_statistics<T>(
    folder: &Path,
    run: &Run,
    of: impl FnOnce(StatisticsDigest) -> T,
) -> Result<T> {
    let (bins, spikes) = (histograms(folder, run)?, spikes(folder, run)?);
    let mut digest = StatisticsDigest::new(run, &bins, &spikes);
    for_each_interval(folder, run, |row| digest.push(row))?;
    Ok(of(digest))
}

/// The largest latencies of a run, with what happened at the time of each.
pub fn largest(folder: &Path, run: &Run) -> Result<Vec<Outlier>> {
    let mut outliers = OutlierDigest::new(run, spikes(folder, run)?);
    fill_conditions(folder, run, &mut [], Some(&mut outliers))?;
    Ok(outliers.finish())
}

fn of_samples(folder: &Path, run: &Run, window: &WindowSpec) -> Result<OverTime> {
    let stretch = WindowReader::open(folder, run, window)?;
    let about = releases_in(run, &stretch.range());
    if about > MOST_SAMPLES {
        let by_intervals = of_intervals(folder, run, Some(stretch.range()))?;
        return Ok(OverTime { too_many: Some(about), ..by_intervals });
    }
    let mut data = TimeData::of_samples(run, coarse_edges(), stretch.range());
    for piece in stretch.samples() {
        let piece = piece?;
        piece.samples.iter().for_each(|sample| data.sample(piece.thread, *sample));
    }
    Ok(OverTime { data, too_many: None })
}

/// The number of releases of all threads in a time span.
fn releases_in(run: &Run, within: &Range<Nanos>) -> u64 {
    if !run.asked.method.is_periodic() {
        return run.total.cycles;
    }
    let length = (within.end - within.start).0;
    let of_thread = |one: &ThreadRun| {
        one.setup.period_ns.map(|period| (length / period.0.max(1)).unsigned_abs())
    };
    run.threads.iter().filter_map(of_thread).sum()
}
