//! Judges the values of a metric.

use super::drift::DriftFit;
use super::earlier::ByEarlier;
use crate::comparison::{ComparisonWord, Metric, MetricComparison, RatioInterval};
use crate::rank::{MOST_VALUES, Shift, TAIL, median, rank_test, shift, values_needed};

/// Significance level.
const ALPHA: f64 = 0.05;
/// Confidence of the interval of a step.
const LEVEL: f64 = 0.95;
/// The far tail varies more; its margin is this many times larger.
const CARE_OF_THE_FAR_TAIL: f64 = 2.0;

/// The values of a metric in all runs.
pub struct Evidence<'a> {
    pub metric: Metric,
    pub base: &'a [f64],
    pub candidate: &'a [f64],
    pub p_of_all: f64,
    pub margin: f64,
    /// The difference with the spread of earlier runs, if the sides have few.
    pub by_earlier: Option<ByEarlier>,
    /// The step besides a drift, if the sides did not take turns.
    pub drift: Option<DriftFit>,
    /// Whether any metric of the runs drifts, so that none is judged.
    pub drifts: bool,
    pub refused: bool,
}

/// Compares logarithms, so that the difference is a ratio.
pub fn judge_metric(evidence: &Evidence) -> MetricComparison {
    let Evidence { metric, base, candidate, p_of_all, margin, drift, drifts, refused, .. } =
        *evidence;
    let (base_logs, candidate_logs) = (logs(base), logs(candidate));
    let Shift { estimate, interval } = match evidence.by_earlier {
        Some(ByEarlier { estimate, interval: (low, high), .. }) => {
            Shift { estimate, interval: Some((low, high, LEVEL)) }
        }
        None => shift(&base_logs, &candidate_logs),
    };
    let margin = margin
        * match metric {
            Metric::P50 | Metric::P99 | Metric::P99_9 => 1.0,
            Metric::P99_99 | Metric::MedianMaximum => CARE_OF_THE_FAR_TAIL,
        };
    let interval = interval.map(|(low, high, level)| match drift {
        // Drift looks like change, so both intervals must exclude it. That also covers a drift too
        // small to be seen.
        Some(DriftFit { step: (least, most), .. }) => (low.min(least), high.max(most), LEVEL),
        None => (low, high, level),
    });
    let interval = interval.map(|(low, high, level)| RatioInterval {
        low: low.exp(),
        high: high.exp(),
        level,
    });
    let deviation = pooled_deviation(&base_logs, &candidate_logs);
    let needed = |shift: f64| match deviation {
        Some(deviation) if deviation > 0.0 => values_needed(shift / deviation, TAIL),
        Some(_) => Some(crate::rank::FEWEST_VALUES),
        None => None,
    };
    let limit = margin.ln_1p();
    let word = match interval {
        Some(_) if !refused && drifts => ComparisonWord::Inconclusive,
        Some(interval) if !refused => word(interval, 1.0 + margin, p_of_all),
        _ => ComparisonWord::Refused,
    };
    let runs = base.len().min(candidate.len());
    let distance = match word {
        ComparisonWord::Changed => (estimate - limit).abs(),
        _ => limit,
    };
    // A comparison still open at the usual number of runs needs some more than it has.
    let more = |needed: usize| {
        let wanted = needed.max(runs + 1 + runs / 4);
        (wanted <= MOST_VALUES).then(|| (wanted - runs) as u32)
    };
    // More runs in the same order do not separate a drift from a change.
    let is_open = matches!(word, ComparisonWord::Changed | ComparisonWord::Inconclusive) && !drifts;
    MetricComparison {
        metric,
        base_ns: base.to_vec(),
        candidate_ns: candidate.to_vec(),
        ratio: estimate.exp(),
        interval,
        p: evidence.by_earlier.map_or_else(|| rank_test(base, candidate), |found| found.p),
        p_of_all,
        margin,
        variation: deviation.map(f64::exp_m1),
        runs_needed: needed(limit).map(|count| count as u32),
        more_runs: needed(distance).filter(|_| is_open).and_then(more),
        word,
    }
}

pub fn logs(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.ln()).collect()
}

fn word(interval: RatioInterval, limit: f64, p_of_all: f64) -> ComparisonWord {
    let RatioInterval { low, high, .. } = interval;
    // With many metrics some differ by chance; single intervals do not account for that.
    let real = p_of_all <= ALPHA;
    match () {
        () if high <= limit => ComparisonWord::NoRegression,
        () if low > limit && real => ComparisonWord::Regressed,
        () if low > 1.0 && real => ComparisonWord::Changed,
        () => ComparisonWord::Inconclusive,
    }
}

/// Pooled standard deviation within the sides; `None` with one value per side.
fn pooled_deviation(first: &[f64], second: &[f64]) -> Option<f64> {
    let freedom = (first.len() + second.len()).checked_sub(2).filter(|&freedom| freedom > 0)?;
    let squares = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    Some(((squares(first) + squares(second)) / freedom as f64).sqrt())
}

pub fn middle(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    median(&sorted)
}
