//! The value of a metric for one run.

use super::MeasuredRun;
use crate::comparison::{Metric, UnsupportedMetric};
use crate::quantile::{latencies_needed, quantile_of_rows};
use crate::span::Span;
use latlab_model::histogram::censored_above;
use latlab_model::{Bin, Nanos};
use std::collections::BTreeMap;

/// Fewest stretches with a typical maximum.
const FEWEST_STRETCHES: u64 = 10;
/// Most stretches that a run is cut into.
const MOST_STRETCHES: i64 = 100;

/// A metric of a run, or what the run lacks to have it.
pub type Figure = Result<f64, Lack>;

/// Too little data for a metric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lack {
    pub has: u64,
    pub needs: u64,
    /// The largest latency that is resolved; the metric lies above it.
    pub above: Option<Nanos>,
}

impl Lack {
    pub fn of(self, metric: Metric, run: &MeasuredRun) -> UnsupportedMetric {
        let Lack { has, needs, above } = self;
        UnsupportedMetric { metric, run: run.run.id.clone(), has, needs, above_ns: above }
    }
}

/// The metric of a run, with stretches of this length.
pub fn figure(metric: Metric, run: &MeasuredRun, stretch: Nanos) -> Figure {
    match share(metric) {
        Some(parts_per_million) => quantile(run, parts_per_million),
        None => median_maximum(run.spans, stretch),
    }
}

/// The same as the run itself states it: a quantile is no finer than its bin.
pub fn stated_figure(metric: Metric, run: &MeasuredRun, stretch: Nanos) -> Figure {
    let known = figure(metric, run, stretch)?;
    let total = &run.run.total;
    let stated = share(metric).zip(total.min_ns.zip(total.max_ns)).and_then(|(share, observed)| {
        quantile_of_rows(&rows(run), share, observed).map(|value| value.0 as f64)
    });
    Ok(stated.unwrap_or(known))
}

/// The bins of all threads, ascending.
fn rows(run: &MeasuredRun) -> Vec<Bin> {
    let mut rows: Vec<Bin> =
        run.bins.iter().flat_map(|thread| thread.bins.iter().copied()).collect();
    rows.retain(|row| row.count > 0);
    rows.sort_by_key(|row| (row.low_ns, row.high_ns));
    rows
}

/// The share of a quantile in parts per million.
fn share(metric: Metric) -> Option<u32> {
    match metric {
        Metric::P50 => Some(500_000),
        Metric::P99 => Some(990_000),
        Metric::P99_9 => Some(999_000),
        Metric::P99_99 => Some(999_900),
        Metric::MedianMaximum => None,
    }
}

fn quantile(run: &MeasuredRun, parts_per_million: u32) -> Figure {
    let mut found = quantiles(run, &[parts_per_million]);
    found.pop().unwrap_or(Err(Lack { has: 0, needs: 1, above: None }))
}

/// Quantiles of a run by their shares in parts per million, ascending. Each is interpolated within
/// its bin, so that two machines on either side of an edge are not a whole bin apart.
pub fn quantiles(run: &MeasuredRun, shares: &[u32]) -> Vec<Figure> {
    let rows = rows(run);
    let known = censored_above(&rows);
    let count = rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.count));
    let (mut at, mut below) = (0, 0.0);
    let quantile = |parts_per_million: &u32| {
        let lack = Lack { has: count, needs: latencies_needed(*parts_per_million), above: None };
        if lack.has < lack.needs {
            return Err(lack);
        }
        let wanted = f64::from(*parts_per_million) / 1e6 * count as f64;
        while at + 1 < rows.len() && below + (rows[at].count as f64) < wanted {
            below += rows[at].count as f64;
            at += 1;
        }
        let row = rows.get(at).ok_or(lack)?;
        if known.is_some_and(|known| row.high_ns > known) {
            return Err(Lack { above: known, ..lack });
        }
        let share = ((wanted - below) / row.count as f64).clamp(0.0, 1.0);
        interpolated(run, row, share).ok_or(Lack { has: 0, ..lack })
    };
    shares.iter().map(quantile).collect()
}

/// A latency within a bin; `None` if it is not positive.
fn interpolated(run: &MeasuredRun, row: &Bin, share: f64) -> Option<f64> {
    let total = &run.run.total;
    let high = total.max_ns.map_or(row.high_ns, |max| row.high_ns.min(max));
    let low = total.min_ns.map_or(row.low_ns, |min| row.low_ns.max(min));
    let (low, high) = (low.0 as f64, high.0.max(low.0) as f64);
    let value = low + share * (high - low);
    (value > 0.0).then_some(value)
}

/// Length of the stretches into which all runs are cut: a hundredth of the shortest run, in whole
/// intervals.
pub fn stretch_of<'a>(runs: impl Iterator<Item = &'a MeasuredRun<'a>> + Clone) -> Nanos {
    let interval =
        runs.clone().map(|one| one.run.asked.keep.interval_ns.0).max().unwrap_or(1).max(1);
    let shortest = runs.map(|one| one.run.measured_ns.0).min().unwrap_or(0).max(0);
    let length = (shortest / MOST_STRETCHES).max(1);
    Nanos(length.unsigned_abs().div_ceil(interval.unsigned_abs()) as i64 * interval)
}

/// The median, over whole stretches, of the largest latency of all threads.
fn median_maximum(spans: &[Span], stretch: Nanos) -> Figure {
    let first = spans.iter().map(|span| span.from).min().unwrap_or_default();
    let last = spans.iter().map(|span| span.to).max().unwrap_or_default();
    // An interval may end slightly early.
    let whole = ((last - first).0 + stretch.0 / 20) / stretch.0.max(1);
    let mut maxima: BTreeMap<i64, Nanos> = BTreeMap::new();
    for span in spans {
        // An interval begins with a release, which may be slightly early.
        let at = ((span.from - first).0 + stretch.0 / 20) / stretch.0.max(1);
        if let (true, Some(max)) = (at < whole, span.max) {
            let known = maxima.entry(at).or_insert(max);
            *known = (*known).max(max);
        }
    }
    let lack = Lack { has: maxima.len() as u64, needs: FEWEST_STRETCHES, above: None };
    if lack.has < lack.needs {
        return Err(lack);
    }
    let mut values: Vec<f64> = maxima.into_values().map(|max| max.0 as f64).collect();
    values.sort_by(f64::total_cmp);
    let median = crate::rank::median(&values);
    if median > 0.0 { Ok(median) } else { Err(Lack { has: 0, ..lack }) }
}
