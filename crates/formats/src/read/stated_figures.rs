//! Bins of a file and its statements about them: if they contradict each other, the bins count, and
//! a finding has both numbers.

use crate::read::bins::Bins;
use crate::read::recording::{LatencySeries, Recording};
use latlab_model::finding::ImportFinding;
use latlab_model::histogram::Overflow;
use latlab_model::{BinLayout, Histogram, Nanos};

/// Figures that a file states in addition to its bins, or instead of them.
#[derive(Clone, Copy, Default, Debug)]
pub struct StatedFigures {
    /// Latencies in the bins.
    pub binned: Option<u64>,
    /// All latencies.
    pub count: Option<u64>,
    /// Latencies beyond the last bin.
    pub overflow: Option<u64>,
    pub min_ns: Option<i64>,
    /// Mean of all latencies.
    pub mean_ns: Option<f64>,
    pub max_ns: Option<i64>,
}

/// Position of the bins of a file.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The first edge.
    pub start_ns: i64,
    /// Length of a bin.
    pub width_ns: i64,
    /// Number of bins.
    pub bins: u32,
    /// The unit to which latencies and figures are truncated.
    pub unit_ns: i64,
    /// Whether this format can have latencies beyond the last bin at all.
    pub is_limited: bool,
}

impl StatedFigures {
    /// Latencies beyond the last bin: as stated, or the difference to the stated total.
    fn overflow_of(&self, binned: u64) -> Option<u64> {
        self.overflow.or_else(|| self.count?.checked_sub(binned))
    }
}

/// Adds a thread with bins.
pub fn add_bins(recording: &mut Recording, mut bins: Bins, scale: Scale, stated: &StatedFigures) {
    let thread = recording.series.len();
    let binned = bins.total();
    let rows = bins.take();
    let Ok(layout) =
        BinLayout::equal(Nanos(scale.start_ns), Nanos(scale.width_ns), scale.bins.max(1))
    else {
        recording.add_of(thread, incomplete("its bins reach beyond 292 years"));
        return;
    };
    let is_within = stated.max_ns.is_some_and(|max| Nanos(max) < layout.end());
    let overflow = match scale.is_limited {
        // A maximum within the bins leaves nothing beyond them.
        true => stated.overflow_of(binned).or(is_within.then_some(0)),
        false => Some(0),
    };
    contradictions_of_counts(recording, thread, binned, stated);
    let observed = Observed::new(&rows, &layout);
    let known = overflow.unwrap_or(0);
    if known > 0 && is_within {
        let (stated, beyond) =
            (time(stated.max_ns.unwrap_or(0)), format!("{known} beyond {}", layout.end()));
        contradiction(recording, thread, "Maximum", stated, beyond);
    }
    let (min_ns, max_ns) = extremes(recording, thread, &observed, &scale, stated, overflow);
    let sum = observed.sum_ns;
    let coarse = scale.width_ns > scale.unit_ns;
    let fits = |stated: f64| {
        let unit = scale.unit_ns as f64;
        let fits = |mean| stated >= mean - unit && stated <= mean + scale.width_ns as f64;
        observed.mean_ns().is_none_or(fits)
    };
    let stated_sum = stated.mean_ns.filter(|mean| coarse && (known > 0 || fits(*mean)));
    let (sum_ns, not_in_sum) = match stated_sum {
        // With coarse bins the stated mean is more accurate, and it includes every latency.
        Some(mean) => ((mean * (binned + known) as f64).round() as i128, 0),
        None => (sum, known),
    };
    // rtla osnoise always states a mean of zero.
    let stated_mean = stated.mean_ns.filter(|mean| *mean > 0.0);
    if let (Some(stated), Some(mean), Some(0)) = (stated_mean, observed.mean_ns(), overflow)
        && !fits(stated)
    {
        contradiction(recording, thread, "Mean", time(stated as i64), time(mean as i64));
    }
    let max_is_unknown = known > 0 && stated.max_ns.is_none();
    let count = binned.saturating_add(known);
    let summed = i128::from(count - not_in_sum);
    let least = i128::from(min_ns) * summed;
    let most = if max_is_unknown { i128::MAX } else { i128::from(max_ns) * summed };
    let counts = Histogram {
        count,
        sum_ns: sum_ns.clamp(least, most.max(least)),
        min_ns: Nanos(min_ns),
        max_ns: Nanos(max_ns),
        bins: rows,
        layout,
        overflow: Overflow { count: known, max_is_unknown, not_in_sum, ..Overflow::default() },
        ..Histogram::default()
    };
    overflow_finding(recording, thread, &counts, stated);
    recording.series.push(LatencySeries {
        counts,
        may_lack_latencies: overflow.is_none(),
        stated_max_ns: stated.max_ns.map(Nanos),
        ..LatencySeries::default()
    });
}

/// Adds a thread of which only figures are known; missing ones are not made up.
pub fn add_summary(recording: &mut Recording, stated: &StatedFigures) {
    let thread = recording.series.len();
    let count = stated.count.unwrap_or(0);
    let (min, max) = (stated.min_ns.unwrap_or(0), stated.max_ns);
    if let Some(max) = max.filter(|max| *max < min && count > 0) {
        contradiction(
            recording,
            thread,
            "Minimum",
            time(min),
            format!("a maximum of {}", time(max)),
        );
    }
    let mut counts = Histogram { layout: BinLayout::unknown(), ..Histogram::default() };
    if count > 0 {
        let most = max.unwrap_or(i64::MAX).max(min);
        let mean = stated.mean_ns.map(|mean| mean.clamp(min as f64, most as f64));
        if stated.mean_ns != mean {
            let (stated, range) = (time(stated.mean_ns.unwrap_or(0.0) as i64), time(min));
            let range = format!("a range from {range} to {}", time(most));
            contradiction(recording, thread, "Mean", stated, range);
        }
        let not_in_sum = if mean.is_some() { 0 } else { count };
        let summed = i128::from(count - not_in_sum);
        let sum = (mean.unwrap_or(0.0) * count as f64).round() as i128;
        counts.count = count;
        counts.sum_ns = sum.clamp(i128::from(min) * summed, i128::from(most) * summed);
        (counts.min_ns, counts.max_ns) = (Nanos(min), Nanos(max.map_or(min, |max| max.max(min))));
        let min_is_unknown = stated.min_ns.is_none();
        let max_is_unknown = max.is_none();
        counts.overflow = Overflow { count, max_is_unknown, min_is_unknown, not_in_sum };
    }
    let stated_max_ns = max.map(Nanos);
    recording.series.push(LatencySeries { counts, stated_max_ns, ..LatencySeries::default() });
}

/// What the rows themselves show.
struct Observed {
    count: u64,
    sum_ns: i128,
    lowest: Option<i64>,
    highest: Option<i64>,
}

impl Observed {
    /// Each latency counts as the lower edge of its bin, since the tools truncate.
    fn new(rows: &[(u32, u64)], layout: &BinLayout) -> Observed {
        let sum =
            |sum: i128, row: &(u32, u64)| sum + i128::from(layout.low(row.0).0) * i128::from(row.1);
        Observed {
            count: rows.iter().fold(0, |sum: u64, row| sum.saturating_add(row.1)),
            sum_ns: rows.iter().fold(0, sum),
            lowest: rows.first().map(|row| layout.low(row.0).0),
            highest: rows.last().map(|row| layout.low(row.0).0),
        }
    }

    fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }
}

/// The smallest and the largest latency: as stated, if in the expected bin.
fn extremes(
    recording: &mut Recording,
    thread: usize,
    observed: &Observed,
    scale: &Scale,
    stated: &StatedFigures,
    overflow: Option<u64>,
) -> (i64, i64) {
    let end = scale.start_ns.saturating_add(scale.width_ns.saturating_mul(scale.bins.into()));
    let within = |value: i64, low: i64| value >= low && value < low.saturating_add(scale.width_ns);
    let min = match (stated.min_ns, observed.lowest) {
        (Some(stated), Some(low)) if within(stated, low) => stated,
        (Some(stated), Some(low)) if stated > observed.highest.unwrap_or(low) => {
            contradiction(recording, thread, "Minimum", time(stated), time(low));
            low
        }
        (Some(stated), Some(low)) => {
            // It says nothing about how late anything was.
            let (stated, low_text) = (time(stated), time(low));
            recording.note(format!(
                "Minimum: the file states {stated}, but its data come to {low_text}."
            ));
            low
        }
        (stated, low) => low.or(stated).unwrap_or(end),
    };
    if let Some(max) = stated.max_ns.filter(|max| *max < end && overflow.is_some_and(|it| it > 0)) {
        let beyond = format!("{} beyond the last bin", overflow.unwrap_or(0));
        contradiction(recording, thread, "Maximum", time(max), beyond);
    }
    let max = match (stated.max_ns, observed.highest) {
        (Some(stated), Some(high)) if within(stated, high) => stated,
        (Some(stated), Some(_)) if stated >= end && overflow != Some(0) => stated,
        (Some(stated), Some(high)) => {
            contradiction(recording, thread, "Maximum", time(stated), time(high));
            stated.max(high)
        }
        (stated, high) => stated.or(high).unwrap_or(end),
    };
    (min.min(max), max)
}

fn contradictions_of_counts(
    recording: &mut Recording,
    thread: usize,
    binned: u64,
    stated: &StatedFigures,
) {
    if let Some(total) = stated.binned.filter(|total| *total != binned) {
        let bins = format!("{binned} in the bins");
        contradiction(recording, thread, "Number of latencies", total.to_string(), bins);
    }
    let Some(count) = stated.count else { return };
    let with = binned.saturating_add(stated.overflow.unwrap_or(0));
    if (stated.overflow.is_some() && count != with) || count < binned {
        let data = format!("{with} with those beyond the last bin");
        contradiction(recording, thread, "Number of latencies", count.to_string(), data);
    }
}

fn overflow_finding(
    recording: &mut Recording,
    thread: usize,
    counts: &Histogram,
    stated: &StatedFigures,
) {
    if counts.overflow.count > 0 {
        let excluded = counts.overflow.not_in_sum > 0;
        recording.add_of(
            thread,
            ImportFinding::ImportOverflow {
                count: counts.overflow.count,
                end_ns: counts.layout.end(),
                largest_ns: stated.max_ns.map(Nanos),
                stated_mean_ns: stated.mean_ns.filter(|_| excluded).map(|mean| Nanos(mean as i64)),
            },
        );
    }
}

/// One finding for all threads with unknown latencies beyond the last bin.
pub fn note_unknown_overflow(recording: &mut Recording) {
    let open = |one: &&LatencySeries| one.may_lack_latencies && one.counts.count > 0;
    let Some(end_ns) =
        recording.series.iter().filter(open).map(|one| one.counts.layout.end()).max()
    else {
        return;
    };
    let stated = recording.series.iter().filter(open).filter_map(|one| one.stated_max_ns);
    let largest_ns = stated.max().filter(|largest| *largest >= end_ns);
    recording.add(ImportFinding::ImportOverflowUnknown { end_ns, largest_ns });
}

/// One finding if only figures are known.
pub fn note_summary(recording: &mut Recording) {
    if recording.has_latencies() && recording.is_summary() {
        recording.add(ImportFinding::ImportSummaryOnly {});
    }
}

/// A finding about two inconsistent numbers.
pub fn contradiction(
    recording: &mut Recording,
    thread: usize,
    about: &str,
    stated: String,
    counted: String,
) {
    let about = about.to_string();
    recording.add_of(thread, ImportFinding::ImportContradiction { about, stated, counted });
}

fn incomplete(missing: &str) -> ImportFinding {
    ImportFinding::ImportIncomplete { missing: missing.to_string() }
}

fn time(nanos: i64) -> String {
    Nanos(nanos).to_string()
}
